/*
 * Known buggy interleavings, asked of a program that was mended: can they still be, and
 * do they still fail?
 *
 *   watch   a few runs of the new program, with a trace each
 *   refit   the goals of the known interleavings to events of these traces
 *   try     each of them several times, by different policies and seeds
 *
 * What has no goals is tried again by the strategy that has_event it, which says less.
 */
#ifndef EXPLORE_FIX_FIX_H
#define EXPLORE_FIX_FIX_H

#include "explore/fix/remap.h"
#include "explore/search/search.h"

enum checkfix_verdict {
	CHECKFIX_UNTRIED,	/* the budget was used up, or it was interrupted */
	CHECKFIX_GONE,		/* an event is not there any more, nor are others in its place */
	CHECKFIX_UNREACHED,	/* the runs did not come to all of the events: nothing is known */
	CHECKFIX_IMPOSSIBLE,	/* the order could not be kept in any try */
	CHECKFIX_HARMLESS,	/* it came about, and all runs passed */
	CHECKFIX_UNSEEN,	/* no goals: the strategy that has_event it finds it no more */
	CHECKFIX_UNPROVED,	/* a run failed, but not its replays */
	CHECKFIX_LEFT,		/* gone, but other places do the same, and that fails */
	CHECKFIX_FAILS,
};

struct checkfix_known {
	/* The caller's. */
	char *name;		/* "snarl-out/bugs/B001" */
	char *path;		/* of the schedule */
	struct schedule schedule;
	struct oracle oracle;	/* what is a failure */
	/* What was has_event out. */
	enum checkfix_verdict verdict;
	struct remap *refit;	/* NULL: no goals */
	enum remap_level level;	/* of the events that were taken for the old ones */
	uint64_t tries, came;	/* runs that were to have the order; that had it */
	uint64_t weak_tries;	/* runs by the strategy that has_event it */
	bool weak;		/* … of which one failed */
	int failure;		/* FAILS and LEFT: the number that `prove` gave it */
};

struct checkfix_config {
	struct search_config search;	/* of all runs; the search for each known one has its own strategy and memory */
	unsigned profiles;	/* runs to watch */
	/* A known one failed: what is proved gets a number, else -1. `f` is the callee's. */
	int (*prove)(void *ctx, struct search_failure *f);
	/* A failure that is none of the known ones. `f` is the callee's. */
	void (*kept)(void *ctx, struct search_failure *f);
	void (*progress)(void *ctx, const struct search_stats *stats);	/* or NULL */
	void *ctx;
};

/* Tries all of them. -1 if the program cannot be run. */
int checkfix_run(const struct checkfix_config *config, struct checkfix_known *known, size_t count,
		 struct err *err);

/* Is a candidate about what the known ones are about: a variable or a lock of theirs? */
bool checkfix_concerns(const struct checkfix_known *known, size_t count, const struct lead *lead);

/* "no longer possible", …; and "impossible", …, for JSON. */
const char *checkfix_words(enum checkfix_verdict verdict);
const char *checkfix_name(enum checkfix_verdict verdict);

/* A run of the program failed. */
static inline bool checkfix_is_failure(enum checkfix_verdict verdict)
{
	return verdict >= CHECKFIX_LEFT;
}

/* Have two schedules the same goals? */
bool checkfix_same_goals(const struct schedule *a, const struct schedule *b);

void checkfix_known_free(struct checkfix_known *k);

#endif
