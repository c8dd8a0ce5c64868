/*
 * Signals under control: handlers run at scheduling points, as part of the schedule.
 *
 * Masks are virtual. The kernel's mask has the signals that all threads block. Such a signal stays
 * pending in the kernel, where sigpending, sigtimedwait and signalfd find it. Any other signal
 * calls the trampoline (interpose/signal_handler.c), which only stores it until the scheduler
 * accepts it (external.h).
 *
 * Signals that the program sends itself (raise, kill, pthread_kill, sigqueue, alarm) do not reach
 * the kernel unless all threads block them. They are due at once, for the named thread, or else
 * for the lowest-numbered thread that does not block them.
 *
 * A signal of a faulting instruction, and abort's, is handled on the spot. Default actions are the
 * kernel's. If a signal from outside comes again before it was handled, one is kept, real-time
 * signals included. Handlers run on the thread's own stack, and their ucontext is not meaningful.
 */
#include "runtime/control/model/external.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/sys.h"

#define IGNORED_BY_DEFAULT (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT))
#define SIGNAL_COUNT 65		/* signal numbers are below this */
#define QUEUE_MAX 128u		/* signals queued at once */
#define TO_PROCESS UINT32_MAX	/* target of signals that any thread may take */
#define EXTERNAL_SIGNAL_NS (2000000000ull)	/* wait for a SIGCHLD of the schedule */

static struct queued_signal {
	int number;		/* 0: free entry */
	uint32_t target;	/* thread number, or TO_PROCESS */
	uint64_t order;
	siginfo_t info;
} queue[QUEUE_MAX] SNARLRT_BIG;

const struct ctl_signal_calls *ctl_signal_calls;

static uint64_t order;
static uint64_t process_pending;	/* signals pending for the process, as bits */
static bool any_signal;		/* a signal was sent or came in this run */
/* About the last delivery: did a handler run, and had all of them SA_RESTART? */
static bool handlers_ran, all_restart;
static uint64_t delivery_began;	/* virtual time of the last delivery */

/* Signals from outside, as bits. The trampoline adds to them at any time. */
static uint64_t external_pending;
static siginfo_t external_info[SIGNAL_COUNT] SNARLRT_BIG;
static uint64_t accepted_early;	/* signals accepted before they came: dropped when they come */

static bool by_program(const siginfo_t *info)
{
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
		info->si_code == SI_TKILL) &&
	       info->si_pid == (pid_t)sys_call(SYS_getpid, 0, 0, 0);
}

/* Queues a signal. Returns false if there is no room, which matters for real-time signals only. */
static bool enqueue(int number, uint32_t target, const siginfo_t *info)
{
	struct queued_signal *s = NULL;

	any_signal = true;
	ctl_fast_path_end();
	for (uint32_t i = 0; i < QUEUE_MAX; i++) {
		if (queue[i].number == number && queue[i].target == target && number < SIGRTMIN)
			return true;
		if (!queue[i].number)
			s = &queue[i];
	}
	if (!s)
		return false;
	*s = (struct queued_signal){ .number = number, .target = target, .order = ++order };
	if (info)
		s->info = *info;
	s->info.si_signo = number;
	return true;
}

bool ctl_signal_catch(int number, const siginfo_t *info)
{
	if (!ctl.begun || ctl.ended || !ctl.current)
		return false;
	if (BIT(number) & BY_INSTRUCTION && info->si_code > 0)
		return false;
	if (info->si_code == SI_TKILL && by_program(info))
		return false;
	any_signal = true;
	ctl_fast_path_end();
	/* A SIGPIPE is the current thread's own. The program just unblocked any other signal. */
	if (by_program(info)) {
		if (number == SIGPIPE) {
			ctl.current->sigpending |= BIT(number);
		} else {
			enqueue(number, TO_PROCESS, info);
			process_pending |= BIT(number);
		}
		return true;
	}
	/* Pairs with the load in ctl_signal_accept(). Only one kernel thread takes signals. */
	if (!(__atomic_load_n(&external_pending, __ATOMIC_ACQUIRE) & BIT(number))) {
		external_info[number] = *info;
		__atomic_fetch_or(&external_pending, BIT(number), __ATOMIC_RELEASE);
	}
	return true;
}

static bool is_live(uint32_t i)
{
	return ctl.threads[i] && ctl.threads[i]->state == CTL_LIVE;
}

struct ctl_thread *ctl_signal_receiver(int number)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		if (is_live(i) && !(ctl.threads[i]->sigmask & BIT(number)))
			return ctl.threads[i];
	return NULL;
}

static uint64_t due_signals(const struct ctl_thread *t)
{
	uint64_t bits = t->sigpending & ~t->sigmask, rest = process_pending & ~t->sigmask;

	for (; rest; rest &= rest - 1)
		if (ctl_signal_receiver(__builtin_ctzll(rest) + 1) == t)
			bits |= rest & -rest;
	return bits;
}

bool ctl_signal_any(void)
{
	uint64_t bits = process_pending | __atomic_load_n(&external_pending, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; unlikely(any_signal) && i < ctl.count; i++)
		bits |= ctl.threads[i]->sigpending;
	return bits != 0;
}

bool ctl_signal_due(const struct ctl_thread *t)
{
	return unlikely(t->sigpending | process_pending) && due_signals(t) != 0;
}

/* The thread may be in a wait that a signal ends. */
static void wake_receiver(const struct ctl_thread *t)
{
	ctl_outside_stale();
	if (!t || !t->wait)
		return;
	if (t->wait->interruptible && ctl_signal_due(t))
		t->wait->interrupted = true;
	ctl_changed((const void *)(uintptr_t)t->wait->event.object);
}

static void wake_receivers(void)
{
	for (uint64_t rest = process_pending; rest; rest &= rest - 1)
		wake_receiver(ctl_signal_receiver(__builtin_ctzll(rest) + 1));
}

static bool ignored(int number)
{
	struct ctl_signal_action a = ctl_signal_calls->action(number);

	return a.handler == SIG_IGN || (a.handler == SIG_DFL && BIT(number) & IGNORED_BY_DEFAULT);
}

static void default_info(int number, siginfo_t *info)
{
	*info = (siginfo_t){ .si_signo = number, .si_code = SI_USER };
	info->si_pid = (pid_t)sys_call(SYS_getpid, 0, 0, 0);
	info->si_uid = (uid_t)sys_call(SYS_getuid, 0, 0, 0);
}

int ctl_signal_send(struct ctl_thread *t, int number, const siginfo_t *info)
{
	struct ctl_thread *to = t ? t : ctl_signal_receiver(number ? number : 1);
	siginfo_t mine;

	if (number < 0 || number >= SIGNAL_COUNT)
		return EINVAL;
	if (number == 0 || (to && !(to->sigmask & BIT(number)) && ignored(number)))
		return 0;
	if (!info)
		default_info(number, &mine);
	if (number == SIGSTOP && ctl.borrowed)
		ctl_go_alone();		/* its parent may wait for the stop */
	if (number == SIGKILL || number == SIGSTOP || (!to && !ctl.kernel_threads)) {
		ctl_outside_stale();
		return -(int)sys_call6(SYS_rt_sigqueueinfo, sys_call(SYS_getpid, 0, 0, 0), number,
				       (long)(info ? info : &mine), 0, 0, 0);
	}
	if (!enqueue(number, t ? t->number : TO_PROCESS, info ? info : &mine) && number >= SIGRTMIN)
		return EAGAIN;
	if (t)
		t->sigpending |= BIT(number);
	else
		process_pending |= BIT(number);
	wake_receiver(to);
	return 0;
}

/* Takes the oldest queued signal of this number. A SIGPIPE is not queued. */
static void dequeue(int number, const struct ctl_thread *t, bool own, siginfo_t *info)
{
	uint32_t target = own ? t->number : TO_PROCESS, left = 0;
	uint64_t *bits = own ? &ctl.threads[t->number]->sigpending : &process_pending;
	struct queued_signal *first = NULL;

	for (uint32_t i = 0; i < QUEUE_MAX; i++) {
		struct queued_signal *s = &queue[i];

		if (s->number != number || s->target != target)
			continue;
		left++;
		if (!first || s->order < first->order)
			first = s;
	}
	if (left < 2)
		*bits &= ~BIT(number);
	if (first) {
		*info = first->info;
		first->number = 0;
	} else {
		default_info(number, info);
	}
}

/* Takes a signal that is pending in the kernel because all threads block it. */
static int take_from_kernel(uint64_t set, siginfo_t *info)
{
	struct timespec zero = { 0 };
	long got = sys_call6(SYS_rt_sigtimedwait, (long)&set, (long)info, (long)&zero,
			     sizeof(set), 0, 0);

	return got > 0 ? (int)got : 0;
}

int ctl_signal_take(uint64_t set, siginfo_t *info)
{
	struct ctl_thread *t = ctl_self();
	uint64_t mine = t->sigpending & set, all = process_pending & set;
	uint64_t from = __atomic_load_n(&external_pending, __ATOMIC_ACQUIRE) & set;
	int number;

	if (mine | all) {
		number = __builtin_ctzll(mine ? mine : all) + 1;
		dequeue(number, t, mine != 0, info);
		return number;
	}
	if (from) {
		number = __builtin_ctzll(from) + 1;
		*info = external_info[number];
		__atomic_fetch_and(&external_pending, ~BIT(number), __ATOMIC_RELEASE);
		return number;
	}
	return take_from_kernel(set, info);
}

uint64_t ctl_signal_pending(const struct ctl_thread *t, uint64_t set)
{
	uint64_t blocked = 0;

	sys_call(SYS_rt_sigpending, &blocked, sizeof(blocked), 0);
	return (t->sigpending | process_pending |
		__atomic_load_n(&external_pending, __ATOMIC_ACQUIRE) | blocked) &
	       set;
}

/* Blocks in the kernel what all threads block. */
static void update_kernel_mask(void)
{
	uint64_t all = ~0ull;

	if (ctl.kernel_threads && ctl_self()->number != 0)
		return;
	for (uint32_t i = 0; i < ctl.count; i++)
		if (is_live(i))
			all &= ctl.threads[i]->sigmask;
	snarlrt_signals_set(all & ~(BY_INSTRUCTION | BIT(CTL_TICK_SIGNAL)));
}

uint64_t ctl_sigmask_set(uint64_t mask)
{
	struct ctl_thread *t = ctl_self();
	uint64_t before = t->sigmask;

	mask &= ~(BIT(SIGKILL) | BIT(SIGSTOP));
	if (mask == before)
		return before;
	t->sigmask = mask;
	update_kernel_mask();
	wake_receivers();
	return before;
}

void ctl_signal_thread_created(struct ctl_thread *t, const struct ctl_thread *parent)
{
	t->sigpending = 0;
	if (parent)
		t->sigmask = parent->sigmask;
	else
		sys_call6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&t->sigmask, sizeof(t->sigmask),
			  0, 0);
}

void ctl_signal_thread_ended(struct ctl_thread *t)
{
	t->sigpending = 0;
	for (uint32_t i = 0; order && i < QUEUE_MAX; i++)
		if (queue[i].target == t->number)
			queue[i].number = 0;
	update_kernel_mask();
	wake_receivers();
}

void ctl_signal_forked(void)
{
	for (uint32_t i = 0; i < QUEUE_MAX; i++)
		queue[i].number = 0;
	process_pending = external_pending = accepted_early = 0;
	ctl_self()->sigpending = 0;
	update_kernel_mask();
}

static void default_action(int number)
{
	uint64_t mask;

	if (BIT(number) & IGNORED_BY_DEFAULT)
		return;
	mask = snarlrt_signals_block();
	sys_call(SYS_tgkill, sys_call(SYS_getpid, 0, 0, 0), sys_call(SYS_gettid, 0, 0, 0), number);
	snarlrt_signals_set(mask & ~BIT(number));
}

void ctl_signal_deliver(void)
{
	struct ctl_thread *t = ctl_self();
	bool any = false, all = true;
	uint64_t bits, now = ctl.now;

	while (unlikely(t->sigpending | process_pending) && (bits = due_signals(t)) != 0) {
		int number = __builtin_ctzll(bits) + 1;
		struct ctl_signal_action a = ctl_signal_calls->action(number);
		siginfo_t info;

		dequeue(number, t, t->sigpending & BIT(number), &info);
		if (a.handler == SIG_IGN)
			continue;
		if (a.handler == SIG_DFL) {
			default_action(number);
			continue;
		}
		any = true;
		all &= (a.flags & SA_RESTART) != 0;
		ctl_signal_calls->run(number, &info);
	}
	/* Set last: handlers have points, at which other deliveries happen. */
	handlers_ran = any;
	all_restart = all;
	delivery_began = now;
}

bool ctl_signal_ends_call(bool restartable)
{
	if (ctl_signal_due(ctl_self()))
		ctl_signal_deliver();
	return handlers_ran && !(restartable && all_restart);
}

uint64_t ctl_signal_delivery_time(void)
{
	return delivery_began;
}

int ctl_signal_arrived(struct ctl_thread **target)
{
	uint64_t bits = __atomic_load_n(&external_pending, __ATOMIC_ACQUIRE);

	for (; unlikely(bits); bits &= bits - 1) {
		int number = __builtin_ctzll(bits) + 1;

		if (accepted_early & BIT(number)) {
			accepted_early &= ~BIT(number);
			__atomic_fetch_and(&external_pending, ~BIT(number), __ATOMIC_RELEASE);
			continue;
		}
		*target = ctl_signal_receiver(number);
		if (*target)
			return number;
	}
	return 0;
}

/* Waits for a signal in real time: a SIGCHLD handler may rely on the child having ended. */
static void await_external(int number)
{
	for (uint64_t ns = 0; ns < EXTERNAL_SIGNAL_NS; ns += 1000000) {
		struct timespec nap = { .tv_nsec = 1000000 };

		if (__atomic_load_n(&external_pending, __ATOMIC_ACQUIRE) & BIT(number))
			return;
		sys_call(SYS_nanosleep, &nap, 0, 0);
	}
}

void ctl_signal_accept(struct ctl_thread *t, int number)
{
	siginfo_t info;

	if (number < 1 || number >= SIGNAL_COUNT)
		return;
	if (number == SIGCHLD)
		await_external(number);
	default_info(number, &info);
	if (__atomic_load_n(&external_pending, __ATOMIC_ACQUIRE) & BIT(number)) {
		info = external_info[number];
		__atomic_fetch_and(&external_pending, ~BIT(number), __ATOMIC_RELEASE);
	} else {
		accepted_early |= BIT(number);
	}
	enqueue(number, t->number, &info);
	t->sigpending |= BIT(number);
	wake_receiver(t);
}
