/*
 * Which leads are about the same, and how their causes are told.
 */
#include "trace_util.h"

#include "explore/cluster.h"
#include "explore/story.h"

#define LOCKED(thread, lock, take, access) \
	thread " lock " lock " @" take "\n" thread " " access "\n" thread " unlock " lock "\n"
#define BEGIN "0 create 0.1\n0 create 0.2\n"

static struct places places;

/* The cause of a failing run with this trace. */
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

/* A value read and written back by 0.1, written by 0.2 in between. */
static const char deposit[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read x @0x21") LOCKED("0.2", "m", "0x13", "write x @0x23")
	LOCKED("0.1", "m", "0x12", "write x @0x22");
/* The same by the threads in the other roles. */
static const char mirrored[] =
	BEGIN LOCKED("0.2", "m", "0x11", "read x @0x21") LOCKED("0.1", "m", "0x13", "write x @0x23")
	LOCKED("0.2", "m", "0x12", "write x @0x22");
/* By another writer. */
static const char other_writer[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read x @0x21") LOCKED("0.2", "m", "0x14", "write x @0x24")
	LOCKED("0.1", "m", "0x12", "write x @0x22");
/* The same lines, another variable: an array's element, say. */
static const char other_value[] =
	BEGIN LOCKED("0.1", "m", "0x11", "read y @0x21") LOCKED("0.2", "m", "0x13", "write y @0x23")
	LOCKED("0.1", "m", "0x12", "write y @0x22");
/* Nothing of it is the same. */
static const char other[] =
	BEGIN LOCKED("0.1", "m", "0x31", "read y @0x41") LOCKED("0.2", "m", "0x33", "write y @0x43")
	LOCKED("0.1", "m", "0x32", "write y @0x42");
static const char naked[] =
	BEGIN "0.1 read x @0x21\n0.2 lock m @0x13\n0.2 write x @0x23\n0.2 unlock m\n0.1 write x @0x22\n";

static void test_same(void **state)
{
	struct lead *a = cause(deposit, ORACLE_ASSERT), *b = cause(mirrored, ORACLE_ASSERT);
	struct lead *c = cause(other_writer, ORACLE_ASSERT), *d = cause(other_value, ORACLE_ASSERT);
	struct lead *e = cause(other, ORACLE_ASSERT);

	(void)state;
	assert_true(cluster_same(a, a, &places) && cluster_same(a, b, &places));
	assert_true(cluster_same(a, c, &places) && cluster_same(c, a, &places));
	assert_true(cluster_same(a, d, &places) && cluster_same(d, a, &places));
	assert_false(cluster_same(a, e, &places) || cluster_same(e, a, &places));
	assert_true(cluster_same(d, e, &places));
	/* As orders of lines. */
	assert_true(cluster_implies(a, b, &places) && cluster_implies(b, a, &places));
	assert_true(cluster_implies(a, d, &places));
	assert_false(cluster_implies(a, c, &places) || cluster_implies(c, a, &places));
	/* One that wants less. */
	b->c.orders = 1;
	assert_true(cluster_implies(a, b, &places));
	assert_false(cluster_implies(b, a, &places));
	lead_free(a);
	lead_free(b);
	lead_free(c);
	lead_free(d);
	lead_free(e);
}

static void check_locks(const char *trace, const char *want)
{
	struct lead *lead = cause(trace, ORACLE_ASSERT);
	struct buf text = { 0 };

	story_locks(lead, &places, &text);
	assert_string_equal(buf_string(&text), want);
	buf_free(&text);
	lead_free(lead);
}

static void test_locks(void **state)
{
	static const char two[] =
		BEGIN LOCKED("0.1", "a", "0x11", "write x @0x21") LOCKED("0.2", "b", "0x12", "read y @0x22")
		LOCKED("0.2", "a", "0x13", "read x @0x23") LOCKED("0.1", "b", "0x14", "write y @0x24");

	(void)state;
	check_locks(deposit, "  every access holds m, but thread 0.1 lets go of it between 0x21 and 0x22: "
		    "two critical sections where one is needed\n");
	check_locks(naked, "  no lock in common: thread 0.1 holds none at 0x21, thread 0.2 holds m at 0x23\n");
	check_locks(BEGIN "0.1 read x @0x21\n0.2 write x @0x23\n0.1 write x @0x22\n",
		    "  no lock in common: none is held at 0x21 nor at 0x23\n");
	check_locks(two, "  x is guarded by a, y by b, but nothing guards both together\n");
}

static void test_lock_order(void **state)
{
	static const char passed[] =
		BEGIN "0.1 lock a @0x31\n0.1 lock b @0x32\n0.1 unlock b\n0.1 unlock a\n"
		"0.2 lock b @0x33\n0.2 lock a @0x34\n0.2 unlock a\n0.2 unlock b\n";
	struct leads l = { 0 };
	struct buf b = { 0 }, text = { 0 };
	struct err err;

	(void)state;
	buf_addf(&b, "snarl-text 1\n%s", passed);
	save(test_path("trace"), b.data, b.size);
	assert_int_equal(leads_add_trace(&l, test_path("trace"), &err), 0);
	assert_int_equal(l.count, 1);
	story_locks(l.at[0], &places, &text);
	assert_string_equal(buf_string(&text),
			    "  lock order: thread 0.1 takes a, then b; thread 0.2 takes b, then a\n");
	/* A deadlock is about all of its locks, not about one. */
	assert_true(cluster_same(l.at[0], l.at[0], &places));
	buf_free(&text);
	buf_free(&b);
	leads_free(&l);
}

static void test_story(void **state)
{
	struct lead *lead = cause(naked, ORACLE_ASSERT);
	struct buf text = { 0 };

	(void)state;
	story_tell(lead, &places, &text);
	assert_string_equal(
		buf_string(&text),
		"atomicity RWW on x: the write may rest on a value that is out of date\n"
		"  thread 0.1                                    thread 0.2\n"
		"  0x21\n"
		"    read x\n"
		"                                                0x23\n"
		"                                                  write x, holding m\n"
		"  0x22\n"
		"    write x\n"
		"  no lock in common: thread 0.1 holds none at 0x21, thread 0.2 holds m at 0x23\n");
	buf_free(&text);
	lead_free(lead);
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
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_lock_order),
		cmocka_unit_test(test_story),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
