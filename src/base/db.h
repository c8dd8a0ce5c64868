/*
 * An SQLite database that belongs to snarl. Opening one checks that it is of the expected kind and
 * version, creates the schema if wanted, and prepares all SQL statements; callers name a statement
 * by its index.
 *
 * Several processes may use the same database at once, and each may be killed at any moment. A
 * transaction is durable once db_commit() has returned.
 */
#ifndef BASE_DB_H
#define BASE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"

struct db_kind {
	const char *what;	/* for messages: "coverage database" */
	const char *hint;	/* how to get one: "snarl cover -- PROGRAM makes one" */
	uint32_t application;	/* SQLite's application_id: identifies the kind of file */
	int version;
	const char *schema;
	const char *const *statements;	/* SQL */
	unsigned count;
};

struct db {
	sqlite3 *sql;
	char *path;
	const struct db_kind *kind;
	sqlite3_stmt **at;	/* [kind->count] prepared statements */
};

/*
 * Fails if the file is missing (unless `create`), of another kind, or of another version. The
 * caller closes the database even after a failure.
 */
int db_open(struct db *d, const struct db_kind *kind, const char *path, bool create,
	    struct err *err);
void db_close(struct db *d);

int db_begin(struct db *d, struct err *err);
int db_commit(struct db *d, struct err *err);
void db_rollback(struct db *d);

/* Binds `count` numbers to the parameters from `first` on. */
void db_bind(struct db *d, unsigned statement, int first, unsigned count, const int64_t *numbers);
void db_bind_text(struct db *d, unsigned statement, int at, const char *text);

/*
 * Executes a statement; `out` gets the first `columns` columns of the first row, or zeros if there
 * is no row.
 */
int db_run(struct db *d, unsigned statement, int64_t *out, unsigned columns, struct err *err);

/* Steps a SELECT. Returns 1 for a row, 0 at the end, -1 on error. */
int db_row(struct db *d, unsigned statement, struct err *err);
int64_t db_number(struct db *d, unsigned statement, int column);
const char *db_text(struct db *d, unsigned statement, int column);	/* "" for NULL */

/* Sets *err to SQLite's message, or names the process that has locked the file. Returns -1. */
int db_fail(struct db *d, struct err *err);

/*
 * Attaches the database at `path`, of the same kind, as `other` and executes `sql` in one
 * transaction.
 */
int db_merge(struct db *d, const char *path, const char *sql, struct err *err);

/* Executes several SQL statements whose results are not needed. */
int db_exec(struct db *d, const char *sql, struct err *err);

#endif
