/*
 * The start of main under control: interposes __libc_start_main().
 *
 * Constructors have run, the program's own code has not. The fork server stands here. main gets a
 * stack, and copies of arguments and environment, at fixed addresses: the kernel places them
 * depending on the size of the environment. Variables that the tool puts first keep their
 * addresses whatever follows them.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/control/control.h"
#include "runtime/core/process_calls.h"
#include "runtime/core/real.h"
#include "runtime/core/sys.h"

/* Addresses near each other, and near other stacks (context_switch.c): they share page tables. */
#define MAIN_STACK 0x5ff000000000ull
#define MAIN_STACK_BYTES (8ull << 20)
#define ARGUMENTS 0x5ff001000000ull
#define ENVIRONMENT 0x5ff002000000ull

static struct {
	int (*main)(int, char **, char **);
	int argc;
	char **argv, **envp;
} program;

/* Texts come before the array, so that the address of each depends only on the ones before it. */
static char **copy_list(uint64_t at, char **list)
{
	size_t count = 0, bytes = 0;
	char **to, *text;

	for (; list[count]; count++)
		for (const char *p = list[count]; bytes++, *p; p++)
			;
	bytes = (bytes + 15) & ~15ull;
	text = sys_mmap((void *)at, (bytes + (count + 1) * sizeof(*to) + 4095) & ~4095ull,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (sys_failed(text))
		return list;
	to = (char **)(text + bytes);
	for (size_t i = 0; i < count; i++) {
		to[i] = text;
		for (const char *p = list[i]; (*text++ = *p); p++)
			;
	}
	return to;
}

static int call_main(void *unused)
{
	(void)unused;
	ctl_begin();
	if (ctl.server < 0)
		snarlrt_process->modules_scan();
	return ctl_main_thread(program.main, program.argc, program.argv, program.envp);
}

static int controlled_main(int argc, char **argv, char **envp)
{
	char *stack;

	program.argc = argc;
	program.argv = copy_list(ARGUMENTS, argv);
	program.envp = envp == environ ? environ = copy_list(ENVIRONMENT, envp) : envp;
	stack = sys_mmap((void *)MAIN_STACK, MAIN_STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (sys_failed(stack))
		ctl_unsupported("cannot map main's stack: 0x5ff000000000 is mapped already");
	snarlrt.main_stack_low = (uint64_t)stack;
	snarlrt.main_stack_high = (uint64_t)stack + MAIN_STACK_BYTES;
	/*
	 * Touches the shadow page before the fork: the run's first write to the stack costs no
	 * fault for it then.
	 */
	*(volatile uint16_t *)shadow_of((uint64_t)stack + MAIN_STACK_BYTES - 64) = 0;
	if (ctl.server >= 0)
		ctl_serve();
	return context_call_on(stack + MAIN_STACK_BYTES - 64, call_main, NULL);
}

static int main_or_controlled(int argc, char **argv, char **envp)
{
	if (mode_controls())
		return controlled_main(argc, argv, envp);
	return program.main(argc, argv, envp);
}

SNARLRT_INTERPOSE int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
					int (*init)(int, char **, char **), void (*fini)(void),
					void (*rtld_fini)(void), void *stack_end)
{
	snarlrt_real_ready();
	program.main = main;
	return REAL(__libc_start_main)(main_or_controlled, argc, argv, init, fini, rtld_fini,
				       stack_end);
}
