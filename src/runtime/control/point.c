/*
 * Scheduling points: where a thread under control stops, and which thread runs next.
 *
 * A thread that spins lets other threads go first. If all runnable threads have spun for
 * TIME_PASSES_ROUNDS rounds, virtual time advances to the next deadline. If there is none and all
 * of them are proven to be in a cycle (spin_proof.h), the run fails as a hang. Points that need
 * only the strategy's choice take the fast path (point_fast.c).
 */
#include <errno.h>
#include <signal.h>

#include "runtime/control/single_step.h"
#include "runtime/control/spin_proof.h"
#include "runtime/control/step.h"
#include "runtime/control/watchdog.h"
#include "runtime/core/sys.h"

#define DEBUG_HANG_ROUNDS 2000u	/* rounds of spinning that are a hang under a debugger */
#define EXTERNAL_WAIT_NS 500000000u	/* real time for the outside world before a time-out */
#define SPINNING_WAIT_NS 1000000u	/* real time for them while all other threads spin */
#define SHARED_NAP_NS 1000000u	/* between two looks at objects in shared memory */
#define SPIN_NAP_NS 200000u	/* real and virtual time that spinning threads give to a child */

struct ctl ctl;

void ctl_reschedule_next_step(void)
{
	struct ctl_thread *t = ctl.current;

	ctl_account(t);
	grant_steps(t, 0);
	ctl_fast_path_end();
}

/* Grants steps without a question. With CTL_DEBUG, values or a proof each still comes to C. */
static void grant_choice(struct ctl_thread *t, uint64_t steps)
{
	if (likely(!(ctl.flags & CTL_DEBUG) && !ctl.values && !ctl.proving)) {
		grant_steps(t, steps);
		return;
	}
	grant_steps(t, 0);
	t->steps_beyond_page = steps;
}

static bool is_ready(struct ctl_thread *t)
{
	struct ctl_wait *w = t->wait;

	if (w->cancel_point && t->cancel_pending && !t->cancel_disabled)
		w->cancelled = true;
	if (unlikely(ctl_signal_due(t))) {
		w->interrupted = w->interruptible;
		return true;
	}
	return w->cancelled || w->expired || w->interrupted || !w->ready || w->ready(w);
}

void ctl_changed(const void *object)
{
	bool became_runnable = false;

	for (uint32_t i = 0; i < ctl.count; i++) {
		struct ctl_thread *t = ctl.threads[i];
		bool before = t->runnable;

		if (t->state != CTL_LIVE || !t->wait)
			continue;
		if (t->wait->event.object != (uint64_t)(uintptr_t)object &&
		    t->wait->second_object != object)
			continue;
		t->runnable = is_ready(t);
		became_runnable |= t->runnable && !before;
		if (t->runnable != before)
			ctl_fast_path_end();
	}
	if (became_runnable) {
		ctl.progress++;
		ctl_reschedule_next_step();
	}
}

static void expire(struct ctl_thread *t, bool log)
{
	if (log) {
		ctl_turn_end(ctl.current);
		ctl_turn_log(t, SCHED_TURN_EXPIRE, 0, 0);
	}
	if (ctl.now < t->wait->deadline)
		ctl.now = t->wait->deadline;
	t->wait->expired = true;
	t->runnable = true;
	ctl_fast_path_end();
}

static struct ctl_thread *thread_with_next_deadline(void)
{
	struct ctl_thread *best = NULL;

	for (uint32_t i = 0; ctl.timed_waits && i < ctl.count; i++) {
		struct ctl_thread *t = ctl.threads[i];

		if (t->state == CTL_LIVE && t->wait && !t->runnable &&
		    t->wait->deadline != CTL_NEVER &&
		    (!best || t->wait->deadline < best->wait->deadline))
			best = t;
	}
	return best;
}

static struct ctl_thread *live_thread_named(uint64_t name)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i]->name == name && ctl.threads[i]->state == CTL_LIVE)
			return ctl.threads[i];
	return NULL;
}

static size_t collect_runnable(uint32_t *runnable)
{
	size_t n = 0;

	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i]->state == CTL_LIVE && ctl.threads[i]->runnable)
			runnable[n++] = i;
	return n;
}

/* The number of rounds that `t` has spun without any progress. */
static uint32_t rounds_of(const struct ctl_thread *t)
{
	if (unlikely(t->silence != CTL_NOT_SILENT))
		return t->silence == CTL_SILENT ? TIME_PASSES_ROUNDS : UINT32_MAX;
	return t->spin_progress == ctl.progress ? t->spin_rounds : 0;
}

/* The number of rounds that all runnable threads have spun at least. */
static uint32_t rounds_of_all(const uint32_t *runnable, size_t count)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		uint32_t rounds = rounds_of(ctl.threads[runnable[i]]);

		if (rounds < least)
			least = rounds;
	}
	return least;
}

/* The program's threads spin, and no time-out is pending. Is it for ever? */
static bool is_hang(const uint32_t *runnable, size_t count, uint32_t rounds)
{
	if (ctl_external_any_waiter())
		return false;
	/* The debugger uses single steps itself. It replays what was proven to hang. */
	if (unlikely(ctl.flags & CTL_DEBUG))
		return rounds >= DEBUG_HANG_ROUNDS && !is_following();
	return spin_proof_done(runnable, count, rounds);
}

static void fail_deadlock(void)
{
	struct sched_point p = {
		.step = ctl.steps,
		.running = ctl.current->number,
		.threads = ctl.count,
		.pending = ctl.pending,
		.name = ctl.name,
	};

	if (ctl.strategy->stuck)
		ctl.strategy->stuck(ctl.state, &p);
	ctl_fail(CTL_FAIL_DEADLOCK, NULL, NULL, NULL, NULL, "no thread can go on");
}

static void fire_timer(bool log)
{
	struct ctl_thread *t = ctl_signal_receiver(SIGALRM);

	if (log && t) {
		ctl_turn_end(ctl.current);
		ctl_turn_log(t, SCHED_TURN_SIGNAL, SIGALRM, 0);
	}
	if (ctl.now < ctl_timers_next())
		ctl.now = ctl_timers_next();
	ctl_timers_due();
}

static bool timer_is_next(const struct ctl_thread *t)
{
	uint64_t timer = ctl_timers_next();

	return timer != CTL_NEVER && (!t || timer <= t->wait->deadline);
}

/*
 * Advances time to the next time-out or timer, which fires. Returns false: there is none. With
 * `log` the schedule says so, because the outside world might have been faster.
 */
static bool advance_to_next_deadline(bool log)
{
	struct ctl_thread *t = thread_with_next_deadline();

	if (timer_is_next(t)) {
		fire_timer(log);
		return true;
	}
	if (t)
		expire(t, log);
	return t != NULL;
}

/* The virtual time of the next time-out or timer; CTL_NEVER: there is none. */
static uint64_t next_deadline(void)
{
	struct ctl_thread *t = thread_with_next_deadline();
	uint64_t timer = ctl_timers_next();

	return t && t->wait->deadline < timer ? t->wait->deadline : timer;
}

/*
 * The real time for the outside world: as much as is left to the next deadline. A time-out that
 * no other process can prevent need not be waited for that long.
 */
static uint64_t external_wait_limit(enum ctl_outside waiters, bool child)
{
	uint64_t until = next_deadline();
	bool watchdog = waiters == CTL_OUTSIDE_WORLD && timer_is_next(thread_with_next_deadline());

	until = until > ctl.now ? until - ctl.now : 0;
	return child || watchdog || until < EXTERNAL_WAIT_NS ? until : EXTERNAL_WAIT_NS;
}

/* May another process change memory that this one shares with it? */
static bool shared_memory_may_change(bool child)
{
	return (child || ctl.private_child) && ctl_has_shared_mapping();
}

/*
 * As ctl_external_block(), for waits on objects in shared memory: asks all threads again and again
 * whether they are ready.
 */
static bool block_on_shared_memory(uint64_t ns)
{
	for (uint64_t waited = 0; waited < ns; waited += SHARED_NAP_NS) {
		bool came = ctl_external_block(SHARED_NAP_NS);

		for (uint32_t i = 0; i < ctl.count; i++) {
			struct ctl_thread *t = ctl.threads[i];

			if (t->state == CTL_LIVE && t->wait)
				came |= t->runnable = is_ready(t);
		}
		if (came)
			return true;
	}
	return false;
}

/*
 * No thread of a child that borrowed the run is runnable. If its parent might have to do something,
 * the run goes back to it. Returns true if anything changed. A child of this child may take a while
 * to end.
 */
static bool look_after_parent(enum ctl_outside waiters, bool child)
{
	uint64_t next = next_deadline(), left = next > ctl.now ? next - ctl.now : 0;
	uint64_t wait = ctl_borrowed_patience(child);
	bool missed, outside = waiters != CTL_OUTSIDE_NOTHING;

	if (waiters == CTL_OUTSIDE_WORLD && left <= wait)
		return false;
	if (waiters == CTL_OUTSIDE_WORLD && ctl_external_block(wait))
		return true;
	missed = outside || (next == CTL_NEVER ? ctl_has_shared_mapping() :
						 !ctl_borrowed_sleep(left));
	if (missed)
		ctl_go_alone();
	return missed;
}

/* No thread is runnable: advances time, waits for the kernel, or reports a deadlock. */
static void wait_until_some_can_run(void)
{
	enum ctl_outside waiters = ctl_external_waiters();
	bool child = ctl_external_child_lives(), outside = waiters != CTL_OUTSIDE_NOTHING;
	bool shared = shared_memory_may_change(child), never = next_deadline() == CTL_NEVER;
	uint64_t limit = never ? CTL_NEVER : external_wait_limit(waiters, child || shared);

	if (unlikely(ctl.borrowed) && look_after_parent(waiters, child))
		return;
	if (unlikely(shared)) {
		if (block_on_shared_memory(limit))
			return;
	} else if (outside || (child && !never)) {
		if (ctl_external_block(limit))
			return;
	}
	if (!advance_to_next_deadline(outside || shared))
		fail_deadlock();
}

/* Delivers a signal from another process to `t` here and logs it. */
static void accept_signal(struct ctl_thread *t, int number)
{
	ctl_turn_end(ctl.current);
	ctl_turn_log(t, SCHED_TURN_SIGNAL, (uint64_t)number, 0);
	ctl_signal_accept(t, number);
}

/* A replay ends as diverged. A strategy that only begins with the plan drops the rest of it. */
static bool cannot_follow(const char *text)
{
	if (is_exact())
		ctl_diverged(text);
	exact_end(ctl.state);
	return false;
}

/*
 * Executes the plan's next time-out or signal if it is due, or waits for a thread of the plan that
 * waits for the kernel. Returns true if it did something.
 */
static bool follow_plan(void)
{
	const struct sched_turn *turn = exact_due(ctl.state, ctl.steps);
	struct ctl_thread *t;

	if (turn && turn->kind == SCHED_TURN_EXPIRE) {
		t = live_thread_named(turn->name);
		if (!t || !t->wait || t->wait->deadline == CTL_NEVER)
			return cannot_follow("the schedule expires a wait that has no time-out");
		exact_advance(ctl.state);
		expire(t, true);
		return true;
	}
	if (turn && turn->kind == SCHED_TURN_SIGNAL) {
		t = live_thread_named(turn->name);
		if (!t)
			return cannot_follow("the schedule signals a thread that has ended");
		exact_advance(ctl.state);
		if (turn->steps == SIGALRM && ctl_timers_next() != CTL_NEVER)
			fire_timer(true);
		else
			accept_signal(t, (int)turn->steps);
		return true;
	}
	t = live_thread_named(exact_wants(ctl.state, ctl.steps));
	if (t && t->wait && t->wait->external && !t->runnable && !ctl.borrowed &&
	    ctl_external_any_waiter()) {
		ctl_external_block(CTL_NEVER);
		return true;
	}
	return false;
}

static void expire_due(void)
{
	struct ctl_thread *t;

	if (ctl_timers_next() <= ctl.now)
		ctl_timers_due();
	while ((t = thread_with_next_deadline()) && t->wait->deadline <= ctl.now)
		expire(t, false);
}

/*
 * All runnable threads spin, and another process may be what they spin for: as much time passes as
 * that process really gets. Returns false if there is none.
 */
static bool wait_for_others(void)
{
	bool child = ctl_external_child_lives();

	if (ctl.borrowed && ctl_has_shared_mapping())
		ctl_go_alone();
	if (!child && !shared_memory_may_change(false))
		return false;
	ctl_external_block(SPIN_NAP_NS);
	if (next_deadline() != CTL_NEVER)	/* else only the outside world decides how often */
		ctl.now += SPIN_NAP_NS;
	expire_due();
	return true;
}

static size_t find_runnable(uint32_t *runnable)
{
	struct ctl_thread *t;
	uint32_t rounds;
	size_t count;
	int number;

	for (;;) {
		expire_due();
		ctl_external_probe();
		if (is_following()) {
			if (follow_plan())
				continue;
		} else if ((number = ctl_signal_arrived(&t)) != 0) {
			accept_signal(t, number);
		}
		count = collect_runnable(runnable);
		if (!count) {
			wait_until_some_can_run();
			continue;
		}
		rounds = rounds_of_all(runnable, count);
		if (rounds < TIME_PASSES_ROUNDS)
			return count;
		if (wait_for_others())
			;	/* time has passed */
		else if (next_deadline() != CTL_NEVER)
			/* Logged: a replay counts rounds of spinning only where its turns end. */
			advance_to_next_deadline(true);
		else if (!is_following() && ctl_external_any_waiter())
			ctl_external_block(SPINNING_WAIT_NS);
		else if (is_hang(runnable, count, rounds))
			ctl_fail(CTL_FAIL_HANG, NULL, NULL, NULL, NULL,
				 "threads run, but make no progress");
		return collect_runnable(runnable);
	}
}

/*
 * With CTL_TIMEOUTS: lets the next time-out expire early with probability 1/16. A strategy that
 * enumerates schedules decides between both cases.
 */
static void maybe_expire_early(void)
{
	const struct strategy *s = ctl.strategy;

	if (is_following() || !s->choose || !thread_with_next_deadline())
		return;
	if (s->choose(ctl.state, s->end ? 2 : 16) == 1)
		expire(thread_with_next_deadline(), true);
}

static struct ctl_thread *choose_next(struct ctl_thread *t, bool yields, uint64_t *steps)
{
	struct sched_choice c = { 0, 1 };
	struct sched_point p = {
		.step = ctl.steps,
		.running = t->number,
		.yields = yields,
		.spin_rounds = yields && t->spin_progress == ctl.progress ? t->spin_rounds : 0,
		.runnable = ctl.runnable,
		.threads = ctl.count,
		.pending = ctl.pending,
		.name = ctl.name,
		.context = ctl_call_stack_hash,
	};

	if (ctl.flags & CTL_TIMEOUTS)
		maybe_expire_early();
	p.count = find_runnable(ctl.runnable);
	p.runs = t->state == CTL_LIVE && t->runnable;
	ctl_fast_path_begin(&p, next_deadline());
	ctl.strategy->pick(ctl.state, &p, &c);
	if (is_exact() && exact_lost(ctl.state, &ctl.block->report.turn))
		ctl_diverged("the thread whose turn it is cannot run");
	if (c.thread >= ctl.count || !ctl.threads[c.thread]->runnable || !c.steps)
		sys_die("a strategy chose a thread that cannot run");
	*steps = c.steps;
	return ctl.threads[c.thread];
}

static void check_limits(void)
{
	const struct ctl_request *q = &ctl.block->request;

	if (q->max_steps && ctl.steps > q->max_steps && !ctl.private_child)
		ctl_end_run(CTL_STEPS);
	if (ctl.flags & CTL_SNAPSHOT && ctl.steps >= q->stop_at && !ctl.private_child) {
		ctl.flags &= ~CTL_SNAPSHOT;
		ctl_serve();
	}
}

/* Asks the strategy and switches to its choice. Returns when `t` runs again, if ever. */
static void reschedule(struct ctl_thread *t, bool yields)
{
	struct ctl_thread *next;
	uint64_t steps;

	check_limits();
	next = choose_next(t, yields, &steps);
	grant_choice(next, steps - 1);
	if (next == t)
		return;
	ctl_turn_end(t);
	ctl.block->report.switches++;
	ctl.block->report.thread = next->number;
	ctl.current = next;
	if (unlikely(ctl.flags & CTL_DEBUG))
		snarlrt_debug_switch(t, next);
	if (t->state == CTL_DONE)
		context_switch_from_ended(t, next);
	else
		context_switch(t, next);
}

void ctl_reschedule_ended(struct ctl_thread *t)
{
	reschedule(t, false);
}

/* Has the thread taken FAIRNESS_STEPS steps in a row? Then others go first once. */
static bool exceeds_fairness_limit(struct ctl_thread *t)
{
	uint64_t since = t->fairness_from > t->turn_began ? t->fairness_from : t->turn_began;

	if (t->steps - since < FAIRNESS_STEPS)
		return false;
	t->fairness_from = t->steps;
	return true;
}

/* Stops at `w` until the thread is chosen and `w` is ready. */
static void stop_at_point(struct ctl_thread *t, struct ctl_wait *w)
{
	bool yields = w->event.op == SCHED_OP_YIELD, timed = w->deadline != CTL_NEVER;
	uint64_t remaining;

	ctl_fast_path_end();
	single_step_end();
	account_page(t);
	if (ctl.tracing)
		ctl_trace_frames(t);
	t->silence = CTL_NOT_SILENT;
	yields |= is_spinning(t);
	yields |= exceeds_fairness_limit(t);
	if (unlikely(ctl.proving && spin_proof_stop(t)))
		yields = true;
	else
		ctl.silent_epoch++;
	w->thread = t->number;
	t->wait = w;
	ctl.pending[t->number] = w->event;
	if (w->hide_site)
		ctl.pending[t->number].site = 0;
	t->runnable = is_ready(t);
	ctl.timed_waits += timed;
	remaining = steps_remaining(t);
	if (t->runnable && remaining && !yields)
		grant_choice(t, remaining - 1);
	else
		reschedule(t, yields);
	ctl.timed_waits -= timed;
	t->wait = NULL;
	count_steps(t, 1);
}

/*
 * Runs due handlers before the thread returns from `w`, since they may invalidate what it waited
 * for. Returns true if it must stop at `w` again.
 */
static bool handlers_ran(struct ctl_thread *t, const struct ctl_wait *w)
{
	if (likely(!ctl_signal_due(t)))
		return false;
	ctl_signal_deliver();
	return !w->interrupted && !w->cancelled && !w->expired;
}

void ctl_resume(struct ctl_thread *t, struct ctl_wait *w)
{
	int *error = &errno, saved = *error;

	while (unlikely(handlers_ran(t, w)))
		stop_at_point(t, w);
	*error = saved;
	if (t->cancel_async && t->cancel_pending && !t->cancel_disabled)
		ctl_cancel_act();
}

void ctl_wait(struct ctl_wait *w)
{
	struct ctl_thread *t = ctl.current;
	int *error = &errno, saved = *error;

	stop_at_point(t, w);
	*error = saved;
	ctl_resume(t, w);
	if (unlikely(ctl.flags & CTL_DEBUG))
		snarlrt_debug_step(t, w);
	if (unlikely(ctl.proving))
		spin_proof_resume(t);
}

void ctl_yield_silent(uint64_t pc, bool spins)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_YIELD, NULL, NULL, pc);
	struct ctl_thread *t = ctl.current;

	ctl_fast_path_end();
	account_page(t);
	w.thread = t->number;
	t->wait = &w;
	t->silence = spins ? CTL_SPINS_SILENTLY : CTL_SILENT;
	t->silence_epoch = ctl.silent_epoch;
	ctl.pending[t->number] = w.event;
	ctl.pending[t->number].site = 0;	/* the event is in no trace */
	t->runnable = is_ready(t);
	reschedule(t, true);
	t->wait = NULL;
	if (ctl_signal_due(t))
		ctl_signal_deliver();
	if (t->cancel_async && t->cancel_pending && !t->cancel_disabled)
		ctl_cancel_act();
}

void ctl_started(struct ctl_thread *t)
{
	if (unlikely(ctl.flags & CTL_DEBUG))
		snarlrt_debug_step(t, &t->default_wait);
	count_steps(t, 1);
}

void ctl_last_turn(void)
{
	ctl_account(ctl.current);
	ctl_turn_end(ctl.current);
}

void ctl_step(enum sched_op op, uint64_t object, uint64_t size, uint64_t site)
{
	struct ctl_wait w;

	if (likely(ctl_step_fast(op, object, size, site)))
		return;
	w = (struct ctl_wait)CTL_WAIT(op, object, NULL, site);
	w.event.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	ctl_wait(&w);
}

void ctl_point(enum sched_op op, const void *object, const void *pc)
{
	ctl_step(op, (uint64_t)(uintptr_t)object, 1, (uint64_t)(uintptr_t)pc);
}

uint32_t ctl_choose_thread(const uint32_t *candidates, uint32_t count)
{
	uint32_t i = 0;

	if (count == 1)
		return candidates[0];
	if (is_following()) {
		const struct sched_turn *turn = exact_peek(ctl.state);

		if (turn && turn->kind == SCHED_TURN_WAKE) {
			while (i < count && ctl.name[candidates[i]] != turn->name)
				i++;
			exact_advance(ctl.state);
		}
		if (i == count) {
			cannot_follow("the schedule wakes a thread that does not wait");
			i = 0;
		}
	} else if (ctl.strategy->wake) {
		uint64_t names[SCHED_MAX_THREADS];

		for (uint32_t k = 0; k < count; k++)
			names[k] = ctl.name[candidates[k]];
		i = ctl.strategy->wake(ctl.state, names, count);
	} else if (ctl.strategy->choose) {
		i = ctl.strategy->choose(ctl.state, count);
	}
	ctl_turn_end(ctl.current);
	ctl_turn_log(ctl.threads[candidates[i]], SCHED_TURN_WAKE, 0, 0);
	return candidates[i];
}
