#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "coverage/iroot_database.h"

static char folder[] = "/tmp/snarl-memo-XXXXXX";
static char path[2][64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%d.db", folder, i);
	return 0;
}

static void remove_db(const char *file)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char name[96];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", file, ends[i]);
		unlink(name);
	}
}

static int clean(void **state)
{
	(void)state;
	remove_db(path[0]);
	remove_db(path[1]);
	return 0;
}

static int tear_down(void **state)
{
	clean(state);
	return rmdir(folder);
}

static struct memo *open_new(int i)
{
	struct err err = { "" };
	struct memo *m = memo_open(path[i], true, &err);

	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static int64_t add_event(struct memo *m, int64_t program, const char *key, enum iroot_access access,
			 unsigned line)
{
	struct memo_event e = {
		.key = key, .access = access, .function = "f", .file = "a.c", .line = line
	};
	struct err err;
	int64_t id = memo_event(m, program, &e, &err);

	assert_true(id > 0);
	return id;
}

static struct memo_root add_root(struct memo *m, int64_t program, int64_t a, int64_t b,
				 uint64_t exposed, uint64_t predicted, int64_t run)
{
	struct memo_root r = {
		.idiom = 1, .event = { a, b }, .exposed = exposed, .predicted = predicted
	};
	struct err err = { "" };

	if (memo_root(m, program, &r, run, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static int64_t add_run(struct memo *m, int64_t program, const char *input)
{
	struct memo_run r = { .input = input, .strategy = "random", .seed = 1 };
	struct err err;
	int64_t id = memo_run(m, program, &r, &err);

	assert_true(id > 0);
	return id;
}

static void test_roots(void **state)
{
	struct memo *m = open_new(0);
	struct memo_root r;
	struct err err;
	int64_t p, a, b, first, second;

	(void)state;
	assert_int_equal(memo_begin(m, &err), 0);
	p = memo_program(m, "bank", "aa", &err);
	assert_int_equal(memo_program(m, "bank", "bb", &err), p);
	assert_int_not_equal(memo_program(m, "other", "", &err), p);
	a = add_event(m, p, "k1", IROOT_WRITE, 5);
	assert_int_equal(add_event(m, p, "k1", IROOT_WRITE, 9), a);	/* same event, new line */
	b = add_event(m, p, "k1", IROOT_READ, 5);
	assert_int_not_equal(a, b);
	first = add_run(m, p, "x");
	second = add_run(m, p, "y");
	r = add_root(m, p, a, b, 0, 1, first);
	assert_int_equal(r.first_run, 0);
	r = add_root(m, p, a, b, 1, 1, second);
	assert_int_equal(r.exposed, 1);
	assert_int_equal(r.predicted, 2);
	assert_int_equal(r.first_run, second);
	r = add_root(m, p, a, b, 1, 0, first);
	assert_int_equal(r.exposed, 2);
	assert_int_equal(r.first_run, second);	/* first_run does not change */
	r = add_root(m, p, b, a, 0, 1, first);
	assert_int_equal(memo_attempt(m, r.id, 1, false, 0, &err), 0);
	assert_int_equal(memo_attempt(m, r.id, 1, false, 0, &err), 0);
	r = add_root(m, p, b, a, 0, 0, first);
	assert_int_equal(r.attempts, 2);
	assert_int_equal(r.failed, 2);
	assert_int_equal(memo_attempt(m, r.id, 1, true, second, &err), 0);
	r = add_root(m, p, b, a, 0, 0, first);
	assert_int_equal(r.exposed, 1);
	assert_int_equal(r.first_run, second);
	assert_int_equal(memo_commit(m, &err), 0);
	memo_close(m);
}

/* Deletes only iRoots that no run exposed or attempted, and no more runs predicted. */
static void test_forget(void **state)
{
	struct err err;
	struct memo *m = open_new(0);
	int64_t p, a, b, run;
	struct memo_root r;

	(void)state;
	assert_int_equal(memo_begin(m, &err), 0);
	p = memo_program(m, "prog", "", &err);
	a = add_event(m, p, "k1", IROOT_READ, 1);
	b = add_event(m, p, "k2", IROOT_WRITE, 2);
	run = add_run(m, p, "x");
	r = add_root(m, p, a, b, 0, 2, run);
	assert_int_equal(memo_forget(m, r.id, 1, &err), 0);
	r = add_root(m, p, a, b, 0, 0, run);
	assert_int_equal(r.predicted, 2);
	assert_int_equal(memo_forget(m, r.id, 2, &err), 0);
	r = add_root(m, p, a, b, 1, 0, run);
	assert_int_equal(r.predicted, 0);
	assert_int_equal(memo_forget(m, r.id, 2, &err), 0);
	r = add_root(m, p, a, b, 0, 0, run);
	assert_int_equal(r.exposed, 1);
	r = add_root(m, p, b, a, 0, 1, run);
	assert_int_equal(memo_attempt(m, r.id, 1, false, 0, &err), 0);
	assert_int_equal(memo_forget(m, r.id, 2, &err), 0);
	r = add_root(m, p, b, a, 0, 0, run);
	assert_int_equal(r.attempts, 1);
	assert_int_equal(memo_commit(m, &err), 0);
	memo_close(m);
}

static int count_roots(void *ctx, const struct memo_root *r)
{
	struct memo_root *sum = ctx;

	sum->id++;
	sum->exposed += r->exposed;
	sum->predicted += r->predicted;
	return 0;
}

static void expect_roots(struct memo *m, int64_t program, int64_t count, uint64_t exposed,
			 uint64_t predicted)
{
	struct memo_root sum = { 0 };
	struct err err;

	assert_int_equal(memo_each_root(m, program, count_roots, &sum, &err), 0);
	assert_int_equal(sum.id, count);
	assert_int_equal(sum.exposed, exposed);
	assert_int_equal(sum.predicted, predicted);
}

/* Changes that are not committed have no effect. */
static void test_rollback(void **state)
{
	struct memo *m = open_new(0);
	struct err err;
	int64_t p, a;

	(void)state;
	assert_int_equal(memo_begin(m, &err), 0);
	p = memo_program(m, "bank", "", &err);
	a = add_event(m, p, "a", IROOT_WRITE, 1);
	assert_int_equal(memo_commit(m, &err), 0);
	assert_int_equal(memo_begin(m, &err), 0);
	add_root(m, p, a, a, 1, 1, 0);
	memo_rollback(m);
	expect_roots(m, p, 0, 0, 0);
	memo_close(m);
}

/* Merges two databases with different ids for the same rows. */
static void test_merge(void **state)
{
	struct memo *m = open_new(0), *other = open_new(1);
	struct err err = { "" };
	int64_t p, q, a, b, c;

	(void)state;
	memo_begin(m, &err);
	p = memo_program(m, "bank", "", &err);
	a = add_event(m, p, "a", IROOT_WRITE, 1);
	b = add_event(m, p, "b", IROOT_READ, 2);
	add_root(m, p, a, b, 1, 1, add_run(m, p, "x"));
	memo_commit(m, &err);

	memo_begin(other, &err);
	memo_program(other, "first", "", &err);
	q = memo_program(other, "bank", "", &err);
	c = add_event(other, q, "c", IROOT_READ, 3);
	b = add_event(other, q, "b", IROOT_READ, 2);
	a = add_event(other, q, "a", IROOT_WRITE, 1);
	add_run(other, q, "x");
	add_root(other, q, a, b, 2, 3, add_run(other, q, "y"));
	add_root(other, q, a, c, 0, 1, 0);
	memo_commit(other, &err);
	memo_close(other);

	if (memo_merge(m, path[1], &err) < 0)
		fail_msg("%s", err.text);
	expect_roots(m, p, 2, 3, 5);
	/* adds the counts again, but no rows */
	assert_int_equal(memo_merge(m, path[1], &err), 0);
	expect_roots(m, p, 2, 5, 9);
	assert_int_equal(memo_merge(m, path[0], &err), -1);
	assert_non_null(strstr(err.text, "into itself"));
	memo_close(m);
}

static void exec_sql(const char *file, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_refused(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_null(memo_open(path[0], false, &err));
	assert_non_null(strstr(err.text, "no coverage database"));
	exec_sql(path[0], "CREATE TABLE something (x)");
	assert_null(memo_open(path[0], true, &err));
	assert_non_null(strstr(err.text, "is not a snarl coverage database"));
	clean(NULL);
	memo_close(open_new(0));
	exec_sql(path[0], "PRAGMA user_version = 99");
	assert_null(memo_open(path[0], true, &err));
	assert_non_null(strstr(err.text, "version 99"));
}

/* Eight processes create the file and add to the same iRoots: no count is lost. */
static void test_concurrent(void **state)
{
	enum { PROCESSES = 8, ROUNDS = 40 };
	struct err err = { "" };
	struct memo *m;

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		m = memo_open(path[0], true, &err);
		for (int k = 0; m && k < ROUNDS; k++) {
			struct memo_root r = { .idiom = 1, .exposed = 1, .predicted = 2 };
			char key[16];
			int64_t p;

			snprintf(key, sizeof(key), "%d", k % 10);
			if (memo_begin(m, &err) < 0)
				_exit(1);
			p = memo_program(m, "bank", "", &err);
			r.event[0] = r.event[1] = add_event(m, p, key, IROOT_WRITE, 1);
			if (memo_root(m, p, &r, 0, &err) < 0 || memo_commit(m, &err) < 0)
				_exit(1);
		}
		_exit(!m);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	m = open_new(0);
	expect_roots(m, 1, 10, PROCESSES * ROUNDS, 2 * PROCESSES * ROUNDS);
	memo_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_roots, clean),
		cmocka_unit_test_teardown(test_forget, clean),
		cmocka_unit_test_teardown(test_rollback, clean),
		cmocka_unit_test_teardown(test_merge, clean),
		cmocka_unit_test_teardown(test_refused, clean),
		cmocka_unit_test_teardown(test_concurrent, clean),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
