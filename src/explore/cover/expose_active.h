/*
 * Exposes interleaving roots: runs of the strategy `active`, each for one of them.
 *
 *	struct expose_target targets[] = { { .iroot = … }, … };
 *	struct expose *a = expose_open(&config, EXPOSE_TRIES, targets, count);
 *
 *	while ((event = expose_next(a, &run, &err)) > 0)
 *		…
 *	expose_close(a);
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

#define EXPOSE_TRIES 8u		/* runs for a root, as a rule */

/* Of the runs so far; a higher one says more. */
enum expose_outcome {
	EXPOSE_UNTRIED,
	EXPOSE_IMPOSSIBLE,	/* its accesses do not conflict as its idiom wants it */
	EXPOSE_UNREACHED,	/* no run came to all of its events */
	EXPOSE_MISSED,		/* to all of them, but not in the order that is wanted */
	EXPOSE_DONE,
};

struct expose_target {
	struct iroot iroot;	/* its sites are pcs in the target */
	bool library;		/* not all of them are in the program itself: is tried after the others of its idiom */
	enum expose_outcome outcome;	/* at first untried; exposed: is left alone */
	unsigned runs;		/* made for it, in all: the next is another one */
	bool failed;		/* one that exposed it failed */
	struct expose_assignments *cast;	/* private; expose_target_free() */
};

/* An untried target. `places` has the modules of its sites. */
struct expose_target expose_target_of(const struct iroot *iroot, const struct places *places);

struct expose;

/*
 * `config` is for all runs, but for the strategy and the requests; it needs a memory that knows
 * what is shared from runs before. `tries`: runs for each target at most, with those made before.
 */
struct expose *expose_open(const struct search_config *config, unsigned tries,
			   struct expose_target *targets, size_t count);
void expose_close(struct expose *a);

/*
 * The events of its searches, one after the other. At SEARCH_ENDED the caller may set other
 * targets to EXPOSE_DONE that the run happened to expose. Ends early as a search does: by
 * SEARCH_ENOUGH, Ctrl-C, or when time or runs are spent. -1 if the program cannot be run.
 */
int expose_next(struct expose *a, struct search_run *run, struct err *err);

/* What is kept of a target for later tries. */
void expose_target_free(struct expose_target *t);

/*
 * Who may play the parts of a root, by what a run has seen of its events (seen[i], count[i] of
 * event i): the likeliest first, at most `most`; of equal ones, first one for each of the calls in which both were. `salt` decides
 * about the rest. Returns how many.
 */
struct expose_assignment {
	struct sched_reached part[2];
	uint64_t prefix;	/* steps of that run before both are on their way */
	unsigned score;
	unsigned alike;		/* better ones of the same calls and score */
	uint64_t draw;
};

size_t expose_assignments(const struct iroot *iroot, const struct active_visit *const *seen,
		      const uint32_t *count, uint64_t salt, struct expose_assignment *out, size_t most);

#endif
