/*
 * The passing run that is nearest to a failing one: both have the same turns for as long as
 * possible, until one switch between threads differs.
 */
#ifndef EXPLORE_BUG_NEAREST_PASSING_H
#define EXPLORE_BUG_NEAREST_PASSING_H

#include "explore/search/attempt.h"

#define PASSING_RUNS 120u	/* at most, to find it */
#define PASSING_SECONDS 5.0	/* at most, to find it */

/* Description of an event; members are NULL if unknown. */
struct passing_event {
	bool present;		/* false: the run had ended before it */
	char *thread, *op, *object, *function, *file;
	unsigned line;
};

struct passing {
	bool found;		/* such a run was found, and all its replays passed */
	struct schedule schedule;
	unsigned runs;		/* number of runs made to find it */
	unsigned replays;	/* number of replays, which all passed */
	bool traced;		/* its trace exists */
	bool differs;		/* both traces exist and differ; the members below describe where */
	uint64_t event;		/* number of the first one, from 1, without calls and values */
	struct passing_event in_failing, in_passing;	/* this event in either run */
};

/* Looks for the run and replays it `replays` times; p->found only if all replays pass. */
void passing_find(struct passing *p, const struct schedule *failing, struct attempt *a,
		  unsigned replays, const struct places *places);

/*
 * Records the passing run to `path`, and finds the first event that differs from the trace
 * `failing`, which may be NULL.
 */
void passing_trace(struct passing *p, const struct replay_config *config, struct places *places,
		   const char *path, const char *failing);

void passing_free(struct passing *p);

#endif
