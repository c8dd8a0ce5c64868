/*
 * A bug: a failure that was proved by replaying it, and its folder.
 *
 *	bugs/B001/schedule.txt, bug.json        how to replay it; all facts (bug_json.c)
 *	bugs/B001/trace.snarl                   trace of one replay, with values
 *	bugs/B001/stdin, stdout, stderr         input and output of the run
 *	bugs/B001/passing.txt, passing.snarl    the nearest run that passes
 *	bugs/B001/interleavings/01.txt, ...     schedules of all orders that fail, its own first
 *	bugs/B001/failures/02.txt, ...          schedules of failures with other symptoms
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
#include "explore/search/fingerprint.h"
#include "explore/search/replay_schedule.h"

#define BUG_TRACE_STEPS 10000000u	/* longer runs get no trace: bounds time and size */

struct bug {
	char id[16];		/* "B001"; "" until saved */
	char *path;		/* its folder; NULL until saved */
	struct search_failure *failure;	/* owned */
	char *text;		/* description of the failure, for people */
	struct minimised minimised;
	unsigned goal_runs;	/* number of runs that minimised the schedule's goals */
	unsigned replays, good;	/* number of replays; number of these that failed as the run did */
	unsigned wanted; /* number of replays asked for; more than `replays` if they take long */
	double replay_seconds;	/* duration of a replay */
	char why[256];		/* what a replay did instead; "" if all failed alike */
	char fingerprint[FINGERPRINT_SIZE];	/* of the failure: --ignore */
	uint64_t every_run; /* runs that were made to see whether all fail, and did; 0: some passed
			     */
	/* A finding (finding.h): the failure did not replay. */
	unsigned seen;		/* failing runs of its kind that were replayed in vain */
	char *divergence; /* what a replay did otherwise than the one before; NULL: not known */
	struct {
		char call[12], thread[64];
		uint64_t pc;	/* 0: none */
	} outside;		/* the last call that returned something from outside the program */
	/* cause found afterwards; NULL: failure->lead is the cause, or none is known; owned */
	struct lead *cause;
	bool predicted;		/* `cause` is an order that a hunt had predicted */
	char *trace;		/* path of the trace until the bug is saved; owned */
	bool traced;		/* the trace exists */
	char no_trace[256];	/* why there is no trace; "": it exists, or was not tried */
	struct interleavings interleavings;	/* the first is the cause; empty without a cause */
	struct passing passing;	/* the nearest run that passes */
	/* Index of each event of the cause in trace.snarl and in passing.snarl: lead_locate(). */
	uint64_t index[CANDIDATE_EVENTS], passing_index[CANDIDATE_EVENTS];
	struct bug **others;	/* failures with the same cause and other symptoms; owned */
	size_t other_count, other_capacity;
};

/* Makes a bug of `f`. The bug owns `f` from now on. */
void bug_init(struct bug *b, struct search_failure *f, struct places *places);
void bug_free(struct bug *b);

/*
 * Replays the schedule `times` times, or fewer times if that takes long, each in a new fork of a
 * fork server of its own. The first replay adds checks to the schedule. True if all replays failed
 * as the run did; else b->why or *err says why not.
 */
bool bug_prove(struct bug *b, const struct replay_config *config, unsigned times,
	       const struct places *places, struct err *err);

/*
 * Records one more replay into a temporary trace in the folder `out`. -1 only if that folder cannot
 * be made; why there is no trace for another reason is in b->no_trace.
 */
int bug_record(struct bug *b, const char *out, const struct replay_config *config,
	       const struct places *places, struct err *err);

/* Makes the next free folder below out/bugs and writes the files of the bug. */
int bug_save(struct bug *b, const char *out, const struct target *target, struct places *places,
	     struct err *err);

/* Sets index and passing_index from the traces in the folder. */
void bug_locate(struct bug *b);

/* Writes interleavings, other failures, the passing run and bug.json, all as known now. */
int bug_update(const struct bug *b, struct places *places, struct err *err);

/* Makes a folder and its parents. -1 if one cannot be made, or files cannot be created in it. */
int bug_folder(const char *path, struct err *err);

/* The order that made it fail; NULL if it is not known. */
const struct lead *bug_cause(const struct bug *b);

/* True if the cause had been predicted by a hunt; false if it was only found in the failing run. */
bool bug_is_predicted(const struct bug *b);

/*
 * True if `b` is one bug with `a` or one of a's other failures: by the memory that was freed, by
 * their causes or, unless both causes were predicted, by their symptoms.
 */
bool bug_same(const struct bug *a, const struct bug *b, struct places *places);

/* True if the bug or one of its other failures has this symptom: the same class and lines. */
bool bug_has_symptom(const struct bug *b, const struct oracle_result *r, struct places *places);

/* Adds a failure with the same cause, which `b` owns from now on. bug_update() saves it. */
void bug_add_other(struct bug *b, struct bug *other);

/* Writes the members of bug.json, also used in results.json. `folder` goes before file names. */
void bug_json(const struct bug *b, struct json *j, const char *folder, struct places *places);

#endif
