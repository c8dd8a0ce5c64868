#include "analyze_atomicity_util.h"

#define TWO "0 create 0.1\n0 create 0.2\n"
#define LOCKED(thread, lock, take, access) \
	thread " lock " lock " @" take "\n" thread " " access "\n" thread " unlock " lock "\n"

static void check(const char *text, const char *expected)
{
	assert_candidates(text, &analysis_atomicity2, 4, expected);
}

static void pruned(const char *text, enum prune_reason why, uint64_t count)
{
	assert_pruned(text, &analysis_atomicity2, why, count);
}

static void test_patterns(void **state)
{
	(void)state;
	/*
	 * The writer runs as a whole between the two reads, or the reader between the two writes.
	 */
	check(TWO "0.1 write x @a\n0.1 write y @b\n0.2 read x @c\n0.2 read y @d\n",
	      "RxWxWyRy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1\n"
	      "WxRxRyWy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1\n");
	/* In opposite orders, both are inside their blocks at one time: one candidate. */
	check(TWO "0.1 write x @a\n0.1 write y @b\n0.2 read y @c\n0.2 read x @d\n",
	      "RxWyWxRy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1\n");
	/* Two writers: x is left by one, y by the other. */
	check(TWO "0.1 write x @a\n0.1 write y @b\n0.2 write x @c\n0.2 write y @d\n",
	      "WxWxWyWy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1\n"
	      "WxWxWyWy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1\n");
	/* The trace shows it. */
	check(TWO "0.2 read x @c\n0.1 write x @a\n0.1 write y @b\n0.2 read y @d\n",
	      "RxWxWyRy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1 seen\n"
	      "WxRxRyWy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1\n");
	/* Only one of the two locations is written. */
	check(TWO "0.1 write x @a\n0.1 read y @b\n0.2 read x @c\n0.2 read y @d\n", "");
	/* Both accesses are to one location, or the other thread does not access one of them. */
	check(TWO "0.1 write x @a\n0.1 write x @b\n0.2 read x @c\n0.2 read x @d\n", "");
	check(TWO "0.1 write x @a\n0.1 write y @b\n0.2 read x @c\n0.2 read z @d\n", "");
}

static void test_sections(void **state)
{
	(void)state;
	/* Each access is in a critical section of its own: text and length. */
	check(TWO LOCKED("0.1", "m", "k", "write x @a") LOCKED("0.1", "n", "l", "write y @b")
	      LOCKED("0.2", "n", "o", "read y @c") LOCKED("0.2", "m", "q", "read x @d"),
	      "RxWyWxRy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1 hold 2@l#1 3@q#1\n");
	/* One thread has one section around both accesses, the other has two. */
	check(TWO LOCKED("0.1", "m", "k", "read x @a") LOCKED("0.1", "m", "l", "read y @b")
	      "0.2 lock m @o\n0.2 write x @c\n0.2 write y @d\n0.2 unlock m\n",
	      "RxWxWyRy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1 hold 1@o#1 3@l#1\n");
	/* One section on both sides. */
	pruned(TWO "0.1 lock m\n0.1 write x @a\n0.1 write y @b\n0.1 unlock m\n"
	       "0.2 lock m\n0.2 read x @c\n0.2 read y @d\n0.2 unlock m\n", PRUNE_LOCK, 2);
	pruned(TWO "0.1 lock m\n0.1 write x @a\n0.1 write y @b\n0.1 unlock m\n"
	       "0.2 lock m\n0.2 read y @c\n0.2 read x @d\n0.2 unlock m\n", PRUNE_LOCK, 1);
	/* A lock around two sections. */
	pruned(TWO "0.1 lock g\n" LOCKED("0.1", "m", "k", "write x @a")
		       LOCKED("0.1", "n", "l", "write y @b") "0.1 unlock g\n0.2 lock g\n" LOCKED(
			       "0.2", "n", "o", "read y @c")
			       LOCKED("0.2", "m", "q", "read x @d") "0.2 unlock g\n",
	       PRUNE_LOCK, 1);
}

static void test_order(void **state)
{
	(void)state;
	pruned("0 write x @a\n0 write y @b\n0 create 0.1\n0.1 read x @c\n0.1 read y @d\n", PRUNE_HB,
	       2);
	/* Before the creation and after the join: the order of every run. */
	pruned("0 write x @a\n0 create 0.1\n0.1 read x @c\n0.1 write y @d\n0.1 end\n0 join 0.1\n"
	       "0 read y @b\n",
	       PRUNE_HB, 2);
	/* A semaphore orders the second thread's block after the first one's. */
	pruned(TWO "0.1 write x @a\n0.1 write y @b\n0.1 sem-post s\n0.2 sem-wait s\n0.2 read y @c\n"
	       "0.2 read x @d\n", PRUNE_HB, 1);
}

static void test_same_schedule(void **state)
{
	(void)state;
	/* Three locations in the same sections: one schedule. */
	check(TWO "0.1 lock m @k\n0.1 read x @a\n0.1 read z @e\n0.1 unlock m\n" LOCKED(
		      "0.1", "m", "l", "read y @b") "0.2 lock m @o\n0.2 write x @c\n0.2 write z "
						    "@f\n0.2 write y @d\n0.2 unlock m\n",
	      "RxWxWyRy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1 hold 1@o#1 3@l#1\n");
}

static void test_memory(void **state)
{
	(void)state;
	/* Fields of one granule are two locations. */
	check(TWO "0.1 write x:4 @a\n0.1 write x+4:4 @b\n0.2 read x+4:4 @c\n0.2 read x:4 @d\n",
	      "RxWyWxRy 0.2@c#1 0.1@a#1 0.1@b#1 0.2@d#1\n");
	/* Another object at the same address. */
	check(TWO "0.1 malloc x 64\n0.1 write x @a\n0.1 write y @b\n0.1 free x\n0.2 malloc x 64\n"
	      "0.2 read x @c\n0.2 read y @d\n", "");
	check("0 benign x 4\n" TWO "0.1 write x @a\n0.1 write y @b\n0.2 read x @c\n0.2 read y @d\n",
	      "");
	/* Accesses of different user blocks make no pair. */
	check(TWO "0.1 block-begin\n0.1 write x @a\n0.1 block-end\n0.1 block-begin\n"
		  "0.1 write y @b\n0.1 block-end\n"
		  "0.2 read y @c\n0.2 read x @d\n",
	      "");
}

/*
 * A loop over an array: after a while its pairs are sampled, at the same locations in both threads.
 */
static void test_walk(void **state)
{
	struct buf b = { 0 };
	struct analyzed x;

	(void)state;
	buf_add_text(&b, TWO);
	for (int t = 1; t <= 2; t++)
		for (int i = 0; i < 4000; i++)
			buf_addf(&b, "0.%d write 0x%x:8 @a\n0.%d write 0x%x:8 @b\n", t,
				 0x100000 + 16 * i, t, 0x100008 + 16 * i);
	analyze(&x, buf_string(&b), &analysis_atomicity2);
	/* Pairs are two neighbouring accesses: (a, b), and (b, a) with the next element. */
	assert_true(findings_count(x.out) >= 2);
	for (size_t n = 0; n < findings_count(x.out); n++) {
		const struct candidate *c = findings_at(x.out, n);

		assert_int_equal(c->event[0].addr, c->addr);
		assert_int_equal(c->event[3].addr, c->addr2);
		assert_int_equal(c->size, 8);
		assert_int_equal(c->size2, 8);
	}
	analyzed_free(&x);
	buf_free(&b);
}

/* A length, a loop over an array and then the pointer: the loop must not displace the length. */
static void test_loop_between(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_add_text(&b, TWO LOCKED("0.1", "m", "k", "read x @a"));
	for (int i = 0; i < 20; i++)
		buf_addf(&b, "0.1 read from+%d:1 @r\n0.1 write to+%d:1 @w\n", i, i);
	buf_add_text(&b, LOCKED("0.1", "m", "l", "read y @b")
		     "0.2 lock m @o\n0.2 write x @c\n0.2 write y @d\n0.2 unlock m\n");
	check(buf_string(&b), "RxWxWyRy 0.1@a#1 0.2@c#1 0.2@d#1 0.1@b#1 hold 1@o#1 3@l#1\n");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_same_schedule),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_loop_between),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
