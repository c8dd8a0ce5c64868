/*
 * A program that is run again and again, and what was found: what snarl test and snarl
 * hunt have in common.
 */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include <signal.h>

#include "cmd/explore_options.h"
#include "cmd/progress.h"
#include "cmd/test.h"
#include "explore/bug/bug.h"
#include "explore/hunt/hunt.h"
#include "explore/search/search.h"
#include "explore/target/target.h"

struct session {
	const struct explore_options *o;
	struct oracle oracle;
	struct target target;
	struct places places;
	struct progress progress;
	struct test_results results;
	struct search_stats stats;
	struct err err;		/* of saving */
	double began;
	unsigned redundant;	/* failures that nothing new came of */
	bool plain;		/* every failure is a bug of its own, and kept as it was found */
	bool failed_to_save;
	bool made_out;		/* the folder of results was not there */
	struct hunt *hunter;		/* of snarl hunt, or NULL */
	const struct hunt_stats *hunt;	/* its figures, or NULL */
};

/* Ctrl-C sets it; a second one ends snarl. */
extern volatile sig_atomic_t session_interrupted;

/* CMD_OK, or what was told. Close it in any case. */
int session_open(struct session *s, const struct explore_options *o);
void session_close(struct session *s);

/* What a search needs to know from the options. */
void session_config(struct session *s, struct search_config *out);

/* Takes over `f`: makes it small, proves, saves and tells it. `ctx` is the session. */
enum search_answer session_found(void *ctx, struct search_failure *f);

/* Shows how the search is getting on. `ctx` is the session. */
void session_progress(void *ctx, const struct search_stats *stats);

/* These two. */
struct search_listener session_listener(struct session *s);

/* Tells of the end, writes the results. `result` and `err`: of the search. Returns the exit code. */
int session_end(struct session *s, int result, const struct err *err);

#endif
