/*
 * Single steps by the trap flag.
 */
#include "runtime/control/single_step.h"

#include "runtime/core/sys.h"

#define TRAP_FLAG 0x100
#define STEPPED 2		/* si_code TRAP_TRACE */

__asm__(".text\n"
	".globl snarlrt_signal_return\n"
	".hidden snarlrt_signal_return\n"
	"snarlrt_signal_return:\n"
	"	mov $15, %eax\n"	/* rt_sigreturn */
	"	syscall\n");

single_step_fn *single_step_each;	/* NULL: no thread steps */
static struct kernel_action before;

void single_step_handler(int number, signal_fn *handler, struct kernel_action *old)
{
	/* The handler may switch to another thread, so it must not change the mask. */
	struct kernel_action ours = {
		.handler = handler,
		.flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | KERNEL_RESTORER,
		.restorer = snarlrt_signal_return,
	};

	sys_call6(SYS_rt_sigaction, number, (long)&ours, (long)old, sizeof(ours.mask), 0, 0);
}

static void put_back(void)
{
	single_step_each = NULL;
	sys_call6(SYS_rt_sigaction, SIGTRAP, (long)&before, 0, sizeof(before.mask), 0, 0);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	single_step_fn *each = single_step_each;

	if (info->si_code != STEPPED) {	/* a breakpoint of the program's own */
		if (each)
			put_back();
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		sys_call(SYS_tgkill, sys_call(SYS_getpid, 0, 0, 0), sys_call(SYS_gettid, 0, 0, 0),
			 number);
		return;
	}
	if (each && each(uc))
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (each && single_step_each == each)
		put_back();
}

static void begin(single_step_fn *each)
{
	if (!single_step_each)
		single_step_handler(SIGTRAP, on_trap, &before);
	single_step_each = each;
}

void single_step_after(single_step_fn *each, ucontext_t *uc)
{
	begin(each);
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

/* The trap of the instruction that clears the flag still comes, and finds no function. */
void single_step_stop(void)
{
	single_step_each = NULL;
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 : : "i"(~TRAP_FLAG) : "memory", "cc");
	put_back();
}
