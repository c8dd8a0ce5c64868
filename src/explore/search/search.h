/*
 * Search: many controlled runs of a program by one strategy. One thread drives several workers,
 * each of which runs one copy of the program at a time.
 *
 *	struct search *s = search_open(&config, &err);
 *	struct search_run run;
 *	int event;
 *
 *	while ((event = search_next(s, &run, &err)) > 0)
 *		if (event == SEARCH_BEGIN)
 *			… change server_request(run.server) …
 *		else if (event == SEARCH_ENDED)
 *			… read run.result and server_report(run.server) …
 *		else if (event == SEARCH_FAILED)
 *			search_answer(s, … decide about run.failure …);
 *	search_close(s);
 *
 * The loop serves all workers: one worker's run begins while other runs are still in progress.
 *
 * The result does not depend on the number of workers. Run i depends only on (seed, i) and on what
 * the runs of earlier generations found: shared granules, and the length of the longest run. Of
 * several equal failures the search reports the one with the lowest run number. A generation ends
 * before each of the runs 1, 2, 4, 8, … 256, 512, 768, …
 */
#ifndef EXPLORE_SEARCH_SEARCH_H
#define EXPLORE_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/deadline.h"
#include "explore/search/failure.h"
#include "explore/search/oracle.h"
#include "explore/search/search_memory.h"
#include "explore/target/snapshots.h"
#include "explore/target/worker.h"
#include "sched/strategy.h"
#include "symbol/program_sites.h"

struct search_stats {
	uint64_t runs;		/* runs that ended */
	uint64_t failed;	/* runs among them that failed */
	uint64_t cut;		/* runs among them that exceeded max_steps: inconclusive */
	uint64_t timed_out;	/* runs among them that exceeded their time limit: inconclusive */
	uint64_t damaged;	/* runs among them that damaged the memory shared with snarl */
	uint64_t ignored;	/* runs that passed since their failure is ignored */
	uint64_t lost;		/* runs repeated because the fork server died; not in `runs` */
	uint64_t steps;		/* steps of all runs */
	uint64_t shared;	/* granules known to be shared */
	uint64_t interleavings;	/* distinct ones; COVERAGE_MAX: or more */
	uint64_t failures;	/* distinct failures, those passed to the caller */
	uint32_t threads;	/* largest number of threads in a run */
	double seconds;		/* wall-clock time of all searches */
	struct ctl_uncontrolled uncontrolled;	/* the most that ran uncontrolled in a run */
	bool exhausted;		/* the strategy tried every schedule it can produce */
	bool truncated;		/* chess stopped early: it had no room for all branches of a run */
	bool exec;		/* every run was a process of its own: no fork server */
};

/* The program, and the oracle that decides whether a run of it failed. */
struct search_program {
	struct server_config server;
	struct oracle *oracle;
	struct places *places;	/* symbols; search_open() adds the program's modules */
};

/* How runs are made. */
struct search_plan {
	const struct strategy *strategy;
	uint64_t seed;
	uint32_t depth;		/* parameter of pct and chess */
	uint32_t switch_permille;	/* switches per 1000 steps; 0: the strategy's default */
	uint32_t flags;		/* CTL_… flags of every run */
	uint64_t max_steps;	/* a longer run is stopped; 0: no limit */
	unsigned jobs;		/* workers, at most 64 */
	bool learned;		/* all shared granules are known: do not look for more */
	bool keep_going;	/* continue after the first failure */
};

/* Limits of the search. */
struct search_budget {
	uint64_t runs;		/* 0: no limit */
	struct deadline deadline; /* runs in progress are abandoned, failures still reported */
};

struct search_config {
	struct search_program program;
	struct search_plan plan;
	struct search_budget budget;
	struct search_memory *memory;	/* read and extended; NULL: the search begins without any */
	struct search_stats *stats;	/* the search adds to it; zero it before the first search */
};

enum search_event {
	SEARCH_DONE, /* the budget is spent, or the strategy is exhausted */
	SEARCH_BEGIN, /* run `number` is about to begin; its request is filled in */
	SEARCH_ENDED, /* run `number` ended with `result`; runs end in any order */
	SEARCH_FAILED, /* a failing run whose oracle_identity() and cause are a new pair */
	SEARCH_INCONCLUSIVE, /* the first run that exceeded a limit; run->failure stays the search's
			      */
	SEARCH_GENERATION, /* all runs of the generation ended; their failures were reported */
	SEARCH_PROGRESS, /* about every 100 ms: an occasion to show the statistics */
};

struct search;

/*
 * The subject of an event. At SEARCH_FAILED the caller owns `failure`. The rest is valid until the
 * next event.
 */
struct search_run {
	struct search *search;
	uint64_t number;	/* from 0 */
	struct server *server;
	const struct oracle_result *result;
	struct search_failure *failure;
};

/* Counts a run that exceeded a limit. */
void search_stats_limit(struct search_stats *stats, const struct oracle_result *result);

/*
 * Whether further runs are likely to exceed their limits, or to be damaged, and take too long: none
 * of the first runs ended well, or many timed out in a search without a time limit.
 */
bool search_stats_hopeless(const struct search_stats *stats, const struct search_budget *budget);

/* Starts the workers. Returns NULL and *err if the program cannot be run. Copies `config`. */
struct search *search_open(const struct search_config *config, struct err *err);

/* Ends all runs and adds the elapsed time to the statistics. `s` may be NULL. */
void search_close(struct search *s);

/* Returns the next enum search_event, or -1 if the program cannot be run or `s` is NULL. */
int search_next(struct search *s, struct search_run *run, struct err *err);

/*
 * Call at SEARCH_BEGIN to start the run from a snapshot at `point` of an earlier run. Returns true
 * if the worker runs to `point` first: do not change the request, SEARCH_BEGIN comes again when the
 * snapshot exists. Returns false if the run begins now: at `point` if server->depth is not 0, else
 * at the start of the program, because no snapshot is possible. Needs plan.learned. Call it for all
 * runs of a search or for none.
 */
bool search_begin_at(struct search *s, const struct snapshots_point *point);

/*
 * Call at SEARCH_ENDED to name the predicted order that the run followed, as a hash. Failures with
 * equal symptoms and different causes are reported separately.
 */
void search_cause(struct search *s, uint64_t cause);

/* Call at SEARCH_FAILED to say how to go on; the default is SEARCH_MORE. */
void search_answer(struct search *s, enum search_answer answer);

/* Whether the caller answered a failure with SEARCH_ENOUGH. */
bool search_had_enough(const struct search *s);

/* Ends the search: abandons the runs in progress, and drops failures not reported yet. */
void search_stop(struct search *s);

/* Callbacks of a command that makes several searches. */
struct search_listener {
	/* Takes ownership of `f`. NULL: failures are dropped. */
	enum search_answer (*found)(void *ctx, struct search_failure *f);
	void (*progress)(void *ctx, const struct search_stats *stats);	/* or NULL */
	/* Gets the first run that exceeded a limit; does not own it. NULL: not wanted. */
	void (*inconclusive)(void *ctx, const struct search_failure *f);
	void *ctx;
};

/*
 * Passes SEARCH_FAILED, SEARCH_INCONCLUSIVE and SEARCH_PROGRESS to the listener; ignores other
 * events.
 */
void search_report(int event, const struct search_run *run, const struct search_listener *listener);

#endif
