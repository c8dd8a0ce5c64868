/*
 * Systematic search: makes all runs of a program one after the other, none of them twice (CHESS:
 * Musuvathi, Qadeer, PLDI 2007; Musuvathi et al., OSDI 2008). First come all runs without a
 * preemption, then all with at most 1, and so on up to `depth`. With depth SCHED_MAX_DEPTH there is
 * a single round without a bound.
 *
 * Depth-first search: the stack of choices (frames) outlives a run. A run repeats the choices on
 * the stack, then goes on without preemption and pushes a frame for every step. After it, the
 * deepest frame with an untried alternative is set to that alternative, and the next run begins.
 *
 * Sleep sets (Godefroid, 1996) prevent that a choice already tried is made again later although
 * nothing in between depends on it. Without a bound, dynamic partial order reduction finds the
 * alternatives: only where two dependent events of the run could be swapped (source sets: Abdulla,
 * Aronis, Jonsson, Sagonas, POPL 2014; they combine with sleep sets). This is not sound under a
 * bound (Coons, Musuvathi, McKinley, OOPSLA 2013). With a bound, all threads are therefore tried at
 * the start of every turn and before every event that may conflict with another thread's; and a
 * choice joins a sleep set only if the bound cut off nothing below it.
 *
 * Fairness (Musuvathi, Qadeer, PLDI 2008): when a thread yields for the second time, the threads go
 * first that could have run since the first time but did not. Leaving a thread that yields is no
 * preemption.
 */
#include "sched/chess.h"
#include "sched/chess_race.h"
#include "sched/pick.h"

static uint32_t lowest(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

/* The next higher number in `set` than `thread`, or the lowest. */
static uint32_t next_of(uint64_t set, uint32_t thread)
{
	uint64_t above = thread < 63 ? set & ~0ull << (thread + 1) : 0;

	return lowest(above ? above : set);
}

static uint64_t bit(uint32_t thread)
{
	return 1ull << thread;
}

void chess_status(const void *state, struct chess_status *out)
{
	const struct chess *c = state;

	out->bound = c->bound;
	out->runs = c->runs;
	out->redundant = c->redundant;
	out->truncated = c->truncated;
	out->diverged = c->diverged;
}

static void chess_init(void *state, const struct sched_params *params)
{
	struct chess *c = state;

	c->limit = params->depth ? params->depth : 2;
	c->bounded = c->limit < SCHED_MAX_DEPTH;
}

static void chess_begin(void *state, const struct sched_run *run)
{
	struct chess *c = state;

	(void)run;
	c->at = 0;
	c->past_frames = false;
	c->threads = 0;
	for (uint32_t i = 0; i < CHESS_THREADS; i++) {
		c->yields_to[i] = 0;
		c->ran_since_yield[i] = ~0ull;
	}
}

/* The threads of `runnable` that do not have to yield to another of them. */
static uint64_t fair_threads(struct chess *c, const struct sched_point *point, uint64_t runnable)
{
	uint64_t allowed = 0;

	if (point->yields && point->running < CHESS_THREADS) {
		c->yields_to[point->running] |=
			runnable & ~bit(point->running) & ~c->ran_since_yield[point->running];
		c->ran_since_yield[point->running] = 0;
	}
	for (uint64_t left = runnable; left; left &= left - 1)
		if (!(c->yields_to[lowest(left)] & runnable))
			allowed |= left & -left;
	return allowed ? allowed : runnable;
}

static void note_scheduled(struct chess *c, uint32_t thread)
{
	for (uint32_t i = 0; i < c->threads; i++) {
		c->ran_since_yield[i] |= bit(thread);
		c->yields_to[i] &= ~bit(thread);
	}
}

/*
 * The sleep set of this step: threads that slept at the last step, or were tried there, and whose
 * pending event does not depend on that step.
 */
static uint64_t sleep_set(const struct chess *c, const struct sched_point *point, uint64_t runnable)
{
	const struct chess_frame *below = chess_step_before(c, c->at);
	uint64_t sleep = 0;

	if (!below)
		return 0;
	for (uint64_t left = (below->sleep | below->exhausted) & runnable & ~bit(below->chosen);
	     left; left &= left - 1)
		if (!sched_dependent(&point->pending[lowest(left)], &below->event))
			sleep |= left & -left;
	return sleep;
}

static uint32_t cost(const struct chess_frame *f, uint32_t thread)
{
	return !f->is_choice && !f->switch_is_free && thread != f->previous;
}

static struct chess_frame *push_frame(struct chess *c)
{
	struct chess_frame *f = &c->frames[c->at];
	const struct chess_frame *below = c->at ? f - 1 : NULL;

	f->preempts = below ? below->preempts + cost(below, below->chosen) : 0;
	f->done = f->exhausted = f->sleep = 0;
	f->is_choice = f->cut = f->cut_below = false;
	c->count = ++c->at;
	return f;
}

/* Pushes a frame for a new step. False: all threads that can run sleep, so the run is redundant. */
static bool extend(struct chess *c, const struct sched_point *point, uint64_t runnable,
		   uint64_t allowed)
{
	uint64_t sleep = sleep_set(c, point, runnable), awake = allowed & ~sleep;
	struct chess_frame *f;

	if (!awake)
		return false;
	f = push_frame(c);
	f->sleep = sleep;
	f->runnable = runnable;
	f->allowed = allowed;
	f->previous = (uint8_t)point->running;
	f->switch_is_free =
		!point->step || !point->runs || point->yields || !(allowed & bit(point->running));
	if (awake & bit(point->running) && pick_may_stay(point))
		f->chosen = f->previous;
	else
		f->chosen = (uint8_t)next_of(awake, point->running);
	f->todo = c->bounded && (f->switch_is_free || f->chosen != f->previous) ? allowed :
										  bit(f->chosen);
	return true;
}

static void note_pending(struct chess *c, const struct sched_point *point)
{
	for (c->threads = 0; c->threads < point->threads; c->threads++)
		c->pending[c->threads] = point->pending[c->threads];
}

/* Finds or makes the frame of this step. NULL: the run has no frames from here on. */
static struct chess_frame *frame_of(struct chess *c, const struct sched_point *point)
{
	uint64_t runnable = 0, allowed;

	if (point->threads > CHESS_THREADS || (c->at == c->count && c->at == CHESS_FRAMES)) {
		c->truncated = true;
		return NULL;
	}
	for (size_t i = 0; i < point->count; i++)
		runnable |= bit(point->runnable[i]);
	note_pending(c, point);
	allowed = fair_threads(c, point, runnable);
	if (c->at == c->count) {
		if (!extend(c, point, runnable, allowed)) {
			c->redundant++;
			return NULL;
		}
	} else {
		struct chess_frame *f = &c->frames[c->at++];

		if (f->is_choice || f->runnable != runnable) {
			c->diverged = true;
			c->count = --c->at;
			return NULL;
		}
	}
	return &c->frames[c->at - 1];
}

static void chess_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct chess *c = state;
	struct chess_frame *f;

	out->thread = pick_no_preemption(point);
	out->steps = SCHED_NO_LIMIT;
	if (c->past_frames || point->threads == 1)
		return;		/* the first thread alone has no alternatives */
	f = frame_of(c, point);
	if (!f) {
		c->past_frames = true;
		return;
	}
	out->thread = f->chosen;
	out->steps = 1;
	f->event = point->pending[f->chosen];
	/* The thread's next event is not known yet. */
	c->pending[f->chosen] = (struct sched_event){ .op = SCHED_OP_OTHER };
	note_scheduled(c, f->chosen);
}

/* A choice among things other than threads is a frame, too: all alternatives are to be tried. */
static uint32_t chess_choose(void *state, uint32_t count)
{
	struct chess *c = state;
	struct chess_frame *f;

	if (c->past_frames || count < 2)
		return 0;
	if (c->at < c->count) {
		f = &c->frames[c->at];
		if (f->is_choice && f->chosen < count) {
			c->at++;
			return f->chosen;
		}
		c->diverged = true;
		c->count = c->at;
	} else if (c->at < CHESS_FRAMES && count <= 64) {
		f = push_frame(c);
		f->is_choice = true;
		f->runnable = f->allowed = f->todo = ~0ull >> (64 - count);
		f->chosen = 0;
		return 0;
	} else {
		c->truncated = true;
	}
	c->past_frames = true;
	return 0;
}

/* The present choice of the topmost frame, with all runs below it, has been tried. */
static void finish_choice(struct chess_frame *f)
{
	f->done |= bit(f->chosen);
	if (!f->cut_below)
		f->exhausted |= bit(f->chosen);
	f->cut |= f->cut_below;
	f->cut_below = false;
}

/* Sets the topmost frame to an untried alternative. False: there is none. */
static bool next_alternative(struct chess *c, struct chess_frame *f)
{
	uint64_t left;

	while ((left = f->todo & ~f->done & (f->is_choice ? ~0ull : ~f->sleep))) {
		uint32_t thread = lowest(left);

		if (!c->bounded || f->preempts + cost(f, thread) <= c->bound) {
			f->chosen = (uint8_t)thread;
			return true;
		}
		f->done |= bit(thread);
		f->cut = true;
	}
	return false;
}

/* Notes the pending event of the thread that ran last: no pick() saw at what it blocked. */
static void chess_stuck(void *state, const struct sched_point *point)
{
	struct chess *c = state;

	if (c->past_frames || point->threads > CHESS_THREADS)
		return;
	note_pending(c, point);
}

static size_t chess_check(const void *state)
{
	const struct chess *c = state;
	uint32_t count = c->count;

	if (count > CHESS_FRAMES || c->at > CHESS_FRAMES || c->threads > CHESS_THREADS ||
	    !sched_is_bool(&c->bounded) || !sched_is_bool(&c->truncated) ||
	    !sched_is_bool(&c->diverged) || !sched_is_bool(&c->past_frames))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct chess_frame *f = &c->frames[i];

		if (f->chosen >= CHESS_THREADS || !sched_is_bool(&f->switch_is_free) ||
		    !sched_is_bool(&f->is_choice) || !sched_is_bool(&f->cut) ||
		    !sched_is_bool(&f->cut_below))
			return 0;
	}
	return sizeof(*c) - sizeof(c->frames) + count * sizeof(c->frames[0]);
}

static bool chess_end(void *state)
{
	struct chess *c = state;
	bool cut = false;

	c->runs++;
	if (c->at < c->count)
		c->count = c->at;	/* the run ended before the stack did */
	chess_find_races(c);
	while (c->count) {
		struct chess_frame *f = &c->frames[c->count - 1];

		finish_choice(f);
		if (next_alternative(c, f)) {
			c->first_new = c->count - 1;
			return true;
		}
		c->count--;
		cut = f->cut;
		if (c->count)
			f[-1].cut_below |= cut;
	}
	c->first_new = 0;
	if (!cut || c->bound >= c->limit)
		return false;
	c->bound++;
	return true;
}

const struct strategy strategy_chess = {
	.name = "chess",
	.summary = "all interleavings with few preemptions, one after the other",
	.state_size = sizeof(struct chess),
	.init = chess_init,
	.begin = chess_begin,
	.pick = chess_pick,
	.choose = chess_choose,
	.stuck = chess_stuck,
	.check = chess_check,
	.end = chess_end,
};
