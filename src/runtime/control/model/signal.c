/*
 * Signals under control: handlers run at points, and which one is part of the
 * schedule.
 *
 * Masks are virtual. The kernel's mask is what all threads block, so that a
 * signal nobody wants stays in the kernel (where sigpending, sigtimedwait and
 * signalfd find it), and any other comes to the trampoline, which only keeps it.
 * From there the core takes it (control_outside.h). What the program sends itself
 * (raise, kill, pthread_kill, sigqueue, alarm) never gets to the kernel unless all
 * threads block it: it is due at once, for the thread named or else for the
 * lowest-numbered one that does not block it.
 *
 * A signal by a bad instruction, and abort's, is the thread's own doing and is
 * handled on the spot. Default actions are the kernel's. Of a signal from outside
 * that comes again before it was handled one is kept, real-time ones included.
 * Handlers run on the thread's own stack, and the context they are given says nothing.
 */
#include "runtime/control/model/external.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/sys.h"

#define NO_EFFECT (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT))
#define SIGNALS 65
#define QUEUE 128u
#define PROCESS UINT32_MAX	/* for whoever takes it */
#define PATIENCE (2000000000ull)	/* ns to wait for a child's signal that the schedule has */

static struct sent {
	int number;		/* 0: free */
	uint32_t target;	/* thread number, or PROCESS */
	uint64_t order;
	siginfo_t info;
} queue[QUEUE] SNARLRT_BIG;

const struct ctl_signal_calls *ctl_signal_calls;

static uint64_t order;
static uint64_t shared;		/* pending for the process */
static bool ever;		/* a signal came in this run */
static bool ran, restarts;	/* by the last delivery: handlers; all of them with SA_RESTART */
static uint64_t began;		/* … and when */

/* From outside; written by the trampoline, which may come at any moment. */
static uint64_t arrived;
static siginfo_t arrived_info[SIGNALS] SNARLRT_BIG;
static uint64_t made_up;	/* accepted before they came: swallowed when they do */

static bool by_program(const siginfo_t *info)
{
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
		info->si_code == SI_TKILL) &&
	       info->si_pid == (pid_t)sys_call(SYS_getpid, 0, 0, 0);
}

/* False: no room; only real-time signals care. */
static bool put(int number, uint32_t target, const siginfo_t *info)
{
	struct sent *s = NULL;

	ever = true;
	ctl_stir();
	for (uint32_t i = 0; i < QUEUE; i++) {
		if (queue[i].number == number && queue[i].target == target && number < SIGRTMIN)
			return true;
		if (!queue[i].number)
			s = &queue[i];
	}
	if (!s)
		return false;
	*s = (struct sent){ .number = number, .target = target, .order = ++order };
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
	ever = true;
	ctl_stir();
	/* SIGPIPE comes out of the write under way. Others of ours were let in just now. */
	if (by_program(info)) {
		if (number == SIGPIPE) {
			ctl.current->sigpending |= BIT(number);
		} else {
			put(number, PROCESS, info);
			shared |= BIT(number);
		}
		return true;
	}
	/* Pairs with the exchange in ctl_signal_accept(); one kernel thread takes signals. */
	if (!(__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) & BIT(number))) {
		arrived_info[number] = *info;
		__atomic_fetch_or(&arrived, BIT(number), __ATOMIC_RELEASE);
	}
	return true;
}

static bool live(uint32_t i)
{
	return ctl.threads[i] && ctl.threads[i]->state == CTL_LIVE;
}

/* Who takes a signal for the process: the first who does not block it. */
static struct ctl_thread *taker(int number)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		if (live(i) && !(ctl.threads[i]->sigmask & BIT(number)))
			return ctl.threads[i];
	return NULL;
}

static uint64_t due(const struct ctl_thread *t)
{
	uint64_t bits = t->sigpending & ~t->sigmask, rest = shared & ~t->sigmask;

	for (; rest; rest &= rest - 1)
		if (taker(__builtin_ctzll(rest) + 1) == t)
			bits |= rest & -rest;
	return bits;
}

bool ctl_signal_any(void)
{
	uint64_t bits = shared | __atomic_load_n(&arrived, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; unlikely(ever) && i < ctl.count; i++)
		bits |= ctl.threads[i]->sigpending;
	return bits != 0;
}

bool ctl_signal_due(const struct ctl_thread *t)
{
	return unlikely(t->sigpending | shared) && due(t) != 0;
}

/* It may stand in a wait that a signal ends. */
static void wake(const struct ctl_thread *t)
{
	ctl_outside_stale();
	if (!t || !t->wait)
		return;
	if (t->wait->interruptible && ctl_signal_due(t))
		t->wait->interrupted = true;
	ctl_changed((const void *)(uintptr_t)t->wait->event.object);
}

static void wake_takers(void)
{
	for (uint64_t rest = shared; rest; rest &= rest - 1)
		wake(taker(__builtin_ctzll(rest) + 1));
}

static bool ignored(int number)
{
	struct ctl_signal_action a = ctl_signal_calls->action(number);

	return a.handler == SIG_IGN || (a.handler == SIG_DFL && BIT(number) & NO_EFFECT);
}

static void default_info(int number, siginfo_t *info)
{
	*info = (siginfo_t){ .si_signo = number, .si_code = SI_USER };
	info->si_pid = (pid_t)sys_call(SYS_getpid, 0, 0, 0);
	info->si_uid = (uid_t)sys_call(SYS_getuid, 0, 0, 0);
}

int ctl_signal_send(struct ctl_thread *t, int number, const siginfo_t *info)
{
	struct ctl_thread *to = t ? t : taker(number ? number : 1);
	siginfo_t mine;

	if (number < 0 || number >= SIGNALS)
		return EINVAL;
	if (number == 0 || (to && !(to->sigmask & BIT(number)) && ignored(number)))
		return 0;
	if (!info)
		default_info(number, &mine);
	if (number == SIGKILL || number == SIGSTOP || (!to && !ctl.kernel_threads)) {
		ctl_outside_stale();
		return -(int)sys_call6(SYS_rt_sigqueueinfo, sys_call(SYS_getpid, 0, 0, 0), number,
				       (long)(info ? info : &mine), 0, 0, 0);
	}
	if (!put(number, t ? t->number : PROCESS, info ? info : &mine) && number >= SIGRTMIN)
		return EAGAIN;
	if (t)
		t->sigpending |= BIT(number);
	else
		shared |= BIT(number);
	wake(to);
	return 0;
}

/* The oldest of its kind, or one made from nothing (SIGPIPE). */
static void take(int number, const struct ctl_thread *t, bool own, siginfo_t *info)
{
	uint32_t target = own ? t->number : PROCESS, left = 0;
	uint64_t *bits = own ? &ctl.threads[t->number]->sigpending : &shared;
	struct sent *first = NULL;

	for (uint32_t i = 0; i < QUEUE; i++) {
		struct sent *s = &queue[i];

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

/* From the kernel, where it waits because all threads block it. */
static int take_blocked(uint64_t set, siginfo_t *info)
{
	struct timespec zero = { 0 };
	long got = sys_call6(SYS_rt_sigtimedwait, (long)&set, (long)info, (long)&zero,
			     sizeof(set), 0, 0);

	return got > 0 ? (int)got : 0;
}

int ctl_signal_take(uint64_t set, siginfo_t *info)
{
	struct ctl_thread *t = ctl_self();
	uint64_t mine = t->sigpending & set, all = shared & set;
	uint64_t from = __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) & set;
	int number;

	if (mine | all) {
		number = __builtin_ctzll(mine ? mine : all) + 1;
		take(number, t, mine != 0, info);
		return number;
	}
	if (from) {
		number = __builtin_ctzll(from) + 1;
		*info = arrived_info[number];
		__atomic_fetch_and(&arrived, ~BIT(number), __ATOMIC_RELEASE);
		return number;
	}
	return take_blocked(set, info);
}

uint64_t ctl_signal_pending(const struct ctl_thread *t, uint64_t set)
{
	uint64_t blocked = 0;

	sys_call(SYS_rt_sigpending, &blocked, sizeof(blocked), 0);
	return (t->sigpending | shared | __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) | blocked) &
	       set;
}

/* What nobody wants stays in the kernel. */
static void tell_kernel(void)
{
	uint64_t all = ~0ull;

	if (ctl.kernel_threads && ctl_self()->number != 0)
		return;
	for (uint32_t i = 0; i < ctl.count; i++)
		if (live(i))
			all &= ctl.threads[i]->sigmask;
	snarlrt_signals_set(all & ~BY_INSTRUCTION);
}

uint64_t ctl_sigmask_set(uint64_t mask)
{
	struct ctl_thread *t = ctl_self();
	uint64_t before = t->sigmask;

	mask &= ~(BIT(SIGKILL) | BIT(SIGSTOP));
	if (mask == before)
		return before;
	t->sigmask = mask;
	tell_kernel();
	wake_takers();
	return before;
}

void ctl_signal_born(struct ctl_thread *t, const struct ctl_thread *parent)
{
	t->sigpending = 0;
	if (parent)
		t->sigmask = parent->sigmask;
	else
		sys_call6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&t->sigmask, sizeof(t->sigmask),
			  0, 0);
}

void ctl_signal_gone(struct ctl_thread *t)
{
	t->sigpending = 0;
	for (uint32_t i = 0; order && i < QUEUE; i++)
		if (queue[i].target == t->number)
			queue[i].number = 0;
	tell_kernel();
	wake_takers();
}

void ctl_signal_forked(void)
{
	for (uint32_t i = 0; i < QUEUE; i++)
		queue[i].number = 0;
	shared = arrived = made_up = 0;
	ctl_self()->sigpending = 0;
	tell_kernel();
}

static void default_action(int number)
{
	uint64_t mask;

	if (BIT(number) & NO_EFFECT)
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

	while (unlikely(t->sigpending | shared) && (bits = due(t)) != 0) {
		int number = __builtin_ctzll(bits) + 1;
		struct ctl_signal_action a = ctl_signal_calls->action(number);
		siginfo_t info;

		take(number, t, t->sigpending & BIT(number), &info);
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
	ran = any;	/* handlers have points, at which others were delivered */
	restarts = all;
	began = now;
}

bool ctl_signal_broke(bool restartable)
{
	if (ctl_signal_due(ctl_self()))
		ctl_signal_deliver();
	return ran && !(restartable && restarts);
}

uint64_t ctl_signal_time(void)
{
	return began;
}

int ctl_signal_arrived(struct ctl_thread **target)
{
	uint64_t bits = __atomic_load_n(&arrived, __ATOMIC_ACQUIRE);

	for (; unlikely(bits); bits &= bits - 1) {
		int number = __builtin_ctzll(bits) + 1;

		if (made_up & BIT(number)) {
			made_up &= ~BIT(number);
			__atomic_fetch_and(&arrived, ~BIT(number), __ATOMIC_RELEASE);
			continue;
		}
		*target = taker(number);
		if (*target)
			return number;
	}
	return 0;
}

/* Children end when they end; what the handler asks of them must be true by then. */
static void await(int number)
{
	for (uint64_t ns = 0; ns < PATIENCE; ns += 1000000) {
		struct timespec nap = { .tv_nsec = 1000000 };

		if (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) & BIT(number))
			return;
		sys_call(SYS_nanosleep, &nap, 0, 0);
	}
}

void ctl_signal_accept(struct ctl_thread *t, int number)
{
	siginfo_t info;

	if (number < 1 || number >= SIGNALS)
		return;
	if (number == SIGCHLD)
		await(number);
	default_info(number, &info);
	if (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) & BIT(number)) {
		info = arrived_info[number];
		__atomic_fetch_and(&arrived, ~BIT(number), __ATOMIC_RELEASE);
	} else {
		made_up |= BIT(number);
	}
	put(number, t->number, &info);
	t->sigpending |= BIT(number);
	wake(t);
}
