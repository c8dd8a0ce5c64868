/*
 * A forked child borrows the run: test runners fork a child for each test, and its threads are the
 * ones that matter.
 *
 * While the child has the run, its parent stands in fork(). The child goes on with the run's
 * strategy, turn log and report, so its threads are part of the schedule, with numbers and names
 * of their own. It gives the run back when it ends. The parent then has to know what the child
 * added: struct ctl_handover (abi/control_block.h).
 *
 * The parent must not be missed meanwhile. So only a process with one thread lends its run, and a
 * child that waits for the world outside, sleeps for long or executes another program gives the
 * run back early and goes on alone, uncontrolled.
 *
 * Memory is copied by the fork. What the child does is therefore in no trace and no coverage.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/wait.h>

#include "runtime/control/step.h"
#include "runtime/control/watchdog.h"
#include "runtime/core/sys.h"

#define LOOK_NS 5000000		/* between two looks if the other process has died */
#define THREADS_LEFT 128u	/* thread numbers kept for the parent */
/* Real time that a child may wait and keep the run; half as much after each one that did not. */
#define WAIT_WORLD_NS 50000000ull
#define WAIT_CHILD_NS 1000000000ull	/* the same while it has a child itself */
#define SLEEP_MOST_NS 10000000000ull	/* virtual time that a child may sleep in all */

static bool lending;		/* fork() is under way, and the child is to borrow the run */
static uint32_t forking;	/* number of the thread that forks */
static uint32_t lender;		/* pid of the parent if this process borrowed the run */
static uint32_t forked;		/* number of the thread that the parent forked this process in */
static uint64_t slept;		/* virtual time that this child slept */
static uint32_t alone;		/* children that gave the run back early, so far */

static uint32_t own_pid(void)
{
	return (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
}

static uint32_t live_threads(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ctl.count; i++)
		n += ctl.threads[i]->state == CTL_LIVE;
	return n;
}

/* `thread`: the number of the thread that both processes have, at the fork between them. */
static void save_state(uint32_t thread)
{
	struct ctl_handover *h = &ctl.block->handover;
	const struct ctl_thread *t = ctl.threads[thread];

	ctl_last_turn();
	h->threads = ctl.count;
	h->children = t->children;
	h->alone = alone;
	h->thread_steps = t->steps;
	h->steps = ctl.steps;
	h->now = ctl.now;
	h->turn_words = ctl.turn_words;
	h->hash = ctl.hash;
	h->turn_hash = ctl.turn_hash;
	h->events_hashed = ctl.events_hashed;
	h->progress = ctl.progress;
	for (uint32_t i = 0; i < ctl.count; i++)
		ctl.block->report.events[i] = ctl.threads[i]->steps;
}

static void load_state(void)
{
	const struct ctl_handover *h = &ctl.block->handover;
	struct ctl_thread *t = ctl.threads[forking];

	t->children = h->children;
	alone = h->alone;
	t->steps = t->turn_began = h->thread_steps;
	ctl.steps = h->steps;
	ctl.now = h->now;
	ctl.turn_words = h->turn_words;
	ctl.hash = h->hash;
	ctl.turn_hash = h->turn_hash;
	ctl.events_hashed = h->events_hashed;
	ctl.progress = h->progress;
	while (ctl.count < h->threads)
		ctl_thread_of_child();
	ctl.block->report.thread = t->number;
	ctl_reschedule_next_step();
}

static void give(uint32_t to, uint32_t thread)
{
	uint32_t *owner = &ctl.block->handover.owner;

	save_state(thread);
	/* Pairs with the load in take(). */
	__atomic_store_n(owner, to, __ATOMIC_RELEASE);
	sys_call6(SYS_futex, (long)owner, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

/* Waits until this process has the run. Returns false if the other process has died before. */
static bool take(bool (*other_died)(uint32_t), uint32_t other)
{
	uint32_t *owner = &ctl.block->handover.owner, self = own_pid(), has;

	while ((has = __atomic_load_n(owner, __ATOMIC_ACQUIRE)) != self) {
		struct timespec look = { .tv_nsec = LOOK_NS };

		if (other_died(other))
			return __atomic_load_n(owner, __ATOMIC_ACQUIRE) == self;
		sys_call6(SYS_futex, (long)owner, FUTEX_WAIT, has, (long)&look, 0, 0);
	}
	return true;
}

static bool child_died(uint32_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return sys_call6(SYS_waitid, P_PID, pid, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0, 0) <
		       0 || info.si_pid != 0;
}

static bool parent_died(uint32_t pid)
{
	return (uint32_t)sys_call(SYS_getppid, 0, 0, 0) != pid;
}

bool ctl_lend_begin(void)
{
	lending = ctl_on() && !ctl.private_child && live_threads() == 1 &&
		  ctl.count + THREADS_LEFT < SCHED_MAX_THREADS;
	forking = ctl.current->number;
	if (lending) {
		save_state(forking);
		__atomic_store_n(&ctl.block->handover.owner, own_pid(), __ATOMIC_RELEASE);
	}
	return lending;
}

bool ctl_borrow(void)
{
	if (!lending)
		return false;
	lending = false;
	forked = forking;
	lender = (uint32_t)sys_call(SYS_getppid, 0, 0, 0);
	ctl.borrowed = true;
	slept = 0;
	if (!take(parent_died, lender))
		for (;;)
			sys_call(SYS_exit_group, CTL_STATUS, 0, 0);
	ctl.tracing = ctl.values = false;
	ctl.profile = NULL;
	ctl_uncontrolled_forked();
	load_state();
	ctl_watchdog_begin();	/* the child does not inherit the parent's timer */
	return true;
}

/* The run is over: the child failed in a way that is the run's failure. */
static void end_after_child(void)
{
	if (ctl.tracing)
		ctl_trace_finish(CTL_STATUS);
	ctl.ended = true;
	for (;;)
		sys_call(SYS_exit_group, CTL_STATUS, 0, 0);
}

void ctl_lend_end(int pid)
{
	struct ctl_report *r = &ctl.block->report;
	int *error = &errno, saved = *error;

	if (!lending || pid == 0)
		return;
	lending = false;
	if (pid < 0)
		return;
	give((uint32_t)pid, forking);
	take(child_died, (uint32_t)pid);
	__atomic_store_n(&ctl.block->handover.owner, own_pid(), __ATOMIC_RELEASE);
	if (r->outcome != CTL_RUNNING)
		end_after_child();
	/* A signal that killed the child is for the program to judge, and tests may expect it. */
	r->signal = 0;
	r->pc = r->object = 0;
	load_state();
	*error = saved;
}

void ctl_borrowed_crash(void)
{
	if (ctl.borrowed)
		save_state(forked);
}

void ctl_give_back(void)
{
	if (!ctl.borrowed)
		return;
	ctl.borrowed = false;
	give(lender, forked);
}

void ctl_go_alone(void)
{
	uint32_t threads = live_threads();

	alone++;
	ctl_watchdog_end();
	ctl_give_back();
	ctl_become_private();
	for (uint32_t i = 1; i < threads; i++)
		ctl_uncontrolled_thread(NULL);
}

uint64_t ctl_borrowed_patience(bool child)
{
	if (child)
		return WAIT_CHILD_NS;
	return WAIT_WORLD_NS >> (alone < 32 ? alone : 32);
}

bool ctl_borrowed_sleep(uint64_t ns)
{
	slept += ns;
	return slept <= SLEEP_MOST_NS;
}
