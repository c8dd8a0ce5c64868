/*
 * Makes runs of the strategy `active`, each directed at one interleaving root.
 *
 *	struct expose_target targets[] = { { .iroot = ... }, ... };
 *	struct expose *x = expose_open(&config, EXPOSE_TRIES, targets, count);
 *
 *	while ((event = expose_next(x, &run, err)) > 0)
 *		...
 *	expose_close(x);
 *	use targets[i].outcome
 *
 * The tries of a target differ. The first tries name only the root: they run at random, then with
 * opposite priorities of the threads. Later tries name the threads and visits that are to play both
 * parts, which an earlier run has shown to be possible, and follow the turns of that run at first.
 * Every target has its n-th try before any has its next; idiom 1 comes first, and the program's own
 * code before libraries. The outcomes do not depend on the number of jobs.
 */
#ifndef EXPLORE_COVER_EXPOSE_ACTIVE_H
#define EXPLORE_COVER_EXPOSE_ACTIVE_H

#include "abi/iroot.h"
#include "explore/search/observe.h"
#include "explore/search/search.h"
#include "sched/active.h"

#define EXPOSE_TRIES 8u		/* usual number of runs for a root */

/* Outcome of the runs for a root. Of several runs the highest value counts. */
enum expose_outcome {
	EXPOSE_UNTRIED,
	EXPOSE_IMPOSSIBLE,	/* its accesses do not conflict in the way that its idiom demands */
	EXPOSE_UNREACHED,	/* no run reached all of its events */
	EXPOSE_MISSED,		/* a run reached all of its events, but not in the wanted order */
	EXPOSE_DONE,		/* a run exposed it */
};

struct expose_target {
	struct iroot iroot;	/* its sites are pcs in the target */
	/* Some site is not in the program itself: the target comes last within its idiom. */
	bool library;
	enum expose_outcome outcome;	/* EXPOSE_DONE: no run is made for it */
	unsigned runs;		/* number of runs made for it, which selects the next try */
	bool failed;		/* a run that exposed it failed */
	struct expose_assignments *assignments;	/* private; freed by expose_target_free() */
};

/* Makes an untried target. `places` has the modules of its sites. */
struct expose_target expose_target_of(const struct iroot *iroot, const struct places *places);

struct expose;

/*
 * `config` is for all runs; its strategy is ignored. It needs a `memory` with the shared granules
 * of earlier runs. `tries`: most runs for each target, including those made before.
 */
struct expose *expose_open(const struct search_config *config, unsigned tries,
			   struct expose_target *targets, size_t count);
void expose_close(struct expose *a);

/*
 * Returns the next event of the searches, as search_next() does. At SEARCH_ENDED the caller may set
 * other targets that the run exposed to EXPOSE_DONE. Ends early as a search does: by SEARCH_ENOUGH,
 * Ctrl-C, or when time or runs are spent. -1 if the program cannot be run.
 */
int expose_next(struct expose *a, struct search_run *run, struct err *err);

/* Frees what a target keeps for later tries. */
void expose_target_free(struct expose_target *t);

/*
 * An assignment: the thread and visit that play each part of a root.
 *
 * expose_assign() fills `out` with the likeliest assignments, at most `most`, from the visits
 * of one run (seen[i] has count[i] visits to event i). Of equally likely ones, one for each pair of
 * call stacks comes first; `salt` decides about the rest. Returns their number.
 */
struct expose_assignment {
	struct sched_reached part[2];
	/* Steps of that run before either thread is at its last lock-free point. */
	uint64_t prefix;
	/* Number of other events of the root for which the run had fitting visits. */
	unsigned score;
	unsigned duplicates;	/* number of earlier ones with equal call stacks and score */
	uint64_t draw;		/* random number for sorting */
};

size_t expose_assign(const struct iroot *iroot, const struct active_visit *const *seen,
		     const uint32_t *count, uint64_t salt, struct expose_assignment *out,
		     size_t most);

#endif
