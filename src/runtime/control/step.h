/*
 * Steps of threads under control: the interface between scheduling points (point.c, point_fast.c)
 * and the counting and processing of what a thread did (step.c).
 */
#ifndef RUNTIME_CONTROL_STEP_H
#define RUNTIME_CONTROL_STEP_H

#include "abi/turn_log.h"
#include "runtime/control/model/external.h"
#include "sched/exact.h"

#define PAGE_RECORDS 256u	/* 4096 bytes */

/*
 * The hooks append records of the running thread here. All threads share the page: it is processed
 * before another thread runs. The hooks recognise its end by the alignment to 4096.
 */
extern SNARLRT_HIDDEN struct trace_record ctl_page[PAGE_RECORDS];

static inline struct trace_record *page_end(void)
{
	return ctl_page + PAGE_RECORDS;
}

/* Where the hooks append the next record of `t`. */
static inline struct trace_record *page_cursor(const struct ctl_thread *t)
{
	return t->tls->cur ? t->tls->cur : t->tls->saved;
}

/* The steps that `t` may still take without a question. */
static inline uint64_t steps_remaining(const struct ctl_thread *t)
{
	uint64_t room = (uint64_t)(page_end() - page_cursor(t));

	return t->steps_beyond_page > SCHED_NO_LIMIT - room ? SCHED_NO_LIMIT :
							      t->steps_beyond_page + room;
}

/* Lets `t` take `steps` steps without a question: leaves that much room in the page. */
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

#define SPIN_EVENTS 64u		/* events in a row without a change: the thread spins */
#define FAIRNESS_STEPS 100000u	/* steps in a row: other threads go first, lest they starve */
#define TIME_PASSES_ROUNDS 8u	/* rounds in which all runnable threads spin: time advances */

/* Did the last SPIN_EVENTS events of `t` change nothing? If so, counts a round and starts anew. */
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

/* The thread was chosen at `w`: runs due signal handlers, acts on cancellation (point.c). */
SNARLRT_HIDDEN void ctl_resume(struct ctl_thread *t, struct ctl_wait *w);

static inline void mark_progress(struct ctl_thread *t)
{
	t->unchanged_events = 0;
	t->recent_event_count = 0;
	ctl.progress++;
}

/*
 * Counts an event of `t` that changed nothing (step.c). Returns false if there were too many
 * different ones for a thread that spins: the count has started again.
 */
SNARLRT_HIDDEN bool mark_no_progress(struct ctl_thread *t, uint64_t object, uint64_t site);

/*
 * Accesses (step.c). ctl_access_slow() is the full path of ctl_access(). ctl_accessed() hashes and
 * records an access whose thread was chosen.
 */
SNARLRT_HIDDEN void ctl_access_slow(uint64_t addr, uint64_t size, uint64_t site);
SNARLRT_HIDDEN void ctl_accessed(uint64_t addr, uint64_t size, uint64_t site);

/*
 * The full path calls this when it has only the strategy left to ask: decides until which step the
 * fast path may be taken (point_fast.c). *point has the runnable threads. `next_deadline` is when
 * the next time-out or timer is due, or CTL_NEVER.
 */
SNARLRT_HIDDEN void ctl_fast_path_begin(const struct sched_point *point, uint64_t next_deadline);

/* The fast path of ctl_step(). Returns false if the full path must be taken. */
SNARLRT_HIDDEN bool ctl_step_fast(enum sched_op op, uint64_t object, uint64_t size, uint64_t site);

/* Appends a turn to the block's turn log. */
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

/* The turn of `t` ends; the run differs from the plan, which ends it (turn_log.c). */
SNARLRT_HIDDEN void ctl_turn_end(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_diverged(const char *text);

/* With CTL_DEBUG: `t` executes the event of `w`; `from` stops and `to` goes on (debugger.c). */
SNARLRT_HIDDEN void snarlrt_debug_step(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_here(struct ctl_thread *t, const struct ctl_wait *w);
SNARLRT_HIDDEN void snarlrt_debug_switch(struct ctl_thread *from, struct ctl_thread *to);
extern SNARLRT_HIDDEN uint64_t snarlrt_debug_site;

#define CTL_OBSERVE (CTL_HASH | CTL_DEPENDS)	/* the request needs every event */

/* With CTL_OBSERVE: hashes or compares an event of the current thread. */
SNARLRT_HIDDEN void ctl_observe_event(uint64_t object, uint64_t site, uint64_t value);

/* With CTL_DEPENDS: an event of the current thread; the beginning of a run (dependencies.c). */
SNARLRT_HIDDEN void ctl_depends_event(uint64_t object, uint64_t site);
SNARLRT_HIDDEN void ctl_depends_begin(void);

#endif
