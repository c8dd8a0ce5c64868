/*
 * Running the user's program as if snarl were not there: the terminal's signals
 * reach it, others sent to snarl are passed on, and what it leaves running is
 * noticed.
 */
#ifndef CMD_RUN_PROGRAM_H
#define CMD_RUN_PROGRAM_H

#include <stdbool.h>

#include "base/err.h"

struct run {
	char *const *argv;
	const char *options;	/* value of SNARL_OPTIONS */
	bool to_stderr;		/* its stdout becomes our stderr */
	double wait;		/* seconds to wait for what it left running */

	/* found out */
	int status;		/* as of waitpid() */
	double seconds;
	bool left;		/* processes it started still run */
};

/* -1 with the reason if it cannot be started. Not for use in threads. */
int run_program(struct run *run, struct err *err);

#endif
