/*
 * Tests same_cause.h: which leads have the same cause, and which orders imply others.
 */
#include "trace_util.h"

#include "explore/bug/same_cause.h"

#define LOCKED(thread, lock, take, access) \
	thread " lock " lock " @" take "\n" thread " " access "\n" thread " unlock " lock "\n"
#define BEGIN "0 create 0.1\n0 create 0.2\n"

static struct places places;

/* The cause that leads_explain() finds in the trace of a failing run. */
static struct lead *cause(const char *text, enum oracle_failure failure)
{
	struct leads none = { 0 };
	struct buf b = { 0 };
	struct lead *lead;

	buf_addf(&b, "snarl-text 1\n%s", text);
	save(test_path("trace"), b.data, b.size);
	buf_free(&b);
	lead = leads_explain(&none, test_path("trace"), failure);
	assert_non_null(lead);
	return lead;
}

/* Lost update: 0.2 writes x between the read and the write of 0.1. */
static const char deposit[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read x @0x21") LOCKED("0.2", "m", "0x13", "write x @0x23")
	LOCKED("0.1", "m", "0x12", "write x @0x22");
/* The lost update of `deposit` with the roles of the threads exchanged. */
static const char mirrored[] =
	BEGIN LOCKED("0.2", "m", "0x11", "read x @0x21") LOCKED("0.1", "m", "0x13", "write x @0x23")
	LOCKED("0.2", "m", "0x12", "write x @0x22");
/* The lost update of `deposit`, caused by a write at another line. */
static const char other_writer[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read x @0x21") LOCKED("0.2", "m", "0x14", "write x @0x24")
	LOCKED("0.1", "m", "0x12", "write x @0x22");
/* The lines of `deposit` with another variable, for example another element of an array. */
static const char other_value[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read y @0x21") LOCKED("0.2", "m", "0x13", "write y @0x23")
	LOCKED("0.1", "m", "0x12", "write y @0x22");
/* A lost update with other lines and another variable. */
static const char other[] =
	BEGIN LOCKED("0.1", "m", "0x31", "read y @0x41") LOCKED("0.2", "m", "0x33", "write y @0x43")
	LOCKED("0.1", "m", "0x32", "write y @0x42");
static void test_same(void **state)
{
	struct lead *a = cause(deposit, ORACLE_ASSERT), *b = cause(mirrored, ORACLE_ASSERT);
	struct lead *c = cause(other_writer, ORACLE_ASSERT), *d = cause(other_value, ORACLE_ASSERT);
	struct lead *e = cause(other, ORACLE_ASSERT);

	(void)state;
	assert_true(same_cause_matches(a, a, &places) && same_cause_matches(a, b, &places));
	assert_true(same_cause_matches(a, c, &places) && same_cause_matches(c, a, &places));
	assert_true(same_cause_matches(a, d, &places) && same_cause_matches(d, a, &places));
	assert_false(same_cause_matches(a, e, &places) || same_cause_matches(e, a, &places));
	assert_true(same_cause_matches(d, e, &places));
	/* Threads and variables do not matter when orders are compared. */
	assert_true(same_cause_implies(a, b, &places) && same_cause_implies(b, a, &places));
	assert_true(same_cause_implies(a, d, &places));
	assert_false(same_cause_implies(a, c, &places) || same_cause_implies(c, a, &places));
	/* A lead with one order only is implied, and does not imply. */
	b->c.orders = 1;
	assert_true(same_cause_implies(a, b, &places));
	assert_false(same_cause_implies(b, a, &places));
	lead_free(a);
	lead_free(b);
	lead_free(c);
	lead_free(d);
	lead_free(e);
}

static void test_lock_cycle(void **state)
{
	static const char passed[] =
		BEGIN "0.1 lock a @0x31\n0.1 lock b @0x32\n0.1 unlock b\n0.1 unlock a\n"
		"0.2 lock b @0x33\n0.2 lock a @0x34\n0.2 unlock a\n0.2 unlock b\n";
	struct leads l = { 0 };
	struct buf b = { 0 };
	struct err err;

	(void)state;
	buf_addf(&b, "snarl-text 1\n%s", passed);
	save(test_path("trace"), b.data, b.size);
	assert_int_equal(leads_add_trace(&l, test_path("trace"), &err), 0);
	assert_int_equal(l.count, 1);
	/* A deadlock has the same cause if all of its locks are the same. */
	assert_true(same_cause_matches(l.at[0], l.at[0], &places));
	buf_free(&b);
	leads_free(&l);
}

static int set_up(void **state)
{
	places_init(&places);
	return test_setup(state);
}

static int tear_down(void **state)
{
	places_free(&places);
	return test_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_lock_cycle),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
