#include "base/db.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock_holder.h"
#include "base/mem.h"

#define BUSY_MS 5000	/* how long to wait for other processes that use the database */

/* Says that another process did not unlock the database in BUSY_MS, and which one. */
static int fail_locked(const struct db *d, struct err *err)
{
	char *shared = xasprintf("%s-shm", d->path);	/* has the locks of write-ahead logging */
	const char *const files[] = { d->path, shared };
	struct buf who = { 0 };
	bool known = lock_holder_add(files, ARRAY_SIZE(files), &who);

	err_set(err, "%s has been locked for %d s by %s: try again when that has ended, or "
		"choose another database", d->path, BUSY_MS / 1000,
		known ? buf_string(&who) : "another process");
	buf_free(&who);
	free(shared);
	return -1;
}

int db_fail(struct db *d, struct err *err)
{
	int code = d->sql ? sqlite3_errcode(d->sql) : SQLITE_NOMEM;

	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return fail_locked(d, err);
	return err_set(err, "%s: %s", d->path, d->sql ? sqlite3_errmsg(d->sql) : "out of memory");
}

static int64_t pragma(struct db *d, const char *sql)
{
	sqlite3_stmt *s;
	int64_t value = -1;

	if (sqlite3_prepare_v2(d->sql, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

/* Switches to write-ahead logging. SQLite does not wait for its lock here, so this retries. */
static int enable_wal(struct db *d)
{
	int got = SQLITE_BUSY;

	for (unsigned i = 0; got == SQLITE_BUSY && i < BUSY_MS / 10; i++) {
		got = sqlite3_exec(d->sql,
				   "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", NULL,
				   NULL, NULL);
		if (got == SQLITE_BUSY)
			usleep(10000);
	}
	return got == SQLITE_OK ? 0 : -1;
}

static int make_schema(struct db *d)
{
	char version[96];
	int result = 0;

	if (sqlite3_exec(d->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return -1;
	sqlite3_snprintf(sizeof(version), version,
			 "PRAGMA user_version = %d; PRAGMA application_id = %d", d->kind->version,
			 (int)d->kind->application);
	/* Another process may have created the schema meanwhile. */
	if (pragma(d, "PRAGMA user_version") == 0 &&
	    (sqlite3_exec(d->sql, d->kind->schema, NULL, NULL, NULL) != SQLITE_OK ||
	     sqlite3_exec(d->sql, version, NULL, NULL, NULL) != SQLITE_OK))
		result = -1;
	if (sqlite3_exec(d->sql, result ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		result = -1;
	return result;
}

static int check(struct db *d, bool create, struct err *err)
{
	int64_t version = pragma(d, "PRAGMA user_version");

	if (version < 0)
		return db_fail(d, err);
	if (version == 0 && create) {
		if (pragma(d, "SELECT count(*) FROM sqlite_master") == 0 &&
		    (enable_wal(d) < 0 || make_schema(d) < 0))
			return db_fail(d, err);
		/* created here or by another process */
		version = pragma(d, "PRAGMA user_version");
	}
	if (pragma(d, "PRAGMA application_id") != (int64_t)d->kind->application)
		return err_set(err, "%s is not a snarl %s", d->path, d->kind->what);
	if (version != d->kind->version)
		return err_set(err, "%s has version %lld, this snarl reads version %d: %s", d->path,
			       (long long)version, d->kind->version,
			       version < d->kind->version ? "remove it: snarl will create it again"
							  : "use a newer snarl");
	return 0;
}

int db_open(struct db *d, const struct db_kind *kind, const char *path, bool create,
	    struct err *err)
{
	*d = (struct db){ .path = xstrdup(path), .kind = kind,
			  .at = xcalloc(kind->count, sizeof(sqlite3_stmt *)) };
	if (!create && access(path, F_OK) != 0)
		return err_set(err, "no %s %s: %s", kind->what, path, kind->hint);
	if (sqlite3_open_v2(path, &d->sql,
			    SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0),
			    NULL) != SQLITE_OK ||
	    sqlite3_busy_timeout(d->sql, BUSY_MS) != SQLITE_OK)
		return db_fail(d, err);
	if (check(d, create, err) < 0)
		return -1;
	for (unsigned i = 0; i < kind->count; i++)
		if (sqlite3_prepare_v3(d->sql, kind->statements[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &d->at[i], NULL) != SQLITE_OK)
			return db_fail(d, err);
	return 0;
}

void db_close(struct db *d)
{
	for (unsigned i = 0; d->at && i < d->kind->count; i++)
		sqlite3_finalize(d->at[i]);
	sqlite3_close(d->sql);
	free(d->at);
	free(d->path);
	*d = (struct db){ 0 };
}

int db_exec(struct db *d, const char *sql, struct err *err)
{
	return sqlite3_exec(d->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(d, err);
}

int db_begin(struct db *d, struct err *err)
{
	return db_exec(d, "BEGIN IMMEDIATE", err);
}

void db_rollback(struct db *d)
{
	if (d->sql && !sqlite3_get_autocommit(d->sql))
		sqlite3_exec(d->sql, "ROLLBACK", NULL, NULL, NULL);
}

int db_commit(struct db *d, struct err *err)
{
	int result = db_exec(d, "COMMIT", err);

	if (result < 0)
		db_rollback(d);
	return result;
}

void db_bind(struct db *d, unsigned statement, int first, unsigned count, const int64_t *numbers)
{
	for (unsigned i = 0; i < count; i++)
		sqlite3_bind_int64(d->at[statement], first + (int)i, numbers[i]);
}

void db_bind_text(struct db *d, unsigned statement, int at, const char *text)
{
	sqlite3_bind_text(d->at[statement], at, text ? text : "", -1, SQLITE_TRANSIENT);
}

int db_run(struct db *d, unsigned statement, int64_t *out, unsigned columns, struct err *err)
{
	sqlite3_stmt *s = d->at[statement];
	int got = sqlite3_step(s), result = 0;

	for (unsigned i = 0; i < columns; i++)
		out[i] = got == SQLITE_ROW ? sqlite3_column_int64(s, (int)i) : 0;
	/* A statement with RETURNING takes effect only once all its rows were fetched. */
	while (got == SQLITE_ROW)
		got = sqlite3_step(s);
	if (got != SQLITE_DONE)
		result = db_fail(d, err);
	sqlite3_reset(s);
	return result;
}

int db_row(struct db *d, unsigned statement, struct err *err)
{
	int got = sqlite3_step(d->at[statement]);

	if (got == SQLITE_ROW)
		return 1;
	if (got != SQLITE_DONE)
		db_fail(d, err);
	sqlite3_reset(d->at[statement]);
	return got == SQLITE_DONE ? 0 : -1;
}

int64_t db_number(struct db *d, unsigned statement, int column)
{
	return sqlite3_column_int64(d->at[statement], column);
}

const char *db_text(struct db *d, unsigned statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(d->at[statement], column);

	return text ? text : "";
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int db_merge(struct db *d, const char *path, const char *sql, struct err *err)
{
	struct db other;
	char *attach;
	int result = db_open(&other, d->kind, path, false, err);	/* checks the kind */

	db_close(&other);
	if (result < 0)
		return -1;
	if (is_same_file(d->path, path))
		return err_set(err, "%s cannot be merged into itself", path);
	attach = sqlite3_mprintf("ATTACH %Q AS other", path);
	result = attach ? db_exec(d, attach, err) : db_fail(d, err);
	sqlite3_free(attach);
	if (result < 0)
		return -1;
	result = db_begin(d, err);
	if (result == 0 && db_exec(d, sql, err) < 0) {
		db_rollback(d);
		result = -1;
	} else if (result == 0) {
		result = db_commit(d, err);
	}
	db_exec(d, "DETACH other", NULL);
	return result;
}
