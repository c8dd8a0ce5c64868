/*
 * Between control.c, which asks who is next, and control_step.c, which counts and
 * looks at what happened.
 */
#ifndef RUNTIME_CONTROL_STEP_H
#define RUNTIME_CONTROL_STEP_H

#include "runtime/control.h"

#define PAGE_RECORDS 256u

static inline struct trace_record *page_end(const struct ctl_thread *t)
{
	return t->page + PAGE_RECORDS;
}

static inline struct trace_record *here(const struct ctl_thread *t)
{
	return t->tls->cur ? t->tls->cur : t->tls->saved;
}

static inline uint64_t remaining(const struct ctl_thread *t)
{
	uint64_t room = (uint64_t)(page_end(t) - here(t));

	return t->left > SCHED_NO_LIMIT - room ? SCHED_NO_LIMIT : t->left + room;
}

static inline void grant(struct ctl_thread *t, uint64_t steps)
{
	uint64_t room = steps < PAGE_RECORDS - 1 ? steps : PAGE_RECORDS - 1;

	t->left = steps == SCHED_NO_LIMIT ? steps : steps - room;
	t->granted = t->tls->cur = page_end(t) - room;
}

SNARLRT_HIDDEN void ctl_count_steps(struct ctl_thread *t, uint64_t n);
SNARLRT_HIDDEN bool ctl_is_spinning(struct ctl_thread *t);	/* since the last time it said so */

/* control_turn.c: the turn log, an exact schedule of the run, and whether it is the plan's. */
SNARLRT_HIDDEN bool ctl_is_exact(void);
SNARLRT_HIDDEN void ctl_turn_log(uint64_t name, uint32_t kind, uint64_t steps, uint32_t check);
SNARLRT_HIDDEN void ctl_turn_end(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_diverged(const char *text);

/* With CTL_HASH: an event of the current thread, into the hash and against the plan. */
SNARLRT_HIDDEN void ctl_hash_event(uint64_t object, uint64_t site, uint64_t value);

#endif
