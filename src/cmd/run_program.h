/*
 * Runs the user's program as if snarl were not there: signals of the terminal reach it, other
 * signals sent to snarl are passed on, and processes that outlive it are noticed.
 */
#ifndef CMD_RUN_PROGRAM_H
#define CMD_RUN_PROGRAM_H

#include <stdbool.h>

#include "base/err.h"

struct run {
	char *const *argv;	/* ended by NULL */
	const char *options;	/* value of SNARL_OPTIONS */
	bool to_stderr;		/* connect its stdout to stderr */
	double wait;		/* seconds to wait for processes that outlive it */

	/* results */
	int status;		/* of the program, as waitpid() returns it */
	double seconds;		/* how long the program ran */
	bool orphans;		/* processes that it started still run */
};

/*
 * Runs the program to its end. Returns 0, or -1 and *err if it cannot be started. Leaves the
 * signals that it passes on blocked. Makes this process a child subreaper; call it from the main
 * thread only.
 */
int run_program(struct run *run, struct err *err);

#endif
