/*
 * The options of snarl guard, and the report of what the guard did.
 */
#ifndef CMD_MONITOR_GUARD_REPORT_H
#define CMD_MONITOR_GUARD_REPORT_H

#include "cmd/monitor/monitored_run.h"

struct guard_options {
	const char *rules;	/* file; NULL: rules.bin in `out` */
	const char *protect;	/* "pset", "tx", "both" or "none" */
	const char *out;	/* folder of guard.log */
	uint64_t wait_ms, noise, seed;
	uint64_t pid;		/* process to switch, by --off or --on; 0: run `program` */
	bool off;		/* --off, not --on */
	bool quiet, json;
	char **program;
};

/* Writes guard.log and prints the summary. Returns 0, or -1 and *err. */
int guard_report(struct monitored_run *m, const struct guard_options *o, struct err *err);

#endif
