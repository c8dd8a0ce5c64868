#include "analyze_atomicity_util.h"

#define TWO "0 create 0.1\n0 create 0.2\n"
#define LOCKED(thread, take, access) \
	thread " lock m @" take "\n" thread " " access "\n" thread " unlock m\n"

static void check(const char *text, const char *expected)
{
	assert_candidates(text, &analysis_atomicity, 3, expected);
}

static void pruned(const char *text, enum prune_reason why, uint64_t count)
{
	assert_pruned(text, &analysis_atomicity, why, count);
}

static void test_patterns(void **state)
{
	(void)state;
	/* The trace has the other thread's access before the pair. */
	check(TWO "0.2 write x @r\n0.1 read x @p\n0.1 read x @i\n",
	      "RWR 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.2 write x @r\n0.1 write x @p\n0.1 read x @i\n",
	      "WWR 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.2 write x @r\n0.1 read x @p\n0.1 write x @i\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.2 read x @r\n0.1 write x @p\n0.1 write x @i\n",
	      "WRW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.2 write x @r\n0.1 write x @p\n0.1 write x @i\n",
	      "WWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* The trace has it behind the pair. */
	check(TWO "0.1 read x @p\n0.1 write x @i\n0.2 write x @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* The trace has it inside the pair: the violation happened ("seen"). */
	check(TWO "0.1 read x @p\n0.2 write x @r\n0.1 write x @i\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1 seen\n");
	/* Serializable patterns. */
	check(TWO "0.2 read x @r\n0.1 read x @p\n0.1 read x @i\n", "");
	check(TWO "0.2 read x @r\n0.1 write x @p\n0.1 read x @i\n", "");
	check(TWO "0.2 read x @r\n0.1 read x @p\n0.1 write x @i\n", "");
	/* Another location. */
	check(TWO "0.2 write y @r\n0.1 read x @p\n0.1 write x @i\n", "");
}

static void test_sections(void **state)
{
	(void)state;
	/*
	 * A deposit in two critical sections. The other thread's section is held back as a whole.
	 */
	check(TWO LOCKED("0.1", "l1", "read x @p") LOCKED("0.1", "l2", "write x @i")
	      LOCKED("0.2", "l3", "write x @r"),
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1 hold 1@l3#1 2@l2#1\n");
	/* One critical section: no cut-point. */
	pruned(TWO "0.1 lock m\n0.1 read x @p\n0.1 write x @i\n0.1 unlock m\n"
	       LOCKED("0.2", "l3", "write x @r"), PRUNE_LOCK, 1);
	/*
	 * The other thread does not lock, so it can come at any time, and is not held back at a
	 * lock.
	 */
	check(TWO "0.1 lock m\n0.1 read x @p\n0.1 write x @i\n0.1 unlock m\n0.2 write x @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* Another lock does not protect. */
	check(TWO "0.1 lock n\n0.1 read x @p\n0.1 write x @i\n0.1 unlock n\n"
	      LOCKED("0.2", "l3", "write x @r"), "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* A lock around both critical sections protects. */
	pruned(TWO "0.1 lock g\n" LOCKED("0.1", "l1", "read x @p") LOCKED("0.1", "l2", "write x @i")
	       "0.1 unlock g\n0.2 lock g\n" LOCKED("0.2", "l3", "write x @r") "0.2 unlock g\n",
	       PRUNE_LOCK, 1);
	/* Read locks exclude writers, but not each other. */
	pruned(TWO "0.1 rdlock m\n0.1 read x @p\n0.1 read x @i\n0.1 rwunlock m\n"
	       "0.2 wrlock m\n0.2 write x @r\n0.2 rwunlock m\n", PRUNE_LOCK, 1);
	check(TWO "0.1 rdlock m\n0.1 read x @p\n0.1 read x @i\n0.1 rwunlock m\n"
	      "0.2 rdlock m\n0.2 write x @r\n0.2 rwunlock m\n", "RWR 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* Waiting on a condition releases the lock. */
	check(TWO "0.1 lock m @l1\n0.1 read x @p\n0.1 cond-wait c m\n0.1 cond-wake c m @w\n"
	      "0.1 write x @i\n0.1 unlock m\n" LOCKED("0.2", "l3", "write x @r"),
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1 hold 1@l3#1 2@w#1\n");
	/* A recursive lock is released by its last unlock. */
	pruned(TWO "0.1 lock m\n0.1 lock m\n0.1 read x @p\n0.1 unlock m\n0.1 write x @i\n"
		   "0.1 unlock m\n" LOCKED("0.2", "l3", "write x @r"),
	       PRUNE_LOCK, 1);
}

static void test_acquisition_history(void **state)
{
	(void)state;
	/*
	 * Between p and i, 0.1 holds m and has acquired and released n since. At r, 0.2 holds n and
	 * has acquired and released m since. Each of them would have to be first: the acquisition
	 * histories conflict.
	 */
	pruned(TWO
	       "0.1 lock m\n0.1 lock n\n0.1 unlock n\n0.1 read x @p\n0.1 write x @i\n0.1 unlock m\n"
	       "0.2 lock n\n0.2 lock m\n0.2 unlock m\n0.2 write x @r\n0.2 unlock n\n",
	       PRUNE_HISTORY, 1);
	/* If 0.2 does not acquire m, 0.1 can use n first. r is held back before n is acquired. */
	check(TWO
	      "0.1 lock m\n0.1 lock n\n0.1 unlock n\n0.1 read x @p\n0.1 write x @i\n0.1 unlock m\n"
	      "0.2 lock n @l\n0.2 write x @r\n0.2 unlock n\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1 hold 1@l#1\n");
}

static void test_strong_order(void **state)
{
	(void)state;
	/*
	 * Accesses that strong happens-before orders are not even compared: before the creation of
	 * the other thread, after its end.
	 */
	pruned("0 read x @p\n0 write x @i\n0 create 0.1\n0.1 write x @r\n", PRUNE_HB, 0);
	pruned("0 create 0.1\n0.1 write x @r\n0.1 end\n0 join 0.1\n0 read x @p\n0 write x @i\n",
	       PRUNE_HB, 0);
	/* r comes between p and i in every run. */
	pruned("0 write x @p\n0 create 0.1\n0.1 write x @r\n0.1 end\n0 join 0.1\n0 read x @i\n",
	       PRUNE_HB, 0);
	/* The join comes too late to order r and i. */
	check("0 write x @p\n0 create 0.1\n0.1 write x @r\n0.1 end\n0 read x @i\n0 join 0.1\n",
	      "WWR 0@p#1 0.1@r#1 0@i#1 seen\n");
	/* A semaphore orders i before r; in the second trace it only orders p before r. */
	pruned(TWO
	       "0.1 read x @p\n0.1 write x @i\n0.1 sem-post s\n0.2 sem-wait s\n0.2 write x @r\n",
	       PRUNE_HB, 0);
	check(TWO "0.1 read x @p\n0.1 sem-post s\n0.2 sem-wait s\n0.1 write x @i\n0.2 write x @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
}

static void test_other_sequences(void **state)
{
	(void)state;
	/*
	 * Two writes, and a read of what its own thread wrote in the same section: p cannot come in
	 * there.
	 */
	check(TWO LOCKED("0.1", "l1", "write x @p") LOCKED("0.1", "l2", "write x @i")
	      "0.2 lock m @l3\n0.2 write x @w\n0.2 read x @r\n0.2 unlock m\n",
	      "WWW 0.1@p#1 0.2@w#1 0.1@i#1 hold 1@l3#1 2@l2#1\n");
	/*
	 * The sequence begins with a read. The write after it is in the same section: the same
	 * schedule.
	 */
	check(TWO LOCKED("0.1", "l1", "write x @p") LOCKED("0.1", "l2", "write x @i")
	      "0.2 lock m @l3\n0.2 read x @r\n0.2 write x @w\n0.2 unlock m\n",
	      "WRW 0.1@p#1 0.2@r#1 0.1@i#1 hold 1@l3#1 2@l2#1\n");
	/* Without locks, p can come between the other thread's write and read. */
	check(TWO "0.1 write x @p\n0.1 write x @i\n0.2 write x @w\n0.2 read x @r\n",
	      "WWW 0.1@p#1 0.2@w#1 0.1@i#1\nWWR 0.2@w#1 0.1@i#1 0.2@r#1\n"
	      "WWR 0.2@w#1 0.1@p#1 0.2@r#1\nWRW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* The thread's own reads between two writes do not hide them. */
	check(TWO "0.1 write x @p\n0.1 read x @q\n0.1 write x @i\n0.2 read x @r\n",
	      "WRW 0.1@p#1 0.2@r#1 0.1@i#1\n");
}

static void test_atomics(void **state)
{
	(void)state;
	/* A reference count that is decremented and then tested. */
	check(TWO "0.1 atomic-sub n @p\n0.1 atomic-load n @i\n0.2 atomic-sub n @r\n",
	      "WWR 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.1 atomic-load n @p\n0.1 atomic-store n @i\n0.2 atomic-cas-fail n @q\n"
	      "0.2 atomic-cas n @r\n",
	      "RWR 0.2@q#1 0.1@i#1 0.2@r#1\nRWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* A single atomic update cannot be interrupted. */
	check(TWO "0.1 atomic-add n @p\n0.2 atomic-add n @r\n", "");
}

static void test_bytes(void **state)
{
	(void)state;
	/* Neighbours in a granule are different locations. */
	check(TWO "0.1 read x:4 @p\n0.1 write x:4 @i\n0.2 write x+4:4 @r\n", "");
	/* An access to a neighbour does not come between p and i. */
	check(TWO "0.1 read x:4 @p\n0.1 write x+4:4 @q\n0.1 write x:4 @i\n0.2 write x:4 @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* Accesses that overlap in part. */
	check(TWO "0.1 read x:4 @p\n0.1 write x:4 @i\n0.2 write x+2:1 @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.1 read x:8 @p\n0.1 write x+4:4 @i\n0.2 write x:4 @r\n", "");
	/* Accesses that span granules, and ranges. */
	check(TWO "0.1 read x+6:4 @p\n0.1 write x+8:2 @i\n0.2 write-range x:100 @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.1 read-range x:100 @p\n0.1 read-range x:100 @i\n0.2 write x+96:4 @r\n"
		  "0.2 write x+100:4 @s\n",
	      "RWR 0.1@p#1 0.2@r#1 0.1@i#1\n");
}

static void test_blocks(void **state)
{
	struct buf b = { 0 };

	(void)state;
	/* If there are user blocks, only they count. */
	check(TWO "0.1 block-begin\n0.1 read x @p\n0.1 block-end\n0.1 block-begin\n0.1 write x @i\n"
	      "0.1 block-end\n0.2 write x @r\n", "");
	check(TWO "0.1 block-begin\n0.1 read x @p\n0.1 write x @i\n0.1 block-end\n0.2 write x @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* Nested user blocks: the outer one contains both accesses. */
	check(TWO "0.1 block-begin\n0.1 read x @p\n0.1 block-begin\n0.1 write x @i\n0.1 block-end\n"
	      "0.1 block-end\n0.2 write x @r\n", "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	check(TWO "0.1 block-begin\n0.1 block-begin\n0.1 read x @p\n0.1 block-end\n"
		  "0.1 block-begin\n0.1 write x @i\n"
		  "0.1 block-end\n0.1 block-end\n0.2 write x @r\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n");
	/* Far apart, in two function activations and in one. */
	for (int one = 0; one < 2; one++) {
		buf_clear(&b);
		buf_add_text(&b, TWO "0.2 write x @r\n0.1 enter @f\n0.1 read x @p\n");
		if (!one)
			buf_add_text(&b, "0.1 exit @f\n0.1 enter @g\n");
		for (int i = 0; i < 1100; i++)
			buf_add_text(&b, "0.1 read y @y\n");
		buf_add_text(&b, "0.1 write x @i\n");
		check(buf_string(&b), one ? "RWW 0.1@p#1 0.2@r#1 0.1@i#1\n" : "");
	}
	buf_free(&b);
}

static void test_memory(void **state)
{
	(void)state;
	/* Freed in between: another object at the same address. */
	check(TWO "0.2 malloc x 16\n0.2 write x @r\n0.2 free x\n0.1 malloc x 16\n"
		  "0.1 read x @p\n0.1 write x @i\n",
	      "");
	check(TWO "0.1 malloc x 16\n0.1 write x @p\n0.1 free x\n0.1 malloc x 16\n"
		  "0.1 write x @i\n0.2 read x @r\n",
	      "");
	check(TWO "0.2 mmap x 4096\n0.2 write x+8 @r\n0.2 munmap x 4096\n0.1 read x+8 @p\n"
		  "0.1 write x+8 @i\n",
	      "");
	/* Accesses that an annotation excludes. */
	check(TWO
	      "0.2 ignore-begin detail=2\n0.2 write x @r\n0.2 ignore-end detail=2\n0.1 read x @p\n"
	      "0.1 write x @i\n",
	      "");
	check("0 benign x 4\n" TWO "0.2 write x @r\n0.1 read x @p\n0.1 write x @i\n", "");
}

static void test_instances(void **state)
{
	struct analyzed x;

	(void)state;
	/* Many instances: one candidate, which names the nearest events. */
	analyze(&x,
		TWO "0.2 write x @r\n0.1 read x @p\n0.1 write x @i\n0.1 read x @p\n0.1 write x @i\n"
		    "0.2 write x @r\n0.1 read x @p\n0.1 write x @i\n",
		&analysis_atomicity);
	for (size_t k = 0; k < findings_count(x.out); k++)
		assert_true(findings_at(x.out, k)->count >= 1);
	assert_int_equal(findings_at(x.out, 0)->addr, findings_at(x.out, 0)->event[1].addr);
	assert_int_equal(findings_at(x.out, 0)->size, 4);
	assert_int_equal(findings_at(x.out, 0)->orders, 2);
	assert_int_equal(findings_at(x.out, 0)->order[0].first, 0);
	assert_int_equal(findings_at(x.out, 0)->order[0].second, 1);
	assert_int_equal(findings_at(x.out, 0)->order[1].first, 1);
	assert_int_equal(findings_at(x.out, 0)->order[1].second, 2);
	analyzed_free(&x);
	/* Two variables in one section: one schedule, reported once. */
	check(TWO "0.1 lock m @l1\n0.1 read x @p\n0.1 read y @q\n0.1 unlock m\n"
	      "0.1 lock m @l2\n0.1 write x @i\n0.1 write y @j\n0.1 unlock m\n"
	      "0.2 lock m @l3\n0.2 write x @r\n0.2 write y @s\n0.2 unlock m\n",
	      "RWW 0.1@p#1 0.2@r#1 0.1@i#1 hold 1@l3#1 2@l2#1\n");
}

#define SECTIONS 24

/*
 * Writes x under the inner lock m and an outer lock of its own, for outer locks `first` and
 * following.
 */
static void add_sections(struct buf *b, const char *thread, unsigned first)
{
	for (unsigned n = first; n < first + SECTIONS; n++)
		buf_addf(
			b,
			"%s lock o%u @o\n%s lock m @m\n%s write x @w\n%s unlock m\n%s unlock o%u\n",
			thread, n, thread, thread, thread, thread, n);
}

/*
 * Number of triples: neighbouring writes of one thread as p and i, and each write of the other as
 * r. The other thread's outer locks begin `offset` later. `at_p`, `at_i`: r has the outer lock of
 * p, of i.
 */
static uint64_t expected_count(unsigned offset, bool at_p, bool at_i)
{
	uint64_t count = 0;

	for (unsigned k = 0; k + 1 < SECTIONS; k++)
		for (unsigned j = 0; j < SECTIONS; j++) {
			count += (k == j + offset) == at_p && (k + 1 == j + offset) == at_i;
			count += (k + offset == j) == at_p && (k + 1 + offset == j) == at_i;
		}
	return count;
}

/* Count of the candidate in which r and i are held back at these labels. */
static uint64_t count_of(const struct analyzed *x, const char *r, const char *i)
{
	for (size_t k = 0; k < findings_count(x->out); k++) {
		const struct candidate *c = findings_at(x->out, k);

		if (strcmp(label_of(x->reader, c->event[c->hold[1]].pc), r) == 0 &&
		    strcmp(label_of(x->reader, c->event[c->hold[2]].pc), i) == 0)
			return c->count;
	}
	return 0;
}

static void test_counts(void **state)
{
	struct analyzed x;
	struct buf b = { 0 };

	(void)state;
	for (unsigned offset = 0; offset <= SECTIONS; offset++) {
		buf_clear(&b);
		buf_add_text(&b, TWO);
		add_sections(&b, "0.1", 1);
		add_sections(&b, "0.2", 1 + offset);
		analyze(&x, buf_string(&b), &analysis_atomicity);
		assert_int_equal(count_of(&x, "m", "m"), expected_count(offset, false, false));
		assert_int_equal(count_of(&x, "o", "m"), expected_count(offset, true, false));
		assert_int_equal(count_of(&x, "m", "o"), expected_count(offset, false, true));
		analyzed_free(&x);
	}
	buf_free(&b);
}

/* A cell has room for 24 kinds of accesses. Each access of another kind is counted as dropped. */
static void test_full(void **state)
{
	enum { ROUNDS = 3, KINDS = 30, ROOM = 24 };
	struct analyzed x;
	struct buf b = { 0 };

	(void)state;
	buf_add_text(&b, TWO);
	buf_add_text(&b, "0.2 write x @other\n");
	for (unsigned n = 0; n < ROUNDS * KINDS; n++)
		buf_addf(&b,
			 "0.1 lock o%u @o\n0.1 lock m%u @m\n0.1 write x @w\n0.1 unlock m%u\n"
			 "0.1 unlock o%u\n",
			 n % KINDS, n % KINDS, n % KINDS, n % KINDS);
	analyze(&x, buf_string(&b), &analysis_atomicity);
	assert_int_equal(findings_dropped_count(x.out), ROUNDS * (KINDS - ROOM));
	assert_int_equal(findings_count(x.out), 1);
	/* Pairs of neighbouring accesses that were kept, each with the other thread's write. */
	assert_int_equal(findings_at(x.out, 0)->count, ROOM - 1);
	analyzed_free(&x);
	buf_free(&b);
}

#define WORKERS 5
#define PLAIN 30	/* rounds without inner locks */
#define NESTED 40	/* rounds with an inner lock each */

/* All workers update x under m; in later rounds, each acquires and releases another lock first. */
static void add_rounds(struct buf *b)
{
	for (unsigned n = 0; n < PLAIN + NESTED; n++)
		for (unsigned w = 1; w <= WORKERS; w++) {
			buf_addf(b, "0.%u lock m @L\n", w);
			if (n >= PLAIN)
				buf_addf(b, "0.%u lock n%u @N\n0.%u unlock n%u\n", w, n, w, n);
			buf_addf(b, "0.%u read x @p\n0.%u write x @i\n0.%u unlock m\n", w, w, w);
		}
}

static void add_workers(struct buf *b)
{
	buf_clear(b);
	for (unsigned w = 1; w <= WORKERS; w++)
		buf_addf(b, "0 create 0.%u\n", w);
}

static bool has_sites(const struct analyzed *x, const char *p, const char *r, const char *i)
{
	const char *want[3] = { p, r, i };

	for (size_t k = 0; k < findings_count(x->out); k++) {
		const struct candidate *c = findings_at(x->out, k);
		unsigned same = 0;

		for (unsigned e = 0; e < 3; e++)
			same += strcmp(label_of(x->reader, c->event[e].pc), want[e]) == 0;
		if (same == 3)
			return true;
	}
	return false;
}

/* If all accesses hold one lock, the locks that were acquired within it before take no room. */
static void test_inner_locks(void **state)
{
	struct analyzed x;
	struct buf b = { 0 };

	(void)state;
	add_workers(&b);
	add_rounds(&b);
	/* An access without the lock is compared with all of them. */
	buf_add_text(&b, "0.1 write x @late\n");
	analyze(&x, buf_string(&b), &analysis_atomicity);
	assert_int_equal(findings_dropped_count(x.out), 0);
	assert_true(has_sites(&x, "p", "late", "i"));
	assert_true(has_sites(&x, "i", "i", "p"));
	analyzed_free(&x);
	/* A worker acquires m within another lock: now the acquisition history may matter. */
	add_workers(&b);
	buf_add_text(&b, "0.1 lock n30 @N\n0.1 lock m @L\n0.1 unlock m\n0.1 unlock n30\n");
	add_rounds(&b);
	analyze(&x, buf_string(&b), &analysis_atomicity);
	assert_true(findings_dropped_count(x.out) > 0);
	analyzed_free(&x);
	/* A worker accesses x without the lock first. */
	add_workers(&b);
	buf_add_text(&b, "0.1 read x @early\n");
	add_rounds(&b);
	analyze(&x, buf_string(&b), &analysis_atomicity);
	assert_true(findings_dropped_count(x.out) > 0);
	assert_true(has_sites(&x, "i", "early", "i"));
	analyzed_free(&x);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_acquisition_history),
		cmocka_unit_test(test_strong_order),
		cmocka_unit_test(test_other_sequences),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_instances),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_inner_locks),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
