/*
 * A run of a program under the monitor of the runtime, for snarl check and snarl guard: the rules
 * that it enforces, the shared log of what it saw (abi/monitor_log.h), and names for that.
 */
#ifndef CMD_MONITOR_MONITORED_RUN_H
#define CMD_MONITOR_MONITORED_RUN_H

#include "abi/monitor_log.h"
#include "abi/rules_format.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "symbol/program_sites.h"

/* Initialise with zeros. Call monitored_close() even if monitored_open() failed. */
struct monitored_run {
	struct rules_header *rules;	/* content of the rules file; NULL: no rules */
	struct monitor_log *log;	/* shared with the program */
	bool ended;		/* the program has ended, and `log` is a copy */
	int log_fd;
	struct buf options;		/* value of SNARL_OPTIONS for the program */
	struct run run;
	struct places places;
	struct monitor_log_record *records;	/* the log's, merged by site, most frequent first */
	size_t count;			/* number of `records` */
};

/* Reads the file `rules` (NULL: none) and creates the log. Returns 0, or -1 and *err. */
int monitored_open(struct monitored_run *m, const char *rules, struct err *err);
void monitored_close(struct monitored_run *m);

/* Add KEY=VALUE to the options. */
void monitored_option(struct monitored_run *m, const char *key, const char *value);
void monitored_number_option(struct monitored_run *m, const char *key, uint64_t value);

/*
 * Runs the program to its end and fills `records`. `json`: its stdout becomes stderr. Returns 0, or
 * -1 and *err.
 */
int monitored_execute(struct monitored_run *m, char **program, bool json, struct err *err);

/* Appends "bank.c:41 (deposit)"; for site 0, which is no site, `none`. */
void monitored_describe_site(struct monitored_run *m, uint32_t site, const char *none,
			     struct buf *out);

/* Adds the object `key` with members "function", "file", "line" and "op"; empty for site 0. */
void monitored_site_json(struct monitored_run *m, const char *key, uint32_t site, struct json *j);

/* Appends "BUILD-ID+0xOFFSET", or "-" for site 0. */
void monitored_site_key(const struct monitored_run *m, uint32_t site, struct buf *out);

/* Appends the name of the variable of a record, or nothing if it is unknown. */
void monitored_variable(struct monitored_run *m, const struct monitor_log_record *r,
			struct buf *out);

/* Returns the name of a kind of record: "RWR" and the like, "pset", "tx", or "none". */
const char *monitored_kind_name(enum monitor_log_kind kind);

/* Print on stderr how the program ended if it failed, and what the log lacks. */
void monitored_print_end(const struct monitored_run *m, const char *program);
void monitored_print_losses(const struct monitored_run *m);

/* Adds members: the program, how it ended, seconds, watched places, and losses. */
void monitored_end_json(const struct monitored_run *m, char **program, struct json *j);

#endif
