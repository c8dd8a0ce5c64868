/*
 * What snarl check and snarl guard have in common: a program run by rules, and the log of
 * what happened (abi/monitor_log.h).
 */
#ifndef CMD_MONITORED_RUN_H
#define CMD_MONITORED_RUN_H

#include "abi/monitor_log.h"
#include "abi/rules_format.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "symbol/program_sites.h"

/* All zero at first; free it in any case. */
struct watch_session {
	struct rules_header *rules;	/* the file; NULL: none */
	struct watchlog *log;
	int log_fd;
	struct buf options;		/* SNARL_OPTIONS; add to it what else is wanted */
	struct run run;
	struct places places;
	/* Those that were used, what is the same added up, most frequent first. */
	struct watchlog_record *records;
	size_t count;
};

/* Reads the rules (NULL: none) and makes the log. -1 with the reason. */
int watch_open(struct watch_session *w, const char *rules, struct err *err);
void watch_close(struct watch_session *w);

void watch_option(struct watch_session *w, const char *key, const char *value);
void watch_number(struct watch_session *w, const char *key, uint64_t value);

/* Runs the program and collects the records; -1 with the reason. */
int watch_run(struct watch_session *w, char **program, bool json, struct err *err);

/* Appends "bank.c:41 (deposit)"; of site 0 `none`. */
void watch_place(struct watch_session *w, uint32_t site, const char *none, struct buf *out);

/* Members "function", "file", "line", "op" of an object. */
void watch_place_json(struct watch_session *w, const char *key, uint32_t site, struct json *j);

/* Appends "BUILD-ID+0xOFFSET", or "-". */
void watch_key(const struct watch_session *w, uint32_t site, struct buf *out);

/* Appends the variable of a record, or nothing. */
void watch_variable(struct watch_session *w, const struct watchlog_record *r, struct buf *out);

/* "RWR" …, "pset", "tx" */
const char *watch_kind_name(enum watchlog_kind kind);

/* How the program ended, and what could not be seen; one line each on stderr. */
void watch_tell_end(const struct watch_session *w, const char *program);
void watch_tell_lost(const struct watch_session *w);
void watch_end_json(const struct watch_session *w, char **program, struct json *j);

#endif
