/*
 * A failure that was found: proved by replaying it, and kept in a folder (bugs/B001 with
 * schedule.txt, bug.json, trace.snarl, stdout and stderr of the run), with other failures of
 * the same cause and the other orders of events that lead to it.
 */
#ifndef EXPLORE_BUG_BUG_H
#define EXPLORE_BUG_BUG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "explore/bug/interleavings.h"
#include "explore/bug/minimise.h"
#include "explore/bug/nearest_passing.h"
#include "explore/lead/lead.h"
#include "explore/search/failure.h"
#include "explore/search/replay_schedule.h"

#define BUG_TRACE_STEPS 10000000u	/* a longer run is not recorded */

struct bug {
	char id[16];		/* "B001"; "" until saved */
	char *path;		/* its folder */
	struct search_failure *failure;	/* owned */
	char *text;		/* the failure in words */
	struct minimised minimised;
	unsigned goal_runs;	/* made to minimise its goals */
	unsigned replays, good;	/* made; failed in the same way */
	char why[256];		/* it is not proved: what came instead */
	struct lead *cause;	/* found, not predicted for this run; goes before failure->lead; owned */
	bool predicted;		/* the cause is an order that had been predicted */
	char *trace;		/* where it is until the bug is saved; owned */
	bool traced;		/* there is a trace */
	char no_trace[256];	/* why not */
	struct interleavings interleavings;	/* the first is its own; none if no cause is known */
	struct passing passing;	/* the nearest run that passes */
	/* Of each event of the cause, in its own trace and in that of the run that passes: lead_locate(). */
	uint64_t index[CANDIDATE_EVENTS], passing_index[CANDIDATE_EVENTS];
	struct bug **others;	/* failures of the same cause that look different; owned */
	size_t other_count, other_capacity;
};

/* Takes over `f`. */
void bug_init(struct bug *b, struct search_failure *f, struct places *places);
void bug_free(struct bug *b);

/*
 * Replays it so many times in fresh processes. The first replay gives the
 * schedule its checks. True if all failed as the run did.
 */
bool bug_prove(struct bug *b, const struct replay_config *config, unsigned times,
	       const struct places *places, struct err *err);

/* One more replay makes the trace, in the folder `out`, which is made; -1 if it cannot be. */
int bug_record(struct bug *b, const char *out, const struct replay_config *config,
	       const struct places *places, struct err *err);

/* Into a new folder below `out`. */
int bug_save(struct bug *b, const char *out, const struct target *target, struct places *places,
	     struct err *err);

/* Finds the events of the cause in the traces that are in its folder. */
void bug_locate(struct bug *b);

/* Writes what became known since then: interleavings, other failures, the nearest run that passes. */
int bug_update(const struct bug *b, struct places *places, struct err *err);

/* Makes a folder for results, and those that it lies in; -1 also if it cannot be written to. */
int bug_folder(const char *path, struct err *err);

/* What made it fail, as far as it is known; or NULL. */
const struct lead *bug_cause(const struct bug *b);

/* … was it predicted, and the run made to have it? Else it was found in the run. */
bool bug_is_predicted(const struct bug *b);

/* Are these two failures one bug? By their causes; if one is not known, by what they look like. */
bool bug_same(const struct bug *a, const struct bug *b, struct places *places);

/* Does one of its failures look like this? */
bool bug_has_symptom(const struct bug *b, const struct oracle_result *r, struct places *places);

/* Takes over `other`, which is saved with the next bug_update(). */
void bug_add_other(struct bug *b, struct bug *other);

/* Its members, for bug.json and the list in results.json. `folder`: path to begin "schedule" with. */
void bug_json(const struct bug *b, struct json *j, const char *folder, struct places *places);

#endif
