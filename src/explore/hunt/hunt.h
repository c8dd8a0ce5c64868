/*
 * The hunt: watch a few runs, predict what may go wrong in others, make these.
 *
 *   profile  a few controlled runs, until it is known which memory is shared; then the
 *            same again with a trace each
 *   predict  the analyses over each trace
 *   prove    every candidate several times: up to where a thread has to wait as the run
 *            that was watched, then its order of events by the strategy goal, then onward by
 *            different policies. Candidates that do not overlap are tried together first
 *   search   what is left of the budget, by the strategies that find what is new; runs that
 *            were very new are watched as well, and what they predict is proved
 *
 * In place of the search, iRoots that no run exposed yet can be chased (cover_chase.h).
 *
 * With several inputs each stage is made with all of them. All is made from the seed, and
 * does not depend on how many runs are made at a time, nor on snapshots.
 */
#ifndef EXPLORE_HUNT_HUNT_H
#define EXPLORE_HUNT_HUNT_H

#include "explore/cover/cover_record.h"
#include "explore/lead/lead.h"
#include "explore/search/search.h"
#include "explore/target/inputs.h"

enum hunt_stage { HUNT_PROFILE, HUNT_PREDICT, HUNT_PROVE, HUNT_SEARCH, HUNT_COVER };

struct hunt_stats {
	enum hunt_stage stage;
	uint64_t predicted;	/* candidates of all traces */
	uint64_t seen;		/* of them, happened in a run that passed */
	uint64_t doubtful;	/* … and of those kept, seem impossible by what was read; they come late */
	uint64_t leads;		/* left of them after pruning */
	uint64_t suppressed;	/* besides: wanted by nobody */
	uint64_t grouped;	/* of the leads, tried in a run with others */
	uint64_t left;		/* … not tried yet */
	uint64_t proved;	/* … made a run fail */
	uint64_t harmless;	/* … came about, and no run failed */
	uint64_t infeasible;	/* … could not come about */
	uint64_t unreached;	/* … the runs did not come to its events */
	uint64_t saturated;	/* not 0: it ended since so many runs in a row showed nothing new */
	uint64_t chased, chased_exposed;	/* iRoots; of them, exposed */
	const struct cover *cover;	/* what is known of iRoots, or NULL */
	char no_trace[256];	/* why a profile run has none; "" */
	const struct leads *list;	/* all of them, with their outcomes */
};

struct hunt_config {
	struct search_config search;	/* of all stages; the hunt has its own strategies and memory */
	struct search_listener listener;
	struct inputs *inputs;	/* of its target; NULL: that as it is */
	unsigned profiles;	/* runs to watch, of each input */
	uint64_t saturation;	/* end after so many runs without anything new; 0: never */
	uint64_t snapshots;	/* steps that runs must have in common to be made once; 0: never */
	bool (*wanted)(void *ctx, const struct lead *lead);	/* which candidates to try; NULL: all */
	void *ctx;		/* of `wanted` */
	const struct suppressions *suppress;	/* or NULL; outlives the hunt */
	struct cover *cover;	/* chase what is untested in it, in place of the search; or NULL */
};

struct hunt;

struct hunt *hunt_new(const struct hunt_config *config);
void hunt_free(struct hunt *h);	/* with the leads that failures refer to */

/* -1 if the program cannot be run. */
int hunt_run(struct hunt *h, struct err *err);

/*
 * The candidates it knows of, the likeliest first: for struct cause_source. May run the program a
 * few times more, as replays do.
 */
const struct leads *hunt_leads(void *ctx);

const struct hunt_stats *hunt_stats(const struct hunt *h);
const char *hunt_stage_name(enum hunt_stage stage);

#endif
