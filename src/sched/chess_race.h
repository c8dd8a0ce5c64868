/*
 * The state of the strategy `chess`, and the analysis of a run that finds which of its events could
 * be swapped. Private to src/sched.
 */
#ifndef SCHED_CHESS_RACE_H
#define SCHED_CHESS_RACE_H

#include "sched/chess.h"

/* One choice of the run: which thread takes a step, or another choice (`is_choice`). */
struct chess_frame {
	struct sched_event event;	/* event that the chosen thread executes */
	/* Bit sets of thread numbers, or of alternatives if `is_choice`. */
	uint64_t runnable;
	uint64_t allowed;		/* runnable threads that fairness lets run */
	uint64_t todo;			/* tried, or to be tried */
	uint64_t done;			/* tried, or cut off by the bound */
	uint64_t sleep;			/* sleep set: an earlier frame has tried these */
	uint64_t exhausted;		/* tried, and the bound cut off nothing below */
	uint16_t preempts;		/* number of preemptions before this step */
	uint8_t chosen;			/* thread, or alternative */
	uint8_t previous;		/* thread that ran before this step */
	bool switch_is_free;		/* leaving `previous` here is no preemption */
	bool is_choice;			/* an alternative of chess_choose(), not a thread */
	bool cut;			/* the bound cut something off here or below */
	bool cut_below;			/* the bound cut something off below the present choice */
	/* Vector clock: frames of thread t below before[t] happened before this step. */
	uint16_t before[CHESS_THREADS];
};

struct chess {
	uint32_t limit;			/* preemptions that the last round allows */
	uint32_t bound;			/* preemptions that this round allows */
	bool bounded;			/* there is a bound */
	bool truncated, diverged;	/* see struct chess_status */
	/* This run has no frames from here on: nothing is branched. */
	bool past_frames;
	uint64_t runs, redundant;	/* see struct chess_status */
	uint32_t at;			/* number of frames of this run so far */
	uint32_t count;			/* number of frames on the stack */
	uint32_t first_new;		/* the last run had the frames below this index, too */
	uint32_t threads;		/* entries of `pending` in use */
	uint64_t yields_to[CHESS_THREADS];	/* set of threads that run before this one may */
	/* Set of threads that ran since it yielded. */
	uint64_t ran_since_yield[CHESS_THREADS];
	struct sched_event pending[CHESS_THREADS];	/* pending event of each thread */
	struct chess_frame frames[CHESS_FRAMES];
};

/* The last frame below `frame` that is a step; NULL if there is none. */
static inline const struct chess_frame *chess_step_before(const struct chess *c, uint32_t frame)
{
	while (frame-- > 0)
		if (!c->frames[frame].is_choice)
			return &c->frames[frame];
	return NULL;
}

/* To be called after a run: adds to `todo` of its frames the alternatives that are to be tried. */
void chess_find_races(struct chess *c);

#endif
