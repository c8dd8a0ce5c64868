/*
 * snarl check-fix: tries the known buggy interleavings of a program in a new build of it. Are they
 * still possible, and do they still fail?
 *
 *   trace   records a few runs of the new build
 *   remap   maps the goals of the known interleavings to events of these traces (remap.h)
 *   try     makes runs for each mapping, by different policies and seeds (lead_run.h)
 *
 * An interleaving without goals is tried again by the strategy that found it, which says less.
 */
#ifndef EXPLORE_FIX_FIX_H
#define EXPLORE_FIX_FIX_H

#include "explore/fix/remap.h"
#include "explore/search/search.h"

enum checkfix_verdict {
	CHECKFIX_UNTRIED,	/* the budget was used up, or it was interrupted */
	CHECKFIX_GONE,		/* an event has no counterpart in its function any longer */
	CHECKFIX_UNREACHED,	/* no run reached all of its events: nothing is known */
	CHECKFIX_IMPOSSIBLE,	/* no run could keep the order */
	CHECKFIX_HARMLESS,	/* the order came about, and all runs passed */
	CHECKFIX_UNSEEN,	/* no goals; runs by the strategy that found it all passed */
	CHECKFIX_UNPROVED,	/* a run failed, but not its replays */
	CHECKFIX_LEFT,		/* gone, but the same accesses in other functions fail so */
	CHECKFIX_FAILS,		/* a run failed in this order, and its replays did */
};

/* A known interleaving, and what became of it in the new build. */
struct checkfix_known {
	/* Set by the caller. */
	char *name;		/* "snarl-out/bugs/B001" */
	char *path;		/* of the schedule */
	struct schedule schedule;
	struct oracle oracle;	/* decides what is a failure */
	/* Set by checkfix_run(). */
	enum checkfix_verdict verdict;
	struct remap *remap;	/* mappings of its goals; NULL: it has none */
	enum remap_level level;	/* of the mappings that decided the verdict */
	/* Number of runs that tried the order, and number of these that had it. */
	uint64_t tries, came;
	uint64_t weak_tries;	/* number of runs by the strategy that found it */
	bool weak;		/* one of these failed */
	int failure;		/* CHECKFIX_FAILS and CHECKFIX_LEFT: result of `prove` */
};

struct checkfix_config {
	/* Of all runs; checkfix_run() sets strategy and memory. */
	struct search_config search;
	unsigned profiles;	/* number of runs to record */
	/*
	 * A run failed in a known order. Returns a number if replays prove it, else -1. The callee
	 * owns `f`.
	 */
	int (*prove)(void *ctx, struct search_failure *f);
	/* A run failed in another way. The callee owns `f`. */
	void (*kept)(void *ctx, struct search_failure *f);
	void (*progress)(void *ctx, const struct search_stats *stats);	/* may be NULL */
	void (*inconclusive)(void *ctx, const struct search_failure *f);	/* may be NULL */
	void *ctx;
};

/* Tries all known interleavings. -1 if the program cannot be run. */
int checkfix_run(const struct checkfix_config *config, struct checkfix_known *known, size_t count,
		 struct err *err);

/* True if a candidate has a variable or lock in common with a known interleaving. */
bool checkfix_concerns(const struct checkfix_known *known, size_t count, const struct lead *lead);

/* The verdict in words ("no longer possible"), and as in JSON ("impossible"). */
const char *checkfix_words(enum checkfix_verdict verdict);
const char *checkfix_name(enum checkfix_verdict verdict);

/* True if a run failed, and replays proved it. */
static inline bool checkfix_is_failure(enum checkfix_verdict verdict)
{
	return verdict >= CHECKFIX_LEFT;
}

/* True if two schedules have the same goals. */
bool checkfix_same_goals(const struct schedule *a, const struct schedule *b);

void checkfix_known_free(struct checkfix_known *k);

#endif
