/*
 * The state of the strategy `chess`, and what the search learns from a run: which
 * of its events could be swapped. Private to src/sched.
 */
#ifndef SCHED_CHESS_RACE_H
#define SCHED_CHESS_RACE_H

#include "sched/chess.h"

/* A step of the run, or a choice that is not a thread (`is_choice`). Sets are of bits. */
struct chess_frame {
	struct sched_event event;	/* what the chosen thread executes */
	uint64_t runnable;
	uint64_t allowed;		/* of them, those that fairness lets run */
	uint64_t todo;			/* tried, or to be tried */
	uint64_t done;			/* tried, or cut off by the bound */
	uint64_t sleep;			/* need not be tried: was, in an earlier frame */
	uint64_t exhausted;		/* tried, with nothing cut off below */
	uint16_t preempts;		/* before this step */
	uint8_t chosen;
	uint8_t previous;		/* who ran before */
	bool switch_is_free;			/* leaving it is no preemption */
	bool is_choice;
	bool cut;			/* the bound cut something off here or below */
	bool cut_below;			/* … below the present choice */
	uint16_t before[CHESS_THREADS];	/* frames below this, of each thread, happened before */
};

struct chess {
	uint32_t limit;			/* of preemptions, in the last round */
	uint32_t bound;			/* … in this round */
	bool bounded;
	bool truncated, diverged;	/* as in struct chess_status */
	bool past_frames;			/* this run is past its last frame */
	uint64_t runs, redundant;
	uint32_t at;			/* frames of this run so far */
	uint32_t count;			/* frames on the stack */
	uint32_t first_new;			/* frames before this were there in the last run */
	uint32_t threads;
	uint64_t yields_to[CHESS_THREADS];	/* those that run before this thread may */
	uint64_t ran_since_yield[CHESS_THREADS];	/* those that ran ran_since_yield it last yielded */
	struct sched_event pending[CHESS_THREADS];	/* what each is about to do */
	struct chess_frame frames[CHESS_FRAMES];
};

/* The last step below `frame`; NULL if there is none. */
static inline const struct chess_frame *chess_step_before(const struct chess *c, uint32_t frame)
{
	while (frame-- > 0)
		if (!c->frames[frame].is_choice)
			return &c->frames[frame];
	return NULL;
}

/* After a run: adds to `todo` of its frames what it shows to be worth a try. */
void chess_find_races(struct chess *c);

#endif
