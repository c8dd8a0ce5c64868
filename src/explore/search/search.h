/*
 * Many runs of a strategy, by several workers from one thread.
 *
 * What is found does not depend on the number of workers: run i is made from
 * (seed, i) and from what runs of earlier generations have taught (which memory
 * is shared, how long a run is), and of several failures the one of the lowest
 * run counts. Generations end before runs 1, 2, 4, 8, … 256, 512, 768, …
 */
#ifndef EXPLORE_SEARCH_SEARCH_H
#define EXPLORE_SEARCH_SEARCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "explore/schedule/schedule.h"
#include "explore/search/interleavings_seen.h"
#include "explore/search/oracle.h"
#include "explore/target/snapshots.h"
#include "explore/target/worker.h"
#include "sched/strategy.h"
#include "symbol/program_sites.h"

/* What outlives a search, so that another one may go on with it. All zero: nothing is known. */
struct search_memory {
	uint64_t *granules;	/* shared memory, in the order found */
	size_t count, capacity;
	struct map identities;	/* of failures that were told; how often without proof */
	struct coverage coverage;
	/* Of the longest run: how long, and what each thread did in it. */
	uint64_t length;
	uint32_t threads;
	uint64_t events[CTL_THREADS];
	uint32_t parent[CTL_THREADS];
};

struct search_stats {
	uint64_t runs;		/* ended */
	uint64_t failed, cut, lost;	/* of them; lost ones were made again, and are not in `runs` */
	uint64_t steps;		/* of all */
	uint64_t shared;	/* granules known to be shared */
	uint64_t interleavings;	/* different ones so far; COVERAGE_MAX: or more */
	uint64_t failures;	/* different ones */
	uint32_t threads;	/* most in a run */
	double seconds;
	bool exhausted;		/* the strategy has nothing left to try */
	bool truncated;		/* … nor has it, but runs were too long or had too many threads to try all */
	bool exec;		/* every run was a process of its own */
};

struct lead;

#define SEARCH_DOUBTS 3u	/* failures alike that are told as long as none is proved */

/* To a failure that was told. */
enum search_answer {
	SEARCH_ENOUGH,		/* come to an end */
	SEARCH_MORE,
	SEARCH_DOUBT,		/* more, and another one like it: this one did not prove */
};

void search_memory_free(struct search_memory *m);

/* A failure of this identity: shall it be told? Then say what came of it. */
bool search_memory_wants(const struct search_memory *m, uint64_t identity);
void search_memory_told(struct search_memory *m, uint64_t identity, enum search_answer answer);

/* A failing run. */
struct search_failure {
	uint64_t run;		/* from 0, of all runs in the statistics */
	uint64_t cause;		/* of search_config.cause */
	const struct lead *lead;	/* what made it fail, if that was predicted; not owned */
	struct oracle_result result;
	struct ctl_report *report;	/* a copy */
	struct schedule schedule;	/* exact, with the target's surroundings */
	struct buf out, error;		/* what it printed */
};

struct search_config {
	struct server_config server;
	const struct strategy *strategy;
	struct oracle *oracle;
	uint64_t seed, runs;	/* runs 0: no limit */
	uint32_t depth, switch_permille, flags;	/* flags: CTL_… for the schedule */
	uint64_t max_steps;
	double seconds;		/* 0: no limit */
	unsigned jobs;
	bool keep_going;
	struct search_memory *memory;	/* NULL: nothing is known before, nothing is kept */
	bool keep_failing;	/* profile_trace(): also the trace of a run that failed */
	bool by_strategy;	/* profile_trace(): by `strategy` and switch_permille */
	bool learned;		/* all shared memory is known: events are counted as in the runs before */
	volatile sig_atomic_t *stop;	/* not 0: come to an end */
	/* Now and then, at least every 100 ms. */
	void (*progress)(void *ctx, const struct search_stats *stats);
	/*
	 * A failure that is not like one before (oracle_identity, and `cause`). `f` is the
	 * callee's to free.
	 */
	enum search_answer (*found)(void *ctx, struct search_failure *f);
	/* What a failing run was made for, after judged(); 0: nothing. Or NULL. */
	uint64_t (*cause)(void *ctx, uint64_t run);
	/*
	 * May give a run another strategy (one without end()), seed or plan; or NULL. If
	 * s->depth is not 0, it begins at the point that from() said.
	 */
	void (*shape)(void *ctx, uint64_t run, struct server *s);
	/* Where runs begin, if possible, that share what is before; or NULL. Needs `learned`. */
	void (*from)(void *ctx, uint64_t run, struct snapshots_point *out);
	/* A run has ended, in any order; or NULL. */
	void (*judged)(void *ctx, uint64_t run, const struct server *s,
		       const struct oracle_result *result);
	/* All runs that were begun have ended: what shape() looks at may change now; or NULL. */
	void (*generation)(void *ctx);
	void *ctx;
};

/* From a run that has just ended. */
struct search_failure *search_failure_new(const struct server *s, const struct search_memory *memory,
					  const struct oracle *oracle, uint64_t run,
					  const struct oracle_result *result);
/* The surroundings of another one: nothing is known yet of how it ran and ended. */
struct search_failure *search_failure_like(const struct search_failure *like);
void search_failure_free(struct search_failure *f);

/*
 * `places` gets the modules of the program. Adds to *stats, which is zero at first. -1 if
 * the program cannot be run.
 */
int search_run(const struct search_config *config, struct places *places,
	       struct search_stats *stats, struct err *err);

#endif
