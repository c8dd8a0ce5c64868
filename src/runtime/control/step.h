/*
 * Between control.c, which asks who is next, and control_step.c, which counts and
 * looks at what happened.
 */
#ifndef RUNTIME_CONTROL_STEP_H
#define RUNTIME_CONTROL_STEP_H

#include "abi/turn_log.h"
#include "runtime/control/model/external.h"
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

static inline struct trace_record *page_cursor(const struct ctl_thread *t)
{
	return t->tls->cur ? t->tls->cur : t->tls->saved;
}

static inline uint64_t steps_remaining(const struct ctl_thread *t)
{
	uint64_t room = (uint64_t)(page_end() - page_cursor(t));

	return t->steps_beyond_page > SCHED_NO_LIMIT - room ? SCHED_NO_LIMIT : t->steps_beyond_page + room;
}

static inline void grant_steps(struct ctl_thread *t, uint64_t steps)
{
	uint64_t room = steps < PAGE_RECORDS - 1 ? steps : PAGE_RECORDS - 1;

	t->steps_beyond_page = steps == SCHED_NO_LIMIT ? steps : steps - room;
	t->processed = t->tls->cur = page_end() - room;
}

static inline void count_steps(struct ctl_thread *t, uint64_t n)
{
	t->steps += n;
	ctl.steps += n;
	ctl.now += n * CTL_STEP_NS;
}

static inline bool is_read(uint64_t site)
{
	uint64_t kind = site >> 48 & 0xff;

	return kind == TRACE_READ || kind == TRACE_READ_RANGE;
}

/* All of it is shared and alive: the common case of what ctl_touch() finds. */
static inline bool known_shared(uint64_t addr, uint64_t size)
{
	return (addr & 7) + size <= 8 && !(addr >> SHADOW_USER_BITS) &&
	       *shadow_of(addr) == SHADOW_SHARED;
}

/* What is in the page, if anything. */
static inline void account_page(struct ctl_thread *t)
{
	if (page_cursor(t) != t->processed)
		ctl_account(t);
}

#define SPIN_EVENTS 64u		/* events without change that count as spinning */
#define FAIRNESS_STEPS 100000u		/* steps in a row after which a thread lets others go first */
#define TIME_PASSES_ROUNDS 8u		/* rounds of spinning after which time passes */

/* Since the last time it said so. */
static inline bool is_spinning(struct ctl_thread *t)
{
	if (likely(t->unchanged_events < SPIN_EVENTS))
		return false;
	t->unchanged_events = 0;
	t->spin_rounds = t->spin_progress == ctl.progress ? t->spin_rounds + 1 : 0;
	t->spin_progress = ctl.progress;
	return true;
}

/* Following an exact schedule? */
static inline bool is_exact(void)
{
	return ctl.strategy == &strategy_exact;
}

/* … or for now one that another strategy begins with? */
static inline bool is_following(void)
{
	return ctl.strategy->follows && !exact_done(ctl.state);
}

/* control.c: on from where it stood, after handlers and cancellation. */
SNARLRT_HIDDEN void ctl_resume(struct ctl_thread *t, struct ctl_wait *w);

static inline void changed_something(struct ctl_thread *t)
{
	t->unchanged_events = 0;
	t->recent_event_count = 0;
	ctl.progress++;
}

/* control_step.c: a visible access on the long way; what is to be done when it was let happen. */
SNARLRT_HIDDEN void ctl_access_slow(uint64_t addr, uint64_t size, uint64_t site);
SNARLRT_HIDDEN void ctl_accessed(uint64_t addr, uint64_t size, uint64_t site);

/*
 * control_quick.c. Said on the long way, when all that is at hand was done: who can run is
 * in *point, and the clock's next event is at `next_time` or CTL_NEVER.
 */
SNARLRT_HIDDEN void ctl_fast_path_begin(const struct sched_point *point, uint64_t next_deadline);

/* A point before something that is always possible. False: go the long way. */
SNARLRT_HIDDEN bool ctl_step_fast(enum sched_op op, uint64_t object, uint64_t size, uint64_t site);

static inline void ctl_turn_log(const struct ctl_thread *t, uint32_t kind, uint64_t steps,
				uint32_t check)
{
	struct ctl_block *b = ctl.block;
	const struct turn turn = { t->number, kind, steps, check };

	if (unlikely(ctl.private_child))
		return;
	if (unlikely((ctl.turn_words + TURN_WORDS) * sizeof(uint32_t) > b->turns_size)) {
		b->report.turns_lost++;
		return;
	}
	ctl.turn_words += turn_put((uint32_t *)((char *)b + b->turns) + ctl.turn_words, &turn);
	b->report.turns = ctl.turn_words;
}

/* control_turn.c: the end of a turn, and whether the run is still the plan's. */
SNARLRT_HIDDEN void ctl_turn_end(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_diverged(const char *text);

/*
 * control_debug.c, only with CTL_DEBUG: `t` is about to do what it stood before; `from` stops
 * and `to` goes on.
 */
SNARLRT_HIDDEN void snarlrt_debug_step(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_here(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_switch(struct ctl_thread *from, struct ctl_thread *to);
extern SNARLRT_HIDDEN uint64_t snarlrt_debug_site;

#define CTL_OBSERVE (CTL_HASH | CTL_DEPENDS)	/* every event is looked at */

/* With CTL_LOOK: an event of the current thread. */
SNARLRT_HIDDEN void ctl_observe_event(uint64_t object, uint64_t site, uint64_t value);

/* control_depends.c, with CTL_DEPENDS: the same, and the beginning of a run. */
SNARLRT_HIDDEN void ctl_depends_event(uint64_t object, uint64_t site);
SNARLRT_HIDDEN void ctl_depends_begin(void);

#endif
