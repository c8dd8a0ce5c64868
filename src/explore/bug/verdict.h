/*
 * Decides whether a failure is a new bug. All rules for that are in verdict.c.
 *
 *	if (verdict_is_duplicate(&judge, failure))
 *		... drop it without a replay ...
 *	... replay it and find its cause: confirm.h ...
 *	verdict_decide(&judge, bug, proved, &cause_config, &verdict);
 *
 * The first rule that applies decides: duplicate without a replay, unproved, suppressed, duplicate,
 * known, new.
 *
 * Example. The session has proved B001. Its symptom is "assertion failed at bank.c:77", its cause
 * the lost update RWW on `balance`. The baseline has a bug B004, WR on `head` in push and pop.
 * More runs fail:
 *
 *	run  symptom                  cause                        verdict
 *	 12  assert at bank.c:77      run made for a candidate     duplicate without a replay: a
 *	                              about `balance`              proved bug has symptom and cause
 *	 15  exit code 3              RWW on `balance`, found in   DUPLICATE of B001: same cause;
 *	                              the trace of a replay        saved as failures/02.txt
 *	 19  deadlock in log_open     cycle of two locks           SUPPRESSED: "deadlock:^log_"
 *	     and log_write                                         matches both sites
 *	 23  signal 11 in pop         WR on `head` in push, pop    KNOWN: same identity as B004
 *	                                                           (identity.h)
 *	 28  signal 11 in resize      RWR on `size`                NEW: no other rule applies
 *	 31  exit code 1              not looked for               UNPROVED: replay 7 of 20 passed
 */
#ifndef EXPLORE_BUG_VERDICT_H
#define EXPLORE_BUG_VERDICT_H

#include "explore/bug/baseline.h"
#include "explore/bug/cause.h"
#include "explore/bug/results.h"

enum verdict_kind {
	VERDICT_UNPROVED,	/* a replay passed or failed in another way: bug->why */
	VERDICT_SUPPRESSED,	/* a suppression file covers the failure or its cause */
	VERDICT_DUPLICATE,	/* a proved bug of this session has the same cause */
	VERDICT_KNOWN,		/* the baseline has the bug */
	VERDICT_NEW,		/* neither this session nor the baseline has the bug */
	VERDICT_UNSAVED,	/* proved, but its files cannot be written */
};

struct verdict {
	enum verdict_kind kind;
	struct bug *bug;	/* the failure with its cause */
	struct bug *of;		/* DUPLICATE: the bug with the same cause */
	const char *known_as;	/* KNOWN: the id in the baseline */
	size_t orders;		/* number of orders that fail; 0: only the cause */
	struct err err;		/* UNPROVED, UNSAVED: the reason, if bug->why is empty */
};

/* What a session compares each failure with. */
struct judge {
	struct results results;	/* proved bugs and unproved failures of this session */
	struct baseline *baseline;	/* NULL: none; not owned */
	const struct suppressions *suppress;	/* NULL: none; not owned */
	struct places *places;
	bool separate;		/* never look for duplicates: every failure is a bug of its own */
	unsigned exact_duplicates;	/* failures that had cause and symptom of an earlier bug */
};

/*
 * True if a failure can be dropped without a replay: a proved bug has the same symptom, and either
 * its cause is the lead that this run tried, or this session already replayed many failures that
 * had cause and symptom of an earlier bug (EXACT_DUPLICATES_ENOUGH).
 */
bool verdict_is_duplicate(const struct judge *j, const struct search_failure *f);

/*
 * Decides about a failure after confirm_prove(); `proved` is its result. Sets kind, bug, of and
 * known_as of *out. May make one more replay, to find the cause for comparison with suppressions
 * (cause_is_suppressed()).
 */
void verdict_decide(struct judge *j, struct bug *b, bool proved, const struct cause_config *cause,
		    struct verdict *out);

#endif
