/*
 * Signal handlers of the program: each is called by a trampoline, which notes its start and its
 * end.
 *
 * The kernel gets the trampoline, always with SA_SIGINFO; the program is shown the handler that it
 * installed. SIG_DFL, SIG_IGN, masks and other flags are passed to the kernel. A signal that
 * arrives inside the runtime is deferred (core/deferred_signals.h). If a signal interrupts an
 * append to the ring, the append is finished before the handler runs, or restarted after it
 * (hooks/entry.h).
 *
 * The interrupted thread may be hidden (snarlrt_hide) or marked as waiting. The trampoline saves
 * this state in a struct snarlrt_handler and restores it after the handler. If the handler leaves
 * by longjmp, the state at the setjmp is restored.
 *
 * In mode control the trampoline only stores the signal (control/model/signal.c); signal_run()
 * calls the handler at a scheduling point. The kernel therefore gets SA_RESTART, so that
 * interrupted system calls go on, and no SA_RESETHAND: signal_run() removes one-shot handlers.
 */
#include <ucontext.h>

#include "runtime/control/library_waits.h"
#include "runtime/control/model/external.h"
#include "runtime/control/watchdog.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/sys.h"
#include "runtime/hooks/entry.h"
#include "runtime/interpose/call.h"

#define SIGNALS 65		/* signal numbers are 1..64 */
#define WITH_INFO (1ull << 63)	/* in `packed`: the handler takes three arguments */

/* A call of a handler under way, and the state of the thread that it interrupted. */
struct snarlrt_handler {
	struct snarlrt_handler *outer;
	const void *pc;		/* in the handler, for its events */
	int number;		/* of the signal */
	bool returned;		/* false: the handler is being unwound */
	uint32_t hidden;	/* tls.hidden */
	const void *heap_pc;	/* snarlrt_heap_pc */
	uint32_t waiting_in;	/* waiting_*: of the thread's slot in live memory */
	uint64_t waiting_for, waiting_pc;
	uint64_t *stripe;	/* clock stripe held by an atomic that faulted, or NULL */
	bool busy;		/* a fault interrupted the runtime */
	bool virtual;		/* mode control: called at a scheduling point */
	uint64_t sigmask;	/* if `virtual`: the thread's virtual mask before */
};

/* What the program installed for each signal. */
static struct action {
	uint64_t packed;	/* handler and WITH_INFO in one atomic word */
	int flags;		/* as installed */
	sigset_t mask;
} actions[SIGNALS] SNARLRT_BIG;

static sigset_t siginterrupted;	/* signals whose system calls end with EINTR */

__thread struct snarlrt_handler *snarlrt_handlers;

void snarlrt_handlers_unwind(struct snarlrt_handler *down_to)
{
	struct snarlrt_handler *h = snarlrt_handlers;

	/* Do nothing if `down_to` is not in the list: the jump buffer may be stale. */
	while (h && h != down_to)
		h = h->outer;
	if (h != down_to)
		return;
	for (h = snarlrt_handlers; h != down_to; h = h->outer)
		if (h->virtual && ctl_on())
			ctl_sigmask_set(h->sigmask);
	snarlrt_handlers = down_to;
}

static void save_thread_state(struct snarlrt_handler *h)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	h->outer = snarlrt_handlers;
	h->hidden = tls->hidden;
	h->heap_pc = snarlrt_heap_pc;
	if (tls->self) {
		h->waiting_in = tls->self->live->waiting_in;
		h->waiting_for = tls->self->live->waiting_for;
		h->waiting_pc = tls->self->live->waiting_pc;
	}
	snarlrt_handlers = h;
	snarlrt_heap_pc = NULL;
	tls->hidden = 0;
	snarlrt_wait_end();
}

/*
 * An atomic operation of a hook faulted, and the handler returned, so the instruction runs again:
 * takes back the stripe and the busy state that snarlrt_defer_signal() gave up.
 */
static void resume_atomic(struct snarlrt_handler *h)
{
	if (h->stripe) {
		while (__atomic_fetch_or(h->stripe, 1, __ATOMIC_ACQUIRE) & 1)
			sys_pause();
		__snarl_tls.self->held_stripe = h->stripe;
	}
	__snarl_tls.busy = 1;
}

static void leave_handler(struct snarlrt_handler *h)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	snarlrt_note(TRACE_SIGNAL_LEAVE, h->returned ? 0 : TRACE_UNWOUND, NULL,
		     (uint64_t)h->number, 0, h->pc);
	tls->hidden = h->hidden;
	snarlrt_heap_pc = h->heap_pc;
	snarlrt_handlers = h->outer;
	if (h->waiting_in && h->returned) {
		snarlrt_wait_begin(h->waiting_in, (const void *)h->waiting_for,
				   (const void *)h->waiting_pc);
	}
	if (h->busy && h->returned)
		resume_atomic(h);
}

static void handler_cleanup(struct snarlrt_handler **h)
{
	leave_handler(*h);
}

static bool defer(int number, siginfo_t *info, ucontext_t *interrupted, struct snarlrt_handler *h)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	uint64_t during = *(const uint64_t *)&actions[number].mask;

	h->busy = tls->busy && tls->self;
	h->stripe = h->busy ? tls->self->held_stripe : NULL;
	if (!(actions[number].flags & SA_NODEFER))
		during |= 1ull << (number - 1);
	return snarlrt_defer_signal(number, info, interrupted, during);
}

/*
 * Looking for an append reads code around `rip`. That memory may be unmapped: a jump to a bad
 * address causes a signal too, and generated code may begin or end with its page.
 */
static bool code_is_mapped(uintptr_t rip, int number, const siginfo_t *info)
{
	uintptr_t first = (rip - 64) & ~4095ul, last = (rip + 15) & ~4095ul;
	unsigned char in_core[2];

	if (rip >> 47 || ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0 &&
			  (uintptr_t)info->si_addr - first < last + 4096 - first))
		return false;
	return first == last || sys_call(SYS_mincore, first, last + 4096 - first, in_core) == 0;
}

/* Finishes an interrupted append, or makes it start again after the handler, behind its records. */
static void restart_append(ucontext_t *interrupted, int number, const siginfo_t *info)
{
	greg_t *regs = interrupted->uc_mcontext.gregs, *rip = &regs[REG_RIP];

	*rip = (greg_t)snarlrt_thunk_finish((uintptr_t)*rip, (uint64_t)regs[REG_RAX],
					    (uint64_t)regs[REG_RCX]);
	if (code_is_mapped((uintptr_t)*rip, number, info))
		*rip = (greg_t)snarlrt_thunk_restart((uintptr_t)*rip);
}

static void trampoline(int number, siginfo_t *info, void *context);

/* The kernel removed a one-shot handler whose signal was deferred: it has not run yet. */
static void reinstall_one_shot(int number)
{
	struct sigaction again = {
		.sa_sigaction = trampoline,
		.sa_mask = actions[number].mask,
		.sa_flags = actions[number].flags,
	};
	int saved = errno;

	REAL(sigaction)(number, &again, NULL);
	errno = saved;
}

static void call_handler(struct snarlrt_handler *here, uint64_t packed, siginfo_t *info,
			 void *context)
{
	struct snarlrt_handler *h __attribute__((cleanup(handler_cleanup))) = here;
	uintptr_t handler = packed & ~WITH_INFO;

	save_thread_state(h);
	snarlrt_note(TRACE_SIGNAL_ENTER, 0, NULL, (uint64_t)h->number, 0, h->pc);
	if (packed & WITH_INFO)
		((void (*)(int, siginfo_t *, void *))handler)(h->number, info, context);
	else
		((void (*)(int))handler)(h->number);
	h->returned = true;
}

static void trampoline(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	uint64_t packed = __atomic_load_n(&actions[number].packed, __ATOMIC_ACQUIRE);
	uintptr_t handler = packed & ~WITH_INFO;
	struct snarlrt_handler here = { .number = number, .pc = (const void *)(handler + 1) };

	if (mode_controls() && number == SIGILL && info->si_code > 0 && ctl_library_trap(context))
		return;
	if (mode_controls() && ctl_signal_catch(number, info))
		return;
	if (defer(number, info, interrupted, &here)) {
		if (actions[number].flags & SA_RESETHAND)
			reinstall_one_shot(number);
		return;
	}
	restart_append(interrupted, number, info);
	call_handler(&here, packed, info, context);
}

static struct ctl_signal_action signal_action(int number)
{
	struct ctl_signal_action a = { .handler = SIG_DFL };
	struct sigaction now;

	if (REAL(sigaction)(number, NULL, &now) != 0)
		return a;
	a.handler = now.sa_handler;
	if (now.sa_sigaction == trampoline) {
		a.flags = actions[number].flags;
		a.mask = *(const uint64_t *)&actions[number].mask;
	}
	return a;
}

static void signal_run(int number, siginfo_t *info)
{
	struct action *a = &actions[number];
	uint64_t packed = a->packed, mask = *(const uint64_t *)&a->mask;
	struct snarlrt_handler here = {
		.number = number,
		.pc = (const void *)(uintptr_t)((packed & ~WITH_INFO) + 1),
		.virtual = true,
	};
	ucontext_t context = { 0 };

	if (!(a->flags & SA_NODEFER))
		mask |= 1ull << (number - 1);
	if (a->flags & SA_RESETHAND) {
		struct sigaction gone = { .sa_handler = SIG_DFL };

		REAL(sigaction)(number, &gone, NULL);
	}
	here.sigmask = ctl_self()->sigmask;
	ctl_sigmask_set(here.sigmask | mask);
	call_handler(&here, packed, info, &context);
	ctl_sigmask_set(here.sigmask);
}

const struct ctl_signal_calls snarlrt_signal_calls = { .action = signal_action, .run = signal_run };

static bool is_function(const struct sigaction *act)
{
	return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN &&
	       act->sa_handler != SIG_ERR;
}

/* Replaces the trampoline in `old` by the handler that the program installed. */
static void show_program_handler(struct sigaction *old, const struct action *before)
{
	if (ctl_is_crash_handler((const void *)(uintptr_t)old->sa_sigaction))
		*old = (struct sigaction){ .sa_handler = SIG_DFL };
	if (old->sa_sigaction != trampoline)
		return;
	old->sa_sigaction =
		(void (*)(int, siginfo_t *, void *))(uintptr_t)(before->packed & ~WITH_INFO);
	if (mode_controls())
		old->sa_flags = before->flags;
	if (!(before->packed & WITH_INFO))
		old->sa_flags &= ~SA_SIGINFO;
}

/*
 * Signals that an instruction causes are handled at once, with the program's flags. SIGILL may come
 * again and again, from libraries (control/library_waits.h), and its handler may switch threads.
 */
static int kernel_flags(int number, int flags)
{
	if (mode_controls() && number == SIGILL)
		return (flags | SA_NODEFER) & ~(SA_RESETHAND | SA_ONSTACK);
	if (!mode_controls() || number == SIGSEGV || number == SIGBUS ||
	    number == SIGFPE || number == SIGTRAP)
		return flags;
	return (flags | SA_RESTART) & ~SA_RESETHAND;
}

static int install(int number, const struct sigaction *act, struct sigaction *old)
{
	struct action *a = &actions[number];
	struct action before = *a;
	struct sigaction mine;
	bool ours = false;
	int got;

	if (act && is_function(act) && act->sa_sigaction != trampoline &&
	    !mode_is_off()) {
		mine = *act;
		mine.sa_sigaction = trampoline;
		mine.sa_flags |= SA_SIGINFO;
		a->mask = mine.sa_mask;
		a->flags = mine.sa_flags;
		mine.sa_flags = kernel_flags(number, mine.sa_flags);
		__atomic_store_n(&a->packed,
				 (uint64_t)(uintptr_t)act->sa_sigaction |
					 (act->sa_flags & SA_SIGINFO ? WITH_INFO : 0),
				 __ATOMIC_RELEASE);
		act = &mine;
		ours = true;
	}
	got = REAL(sigaction)(number, act, old);
	if (got != 0 && ours)
		*a = before;
	if (got == 0 && old)
		show_program_handler(old, &before);
	if (got == 0 && act && !ours && number == SIGILL && mode_controls())
		ctl_illegal_install();
	return got;
}

SNARLRT_INTERPOSE int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	snarlrt_real_ready();
	if (number < 1 || number >= SIGNALS)
		return REAL(sigaction)(number, act, old);
	if (number == CTL_TICK_SIGNAL && act && ctl_on())
		ctl_watchdog_end();
	return install(number, act, old);
}

static __sighandler_t install_simple(int number, __sighandler_t handler, int flags,
				     bool mask_itself)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags }, old;

	snarlrt_real_ready();
	if (handler == SIG_ERR || number < 1 || number >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&act.sa_mask);
	if (mask_itself)
		sigaddset(&act.sa_mask, number);
	return install(number, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

#define BSD_FN(name)                                                                               \
	SNARLRT_INTERPOSE __sighandler_t name(int number, __sighandler_t handler)                  \
	{                                                                                          \
		int flags = sigismember(&siginterrupted, number) == 1 ? 0 : SA_RESTART;            \
                                                                                                   \
		return install_simple(number, handler, flags, true);                               \
	}

BSD_FN(signal)
BSD_FN(bsd_signal)
BSD_FN(ssignal)

#define SYSV_FN(name)                                                                              \
	SNARLRT_INTERPOSE __sighandler_t name(int number, __sighandler_t handler)                  \
	{                                                                                          \
		return install_simple(number, handler, SA_RESETHAND | SA_NODEFER, false);          \
	}

SYSV_FN(sysv_signal)
SYSV_FN(__sysv_signal)

/*
 * libc keeps this set too, for its own signal(); the call changes SA_RESTART of installed handlers.
 */
SNARLRT_INTERPOSE int siginterrupt(int number, int interrupt)
{
	int got;

	snarlrt_real_ready();
	got = REAL(siginterrupt)(number, interrupt);
	if (got == 0 && mode_controls()) {
		actions[number].flags &= ~SA_RESTART;
		actions[number].flags |= interrupt ? 0 : SA_RESTART;
	}
	if (got == 0 && interrupt)
		sigaddset(&siginterrupted, number);
	else if (got == 0)
		sigdelset(&siginterrupted, number);
	return got;
}

SNARLRT_INTERPOSE __sighandler_t sigset(int number, __sighandler_t handler)
{
	struct sigaction old;
	sigset_t set, before;

	snarlrt_real_ready();
	sigemptyset(&set);
	if (handler == SIG_ERR || sigaddset(&set, number) != 0) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (handler == SIG_HOLD) {
		if (sigprocmask(SIG_BLOCK, &set, &before) != 0)
			return SIG_ERR;
		if (sigismember(&before, number))
			return SIG_HOLD;
		return install(number, NULL, &old) == 0 ? old.sa_handler : SIG_ERR;
	}
	old.sa_handler = install_simple(number, handler, 0, false);
	if (old.sa_handler == SIG_ERR || sigprocmask(SIG_UNBLOCK, &set, &before) != 0)
		return SIG_ERR;
	return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}
