/*
 * The fast path: a scheduling point at which only the strategy has to be asked.
 *
 * Mostly nothing happens between two points that matters to other threads: no deadline comes, no
 * signal is pending, no thread becomes runnable or blocked. Then the set of runnable threads is
 * known from the last point. The full path (point.c) finds out whether this holds and up to which
 * step: ctl_fast_path_begin(). Whatever ends it earlier calls ctl_fast_path_end().
 *
 * Both paths have the same meaning, step by step. A schedule found on the fast path replays on the
 * full path; only the full path checks, hashes and records.
 */
#include "abi/mix.h"
#include "runtime/control/context_switch.h"
#include "runtime/control/step.h"
#include "runtime/core/sys.h"

/* The point that is passed to the strategy: most fields stay the same on the fast path. */
static struct sched_point fast_point;

/* The number of steps until the virtual clock shows `when`, which is in the future. */
static uint64_t steps_until(uint64_t when)
{
	return (when - ctl.now - 1) / CTL_STEP_NS + 1;
}

void ctl_fast_path_begin(const struct sched_point *point, uint64_t next_deadline)
{
	uint64_t until = ctl.block->request.max_steps;

	ctl.fast_until = 0;
	if (ctl.kernel_threads || ctl_records() || ctl.private_child || ctl.proving || is_exact() ||
	    is_following() || ctl.flags & (CTL_OBSERVE | CTL_TIMEOUTS | CTL_SNAPSHOT) ||
	    ctl_signal_any() || next_deadline <= ctl.now)
		return;
	if (!until)
		until = SCHED_NO_LIMIT;
	if (next_deadline != CTL_NEVER && steps_until(next_deadline) < until - ctl.steps)
		until = ctl.steps + steps_until(next_deadline);
	fast_point = *point;
	fast_point.runs = true;
	fast_point.yields = false;
	fast_point.spin_rounds = 0;
	ctl.fast_until = until;
	/* A signal may have come before fast_until was set: its ctl_fast_path_end() is lost. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ctl_signal_any())
		ctl_fast_path_end();
}

/*
 * Stores size, op and pad as one word. Compilers copy an event with wide loads, which stall on
 * preceding narrow stores to the same bytes.
 */
static inline void store_event(struct sched_event *e, enum sched_op op, uint64_t object,
			     uint64_t size, uint64_t site)
{
	uint64_t rest = (size < UINT32_MAX ? size : UINT32_MAX) | (uint64_t)op << 32;

	e->object = object;
	e->site = site;
	__builtin_memcpy(&e->size, &rest, sizeof(rest));
}

/* The conditions of stop_at_point() in point.c that change from step to step. */
static inline bool fast_path_applies(const struct ctl_thread *t, const struct snarlrt_tls *tls)
{
	return ctl.steps < ctl.fast_until && tls->cur == page_end() && t->processed == page_end() &&
	       !t->steps_beyond_page && t->unchanged_events < SPIN_EVENTS &&
	       t->steps - t->turn_began < FAIRNESS_STEPS;
}

static inline struct ctl_thread *choose_next(const struct ctl_thread *t)
{
	struct sched_choice c = { 0, 1 };
	struct ctl_thread *next;

	fast_point.step = ctl.steps;
	fast_point.running = t->number;
	ctl.strategy->pick(ctl.state, &fast_point, &c);
	if (unlikely(c.thread >= ctl.count || !c.steps))
		sys_die("a strategy chose a thread that cannot run");
	next = ctl.threads[c.thread];
	grant_steps(next, c.steps - 1);
	return next;
}

/* Ends the turn and switches, as reschedule() in point.c does, but without hashes. */
static inline void switch_to(struct ctl_thread *t, struct ctl_thread *next)
{
	struct ctl_report *r = &ctl.block->report;

	ctl_turn_log(t, SCHED_TURN_RUN, t->steps - t->turn_began, 0);
	ctl.hash = (ctl.hash ^ t->name) * MIX_FACTOR;
	t->turn_began = t->steps;
	r->switches++;
	r->thread = next->number;
	ctl.current = next;
	context_jump_saved(t, next);
}

/* The thread goes on after a change: handles signals and cancellation, as ctl_wait() does. */
static __attribute__((noinline, cold)) void resume_after_change(struct ctl_thread *t)
{
	struct ctl_wait w = t->default_wait;

	ctl_resume(t, &w);
}

static inline __attribute__((always_inline)) void
fast_step(struct ctl_thread *t, enum sched_op op, uint64_t object, uint64_t size, uint64_t site)
{
	struct ctl_thread *next;

	context_save_fp_control(t);	/* first, because it has a long latency */
	store_event(&t->default_wait.event, op, object, size, site);
	store_event(&ctl.pending[t->number], op, object, size, site);
	t->wait = &t->default_wait;
	next = choose_next(t);
	if (next != t)
		switch_to(t, next);
	t->wait = NULL;
	count_steps(t, 1);
	if (unlikely(!ctl.fast_until || t->cancel_pending))
		resume_after_change(t);
}

bool ctl_step_fast(enum sched_op op, uint64_t object, uint64_t size, uint64_t site)
{
	struct ctl_thread *t = ctl.current;

	account_page(t);
	if (unlikely(!fast_path_applies(t, t->tls) || op == SCHED_OP_YIELD))
		return false;
	fast_step(t, op, object, size, site);
	return true;
}

/* The fast path of ctl_access_slow(). */
void ctl_access(uint64_t addr, uint64_t size, uint64_t site)
{
	struct ctl_thread *t = ctl.current;
	bool reads = is_read(site);

	if (unlikely(!fast_path_applies(t, &__snarl_tls) || !known_shared(addr, size))) {
		ctl_access_slow(addr, size, site);
		return;
	}
	fast_step(t, reads ? SCHED_OP_READ : SCHED_OP_WRITE, addr, size, site & TRACE_ADDR_MASK);
	if (likely(!reads && ctl.fast_until && known_shared(addr, size)))
		mark_progress(t);
	else
		ctl_accessed(addr, size, site);
}
