/*
 * Semaphores that are used as locks, and those that are not; and random traces in which
 * semaphores must give the same findings as mutexes.
 */
#include "analyze_atomicity_util.h"

#define ONE "0 sem-init s 1\n"
#define TWO "0 create 0.1\n0 create 0.2\n"
#define LOCKED(thread, take, access) \
	thread " sem-wait s @" take "\n" thread " " access "\n" thread " sem-post s\n"

/* Two accesses in sections of their own; the other thread's section fits in between. */
#define CHECK_ACT LOCKED("0.1", "k", "read x @a") LOCKED("0.1", "l", "write x @b")

static void test_sections(void **state)
{
	(void)state;
	assert_candidates(ONE TWO CHECK_ACT LOCKED("0.2", "o", "write x @c"), &analysis_atomicity,
			  3, "RWW 0.1@a#1 0.2@c#1 0.1@b#1 hold 1@o#1 2@l#1\n");
	/* Both accesses in one section. */
	assert_pruned(ONE TWO "0.1 sem-wait s\n0.1 read x @a\n0.1 write x @b\n0.1 sem-post s\n"
		      LOCKED("0.2", "o", "write x @c"), &analysis_atomicity, PRUNE_LOCK, 1);
	/* A successful try holds the semaphore as well. */
	assert_pruned(ONE TWO "0.1 sem-trywait s\n0.1 read x @a\n0.1 write x @b\n0.1 sem-post s\n"
		      LOCKED("0.2", "o", "write x @c"), &analysis_atomicity, PRUNE_LOCK, 1);
	/* A failed try does not hold it. */
	assert_candidates(ONE TWO "0.1 sem-trywait s =EAGAIN\n0.1 read x @a\n0.1 write x @b\n"
			  LOCKED("0.2", "o", "write x @c"), &analysis_atomicity, 3,
			  "RWW 0.1@a#1 0.2@c#1 0.1@b#1\n");
	/* Two threads may hold it: it excludes nothing. */
	assert_candidates("0 sem-init s 2\n" TWO
			  "0.1 sem-wait s\n0.1 read x @a\n0.1 write x @b\n0.1 sem-post s\n" LOCKED(
				  "0.2", "o", "write x @c"),
			  &analysis_atomicity, 3, "RWW 0.1@a#1 0.2@c#1 0.1@b#1\n");
}

static void test_races(void **state)
{
	(void)state;
	/* The sections may be entered in the other order. */
	assert_findings(ONE TWO "0.1 write x @a\n" LOCKED("0.1", "k", "write y @y1")
				LOCKED("0.2", "l", "write y @y2") "0.2 read x @b\n",
			&analysis_race_predict, "WR 0.1 write @a#1, 0.2 read @b#1\n");
	/* In this run they were ordered; in a pool they were not. */
	assert_findings(ONE TWO LOCKED("0.1", "k", "write x @a") LOCKED("0.2", "l", "write x @b"),
			&analysis_race, "");
	assert_findings("0 sem-init s 2\n" TWO LOCKED("0.1", "k", "write x @a")
				LOCKED("0.2", "l", "write x @b"),
			&analysis_race, "WW 0.1 write @a#1, 0.2 write @b#1\n");
}

static void test_signals(void **state)
{
	(void)state;
	/* The initial value is 0, or not in the trace. */
	assert_findings("0 sem-init s 0\n" TWO
			"0.1 write x @a\n0.1 sem-post s\n0.2 sem-wait s\n0.2 read x @b\n",
			&analysis_race_predict, "");
	assert_pruned(TWO CHECK_ACT LOCKED("0.2", "o", "write x @c"), &analysis_atomicity, PRUNE_HB,
		      0);
	/* Two semaphores for taking turns: the posting thread is not the one that waited. */
	assert_findings("0 sem-init s 1\n0 sem-init u 0\n" TWO
			"0.1 sem-wait s\n0.1 write x @a\n0.1 sem-post u\n"
			"0.2 sem-wait u\n0.2 write x @b\n0.2 sem-post s\n"
			"0.1 sem-wait s\n0.1 write x @a\n0.1 sem-post u\n",
			&analysis_race_predict, "");
	/* The producer waits for room, which it does not post: it holds nothing while it locks. */
	assert_findings("0 sem-init s 1\n" TWO
			"0.1 sem-wait s\n0.2 sem-post s\n0.1 lock a @p\n0.1 sem-wait s @q\n"
			"0.1 unlock a\n0.2 sem-wait s\n0.2 lock a @r\n0.2 unlock a\n",
			&analysis_deadlock, "");
}

/* From a post by another thread on it is no lock, and no thread holds it. */
static void test_turned(void **state)
{
	struct analyzed x;

	(void)state;
	analyze(&x,
		ONE TWO
		"0.1 sem-wait s\n0.1 read x @a\n0 sem-post s\n0.1 write x @b\n0.2 write x @c\n",
		&analysis_atomicity);
	assert_int_equal(findings_count(x.out), 1);
	assert_int_equal(findings_at(x.out, 0)->event[0].lockset_size, 1);
	assert_int_equal(findings_at(x.out, 0)->event[2].lockset_size, 0);
	analyzed_free(&x);
}

static void test_deadlock(void **state)
{
	(void)state;
	assert_findings("0 sem-init s 1\n" TWO
			"0.1 sem-wait s @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 sem-post s\n"
			"0.2 lock b @y2\n0.2 sem-wait s @x2\n0.2 sem-post s\n0.2 unlock b\n",
			&analysis_deadlock,
			"lock-cycle 0.1 sem-wait @x1#1, 0.1 lock @y1#1, 0.2 lock @y2#1, 0.2 "
			"sem-wait @x2#1\n");
	/* No deadlock: tries and timed waits; a semaphore that has a token left. */
	assert_findings("0 sem-init s 1\n" TWO
			"0.1 sem-wait s @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 sem-post s\n"
			"0.2 lock b @y2\n0.2 sem-timedwait s @x2\n0.2 sem-post s\n0.2 unlock b\n",
			&analysis_deadlock, "");
	assert_findings("0 sem-init s 2\n" TWO
			"0.1 sem-wait s @x1\n0.1 lock b @y1\n0.1 unlock b\n0.1 sem-post s\n"
			"0.2 lock b @y2\n0.2 sem-wait s @x2\n0.2 sem-post s\n0.2 unlock b\n",
			&analysis_deadlock, "");
	/* A gate lock. */
	assert_findings("0 sem-init s 1\n" TWO
			"0.1 sem-wait s\n0.1 lock a\n0.1 lock b\n0.1 unlock b\n0.1 unlock a\n"
			"0.1 sem-post s\n0.2 sem-wait s\n0.2 lock b\n0.2 lock a\n0.2 unlock a\n"
			"0.2 unlock b\n"
			"0.2 sem-post s\n",
			&analysis_deadlock, "");
}

static void test_misuse(void **state)
{
	(void)state;
	/* No misuse: never posted, destroyed meanwhile, posted by another thread. */
	assert_findings("0 sem-init s 1\n0 create 0.1\n0.1 sem-wait s\n0.1 end\n0 join 0.1\n"
			"0 sem-destroy s\n",
			&analysis_misuse, "");
	assert_findings("0 sem-init s 1\n0 create 0.1\n0 sem-post s\n0.1 sem-wait s\n0.1 end\n",
			&analysis_misuse, "");
}

#define THREADS 3
#define LOCKS 3

/* The same trace twice: with mutexes and with semaphores. */
static void random_trace(uint64_t seed, struct buf *with_mutexes, struct buf *with_semaphores)
{
	static const char *const accesses[] = { "read", "write", "atomic-add" };
	int owner[LOCKS] = { 0 };

	for (int l = 0; l < LOCKS; l++) {
		buf_addf(with_mutexes, "0 mutex-init m%d\n", l);
		buf_addf(with_semaphores, "0 sem-init m%d 1\n", l);
	}
	for (int t = 1; t <= THREADS; t++) {
		buf_addf(with_mutexes, "0 create 0.%d\n", t);
		buf_addf(with_semaphores, "0 create 0.%d\n", t);
	}
	for (int i = 0; i < 40; i++) {
		int t = 1 + (int)(test_random(&seed) % THREADS),
		    l = (int)(test_random(&seed) % LOCKS);
		struct buf line = { 0 };

		if (test_random(&seed) % 2) {
			buf_addf(&line, "0.%d %s x%d:4 @p%d\n", t, accesses[test_random(&seed) % 3],
				 (int)(test_random(&seed) % 2), (int)(test_random(&seed) % 9));
			buf_add_text(with_mutexes, buf_string(&line));
			buf_add_text(with_semaphores, buf_string(&line));
		} else if (!owner[l] || owner[l] == t) {
			buf_addf(with_mutexes, "0.%d %s m%d @l%d\n", t,
				 owner[l] ? "unlock" : "lock", l, i);
			buf_addf(with_semaphores, "0.%d %s m%d @l%d\n", t,
				 owner[l] ? "sem-post" : "sem-wait", l, i);
			owner[l] = owner[l] ? 0 : t;
		}
		buf_free(&line);
	}
}

/* Findings, with semaphores' events named as those of mutexes. */
static char *findings_of(struct buf *trace, const struct analysis *a, size_t *count)
{
	struct analyzed x;
	char *text, *at;

	analyze(&x, buf_string(trace), a);
	*count += findings_count(x.out);
	text = findings_text(&x);
	while ((at = strstr(text, "sem-wait"))) {
		memcpy(at, "lock", 4);
		memmove(at + 4, at + 8, strlen(at + 8) + 1);
	}
	analyzed_free(&x);
	return text;
}

static void test_random_runs(void **state)
{
	static const struct analysis *const which[] = { &analysis_race,	     &analysis_race_predict,
							&analysis_atomicity, &analysis_atomicity2,
							&analysis_deadlock,  &analysis_order };
	size_t found[6] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct buf mutexes = { 0 }, semaphores = { 0 };

		random_trace(seed * 0x9e3779b97f4a7c15ull, &mutexes, &semaphores);
		for (int i = 0; i < 6; i++) {
			char *expected = findings_of(&mutexes, which[i], &found[i]);
			char *got = findings_of(&semaphores, which[i], &found[i]);

			if (strcmp(got, expected) != 0)
				fail_msg("seed %d, %s:\n%s\nwith mutexes:\n%swith semaphores:\n%s",
					 (int)seed, which[i]->name, buf_string(&semaphores),
					 expected, got);
			free(got);
			free(expected);
		}
		buf_free(&mutexes);
		buf_free(&semaphores);
	}
	for (int i = 0; i < 6; i++)
		assert_true(found[i] > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_races),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_turned),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_random_runs),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
