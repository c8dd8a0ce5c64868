/*
 * Control takes main's place: constructors have run, nothing of the program's
 * own has. Here the fork server waits, and main gets a stack and arguments at
 * addresses that do not depend on the environment, whose size moves the kernel's.
 */
#include <sys/mman.h>

#include "runtime/control.h"
#include "runtime/real.h"
#include "runtime/sys.h"

#define MAIN_STACK 0x5ff000000000ull
#define MAIN_STACK_BYTES (8ull << 20)
#define ARGUMENTS 0x5ff800000000ull

static struct {
	int (*main)(int, char **, char **);
	int argc;
	char **argv, **envp;
} program;

static char **copy_arguments(int argc, char **argv)
{
	size_t bytes = ((size_t)argc + 1) * sizeof(char *);
	char **to, *text;

	for (int i = 0; i < argc; i++)
		for (const char *p = argv[i]; bytes++, *p; p++)
			;
	to = sys_mmap((void *)ARGUMENTS, (bytes + 4095) & ~4095ull, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (sys_failed(to))
		return argv;
	text = (char *)(to + argc + 1);
	for (int i = 0; i < argc; i++) {
		to[i] = text;
		for (const char *p = argv[i]; (*text++ = *p); p++)
			;
	}
	return to;
}

static int call_main(void *unused)
{
	(void)unused;
	ctl_begin();
	return ctl_main_thread(program.main, program.argc, program.argv, program.envp);
}

static int controlled(int argc, char **argv, char **envp)
{
	char *stack;

	program.argc = argc;
	program.argv = copy_arguments(argc, argv);
	program.envp = envp;
	stack = sys_mmap((void *)MAIN_STACK, MAIN_STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (sys_failed(stack))
		ctl_unsupported("the address space for main's stack is taken");
	if (ctl.server >= 0)
		ctl_serve();
	return gate_call_on(stack + MAIN_STACK_BYTES - 64, call_main, NULL);
}

static int start(int argc, char **argv, char **envp)
{
	if (snarlrt.mode == SNARLRT_CONTROL)
		return controlled(argc, argv, envp);
	return program.main(argc, argv, envp);
}

SNARLRT_INTERPOSE int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
					int (*init)(int, char **, char **), void (*fini)(void),
					void (*rtld_fini)(void), void *stack_end)
{
	snarlrt_real_ready();
	program.main = main;
	return REAL(__libc_start_main)(start, argc, argv, init, fini, rtld_fini, stack_end);
}
