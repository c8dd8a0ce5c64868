/*
 * The parts of snarl guard.
 */
#ifndef CMD_GUARD_REPORT_H
#define CMD_GUARD_REPORT_H

#include "cmd/monitored_run.h"

struct guard_options {
	const char *rules;	/* NULL: rules.bin in `out` */
	const char *protect, *out;
	uint64_t wait_ms, noise, seed;
	uint64_t pid;		/* of a program to switch, or 0 */
	bool off, quiet, json;
	char **program;
};

/* Writes guard.log and says what was done; -1 with the reason. */
int guard_report(struct watch_session *w, const struct guard_options *o, struct err *err);

#endif
