/*
 * A failure that was found: proved by replaying it, and kept in a folder
 * (bugs/B001 with schedule.txt, bug.json, report.txt, trace.snarl).
 */
#ifndef EXPLORE_BUG_H
#define EXPLORE_BUG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "explore/lead.h"
#include "explore/replay.h"
#include "explore/search.h"

struct bug {
	char id[16];		/* "B001"; "" until saved */
	char *path;		/* its folder */
	struct search_failure *failure;	/* owned */
	char *text;		/* the failure in words */
	unsigned replays, good;	/* made; failed in the same way */
	char why[256];		/* it is not proved: what came instead */
	/* If its cause was not predicted, this finds one from the trace; may be NULL. */
	struct lead *(*explain)(void *ctx, const struct search_failure *f, const char *trace);
	void *explain_ctx;
	struct lead *cause;	/* … which is this; owned */
	bool traced;		/* trace.snarl is there */
	char no_trace[256];	/* why not */
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

/* Into a new folder below `out`, which is made. One more replay makes the trace; it may be missing. */
int bug_save(struct bug *b, const char *out, const struct replay_config *config,
	     struct places *places, struct err *err);

/* What made it fail, as far as it is known; or NULL. */
const struct lead *bug_cause(const struct bug *b);

/* Its members, for bug.json and the list in results.json. `folder`: path to begin "schedule" with. */
void bug_json(const struct bug *b, struct json *j, const char *folder, struct places *places);

#endif
