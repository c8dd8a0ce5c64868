/*
 * Runs an exploration session (explore/session.h) for a command: makes it from the options, prints
 * progress and findings while it runs, and the summary and results at the end.
 */
#ifndef CMD_SESSION_PRINT_H
#define CMD_SESSION_PRINT_H

#include "cmd/explore_options.h"
#include "cmd/interrupt.h"
#include "cmd/progress.h"
#include "explore/session.h"

struct session_print {
	const struct explore_options *o;
	struct progress progress;
	struct session session;
};

/*
 * Opens the session, makes its folder and installs the signal handlers. `separate`: report every
 * failure as a bug of its own, without looking for duplicates. Returns CMD_OK, or an exit code
 * after printing the reason. Call session_print_close() in both cases.
 */
int session_print_open(struct session_print *p, const struct explore_options *o, bool separate);
void session_print_close(struct session_print *p);

/*
 * Callbacks of a search_listener, with the session_print as ctx; the last function returns a
 * listener.
 */
enum search_answer session_print_found(void *ctx, struct search_failure *f);
void session_print_progress(void *ctx, const struct search_stats *stats);
void session_print_inconclusive(void *ctx, const struct search_failure *f);
struct search_listener session_print_listener(struct session_print *p);

/*
 * Prints the summary and writes results.json and index.html. `result` and `err` are what the search
 * returned. Returns the exit code.
 */
int session_print_end(struct session_print *p, int result, const struct err *err);

/* Prints the command that replays a bug, for the shell. */
void session_print_replay(const char *bug);

#endif
