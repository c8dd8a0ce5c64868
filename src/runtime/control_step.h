/*
 * Between control.c, which asks who is next, and control_step.c, which counts and
 * looks at what happened.
 */
#ifndef RUNTIME_CONTROL_STEP_H
#define RUNTIME_CONTROL_STEP_H

#include "runtime/control_outside.h"
#include "sched/exact.h"

#define PAGE_RECORDS 256u

/*
 * One page for all: it is read before another thread goes on. 4096-aligned, because
 * that is how the hooks know its end.
 */
extern SNARLRT_HIDDEN struct trace_record ctl_page[PAGE_RECORDS];

static inline struct trace_record *page_end(void)
{
	return ctl_page + PAGE_RECORDS;
}

static inline struct trace_record *here(const struct ctl_thread *t)
{
	return t->tls->cur ? t->tls->cur : t->tls->saved;
}

static inline uint64_t remaining(const struct ctl_thread *t)
{
	uint64_t room = (uint64_t)(page_end() - here(t));

	return t->left > SCHED_NO_LIMIT - room ? SCHED_NO_LIMIT : t->left + room;
}

static inline void grant(struct ctl_thread *t, uint64_t steps)
{
	uint64_t room = steps < PAGE_RECORDS - 1 ? steps : PAGE_RECORDS - 1;

	t->left = steps == SCHED_NO_LIMIT ? steps : steps - room;
	t->granted = t->tls->cur = page_end() - room;
}

static inline void count_steps(struct ctl_thread *t, uint64_t n)
{
	t->steps += n;
	ctl.steps += n;
	ctl.now += n * CTL_STEP_NS;
}

/* What is in the page, if anything. */
static inline void account(struct ctl_thread *t)
{
	if (here(t) != t->granted)
		ctl_account(t);
}

#define STILL 64u		/* events without change that count as spinning */

/* Since the last time it said so. */
static inline bool is_spinning(struct ctl_thread *t)
{
	if (likely(t->still < STILL))
		return false;
	t->still = 0;
	t->idle = t->progress == ctl.progress ? t->idle + 1 : 0;
	t->progress = ctl.progress;
	return true;
}

/* Following an exact schedule? */
static inline bool is_exact(void)
{
	return ctl.strategy == &strategy_exact;
}

/* control_turn.c: the turn log, an exact schedule of the run, and whether it is the plan's. */
SNARLRT_HIDDEN void ctl_turn_log(uint64_t name, uint32_t kind, uint64_t steps, uint32_t check);
SNARLRT_HIDDEN void ctl_turn_end(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_diverged(const char *text);

/* With CTL_HASH: an event of the current thread, into the hash and against the plan. */
SNARLRT_HIDDEN void ctl_hash_event(uint64_t object, uint64_t site, uint64_t value);

#endif
