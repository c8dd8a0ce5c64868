/*
 * Exposes interleaving roots: runs of the strategy `active`, each for one of them.
 *
 *	struct active_config config = { .search = … };
 *	struct active_target targets[] = { { .iroot = … }, … };
 *	active_try(&config, targets, count, &places, &stats, &err);
 *	… targets[i].outcome …
 *
 * All are tried in one way before any is tried in the next, idiom 1 first, the program's own
 * code before libraries: first undirected but for the root itself, by chance and with opposite priorities of the
 * threads; then, from what these runs have shown, with the very threads and times that may meet, after the
 * turns of the run that showed it. What comes of it does not depend on the number of jobs.
 */
#ifndef EXPLORE_COVER_EXPOSE_ACTIVE_H
#define EXPLORE_COVER_EXPOSE_ACTIVE_H

#include "abi/iroot.h"
#include "explore/search/observe.h"
#include "explore/search/search.h"
#include "sched/active.h"

#define ACTIVE_TRIES 8u		/* runs for a root, unless told otherwise */

/* Of the runs so far; a higher one says more. */
enum active_outcome {
	ACTIVE_UNTRIED,
	ACTIVE_IMPOSSIBLE,	/* its accesses do not conflict as its idiom wants it */
	ACTIVE_UNREACHED,	/* no run came to all of its events */
	ACTIVE_MISSED,		/* to all of them, but not in the order that is wanted */
	ACTIVE_EXPOSED,
};

struct active_target {
	struct iroot iroot;	/* its sites are pcs in the target */
	bool library;		/* not all of them are in the program itself: is tried after the others of its idiom */
	enum active_outcome outcome;	/* at first untried; exposed: is left alone */
	unsigned runs;		/* made for it, in all: the next is another one */
	bool failed;		/* one that exposed it failed */
	struct active_cast *cast;	/* private; active_target_free() */
};

struct active_config {
	/*
	 * As for search_run(), but for the strategy and the hooks that shape runs. `memory` is to know
	 * what is shared from runs before. judged() gets what it would, with `ctx`; it may set other
	 * targets to ACTIVE_EXPOSED that its run happened to expose.
	 */
	struct search_config search;
	unsigned tries;		/* runs for each at most, with those made before; 0: ACTIVE_TRIES */
};

/* An untried target. `places` has the modules of its sites. */
struct active_target active_target_of(const struct iroot *iroot, const struct places *places);

/* -1 if the program cannot be run. Ends early as a search does: failure, Ctrl-C, time or runs are up. */
int active_try(const struct active_config *config, struct active_target *targets, size_t count,
	       struct places *places, struct search_stats *stats, struct err *err);

/* What active_try() keeps for a later one. */
void active_target_free(struct active_target *t);

/*
 * Who may play the parts of a root, by what a run has seen of its events (seen[i], count[i] of
 * event i): the likeliest first, at most `most`; of equal ones, first one for each of the calls in which both were. `salt` decides
 * about the rest. Returns how many.
 */
struct active_parts {
	struct sched_reached part[2];
	uint64_t prefix;	/* steps of that run before both are on their way */
	unsigned score;
	unsigned alike;		/* better ones of the same calls and score */
	uint64_t draw;
};

size_t active_casting(const struct iroot *iroot, const struct active_seen *const *seen,
		      const uint32_t *count, uint64_t salt, struct active_parts *out, size_t most);

#endif
