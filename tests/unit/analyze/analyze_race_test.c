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
	/* The n-th time counts every visit of the thread. */
	race("0 create 0.1\n0 read y @a\n0 read y @a\n0 write x @a\n0.1 write x @b\n",
	     "WW 0 write @a#3, 0.1 write @b#1\n");
}

/* Of a thread that was joined, little is remembered: what it did, and who knows of that. */
static void test_gone(void **state)
{
	(void)state;
	/* Who joined it knows, and hands it on; another one does not. */
	race("0 create 0.1\n0 create 0.2\n0.1 write x @a\n0.1 end\n0 join 0.1\n0.2 write x @b\n"
	     "0 create 0.3\n0.3 write x:1 @c\n",
	     "WW 0.1 write @a#1, 0.2 write @b#1\nWW 0.2 write @b#1, 0.3 write @c#1\n");
	/* What it knew of others has come along. */
	race("0 create 0.1\n0.1 create 0.1.1\n0.1.1 write x @a\n0.1.1 end\n0.1 join 0.1.1\n0.1 end\n"
	     "0 join 0.1\n0 write x @b\n", "");
	/* It was not joined, or joining it failed. */
	race("0 create 0.1\n0.1 write x @a\n0.1 end\n0 write x @b\n", "WW 0.1 write @a#1, 0 write @b#1\n");
	race("0 create 0.1\n0.1 write x @a\n0.1 end\n0 join 0.1 =EDEADLK\n0 write x @b\n",
	     "WW 0.1 write @a#1, 0 write @b#1\n");
	/* Joined before its end was told: all of it is still there. */
	race("0 write x @a\n0 create 0.1\n0 join 0.1\n0.1 write x @b\n0.1 end\n", "");
	/* No run can have that. It goes on where it was, and no longer knows of others. */
	race("0 create 0.1\n0.1 end\n0 join 0.1\n0.1 write x @a\n0 write x @b\n0 create 0.2\n0.2 write x @c\n", "");
	race("0 write x @a\n0 create 0.1\n0.1 end\n0 join 0.1\n0.1 write x @b\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
}

static void test_bytes(void **state)
{
	(void)state;
	race("0 create 0.1\n0 write x:4 @a\n0.1 write x+4:4 @b\n0.1 write x+2:1 @c\n",
	     "WW 0 write @a#1, 0.1 write @c#1\n");
	/* Across a granule, and ranges. */
	race("0 create 0.1\n0 write x+6:4 @a\n0.1 read x+8:1 @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 write-range x:100 @a\n0.1 read x+96:4 @b\n0.1 read x+100:4 @c\n",
	     "WR 0 write-range @a#1, 0.1 read @b#1\n");
	/* Half of it was overwritten in order: the other half still races. */
	race("0 create 0.1\n0 create 0.2\n0.1 write x:8 @a\n0.1 unlock m\n0.2 lock m\n"
	     "0.2 write x:4 @b\n0 read x+4:4 @c\n",
	     "WR 0.1 write @a#1, 0 read @c#1\n");
}

static void test_locks(void **state)
{
	(void)state;
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock m\n0.1 write x @b\n0.1 unlock m\n",
	     "");
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock n\n0.1 write x @b\n0.1 unlock n\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	/* A failed trylock orders nothing; one that succeeds does. */
	race("0 create 0.1\n0 lock m\n0 write x @a\n0.1 trylock m =EBUSY\n0.1 read x @b\n0 unlock m\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	race("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 trylock m\n0.1 read x @b\n", "");
	/* Readers do not order each other, writers come after them. */
	race("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0.1 rdlock m\n0.1 write x @b\n"
	     "0.1 rwunlock m\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	race("0 create 0.1\n0 rdlock m\n0 read x @a\n0 rwunlock m\n0.1 wrlock m\n0.1 write x @b\n", "");
}

static void test_order(void **state)
{
	(void)state;
	race("0 create 0.1\n0 write x @a\n0 sem-post s\n0.1 sem-wait s\n0.1 write x @b\n", "");
	race("0 create 0.1\n0 barrier-init b 2\n0 write x @a\n0 barrier-enter b\n0.1 barrier-enter b\n"
	     "0.1 barrier-leave b\n0.1 write x @b\n0 barrier-leave b\n",
	     "");
	race("0 create 0.1\n0 once-begin o\n0 write x @a\n0 once-end o\n0.1 once-pass o\n0.1 read x @b\n",
	     "");
	race("0 create 0.1\n0 write x @a\n0 hb-before h\n0.1 hb-after h\n0.1 write x @b\n", "");
	/* An atomic that is annotated: stores to it do not undo what the annotation says. */
	race("0 create 0.1\n0 write x @a\n0 hb-before f\n0 atomic-store f release\n"
	     "0.1 atomic-store f relaxed\n0.1 hb-after f\n0.1 write x @b\n",
	     "");
	race("0 create 0.1\n0.1 lock m\n0.1 cond-wait c m\n0 write x @a\n0 cond-signal c\n"
	     "0.1 cond-wake c m\n0.1 read x @b\n",
	     "");
	/* A signal that nobody waited for orders nothing. */
	race("0 create 0.1\n0 write x @a\n0 cond-signal c\n0.1 lock m\n0.1 cond-wait c m\n"
	     "0.1 cond-wake c m =ETIMEDOUT\n0.1 read x @b\n",
	     "WR 0 write @a#1, 0.1 read @b#1\n");
	/* A pipe: 3 is read, 4 is written. Standard output is none. */
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
	/* Message passing; relaxed it is none. */
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
	/* A release sequence goes on through another's read-modify-write, not its store. */
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
	race("0 create 0.1\n0 atomic-add x relaxed @a\n0.1 atomic-add x relaxed @b\n0.1 read x @c\n",
	     "WR 0 atomic-add @a#1, 0.1 read @c#1\n");
}

static void test_memory(void **state)
{
	(void)state;
	race("0 create 0.1\n0 malloc p 16\n0 write p @a\n0 free p\n0.1 malloc p 16\n0.1 write p @b\n",
	     "");
	race("0 create 0.1\n0 malloc p 16\n0 write p @a\n0.1 write p @b\n0 free p\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
	/* The stack of an ended thread is another's. */
	race("thread 0 id=1\nthread 0.1 id=2 stack=0x1000-0x2000\nthread 0.2 id=3 stack=0x1000-0x2000\n"
	     "0 create 0.1\n0 create 0.2\n0.1 start stack=0x1000-0x2000\n0.1 write 0x1800 @a\n0.1 end\n"
	     "0.2 start stack=0x1000-0x2000\n0.2 write 0x1800 @b\n",
	     "");
	race("0 create 0.1\n0 mmap p 8192\n0 write p+4000 @a\n0 munmap p 8192\n0.1 write p+4000 @b\n", "");
}

static void test_annotations(void **state)
{
	(void)state;
	race("0 create 0.1\n0 benign x 4\n0 write x @a\n0.1 write x @b\n0.1 write x+4 @c\n0 write x+4 @d\n",
	     "WW 0.1 write @c#1, 0 write @d#1\n");
	race("0 create 0.1\n0 ignore-begin detail=2\n0 write x @a\n0 read y @b\n0 ignore-end detail=2\n"
	     "0.1 write x @c\n0.1 write y @d\n",
	     "RW 0 read @b#1, 0.1 write @d#1\n");
	/* Sync that is to be ignored orders nothing. */
	race("0 create 0.1\n0 ignore-begin detail=4\n0 lock m\n0 write x @a\n0 unlock m\n"
	     "0 ignore-end detail=4\n0.1 lock m\n0.1 write x @b\n",
	     "WW 0 write @a#1, 0.1 write @b#1\n");
}

/* Both orders of two sites are one finding, and it was seen. */
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
	const char *handed = "0 create 0.1\n0 write x:8 @a\n0 lock m\n0 write y:8\n0 unlock m\n"
			     "0.1 lock m\n0.1 read y:8\n0.1 unlock m\n0.1 write x:8 @b\n";

	(void)state;
	/* Ordered only because this section came first. */
	race(hidden, "");
	predict(hidden, "WW 0 write @a#1, 0.1 write @b#1\n");
	assert_non_null(strstr(note_of(hidden), "reordering"));
	/* What is read in it says that it is a hand-over: maybe by locks, not by reordering. */
	predict(handed, "WW 0 write @a#1, 0.1 write @b#1\n");
	assert_null(strstr(note_of(handed), "reordering"));
	/* A common lock; strong order; atomics. */
	predict("0 create 0.1\n0 lock m\n0 write x @a\n0 unlock m\n0.1 lock m\n0.1 write x @b\n0.1 unlock m\n",
		"");
	predict("0 create 0.1\n0 write x @a\n0 sem-post s\n0.1 sem-wait s\n0.1 write x @b\n", "");
	predict("0 create 0.1\n0 write x @a\n0 atomic-store f release\n0.1 atomic-load f acquire\n"
		"0.1 write x @b\n",
		"");
	/* … but that a counter was stepped before is luck. */
	predict("0 create 0.1\n0 write x @a\n0 atomic-add n 7\n0.1 atomic-add n 8\n0.1 write x @b\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
	/* What races as it is, is not predicted. */
	predict("0 create 0.1\n0 write x @a\n0.1 write x @b\n", "");
	/* Read locks do not exclude each other; one to write does. */
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n0.1 lock n\n"
		"0.1 unlock n\n0.1 rdlock m\n0.1 write x @b\n0.1 rwunlock m\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n0.1 lock n\n"
		"0.1 unlock n\n0.1 wrlock m\n0.1 write x @b\n0.1 rwunlock m\n",
		"");
}

/* Each holds one and has had the other: both cannot be there at once. */
static void test_histories(void **state)
{
	(void)state;
	predict("0 create 0.1\n0 lock m\n0 lock n\n0 unlock n\n0 write x @a\n0 unlock m\n"
		"0.1 lock n\n0.1 lock m\n0.1 unlock m\n0.1 write x @b\n0.1 unlock n\n",
		"");
	/* The first is to be held back before the section that the other one passes on its way. */
	predict("0 create 0.1\n0 lock m @in\n0 lock n\n0 unlock n\n0 write x @a\n0 unlock m\n"
		"0.1 lock m\n0.1 unlock m\n0.1 lock n\n0.1 write x @b\n0.1 unlock n\n",
		"WW 0 write @a#1, 0.1 write @b#1, 0 lock @in#1\n");
	/* If both only read the lock, it is in nobody's way; a section that it has left neither. */
	predict("0 create 0.1\n0 rdlock m\n0 write x @a\n0 rwunlock m\n0 lock n\n0 unlock n\n"
		"0.1 lock n\n0.1 unlock n\n0.1 rdlock m\n0.1 rwunlock m\n0.1 write x @b\n",
		"WW 0 write @a#1, 0.1 write @b#1\n");
}

/* A prediction that comes true is told once, as a race. */
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

/* What the second thread read on its way to x: what the first wrote after x, or not. */
static void assert_doubtful(const char *read, bool expected)
{
	struct buf b = { 0 };
	struct analyzed x;

	buf_addf(&b, "0 create 0.1\n0 create 0.2\n0.1 write x @a\n0.1 lock m\n0.1 write y\n0.1 unlock m\n"
		     "0.2 lock m\n0.2 %s\n0.2 unlock m\n0.2 read x @b\n", read);
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
	assert_doubtful("write y", true);	/* of 8 bytes, some stay as they were */
	assert_doubtful("write y:8", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_race), cmocka_unit_test(test_gone), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_locks), cmocka_unit_test(test_order),
		cmocka_unit_test(test_atomics), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_annotations), cmocka_unit_test(test_both_orders),
		cmocka_unit_test(test_predict), cmocka_unit_test(test_histories),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_doubtful),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
