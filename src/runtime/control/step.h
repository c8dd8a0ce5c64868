/*
 * Steps of threads under control: the interface between scheduling points (point.c, point_fast.c)
 * and the counting and processing of what a thread did (step.c).
 */
#ifndef RUNTIME_CONTROL_STEP_H
#define RUNTIME_CONTROL_STEP_H

#include "abi/turn_log.h"
#include "runtime/control/model/external.h"
#include "sched/exact.h"

#define PAGE_RECORDS 256u

/*
 * Buffer of records for the running thread, which the hooks append to. All threads share it, since
 * it is processed before another thread runs. Its end is aligned to 4096: that is how the hooks
 * recognise it.
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

/* Are all bytes in one granule that is shared and not freed? The common case of ctl_touch(). */
static inline bool known_shared(uint64_t addr, uint64_t size)
{
	return (addr & 7) + size <= 8 && !(addr >> SHADOW_USER_BITS) &&
	       *shadow_of(addr) == SHADOW_SHARED;
}

/* Counts and processes the records that the thread has appended to the page. */
static inline void account_page(struct ctl_thread *t)
{
	if (page_cursor(t) != t->processed)
		ctl_account(t);
}

/* events in a row without a change after which a thread counts as spinning */
#define SPIN_EVENTS 64u
/* steps in a row after which other threads are preferred: a busy thread must not starve them */
#define FAIRNESS_STEPS 100000u
/* times in a row that all runnable threads were found spinning after which time advances */
#define TIME_PASSES_ROUNDS 8u

/* Has the thread spun for SPIN_EVENTS since this function last returned true? */
static inline bool is_spinning(struct ctl_thread *t)
{
	if (likely(t->unchanged_events < SPIN_EVENTS))
		return false;
	t->unchanged_events = 0;
	t->spin_rounds = t->spin_progress == ctl.progress ? t->spin_rounds + 1 : 0;
	t->spin_progress = ctl.progress;
	return true;
}

/* Is the strategy `exact`, which replays a schedule? */
static inline bool is_exact(void)
{
	return ctl.strategy == &strategy_exact;
}

/*
 * Does the strategy follow the turns of a plan at present? True also for strategies that follow
 * one first and search afterwards.
 */
static inline bool is_following(void)
{
	return ctl.strategy->follows && !exact_done(ctl.state);
}

/* point.c: the thread was chosen at `w`. Runs due signal handlers and acts on cancellation. */
SNARLRT_HIDDEN void ctl_resume(struct ctl_thread *t, struct ctl_wait *w);

static inline void changed_something(struct ctl_thread *t)
{
	t->unchanged_events = 0;
	t->recent_event_count = 0;
	ctl.progress++;
}

/*
 * step.c: a visible access on the full path; and what follows every access once its thread was
 * chosen.
 */
SNARLRT_HIDDEN void ctl_access_slow(uint64_t addr, uint64_t size, uint64_t site);
SNARLRT_HIDDEN void ctl_accessed(uint64_t addr, uint64_t size, uint64_t site);

/*
 * point_fast.c. The full path calls it when nothing but the strategy's choice is left to do.
 * *point has the runnable threads; `next_deadline` is the clock's next time-out or timer, or
 * CTL_NEVER.
 */
SNARLRT_HIDDEN void ctl_fast_path_begin(const struct sched_point *point, uint64_t next_deadline);

/* The fast path of ctl_step(). Returns false if the full path must be taken. */
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

/* turn_log.c: the end of a turn; the run is found to differ from the plan. */
SNARLRT_HIDDEN void ctl_turn_end(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_diverged(const char *text);

/*
 * debugger.c, only with CTL_DEBUG: `t` is about to execute the event of `w`; `from` stops and `to`
 * goes on.
 */
SNARLRT_HIDDEN void snarlrt_debug_step(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_here(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_switch(struct ctl_thread *from, struct ctl_thread *to);
extern SNARLRT_HIDDEN uint64_t snarlrt_debug_site;

#define CTL_OBSERVE (CTL_HASH | CTL_DEPENDS)	/* the request needs every event */

/* With CTL_OBSERVE: hashes or compares an event of the current thread. */
SNARLRT_HIDDEN void ctl_observe_event(uint64_t object, uint64_t site, uint64_t value);

/* dependencies.c, only with CTL_DEPENDS: an event of the current thread; the beginning of a run. */
SNARLRT_HIDDEN void ctl_depends_event(uint64_t object, uint64_t site);
SNARLRT_HIDDEN void ctl_depends_begin(void);

#endif
