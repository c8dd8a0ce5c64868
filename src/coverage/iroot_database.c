/*
 * All SQL of the coverage database: the schema, and statements that are prepared once.
 */
#include "coverage/iroot_database.h"

#include <stdlib.h>
#include <time.h>

#include "base/db.h"
#include "base/mem.h"

static const char schema[] =
	"CREATE TABLE program (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" build TEXT NOT NULL);"
	"CREATE TABLE event (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program,"
	" key TEXT NOT NULL, access INTEGER NOT NULL, function TEXT NOT NULL, file TEXT NOT NULL,"
	" line INTEGER NOT NULL, column INTEGER NOT NULL, UNIQUE (program, key, access));"
	"CREATE TABLE run (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program,"
	" time INTEGER NOT NULL, input TEXT NOT NULL, strategy TEXT NOT NULL,"
	" seed INTEGER NOT NULL,"
	" number INTEGER NOT NULL, failed INTEGER NOT NULL, new_exposed INTEGER NOT NULL DEFAULT 0,"
	" new_predicted INTEGER NOT NULL DEFAULT 0, exposed INTEGER NOT NULL DEFAULT 0,"
	" known INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX run_program ON run (program);"
	"CREATE TABLE iroot (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program,"
	" idiom INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL,"
	" d INTEGER NOT NULL, exposed INTEGER NOT NULL DEFAULT 0,"
	" predicted INTEGER NOT NULL DEFAULT 0,"
	" attempts INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,"
	" first_run INTEGER, UNIQUE (program, idiom, a, b, c, d));";

enum statement {
	PROGRAM, EVENT, RUN, RUN_FIGURES, ROOT, ATTEMPT, FORGET, PROGRAMS, EVENTS, ROOTS,
	RUNS, STATEMENTS
};

static const char *const texts[STATEMENTS] = {
	[PROGRAM] = "INSERT INTO program (name, build) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE"
		    " SET build = excluded.build RETURNING id",
	[EVENT] = "INSERT INTO event (program, key, access, function, file, line, column)"
		  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (program, key,"
		  " access) DO UPDATE"
		  " SET function = excluded.function, file = excluded.file, line = excluded.line,"
		  " column = excluded.column RETURNING id",
	[RUN] = "INSERT INTO run (program, time, input, strategy, seed, number, failed)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id",
	[RUN_FIGURES] = "UPDATE run SET new_exposed = ?2, new_predicted = ?3, exposed = ?4,"
			" known = ?5 WHERE id = ?1",
	[ROOT] = "INSERT INTO iroot (program, idiom, a, b, c, d, exposed, predicted, attempts,"
		 " failed, first_run) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		 " CASE WHEN ?7 > 0 THEN ?11 END)"
		 " ON CONFLICT (program, idiom, a, b, c, d) DO UPDATE SET"
		 " exposed = exposed + excluded.exposed,"
		 " predicted = predicted + excluded.predicted,"
		 " attempts = attempts + excluded.attempts, failed = failed + excluded.failed,"
		 " first_run = coalesce(first_run, excluded.first_run)"
		 " RETURNING id, exposed, predicted, attempts, failed, first_run",
	[ATTEMPT] = "UPDATE iroot SET attempts = attempts + ?4, failed = failed + (1 - ?2) * ?4,"
		    " exposed = max(exposed, ?2),"
		    " first_run = CASE WHEN ?2 THEN coalesce(first_run, nullif(?3,"
		    " 0)) ELSE first_run END WHERE id = ?1",
	[FORGET] = "DELETE FROM iroot WHERE id = ?1 AND predicted <= ?2 AND exposed = 0"
		" AND attempts = 0",
	[PROGRAMS] = "SELECT id, name, build, (SELECT count(*) FROM run"
		     " WHERE run.program = program.id) FROM program ORDER BY id",
	[EVENTS] = "SELECT id, key, access, function, file, line, column FROM event"
		   " WHERE program = ?1 ORDER BY id",
	[ROOTS] = "SELECT id, idiom, a, b, c, d, exposed, predicted, attempts, failed, first_run"
		  " FROM iroot WHERE program = ?1 ORDER BY idiom, id",
	[RUNS] = "SELECT input, strategy, seed, number, failed, new_exposed, new_predicted,"
		 " exposed, known FROM run WHERE program = ?1 ORDER BY id",
};

/* Merges the attached database `other`. Rows are matched by name, because ids differ. */
static const char merging[] =
	"INSERT INTO program (name, build) SELECT name, build FROM other.program WHERE true"
	" ON CONFLICT DO NOTHING;"
	"CREATE TEMP TABLE programs AS SELECT o.id AS old, p.id AS new FROM other.program o"
	" JOIN program p ON p.name = o.name;"
	"INSERT INTO event (program, key, access, function, file, line, column)"
	" SELECT p.new, key, access, function, file, line, column FROM other.event"
	" JOIN programs p ON p.old = program WHERE true ON CONFLICT DO NOTHING;"
	"CREATE TEMP TABLE events AS SELECT o.id AS old, e.id AS new FROM other.event o"
	" JOIN programs p ON p.old = o.program"
	" JOIN event e ON e.program = p.new AND e.key = o.key AND e.access = o.access;"
	"INSERT INTO events VALUES (0, 0);"
	"CREATE UNIQUE INDEX temp.events_old ON events (old);"
	"CREATE TEMP TABLE runs AS SELECT id AS old,"
	" id + (SELECT coalesce(max(id), 0) FROM main.run) AS new FROM other.run;"
	"CREATE UNIQUE INDEX temp.runs_old ON runs (old);"
	"INSERT INTO run SELECT r.new, p.new, time, input, strategy, seed, number, failed,"
	" new_exposed, new_predicted, exposed, known FROM other.run o JOIN runs r ON r.old = o.id"
	" JOIN programs p ON p.old = o.program;"
	"INSERT INTO iroot (program, idiom, a, b, c, d, exposed, predicted, attempts, failed,"
	" first_run)"
	" SELECT p.new, idiom, a.new, b.new, c.new, d.new, exposed, predicted, attempts, failed,"
	" r.new"
	" FROM other.iroot o JOIN programs p ON p.old = o.program JOIN events a ON a.old = o.a"
	" JOIN events b ON b.old = o.b JOIN events c ON c.old = o.c JOIN events d ON d.old = o.d"
	" LEFT JOIN runs r ON r.old = o.first_run WHERE true"
	" ON CONFLICT (program, idiom, a, b, c, d) DO UPDATE"
	" SET exposed = exposed + excluded.exposed,"
	" predicted = predicted + excluded.predicted, attempts = attempts + excluded.attempts,"
	" failed = failed + excluded.failed, first_run = coalesce(first_run, excluded.first_run);"
	"DROP TABLE programs; DROP TABLE events; DROP TABLE runs;";

static const struct db_kind kind = {
	.what = "coverage database", .hint = "snarl cover -- PROGRAM makes one",
	.application = 0x736e726cu, .version = MEMO_VERSION,	/* "snrl" */
	.schema = schema, .statements = texts, .count = STATEMENTS,
};

struct memo {
	struct db db;
};

struct memo *memo_open(const char *path, bool create, struct err *err)
{
	struct memo *m = xcalloc(1, sizeof(*m));

	if (db_open(&m->db, &kind, path, create, err) == 0)
		return m;
	memo_close(m);
	return NULL;
}

void memo_close(struct memo *m)
{
	if (m)
		db_close(&m->db);
	free(m);
}

/*
 * Runs a statement whose values are bound. Returns the first column of its row, 0 without a row, -1
 * on error.
 */
static int64_t run_statement(struct memo *m, enum statement which, struct err *err)
{
	int64_t value;

	return db_run(&m->db, which, &value, 1, err) < 0 ? -1 : value;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

int memo_begin(struct memo *m, struct err *err)
{
	return db_begin(&m->db, err);
}

int memo_commit(struct memo *m, struct err *err)
{
	return db_commit(&m->db, err);
}

void memo_rollback(struct memo *m)
{
	db_rollback(&m->db);
}

int64_t memo_program(struct memo *m, const char *name, const char *build_id, struct err *err)
{
	bind_text(m->db.at[PROGRAM], 1, name);
	bind_text(m->db.at[PROGRAM], 2, build_id);
	return run_statement(m, PROGRAM, err);
}

int64_t memo_event(struct memo *m, int64_t program, const struct memo_event *e, struct err *err)
{
	sqlite3_stmt *s = m->db.at[EVENT];

	sqlite3_bind_int64(s, 1, program);
	bind_text(s, 2, e->key);
	sqlite3_bind_int(s, 3, (int)e->access);
	bind_text(s, 4, e->function);
	bind_text(s, 5, e->file);
	sqlite3_bind_int64(s, 6, e->line);
	sqlite3_bind_int64(s, 7, e->column);
	return run_statement(m, EVENT, err);
}

int64_t memo_run(struct memo *m, int64_t program, const struct memo_run *r, struct err *err)
{
	sqlite3_stmt *s = m->db.at[RUN];

	sqlite3_bind_int64(s, 1, program);
	sqlite3_bind_int64(s, 2, (int64_t)time(NULL));
	bind_text(s, 3, r->input);
	bind_text(s, 4, r->strategy);
	sqlite3_bind_int64(s, 5, (int64_t)r->seed);
	sqlite3_bind_int64(s, 6, (int64_t)r->number);
	sqlite3_bind_int(s, 7, r->failed);
	return run_statement(m, RUN, err);
}

int memo_run_figures(struct memo *m, int64_t id, const struct memo_run *r, struct err *err)
{
	sqlite3_stmt *s = m->db.at[RUN_FIGURES];

	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, (int64_t)r->new_exposed);
	sqlite3_bind_int64(s, 3, (int64_t)r->new_predicted);
	sqlite3_bind_int64(s, 4, (int64_t)r->exposed);
	sqlite3_bind_int64(s, 5, (int64_t)r->known);
	return (int)run_statement(m, RUN_FIGURES, err);
}

int memo_root(struct memo *m, int64_t program, struct memo_root *r, int64_t run, struct err *err)
{
	sqlite3_stmt *s = m->db.at[ROOT];
	int64_t row[6];

	sqlite3_bind_int64(s, 1, program);
	sqlite3_bind_int64(s, 2, r->idiom);
	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		sqlite3_bind_int64(s, 3 + (int)i, r->event[i]);
	sqlite3_bind_int64(s, 7, (int64_t)r->exposed);
	sqlite3_bind_int64(s, 8, (int64_t)r->predicted);
	sqlite3_bind_int64(s, 9, (int64_t)r->attempts);
	sqlite3_bind_int64(s, 10, (int64_t)r->failed);
	sqlite3_bind_int64(s, 11, run);
	if (db_run(&m->db, ROOT, row, ARRAY_SIZE(row), err) < 0)
		return -1;
	r->id = row[0];
	r->exposed = (uint64_t)row[1];
	r->predicted = (uint64_t)row[2];
	r->attempts = (uint64_t)row[3];
	r->failed = (uint64_t)row[4];
	r->first_run = row[5];
	return 0;
}

int memo_attempt(struct memo *m, int64_t root, unsigned runs, bool exposed, int64_t by,
		 struct err *err)
{
	sqlite3_bind_int64(m->db.at[ATTEMPT], 1, root);
	sqlite3_bind_int(m->db.at[ATTEMPT], 2, exposed);
	sqlite3_bind_int64(m->db.at[ATTEMPT], 3, by);
	sqlite3_bind_int64(m->db.at[ATTEMPT], 4, runs);
	return (int)run_statement(m, ATTEMPT, err);
}

int memo_forget(struct memo *m, int64_t root, uint64_t predicted, struct err *err)
{
	sqlite3_bind_int64(m->db.at[FORGET], 1, root);
	sqlite3_bind_int64(m->db.at[FORGET], 2, (int64_t)predicted);
	return (int)run_statement(m, FORGET, err);
}

static const char *text_at(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

static uint64_t number_at(sqlite3_stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s, column);
}

/* Ends a loop over rows whose last sqlite3_step() returned `got`. */
static int ended(struct memo *m, enum statement which, int got, struct err *err)
{
	if (got != SQLITE_DONE && got != SQLITE_ROW)
		db_fail(&m->db, err);
	sqlite3_reset(m->db.at[which]);
	return got == SQLITE_DONE || got == SQLITE_ROW ? 0 : -1;
}

int memo_each_program(struct memo *m, int (*fn)(void *ctx, int64_t id, const char *name,
						const char *build_id, uint64_t runs), void *ctx,
		      struct err *err)
{
	sqlite3_stmt *s = m->db.at[PROGRAMS];
	int got;

	while ((got = sqlite3_step(s)) == SQLITE_ROW &&
	       fn(ctx, sqlite3_column_int64(s, 0), text_at(s, 1), text_at(s, 2),
		  number_at(s, 3)) == 0)
		;
	return ended(m, PROGRAMS, got, err);
}

int memo_each_event(struct memo *m, int64_t program, int (*fn)(void *ctx, int64_t id,
							       const struct memo_event *e),
		    void *ctx,
		    struct err *err)
{
	sqlite3_stmt *s = m->db.at[EVENTS];
	int got;

	sqlite3_bind_int64(s, 1, program);
	while ((got = sqlite3_step(s)) == SQLITE_ROW) {
		struct memo_event e = { .key = text_at(s, 1),
					.access = (enum iroot_access)number_at(s, 2),
					.function = text_at(s, 3), .file = text_at(s, 4),
					.line = (unsigned)number_at(s, 5),
					.column = (unsigned)number_at(s, 6) };

		if (fn(ctx, sqlite3_column_int64(s, 0), &e) != 0)
			break;
	}
	return ended(m, EVENTS, got, err);
}

int memo_each_root(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_root *r),
		   void *ctx, struct err *err)
{
	sqlite3_stmt *s = m->db.at[ROOTS];
	int got;

	sqlite3_bind_int64(s, 1, program);
	while ((got = sqlite3_step(s)) == SQLITE_ROW) {
		struct memo_root r = { .id = sqlite3_column_int64(s, 0),
				       .idiom = (uint32_t)number_at(s, 1),
				       .exposed = number_at(s, 6), .predicted = number_at(s, 7),
				       .attempts = number_at(s, 8), .failed = number_at(s, 9),
				       .first_run = sqlite3_column_int64(s, 10) };

		for (unsigned i = 0; i < IROOT_EVENTS; i++)
			r.event[i] = sqlite3_column_int64(s, 2 + (int)i);
		if (fn(ctx, &r) != 0)
			break;
	}
	return ended(m, ROOTS, got, err);
}

int memo_each_run(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_run *r),
		  void *ctx, struct err *err)
{
	sqlite3_stmt *s = m->db.at[RUNS];
	int got;

	sqlite3_bind_int64(s, 1, program);
	while ((got = sqlite3_step(s)) == SQLITE_ROW) {
		struct memo_run r = { .input = text_at(s, 0), .strategy = text_at(s, 1),
				      .seed = number_at(s, 2), .number = number_at(s, 3),
				      .failed = number_at(s, 4), .new_exposed = number_at(s, 5),
				      .new_predicted = number_at(s, 6), .exposed = number_at(s, 7),
				      .known = number_at(s, 8) };

		if (fn(ctx, &r) != 0)
			break;
	}
	return ended(m, RUNS, got, err);
}

int memo_merge(struct memo *m, const char *path, struct err *err)
{
	return db_merge(&m->db, path, merging, err);
}
