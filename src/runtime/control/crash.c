/*
 * Crashes: records in the report where a fatal signal occurred.
 *
 * Handlers replace the default actions of fatal signals. They fill the report and let the signal
 * occur again, so the program ends as it would have without them. They are installed once, before
 * the server forks. A handler of the program's own replaces them.
 */
#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "runtime/control/control.h"
#include "runtime/control/heap/heap.h"
#include "runtime/control/library_waits.h"
#include "runtime/control/single_step.h"
#include "runtime/core/sys.h"

#define SIGNAL_STACK_BYTES (64u << 10)	/* the stack of a handler after a stack overflow */
#define SCAN_WORDS 512u		/* 64-bit words of the stack that are searched */

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };

static uint64_t code_start, code_end;	/* of the executable */

/* From the program headers, since the linker's etext would be exported with our symbols. */
static void find_program_code(void)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM);
	uint64_t bias = 0;

	for (size_t i = 0; i < count; i++)
		if (ph[i].p_type == PT_PHDR)
			bias = (uint64_t)ph - ph[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X) {
			code_start = bias + ph[i].p_vaddr;
			code_end = code_start + ph[i].p_memsz;
		}
}

/* Does a call instruction of the executable end at `pc`? */
static bool is_return_address(uint64_t pc)
{
	const uint8_t *p = (const uint8_t *)pc;

	if (pc < code_start + 8 || pc >= code_end)
		return false;
	return p[-5] == 0xe8 || (p[-6] == 0xff && p[-5] == 0x15) || p[-2] == 0xff || p[-3] == 0xff;
}

/*
 * Collects words of the stack that look like return addresses into the executable, innermost
 * first. Some may be left over from earlier calls.
 */
static void scan_stack_for_calls(const greg_t *regs, struct ctl_report *r)
{
	const uint64_t *sp = (const uint64_t *)((uint64_t)regs[REG_RSP] & ~7ull);
	size_t n = 0;

	for (size_t i = 0; i < SCAN_WORDS && n < ARRAY_SIZE(r->calls); i++) {
		if (i && ((uint64_t)(sp + i) & 4095) == 0)
			break;	/* the next page may not be mapped */
		if (is_return_address(sp[i]))
			r->calls[n++] = sp[i];
	}
	if (n < ARRAY_SIZE(r->calls))
		r->calls[n] = 0;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct ctl_report *r = &ctl.block->report;

	/* Unlike a fault, a signal that was sent does not occur again by itself. */
	if (info->si_code <= 0)
		sys_call(SYS_tgkill, sys_call(SYS_getpid, 0, 0, 0), sys_call(SYS_gettid, 0, 0, 0),
			 number);
	if (!ctl.begun || ctl.ended || ctl.private_child)
		return;
	/* Pages of big freed blocks are unmapped, so their use is a segmentation fault. */
	if (number == SIGSEGV && info->si_code > 0)
		ctl_heap_bad_access((uint64_t)(uintptr_t)info->si_addr, 1,
				    regs[REG_ERR] & 2, (const void *)regs[REG_RIP]);
	if (!(__snarl_tls.busy | __snarl_tls.hidden)) {
		ctl_account(ctl.current);	/* accesses up to the crash are part of the run */
		if (ctl.values)
			ctl_trace_crash(info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0);
	}
	r->signal = (uint32_t)number;
	r->pc = (uint64_t)regs[REG_RIP] + 1;	/* other pcs in a report are return addresses */
	scan_stack_for_calls(regs, r);
	r->object = info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0;
	r->thread = ctl.current->number;
	r->steps = ctl.steps;
	ctl_describe_threads();
	ctl_borrowed_crash();
}

static void set_action(int number, const struct kernel_action *action)
{
	sys_call6(SYS_rt_sigaction, number, (long)action, 0, sizeof(action->mask), 0, 0);
}

/* SIGILL also comes from replaced instructions of libraries, so its handler stays. */
static void on_illegal(int number, siginfo_t *info, void *context)
{
	const struct kernel_action none = { 0 };

	if (info->si_code > 0 && ctl_library_trap(context))
		return;
	set_action(number, &none);
	on_crash(number, info, context);
}

bool ctl_is_crash_handler(const void *handler)
{
	return handler == (const void *)(uintptr_t)on_crash ||
	       handler == (const void *)(uintptr_t)on_illegal;
}

/* Installs the handler of `number` unless the program has one of its own, or ignores the signal. */
static void install(int number)
{
	struct kernel_action old = { 0 }, ours = {
		.handler = on_crash,
		.flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | KERNEL_RESTORER,
		.restorer = snarlrt_signal_return,
	};

	if (number == SIGILL) {
		/* The handler may switch threads: it runs on the thread's own stack. */
		ours.handler = on_illegal;
		ours.flags = SA_SIGINFO | SA_NODEFER | KERNEL_RESTORER;
	}
	sys_call6(SYS_rt_sigaction, number, 0, (long)&old, sizeof(old.mask), 0, 0);
	if (!old.handler)
		set_action(number, &ours);
}

void ctl_illegal_install(void)
{
	install(SIGILL);
}

void ctl_crash_install(void)
{
	static char stack[SIGNAL_STACK_BYTES] __attribute__((aligned(16)));
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	find_program_code();
	sys_call(SYS_sigaltstack, &alternate, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(fatal_signals); i++)
		install(fatal_signals[i]);
}
