/*
 * A database of our own (SQLite): opened, or made with its schema; statements by number.
 *
 * Several processes may use one at a time, and may be killed at any moment: whatever db_commit()
 * returned for is there.
 */
#ifndef BASE_DB_H
#define BASE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"

struct db_kind {
	const char *what;	/* "coverage database": for messages */
	const char *hint;	/* "snarl cover -- PROGRAM makes one" */
	uint32_t application;	/* number in the file that says whose it is */
	int version;
	const char *schema;
	const char *const *statements;	/* SQL */
	unsigned count;
};

struct db {
	sqlite3 *sql;
	char *path;
	const struct db_kind *kind;
	sqlite3_stmt **at;	/* prepared */
};

/* -1: not there (unless `create`), not of this kind, or of a later version. Close it in any case. */
int db_open(struct db *d, const struct db_kind *kind, const char *path, bool create, struct err *err);
void db_close(struct db *d);

int db_begin(struct db *d, struct err *err);
int db_commit(struct db *d, struct err *err);
void db_rollback(struct db *d);

/* Binds numbers from parameter `first` on. */
void db_bind(struct db *d, unsigned statement, int first, unsigned count, const int64_t *numbers);
void db_bind_text(struct db *d, unsigned statement, int at, const char *text);

/* Runs it; the first row's first columns go to `out` (0 if there is none). */
int db_run(struct db *d, unsigned statement, int64_t *out, unsigned columns, struct err *err);

/* The next row of a statement that selects: 1; 0: no more, -1: error. */
int db_row(struct db *d, unsigned statement, struct err *err);
int64_t db_number(struct db *d, unsigned statement, int column);
const char *db_text(struct db *d, unsigned statement, int column);	/* "" for NULL */

/* What the library says is wrong; returns -1. */
int db_fail(struct db *d, struct err *err);

/* Another one of the same kind, there as `other`, is added by this SQL, all or nothing. */
int db_merge(struct db *d, const char *path, const char *sql, struct err *err);

/* SQL of several statements at once, without results. */
int db_exec(struct db *d, const char *sql, struct err *err);

#endif
