#include "analyze_util.h"

static void race(const char *text, const char *expected)
{
	assert_findings(text, &analysis_race, expected);
}

static void predict(const char *text, const char *expected)
{
	assert_findings(text, &analysis_race_predict, expected);
}

static void test_plain_race(void **state)
{
	(void)state;
	race("0 create 0.1\n0 write x @a\n0.1 read x @b\n", "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 read x @a\n0.1 write x @b\n0.1 write x @b\n",
	     "RW 0 read @a#1, 0.1 write @b#1\n");
	race("0 create 0.1\n0 read x @a\n0.1 read x @b\n", "");
	/* Before the creation and after the join. */
	race("0 write x @a\n0 create 0.1\n0.1 write x @b\n0.1 end\n0 join 0.1\n0 write x @c\n", "");
	/* `nth` counts all executions of the site by the thread. */
	race("0 create 0.1\n0 read y @a\n0 read y @a\n0 write x @a\n0.1 write x @b\n",
	     "WW 0 write @a#3, 0.1 write @b#1\n");
}

/* Clocks of joined threads are freed; races with their accesses are found all the same. */
static void test_gone(void **state)
{
	(void)state;
	/* The joining thread is ordered after it, and passes that on; another thread is not. */
	race("0 create 0.1\n0 create 0.2\n0.1 write x @a\n0.1 end\n0 join 0.1\n0.2 write x @b\n"
	     "0 create 0.3\n0.3 write x:1 @c\n",
	     "WW 0.1 write @a#1, 0.2 write @b#1\nWW 0.2 write @b#1, 0.3 write @c#1\n");
	/* The joined thread's order after other threads is passed on too. */
	race("0 create 0.1\n0.1 create 0.1.1\n0.1.1 write x @a\n0.1.1 end\n0.1 join 0.1.1\n"
	     "0.1 end\n"
	     "0 join 0.1\n0 write x @b\n",
	     "");
	/* The thread was not joined, or the join failed. */
	race("0 create 0.1\n0.1 write x @a\n0.1 end\n0 write x @b\n",
	     "WW 0.1 write @a#1, 0 write @b#1\n");
	race("0 create 0.1\n0.1 write x @a\n0.1 end\n0 join 0.1 =EDEADLK\n0 write x @b\n",
	     "WW 0.1 write @a#1, 0 write @b#1\n");
	/* The join comes before THREAD_EXIT in the trace: its clocks are still there. */
	race("0 write x @a\n0 create 0.1\n0 join 0.1\n0.1 write x @b\n0.1 end\n", "");
	/* A joined thread goes on, which no run can have: it is no longer ordered after others. */
	race("0 create 0.1\n0.1 end\n0 join 0.1\n0.1 write x @a\n0 write x @b\n0 create 0.2\n"
	     "0.2 write x @c\n",
	     "");
	race("0 write x @a\n0 create 0.1\n0.1 end\n0 join 0.1\n0.1 write x @b\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
}

static void test_bytes(void **state)
{
	(void)state;
	race("0 create 0.1\n0 write x:4 @a\n0.1 write x+4:4 @b\n0.1 write x+2:1 @c\n",
	     "WW 0 write @a#1, 0.1 write @c#1\n");
	/* Accesses across granules, and ranges. */
	race("0 create 0.1\n0 write x+6:4 @a\n0.1 read x+8:1 @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 write-range x:100 @a\n0.1 read x+96:4 @b\n0.1 read x+100:4 @c\n",
	     "WR 0 write-range @a#1, 0.1 read @b#1\n");
	/* One half was overwritten in order: the other half still races. */
	race("0 create 0.1\n0 create 0.2\n0.1 write x:8 @a\n0.1 unlock m\n0.2 lock m\n"
	     "0.2 write x:4 @b\n0 read x+4:4 @c\n",
	     "WR 0.1 write @a#1, 0 read @c#1\n");
}

static void test_locks(void **state)
{
	(void)state;
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock m\n0.1 write x @b\n"
	     "0.1 unlock m\n",
	     "");
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock n\n0.1 write x @b\n"
	     "0.1 unlock n\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	/* A failed trylock orders nothing; one that succeeds does. */
	race("0 create 0.1\n0 lock m\n0 write x @a\n0.1 trylock m =EBUSY\n0.1 read x @b\n"
	     "0 unlock m\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 trylock m\n0.1 read x @b\n",
	     "");
	/* Read locks do not order readers; a writer comes after them. */
	race("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0.1 rdlock m\n0.1 write x @b\n"
	     "0.1 rwunlock m\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	race("0 create 0.1\n0 rdlock m\n0 read x @a\n0 rwunlock m\n0.1 wrlock m\n0.1 write x @b\n",
	     "");
}

static void test_order(void **state)
{
	(void)state;
	race("0 create 0.1\n0 write x @a\n0 sem-post s\n0.1 sem-wait s\n0.1 write x @b\n", "");
	race("0 create 0.1\n0 barrier-init b 2\n0 write x @a\n0 barrier-enter b\n"
	     "0.1 barrier-enter b\n"
	     "0.1 barrier-leave b\n0.1 write x @b\n0 barrier-leave b\n",
	     "");
	race("0 create 0.1\n0 once-begin o\n0 write x @a\n0 once-end o\n0.1 once-pass o\n"
	     "0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 hb-before h\n0.1 hb-after h\n0.1 write x @b\n", "");
	/* An annotated atomic: stores to it do not end the annotation's order. */
	race("0 create 0.1\n0 write x @a\n0 hb-before f\n0 atomic-store f release\n"
	     "0.1 atomic-store f relaxed\n0.1 hb-after f\n0.1 write x @b\n",
	     "");
	race("0 create 0.1\n0.1 lock m\n0.1 cond-wait c m\n0 write x @a\n0 cond-signal c\n"
	     "0.1 cond-wake c m\n0.1 read x @b\n",
	     "");
	/* A signal without a waiter orders nothing. */
	race("0 create 0.1\n0 write x @a\n0 cond-signal c\n0.1 lock m\n0.1 cond-wait c m\n"
	     "0.1 cond-wake c m =ETIMEDOUT\n0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	/* A pipe: 3 is read, 4 is written. Standard output is no pipe. */
	race("0 create 0.1\n0 write x @a\n0 call write 4\n0 return write 4 1\n0.1 call read 3\n"
	     "0.1 return read 3 1\n0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 call write 1\n0 return write 1 1\n0.1 call read 0\n"
	     "0.1 return read 0 1\n0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
}

static void test_atomics(void **state)
{
	(void)state;
	/* Message passing; with relaxed order it orders nothing. */
	race("0 create 0.1\n0 write x @a\n0 atomic-store f release\n0.1 atomic-load f acquire\n"
	     "0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 atomic-store f relaxed\n0.1 atomic-load f acquire\n"
	     "0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 write x @a\n0 fence release\n0 atomic-store f relaxed\n"
	     "0.1 atomic-load f relaxed\n0.1 fence acquire\n0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 atomic-store f release\n0.1 atomic-load f relaxed\n"
	     "0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	/* Another thread's read-modify-write continues a release sequence; its store does not. */
	race("0 create 0.1\n0 create 0.2\n0 write x @a\n0 atomic-store f release\n"
	     "0.2 atomic-add f relaxed\n0.1 atomic-load f acquire\n0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 create 0.2\n0 write x @a\n0 atomic-store f release\n"
	     "0.2 atomic-store f relaxed\n0.1 atomic-load f acquire\n0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	/* A failed compare-and-swap acquires by its second order. */
	race("0 create 0.1\n0 write x @a\n0 atomic-store f release\n"
	     "0.1 atomic-cas-fail f seq_cst fail=acquire\n0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 atomic-store f release\n"
	     "0.1 atomic-cas-fail f seq_cst fail=relaxed\n0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	/* Atomics race with plain accesses only. */
	race("0 create 0.1\n0 atomic-add x relaxed @a\n0.1 atomic-add x relaxed @b\n"
	     "0.1 read x @c\n",
	     "WR 0 atomic-add @a#1, 0.1 read @c#1\n");
}

static void test_memory(void **state)
{
	(void)state;
	race("0 create 0.1\n0 malloc p 16\n0 write p @a\n0 free p\n0.1 malloc p 16\n"
	     "0.1 write p @b\n",
	     "");
	race("0 create 0.1\n0 malloc p 16\n0 write p @a\n0.1 write p @b\n0 free p\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	/* The stack of an ended thread is reused by another. */
	race("thread 0 id=1\nthread 0.1 id=2 stack=0x1000-0x2000\n"
	     "thread 0.2 id=3 stack=0x1000-0x2000\n"
	     "0 create 0.1\n0 create 0.2\n0.1 start stack=0x1000-0x2000\n0.1 write 0x1800 @a\n"
	     "0.1 end\n"
	     "0.2 start stack=0x1000-0x2000\n0.2 write 0x1800 @b\n",
	     "");
	race("0 create 0.1\n0 mmap p 8192\n0 write p+4000 @a\n0 munmap p 8192\n"
	     "0.1 write p+4000 @b\n",
	     "");
}

static void test_annotations(void **state)
{
	(void)state;
	race("0 create 0.1\n0 benign x 4\n0 write x @a\n0.1 write x @b\n0.1 write x+4 @c\n"
	     "0 write x+4 @d\n",
	     "WW 0.1 write @c#1, 0 write @d#1\n");
	race("0 create 0.1\n0 ignore-begin detail=2\n0 write x @a\n0 read y @b\n"
	     "0 ignore-end detail=2\n"
	     "0.1 write x @c\n0.1 write y @d\n",
	     "RW 0 read @b#1, 0.1 write @d#1\n");
	/* Ignored synchronisation orders nothing. */
	race("0 create 0.1\n0 ignore-begin detail=4\n0 lock m\n0 write x @a\n0 unlock m\n"
	     "0 ignore-end detail=4\n0.1 lock m\n0.1 write x @b\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
}

/* Both orders of two sites are one finding, seen as a race. */
static void test_both_orders(void **state)
{
	struct analyzed x;

	(void)state;
	analyze(&x, "0 create 0.1\n0 write x @a\n0.1 read x @b\n0.1 read y @b\n0 write y @a\n",
		&analysis_race);
	assert_int_equal(findings_count(x.out), 1);
	assert_int_equal(findings_at(x.out, 0)->count, 2);
	assert_true(findings_at(x.out, 0)->seen);
	assert_int_equal(findings_at(x.out, 0)->pattern, PATTERN_WR);
	assert_int_equal(findings_at(x.out, 0)->order[0].first, 1);
	assert_int_equal(findings_at(x.out, 0)->order[0].second, 0);
	analyzed_free(&x);
}

static const char *note_of(const char *text)
{
	struct analyzed x;
	const char *note;

	analyze(&x, text, &analysis_race_predict);
	assert_int_equal(findings_count(x.out), 1);
	note = findings_at(x.out, 0)->note;
	analyzed_free(&x);
	return note;
}

static void test_predict(void **state)
{
	const char *hidden = "0 create 0.1\n0 write x:8 @a\n0 lock m\n0 write y:8\n0 unlock m\n"
			     "0.1 lock m\n0.1 write y:8\n0.1 unlock m\n0.1 write x:8 @b\n";
	const char *value_flows =
		"0 create 0.1\n0 write x:8 @a\n0 lock m\n0 write y:8\n0 unlock m\n"
		"0.1 lock m\n0.1 read y:8\n0.1 unlock m\n0.1 write x:8 @b\n";

	(void)state;
	/* Ordered only because this section came first. */
	race(hidden, "");
	predict(hidden, "WW 0 write @a#1, 0.1 write @b#1\n");
	assert_non_null(strstr(note_of(hidden), "reordering"));
	/* A value read in the section forbids the reordering; locks alone allow it. */
	predict(value_flows, "WW 0 write @a#1, 0.1 write @b#1\n");
	assert_null(strstr(note_of(value_flows), "reordering"));
	/* A common lock; strong order; atomics. */
	predict("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock m\n0.1 write x @b\n"
		"0.1 unlock m\n",
		"");
	predict("0 create 0.1\n0 write x @a\n0 sem-post s\n0.1 sem-wait s\n0.1 write x @b\n", "");
	predict("0 create 0.1\n0 write x @a\n0 atomic-store f release\n0.1 atomic-load f acquire\n"
		"0.1 write x @b\n",
		"");
	/* The order of two steps of a counter is chance. */
	predict("0 create 0.1\n0 write x @a\n0 atomic-add n 7\n0.1 atomic-add n 8\n"
		"0.1 write x @b\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
	/* A pair that races in this trace is not predicted. */
	predict("0 create 0.1\n0 write x @a\n0.1 write x @b\n", "");
	/* Read locks do not exclude each other; a write lock does. */
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n"
		"0.1 lock n\n"
		"0.1 unlock n\n0.1 rdlock m\n0.1 write x @b\n0.1 rwunlock m\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n"
		"0.1 lock n\n"
		"0.1 unlock n\n0.1 wrlock m\n0.1 write x @b\n0.1 rwunlock m\n",
		"");
}

/* Acquisition histories: each thread holds one lock and has had the other. */
static void test_histories(void **state)
{
	(void)state;
	predict("0 create 0.1\n0 lock m\n0 lock n\n0 unlock n\n0 write x @a\n0 unlock m\n"
		"0.1 lock n\n0.1 lock m\n0.1 unlock m\n0.1 write x @b\n0.1 unlock n\n",
		"");
	/* Event 0 is to be held before the section that the other thread passes. */
	predict("0 create 0.1\n0 lock m @in\n0 lock n\n0 unlock n\n0 write x @a\n0 unlock m\n"
		"0.1 lock m\n0.1 unlock m\n0.1 lock n\n0.1 write x @b\n0.1 unlock n\n",
		"WW 0 write @a#1, 0.1 write @b#1, 0 lock @in#1\n");
	/* No holding is needed for read locks of both, or for a section that was left before. */
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n"
		"0.1 lock n\n0.1 unlock n\n0.1 rdlock m\n0.1 rwunlock m\n0.1 write x @b\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
}

/* A predicted pair that races later is reported once, as a race. */
static void test_together(void **state)
{
	struct analyzed x;

	(void)state;
	analyze(&x, "0 create 0.1\n0 write x @a\n0 lock m\n0 unlock m\n0.1 lock m\n0.1 unlock m\n"
		"0.1 write x @b\n0 write x @a\n0.1 write x @b\n", NULL);
	for (size_t i = 0; i < findings_count(x.out); i++) {
		const struct candidate *c = findings_at(x.out, i);

		if (c->class == CANDIDATE_RACE) {
			assert_null(c->note);
			assert_int_equal(i, 0);
		}
	}
	analyzed_free(&x);
}

/* Doubtful: the second thread read, before x, a value that the first wrote after x. */
static void assert_doubtful(const char *read, bool expected)
{
	struct buf b = { 0 };
	struct analyzed x;

	buf_addf(&b,
		 "0 create 0.1\n0 create 0.2\n0.1 write x @a\n0.1 lock m\n0.1 write y\n"
		 "0.1 unlock m\n"
		 "0.2 lock m\n0.2 %s\n0.2 unlock m\n0.2 read x @b\n",
		 read);
	analyze(&x, buf_string(&b), &analysis_race_predict);
	assert_int_equal(findings_count(x.out), 1);
	assert_int_equal(findings_at(x.out, 0)->doubtful, expected);
	analyzed_free(&x);
	buf_free(&b);
}

static void test_doubtful(void **state)
{
	(void)state;
	assert_doubtful("read y", true);
	assert_doubtful("read z", false);
	assert_doubtful("write y", true);	/* some of the 8 bytes keep their values */
	assert_doubtful("write y:8", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_race),  cmocka_unit_test(test_gone),
		cmocka_unit_test(test_bytes),	    cmocka_unit_test(test_locks),
		cmocka_unit_test(test_order),	    cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_memory),	    cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_both_orders), cmocka_unit_test(test_predict),
		cmocka_unit_test(test_histories),   cmocka_unit_test(test_together),
		cmocka_unit_test(test_doubtful),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
