/*
 * What a failure is: a new bug, one that is known, or none. All that decides it is here.
 *
 *	if (verdict_is_duplicate(&judge, failure))
 *		… it is not worth a look …
 *	… it becomes a bug, is replayed and examined (confirm.h) …
 *	verdict_decide(&judge, bug, proved, &cause_config, &verdict);
 */
#ifndef EXPLORE_BUG_VERDICT_H
#define EXPLORE_BUG_VERDICT_H

#include "explore/bug/baseline.h"
#include "explore/bug/cause.h"
#include "explore/bug/results.h"

enum verdict_kind {
	VERDICT_UNPROVED,	/* a replay did something else: bug->why */
	VERDICT_SUPPRESSED,	/* by the lines of a suppression file */
	VERDICT_DUPLICATE,	/* a bug of this session has the same cause */
	VERDICT_KNOWN,		/* the baseline has it */
	VERDICT_NEW,
	VERDICT_UNSAVED,	/* proved, but there is no place to keep it */
};

struct verdict {
	enum verdict_kind kind;
	struct bug *bug;	/* the failure, with the candidate that led to it and its cause */
	struct bug *of;		/* DUPLICATE: of this bug */
	const char *known_as;	/* KNOWN: its number in the baseline */
	size_t orders;		/* other orders of its events that fail; known when it is saved */
	struct err err;		/* UNPROVED, UNSAVED: the reason, if bug->why is empty */
};

/* What is known of failures, for all of a session. */
struct judge {
	struct results results;
	struct baseline *baseline;	/* NULL: none; not owned */
	const struct suppressions *suppress;	/* NULL: none; not owned */
	struct places *places;
	bool separate;		/* every failure is a bug of its own */
	unsigned exact_duplicates;	/* failures that turned out to be duplicates in all respects */
};

/*
 * Whether a failure is a duplicate at first sight: a proved bug has the same symptom and either
 * the same cause, or lately all failures turned out to be duplicates.
 */
bool verdict_is_duplicate(const struct judge *j, const struct search_failure *f);

/*
 * Of a failure that was replayed and, if that proved it, examined. One more replay may be needed
 * to find its cause. Fills in kind, bug, of and known_as.
 */
void verdict_decide(struct judge *j, struct bug *b, bool proved, const struct cause_config *cause,
		    struct verdict *out);

#endif
