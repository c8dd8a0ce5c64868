/*
 * The run that passes and is nearest to one that fails: the same up to a switch between
 * threads, as late as possible, that is made in another way there.
 */
#ifndef EXPLORE_BUG_NEAREST_PASSING_H
#define EXPLORE_BUG_NEAREST_PASSING_H

#include "explore/search/attempt.h"

#define PASSING_RUNS 120u	/* to find one, at most */
#define PASSING_SECONDS 5.0

/* An event in words; NULL: unknown. */
struct passing_event {
	bool present;		/* else that run had ended */
	char *thread, *op, *object, *function, *file;
	unsigned line;
};

struct passing {
	bool found;
	struct schedule schedule;
	unsigned runs, replays;	/* to find it; all of `replays` passed */
	bool traced;
	bool differs;		/* the first events in which the two differ are known: */
	uint64_t event;		/* its number, from 1; calls, returns and values do not count */
	struct passing_event in_failing, in_passing;
};

/* Looks for one, and replays it so many times: it has to pass each time. */
void passing_find(struct passing *p, const struct schedule *failing, struct attempt *a,
		  unsigned replays, const struct places *places);

/* Records it to `path`; then finds where it differs from the trace `failing`, which may be NULL. */
void passing_trace(struct passing *p, const struct replay_config *config, struct places *places,
		   const char *path, const char *failing);

void passing_free(struct passing *p);

#endif
