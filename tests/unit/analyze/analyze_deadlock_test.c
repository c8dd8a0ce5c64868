/*
 * Deadlocks: lock cycles and cases that are none, and random traces against an exhaustive search.
 */
#include "analyze_util.h"
#include "reference/deadlocks.h"

static void deadlock(const char *text, const char *expected)
{
	assert_findings(text, &analysis_deadlock, expected);
}

#define TWO "0 create 0.1\n0 create 0.2\n"
#define CYCLE "lock-cycle 0.1 lock @x1#1, 0.1 lock @y1#1, 0.2 lock @y2#1, 0.2 lock @x2#1\n"

static const char cycle[] = TWO "0.1 lock a @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 unlock a\n"
				"0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n0.2 unlock b\n";

static void test_cycle(void **state)
{
	const struct candidate *c;
	struct analyzed x;

	(void)state;
	deadlock(cycle, CYCLE);
	analyze(&x, cycle, &analysis_deadlock);
	c = findings_at(x.out, 0);
	assert_int_equal(c->class, CANDIDATE_DEADLOCK);
	assert_false(c->seen);
	/* Each thread has its first lock before the other wants it. */
	assert_int_equal(c->orders, 2);
	assert_int_equal(c->order[0].first, 2);
	assert_int_equal(c->order[0].second, 1);
	assert_int_equal(c->order[1].first, 0);
	assert_int_equal(c->order[1].second, 3);
	assert_int_not_equal(c->addr, c->addr2);
	analyzed_free(&x);
}

static void test_same_order(void **state)
{
	(void)state;
	deadlock(TWO "0.1 lock a @p\n0.1 lock b @q\n0.1 unlock b\n0.1 unlock a\n"
		     "0.2 lock a @r\n0.2 lock b @s\n0.2 unlock b\n0.2 unlock a\n", "");
	/* One after the other, never together. */
	deadlock(TWO "0.1 lock a @p\n0.1 unlock a\n0.1 lock b @q\n0.1 unlock b\n"
		     "0.2 lock b @r\n0.2 unlock b\n0.2 lock a @s\n0.2 unlock a\n", "");
}

static void test_gate(void **state)
{
	(void)state;
	deadlock(TWO "0.1 lock g\n0.1 lock a @p\n0.1 lock b @q\n0.1 unlock b\n0.1 unlock a\n"
		     "0.1 unlock g\n"
		     "0.2 lock g\n0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n"
		     "0.2 unlock g\n",
		 "");
	/* Both threads only read-lock the gate lock: it excludes neither. */
	deadlock(TWO "0.1 rdlock g\n0.1 lock a @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 unlock a\n"
		     "0.1 rwunlock g\n0.2 rdlock g\n0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n"
		     "0.2 unlock b\n0.2 rwunlock g\n", CYCLE);
	/* One thread releases the gate lock before it takes its second lock. */
	deadlock(TWO "0.1 lock g\n0.1 lock a @x1\n0.1 unlock g\n0.1 lock b @y1\n0.1 unlock b\n"
		     "0.1 unlock a\n"
		     "0.2 lock g\n0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n0.2 unlock b\n"
		     "0.2 unlock g\n",
		 CYCLE);
}

static void test_one_thread(void **state)
{
	(void)state;
	deadlock("0 lock a @p\n0 lock b @q\n0 unlock b\n0 unlock a\n"
		 "0 lock b @r\n0 lock a @s\n0 unlock a\n0 unlock b\n", "");
	/* A recursive lock. */
	deadlock(TWO "0.1 lock a @p\n0.1 lock a @q\n0.1 unlock a\n0.1 unlock a\n"
		     "0.2 lock a @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock a\n", "");
	/* Released once, a recursive lock is still held. */
	deadlock(TWO "0.1 lock a @x1\n0.1 lock a\n0.1 unlock a\n0.1 lock b @y1\n0.1 unlock b\n"
		     "0.1 unlock a\n"
		     "0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n0.2 unlock b\n",
		 CYCLE);
}

static void test_ordered(void **state)
{
	(void)state;
	/* The second thread is created, joined or woken after the first is done. */
	deadlock("0 create 0.1\n0 lock a @p\n0 lock b @q\n0 unlock b\n0 unlock a\n0 create 0.2\n"
		 "0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n", "");
	deadlock("0 create 0.1\n0.1 lock a @p\n0.1 lock b @q\n0.1 unlock b\n0.1 unlock a\n0.1 end\n"
		 "0 join 0.1\n0 lock b @r\n0 lock a @s\n0 unlock a\n0 unlock b\n", "");
	deadlock(TWO "0.1 lock a @p\n0.1 lock b @q\n0.1 unlock b\n0.1 unlock a\n0.1 sem-post s\n"
		     "0.2 sem-wait s\n0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n",
		 "");
	/* Order by another lock is chance. */
	deadlock(TWO "0.1 lock a @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 unlock a\n0.1 lock m\n"
		     "0.1 unlock m\n"
		     "0.2 lock m\n0.2 unlock m\n0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n"
		     "0.2 unlock b\n",
		 CYCLE);
	/* The first instance is ordered, the second is not. */
	deadlock("0 lock a @x1\n0 lock b @y1\n0 unlock b\n0 unlock a\n0 create 0.1\n0 create 0.2\n"
		 "0.2 lock b @y2\n0.2 lock a @x2\n0.2 unlock a\n0.2 unlock b\n"
		 "0 lock a @x1\n0 lock b @y1\n0 unlock b\n0 unlock a\n",
		 "lock-cycle 0 lock @x1#2, 0 lock @y1#2, 0.2 lock @y2#1, 0.2 lock @x2#1\n");
}

static void test_kinds_of_locks(void **state)
{
	(void)state;
	/* Readers of each other's lock do not wait. */
	deadlock(TWO "0.1 rdlock a @p\n0.1 rdlock b @q\n0.1 rwunlock b\n0.1 rwunlock a\n"
		     "0.2 rdlock b @r\n0.2 rdlock a @s\n0.2 rwunlock a\n0.2 rwunlock b\n", "");
	deadlock(TWO "0.1 rdlock a @x1\n0.1 wrlock b @y1\n0.1 rwunlock b\n0.1 rwunlock a\n"
		     "0.2 rdlock b @y2\n0.2 wrlock a @x2\n0.2 rwunlock a\n0.2 rwunlock b\n",
		 "lock-cycle 0.1 rdlock @x1#1, 0.1 wrlock @y1#1, 0.2 rdlock @y2#1, 0.2 wrlock "
		 "@x2#1\n");
	deadlock(TWO "0.1 rdlock a @p\n0.1 rdlock b @q\n0.1 rwunlock b\n0.1 rwunlock a\n"
		     "0.2 wrlock b @r\n0.2 rdlock a @s\n0.2 rwunlock a\n0.2 rwunlock b\n", "");
	/* Trying does not wait, but holds. */
	deadlock(TWO "0.1 lock a @p\n0.1 trylock b @q\n0.1 unlock b\n0.1 unlock a\n"
		     "0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n", "");
	deadlock(TWO "0.1 trylock a @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 unlock a\n"
		     "0.2 spinlock b @y2\n0.2 lock a @x2\n0.2 unlock a\n0.2 spin-unlock b\n",
		 "lock-cycle 0.1 trylock @x1#1, 0.1 lock @y1#1, 0.2 spinlock @y2#1, 0.2 lock "
		 "@x2#1\n");
	deadlock(TWO "0.1 lock a @p\n0.1 timedlock b @q\n0.1 unlock b\n0.1 unlock a\n"
		     "0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n", "");
	deadlock(TWO "0.1 trylock a @p =EBUSY\n0.1 lock b @q\n0.1 unlock b\n"
		     "0.2 lock b @r\n0.2 lock a @s\n0.2 unlock a\n0.2 unlock b\n", "");
}

static void test_longer(void **state)
{
	const struct candidate *c;
	struct buf b = { 0 };
	struct analyzed x;

	(void)state;
	deadlock("0 create 0.1\n0 create 0.2\n0 create 0.3\n"
		 "0.1 lock a @p1a\n0.1 lock b @p1b\n0.1 unlock b\n0.1 unlock a\n"
		 "0.2 lock b @p2b\n0.2 lock c @p2c\n0.2 unlock c\n0.2 unlock b\n"
		 "0.3 lock a @p3a\n0.3 lock c @p3c\n0.3 unlock c\n0.3 unlock a\n", "");
	deadlock("0 create 0.1\n0 create 0.2\n0 create 0.3\n"
		 "0.1 lock a @a1\n0.1 lock b @b1\n0.1 unlock b\n0.1 unlock a\n"
		 "0.2 lock b @b2\n0.2 lock c @c2\n0.2 unlock c\n0.2 unlock b\n"
		 "0.3 lock c @c3\n0.3 lock a @a3\n0.3 unlock a\n0.3 unlock c\n",
		 "lock-cycle 0.1 lock @a1#1, 0.1 lock @b1#1, 0.2 lock @b2#1, 0.2 lock @c2#1, "
		 "0.3 lock @c3#1, 0.3 lock @a3#1\n");
	/* Ten philosophers: one cycle. */
	for (int i = 0; i < 10; i++)
		buf_addf(&b, "0 create 0.%d\n", i + 1);
	for (int i = 0; i < 10; i++)
		buf_addf(&b,
			 "0.%d lock f%d @take%d\n0.%d lock f%d @both%d\n0.%d unlock f%d\n"
			 "0.%d unlock f%d\n",
			 i + 1, i, i, i + 1, (i + 1) % 10, i, i + 1, i, i + 1, (i + 1) % 10);
	buf_string(&b);
	analyze(&x, (char *)b.data, &analysis_deadlock);
	assert_int_equal(findings_count(x.out), 1);
	c = findings_at(x.out, 0);
	assert_int_equal(c->events, 20);
	assert_int_equal(c->orders, 10);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(c->order[i].first, (2 * i + 2) % 20);
		assert_int_equal(c->order[i].second, 2 * i + 1);
	}
	analyzed_free(&x);
	buf_free(&b);
}

static void test_blocked(void **state)
{
	struct analyzed x;

	(void)state;
	analyze(&x,
		TWO
		"0.1 lock a @x1\n0.2 lock b @y2\n0.1 blocked b lock @y1\n0.2 blocked a lock @x2\n"
		"0 blocked 0 join\n",
		&analysis_deadlock);
	assert_int_equal(findings_count(x.out), 4);	/* the cycle, and each of the three */
	assert_int_equal(findings_at(x.out, 0)->pattern, PATTERN_LOCK_CYCLE);
	for (size_t i = 0; i < 4; i++)
		assert_true(findings_at(x.out, i)->seen);
	analyzed_free(&x);
	/* A thread was still running. */
	deadlock("0 create 0.1\n0.1 blocked s sem-wait @w\n0 write x @a\n", "");
	/* A system call may be ended from outside. */
	deadlock("0 create 0.1\n0.1 blocked s sem-wait @w\n0 blocked 0 call\n", "");
}

/* ---- random traces against an exhaustive search ---- */

static void add(struct run *r, unsigned thread, int what, unsigned lock)
{
	r->step[r->count++] = (struct step){ .thread = thread, .what = what, .lock = lock };
}

/* Each thread's pieces run alone, so any order of them is a possible run. */
static void random_run(struct run *r, uint64_t *seed)
{
	memset(r, 0, sizeof(*r));
	for (int piece = 0; piece < 9; piece++) {
		unsigned thread = 1 + test_random(seed) % (THREADS - 1);
		unsigned depth = 1 + test_random(seed) % 3, locks[3];
		size_t n = 0;

		if (test_random(seed) % 6 == 0) {	/* another thread waits for this one */
			unsigned other = 1 + test_random(seed) % (THREADS - 1);

			add(r, thread, POST, (unsigned)r->count);
			add(r, other, WAIT, (unsigned)r->count - 1);
			continue;
		}
		for (unsigned i = 0; i < depth; i++) {
			unsigned lock = test_random(seed) % 4;
			bool held = false;

			for (size_t k = 0; k < n; k++)
				held |= locks[k] == lock;
			if (held)
				continue;
			add(r, thread, test_random(seed) % 4 == 0 ? READ_LOCK : LOCK, lock);
			locks[n++] = lock;
		}
		while (n)
			add(r, thread, UNLOCK, locks[--n]);
	}
	for (size_t j = 0; j < r->count; j++)
		for (size_t i = j; i-- > 0; ) {
			r->before[i][j] |= r->step[i].thread == r->step[j].thread;
			r->before[i][j] |= r->step[i].what == POST && r->step[j].what == WAIT &&
					   r->step[j].lock == r->step[i].lock;
			for (size_t k = i + 1; k < j; k++)
				r->before[i][j] |= r->before[i][k] && r->before[k][j];
		}
}

static char *run_text(const struct run *r)
{
	struct buf b = { 0 };

	for (unsigned t = 1; t < THREADS; t++)
		buf_addf(&b, "0 create 0.%u\n", t);
	for (size_t i = 0; i < r->count; i++) {
		const struct step *s = &r->step[i];

		if (s->what == POST || s->what == WAIT)
			buf_addf(&b, "0.%u %s s%u\n", s->thread,
				 s->what == POST ? "sem-post" : "sem-wait", s->lock);
		else
			buf_addf(&b, "0.%u %s l%u @e%zu\n", s->thread,
				 s->what == UNLOCK ? "rwunlock"
				 : s->what == LOCK ? "wrlock"
						   : "rdlock",
				 s->lock, i);
	}
	buf_string(&b);
	return (char *)b.data;
}

static void test_random_runs(void **state)
{
	uint64_t seed = 20240607;
	size_t with = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct analyzed x;
		struct run *r = xmalloc(sizeof(*r));
		size_t cycles = 0;
		char *text;

		random_run(r, &seed);
		text = run_text(r);
		analyze(&x, text, &analysis_deadlock);
		for (size_t k = 0; k < findings_count(x.out); k++)
			cycles += findings_at(x.out, k)->pattern == PATTERN_LOCK_CYCLE;
		if (cycles != slow_cycles(r))
			fail_msg("round %d: %zu cycles, not %zu, in\n%s", i, cycles, slow_cycles(r),
				 text);
		with += cycles > 0;
		analyzed_free(&x);
		free(text);
		free(r);
	}
	assert_in_range(with, 100, 2900);	/* traces with and without deadlocks */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_same_order),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_ordered),
		cmocka_unit_test(test_kinds_of_locks),
		cmocka_unit_test(test_longer),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_random_runs),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
