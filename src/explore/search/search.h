/*
 * Many runs of a program by a strategy, made by several workers from one thread.
 *
 *	struct search *s = search_open(&config, &err);
 *	struct search_run run;
 *	int event;
 *
 *	while ((event = search_next(s, &run, &err)) > 0)
 *		if (event == SEARCH_BEGIN)
 *			… change what is asked of run.server …
 *		else if (event == SEARCH_ENDED)
 *			… look at run.server and run.result …
 *		else if (event == SEARCH_FAILED)
 *			search_answer(s, … run.failure …);
 *	search_close(s);
 *
 * The runs of all workers come through the same loop: a run begins while others are under way.
 *
 * What is found does not depend on the number of workers. Run i is made from (seed, i) and from
 * what the runs of earlier generations taught: which memory is shared, and how long a run is. Of
 * several failures the one with the lowest run number counts. Generations end before the runs
 * 1, 2, 4, 8, … 256, 512, 768, …
 */
#ifndef EXPLORE_SEARCH_SEARCH_H
#define EXPLORE_SEARCH_SEARCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "explore/search/failure.h"
#include "explore/search/oracle.h"
#include "explore/search/search_memory.h"
#include "explore/target/snapshots.h"
#include "explore/target/worker.h"
#include "sched/strategy.h"
#include "symbol/program_sites.h"

struct search_stats {
	uint64_t runs;		/* ended */
	uint64_t failed, cut;	/* of them */
	uint64_t lost;		/* runs that were made again, and are not in `runs` */
	uint64_t steps;		/* of all runs */
	uint64_t shared;	/* granules known to be shared */
	uint64_t interleavings;	/* different ones so far; COVERAGE_MAX: or more */
	uint64_t failures;	/* different ones */
	uint32_t threads;	/* most in a run */
	double seconds;
	bool exhausted;		/* the strategy has tried everything */
	bool truncated;		/* the strategy stopped, but runs were too long or had too many threads to try all */
	bool exec;		/* every run was a process of its own */
};

/* The program, and what a failure of it is. */
struct search_program {
	struct server_config server;
	struct oracle *oracle;
	struct places *places;	/* search_open() adds the modules of the program */
};

/* How runs are made. */
struct search_plan {
	const struct strategy *strategy;
	uint64_t seed;
	uint32_t depth, switch_permille, flags;	/* flags: CTL_… for the schedule */
	uint64_t max_steps;
	unsigned jobs;
	bool learned;		/* all shared memory is known: events are counted as in the runs before */
	bool keep_going;	/* after the first failure */
};

/* When the search ends. */
struct search_budget {
	uint64_t runs;		/* 0: no limit */
	double seconds;		/* 0: no limit */
	volatile sig_atomic_t *stop;	/* not 0: end soon; or NULL */
};

struct search_config {
	struct search_program program;
	struct search_plan plan;
	struct search_budget budget;
	struct search_memory *memory;	/* NULL: nothing is known before, nothing is kept */
	struct search_stats *stats;	/* the search adds to it; zero before the first search */
};

enum search_event {
	SEARCH_DONE,		/* the budget is spent, or the strategy has tried everything */
	SEARCH_BEGIN,		/* run `number` is about to begin on `server`, with the request of the plan */
	SEARCH_ENDED,		/* it has ended, with `result`; runs end in any order */
	SEARCH_FAILED,		/* `failure` is unlike those before, by oracle_identity() and cause */
	SEARCH_GENERATION,	/* all runs that began have ended, and their failures were reported */
	SEARCH_PROGRESS,	/* comes at least every 100 ms: a time to show the statistics */
};

struct search;

/* What an event is about. `failure` is the caller's; all else is valid until the next event. */
struct search_run {
	struct search *search;
	uint64_t number;	/* from 0 */
	struct server *server;
	const struct oracle_result *result;
	struct search_failure *failure;
};

/* NULL: the program cannot be run. `config` is copied. */
struct search *search_open(const struct search_config *config, struct err *err);

/* Ends all runs and counts the time. NULL is allowed. */
void search_close(struct search *s);

/* The next event, an enum search_event. -1: the program cannot be run, or `s` is NULL. */
int search_next(struct search *s, struct search_run *run, struct err *err);

/*
 * At SEARCH_BEGIN: the run begins at a point of a run, if there can be a snapshot of it. True:
 * the worker goes there first, and SEARCH_BEGIN comes again when it has arrived; leave the request
 * as it is. False: the run begins now, at the point if server->depth is not 0, or from the start.
 * Needs plan.learned. A search uses this for all of its runs or for none.
 */
bool search_begin_at(struct search *s, const struct snapshots_point *point);

/* At SEARCH_ENDED: failures that look the same are different if their runs have different causes. */
void search_cause(struct search *s, uint64_t cause);

/* At SEARCH_FAILED; without an answer it is SEARCH_MORE. */
void search_answer(struct search *s, enum search_answer answer);

bool search_had_enough(const struct search *s);	/* it was answered by SEARCH_ENOUGH */

/* Ends the search soon, as budget.stop does. */
void search_stop(struct search *s);

/* Who is told what is found in the course of many searches. */
struct search_listener {
	/* `f` is the callee's. NULL: nobody wants failures. */
	enum search_answer (*found)(void *ctx, struct search_failure *f);
	void (*progress)(void *ctx, const struct search_stats *stats);	/* or NULL */
	void *ctx;
};

/* Passes SEARCH_FAILED and SEARCH_PROGRESS on to a listener; does nothing at other events. */
void search_report(int event, const struct search_run *run, const struct search_listener *listener);

#endif
