/*
 * A session as a command shows it: from its options to progress, findings and the exit code.
 */
#ifndef CMD_SESSION_PRINT_H
#define CMD_SESSION_PRINT_H

#include <signal.h>

#include "cmd/explore_options.h"
#include "cmd/progress.h"
#include "explore/session.h"

struct session_print {
	const struct explore_options *o;
	struct progress progress;
	struct session session;
};

/* Ctrl-C sets it; a second one ends snarl. */
extern volatile sig_atomic_t session_interrupted;

/*
 * CMD_OK, or the exit code after saying why. `separate`: every failure is a bug of its own. Close
 * it in any case.
 */
int session_print_open(struct session_print *p, const struct explore_options *o, bool separate);
void session_print_close(struct session_print *p);

/* For a search_listener: ctx is the session_print. The last function returns both. */
enum search_answer session_print_found(void *ctx, struct search_failure *f);
void session_print_progress(void *ctx, const struct search_stats *stats);
struct search_listener session_print_listener(struct session_print *p);

/*
 * Says how it ended and writes the results. `result` and `err` are those of the search. Returns the
 * exit code.
 */
int session_print_end(struct session_print *p, int result, const struct err *err);

#endif
