/*
 * Spin locks that a program makes of atomics: which locations are such locks, and random traces in
 * which they have to give the findings of pthread_spin_lock().
 */
#include "analyze_atomicity_util.h"

#define TWO "0 create 0.1\n0 create 0.2\n"
#define TAKE(thread) thread " atomic-cas s 0 acquire\n"
#define GIVE(thread) thread " atomic-store s 0 release\n"

/* Accesses to x that race if the second thread acquires the lock first. */
#define BY_CHANCE(first, second) \
	TWO "0.1 write x @a\n" first "0.1 write y @y1\n" second "0.2 read x @b\n"
#define FOUND "WR 0.1 write @a#1, 0.2 read @b#1\n"

static void is_lock(const char *trace)
{
	assert_findings(trace, &analysis_race_predict, FOUND);
	assert_findings(trace, &analysis_race, "");
}

/* No lock: it makes the order of atomics, so no race is predicted. */
static void is_none(const char *trace)
{
	assert_findings(trace, &analysis_race_predict, "");
	assert_findings(trace, &analysis_race, "");
}

static void test_locks(void **state)
{
	(void)state;
	is_lock(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") GIVE("0.2")));
	is_lock(BY_CHANCE("0.1 atomic-xchg s 0 acquire\n",
			  GIVE("0.1") "0.2 atomic-xchg s 0 acq_rel\n" GIVE("0.2")));
	/* Still held in the end. */
	is_lock(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2")));
	/* Released by an update. */
	is_lock(BY_CHANCE(TAKE("0.1"), "0.1 atomic-xchg s 1 release\n" TAKE("0.2")));
	is_lock(BY_CHANCE(TAKE("0.1"), "0.1 atomic-sub s 1 seq_cst\n" TAKE("0.2")));
	/* Loads and failed attempts while it is held, and an acquiring load while it is free. */
	is_lock(BY_CHANCE(TAKE("0.1") "0.2 atomic-xchg s 1 acquire\n0.2 atomic-load s 1 relaxed\n"
			  "0.2 atomic-cas-fail s 1 acquire\n",
			  GIVE("0.1") "0.2 atomic-load s 0 seq_cst\n" TAKE("0.2") GIVE("0.2")));
	/* Initialised by plain writes or atomics, also a second time. */
	is_lock("0 write s\n0 atomic-store s 0 release\n" BY_CHANCE(
		TAKE("0.1"), GIVE("0.1") TAKE("0.2") GIVE("0.2")) "0.2 write s\n" TAKE("0.2")
			GIVE("0.2"));
}

static void test_others(void **state)
{
	(void)state;
	/* One thread acquires it: a flag. */
	is_none(TWO "0.1 write x @a\n" TAKE("0.1")
			GIVE("0.1") "0.2 atomic-load s 0 acquire\n0.2 read x @b\n");
	/* Released once by another thread, or with another value. */
	is_none(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") GIVE("0.1")));
	is_none(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") "0.2 atomic-store s 2 release\n"));
	is_none(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") TAKE("0.1")));
	/* Changed by another thread while held. */
	is_none(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") "0.1 atomic-cas s 2 acq_rel\n"));
	/* Written plainly while held; neither free nor held. */
	assert_findings(BY_CHANCE(TAKE("0.1"), GIVE("0.1") TAKE("0.2") "0.1 write s\n"),
			&analysis_race_predict, "");
	is_none(BY_CHANCE(TAKE("0.1"),
			  GIVE("0.1") TAKE("0.2") GIVE("0.2") "0.1 atomic-load s 3 relaxed\n"));
	/* Never released: a flag that work is done once. */
	is_none(TWO "0.1 write x @a\n0.1 atomic-cas s 0 acq_rel\n0.2 atomic-xchg s 1 acquire\n"
		    "0.2 read x @b\n");
	/* Acquired by an addition: a counter. */
	is_none(BY_CHANCE("0.1 atomic-add s 0 acquire\n",
			  GIVE("0.1") TAKE("0.2") "0.1 atomic-add s 1 acquire\n"));
}

/* Relaxed operations make no order, even in code that looks like a lock. */
static void test_relaxed(void **state)
{
	(void)state;
	assert_findings(BY_CHANCE("0.1 atomic-cas s 0 acquire\n",
				  "0.1 atomic-store s 0 relaxed\n" TAKE("0.2")),
			&analysis_race, FOUND);
	assert_findings(BY_CHANCE(TAKE("0.1"), GIVE("0.1") "0.2 atomic-cas s 0 relaxed\n"),
			&analysis_race, FOUND);
}

#define SECTION(thread, label, access) \
	thread " atomic-xchg s 0 acquire @" label "\n" thread " " access "\n" GIVE(thread)

static void test_sections(void **state)
{
	(void)state;
	/* Read and write in two sections: a section of another thread fits in between. */
	assert_candidates(TWO SECTION("0.1", "k", "read x @a") SECTION("0.1", "l", "write x @b")
			  SECTION("0.2", "o", "write x @c"), &analysis_atomicity, 3,
			  "RWW 0.1@a#1 0.2@c#1 0.1@b#1 hold 1@o#1 2@l#1\n");
	/* Read and write in one section. */
	assert_pruned(TWO SECTION("0.1", "k", "read x @a\n0.1 write x @b")
			      SECTION("0.2", "o", "write x @c"),
		      &analysis_atomicity, PRUNE_LOCK, 1);
	/* Candidates name the program's atomics, not the spin lock operations made of them. */
	assert_findings(TWO
				TAKE("0.1") "0.1 lock b @y1\n0.1 unlock b\n" GIVE(
					"0.1") "0.2 lock b @y2\n0.2 atomic-cas s 0 acquire "
					       "@x2\n" GIVE("0.2") "0.2 unlock b\n",
			&analysis_deadlock,
			"lock-cycle 0.1 atomic-cas @?#1, 0.1 lock @y1#1, 0.2 lock @y2#1, 0.2 "
			"atomic-cas @x2#1\n");
}

#define THREADS 3
#define LOCKS 3

/*
 * Acquires or releases the lock in both traces, sometimes with a failed attempt by another thread.
 */
static void turn(struct buf *theirs, struct buf *own, uint64_t *seed, int t, int l, bool take,
		 int label)
{
	static const char *const take_with[] = { "atomic-cas", "atomic-xchg" };
	int other = 1 + (int)(test_random(seed) % THREADS);

	buf_addf(theirs, "0.%d %s m%d @l%d\n", t, take ? "spinlock" : "spin-unlock", l, label);
	if (take)
		buf_addf(own, "0.%d %s m%d 0 acquire @l%d\n", t, take_with[test_random(seed) % 2],
			 l, label);
	else
		buf_addf(own, "0.%d atomic-store m%d 0 release @l%d\n", t, l, label);
	if (take && other != t) {
		buf_addf(theirs, "0.%d yield\n", other);
		buf_addf(own, "0.%d %s m%d 1 relaxed\n", other,
			 test_random(seed) % 2 ? "atomic-xchg" : "atomic-load", l);
	}
}

/* Makes a trace in two versions: with pthread spin locks (`theirs`) and with atomics (`own`). */
static void random_trace(uint64_t seed, struct buf *theirs, struct buf *own)
{
	static const char *const accesses[] = { "read", "write", "atomic-add" };
	int owner[LOCKS] = { 0 };

	for (int t = 1; t <= THREADS; t++) {
		buf_addf(theirs, "0 create 0.%d\n", t);
		buf_addf(own, "0 create 0.%d\n", t);
	}
	for (int i = 0; i < 40; i++) {
		int t = 1 + (int)(test_random(&seed) % THREADS),
		    l = (int)(test_random(&seed) % LOCKS);
		struct buf line = { 0 };

		if (test_random(&seed) % 2) {
			buf_addf(&line, "0.%d %s x%d:4 @p%d\n", t, accesses[test_random(&seed) % 3],
				 (int)(test_random(&seed) % 2), (int)(test_random(&seed) % 9));
			buf_add_text(theirs, buf_string(&line));
			buf_add_text(own, buf_string(&line));
		} else if (!owner[l] || owner[l] == t) {
			turn(theirs, own, &seed, t, l, !owner[l], i);
			owner[l] = owner[l] ? 0 : t;
		}
		buf_free(&line);
	}
	/* So that each is taken by two. */
	for (int l = 0; l < LOCKS; l++) {
		if (owner[l])
			turn(theirs, own, &seed, owner[l], l, false, 100);
		for (int t = 1; t <= 2; t++) {
			turn(theirs, own, &seed, t, l, true, 100 + t);
			turn(theirs, own, &seed, t, l, false, 100 + t);
		}
	}
}

/* Findings, with the events that take a lock under one name. */
static char *findings_of(struct buf *trace, const struct analysis *a, size_t *count)
{
	static const char *const names[] = { "spinlock", "atomic-cas", "atomic-xchg" };
	struct analyzed x;
	char *text, *at;

	analyze(&x, buf_string(trace), a);
	*count += findings_count(x.out);
	text = findings_text(&x);
	for (int i = 0; i < 3; i++)
		while ((at = strstr(text, names[i]))) {
			memcpy(at, "take", 4);
			memmove(at + 4, at + strlen(names[i]), strlen(at + strlen(names[i])) + 1);
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
		struct buf theirs = { 0 }, own = { 0 };

		random_trace(seed * 0x9e3779b97f4a7c15ull, &theirs, &own);
		for (int i = 0; i < 6; i++) {
			char *expected = findings_of(&theirs, which[i], &found[i]);
			char *got = findings_of(&own, which[i], &found[i]);

			if (strcmp(got, expected) != 0)
				fail_msg("seed %d, %s:\nwith spin locks:\n%swith atomics:\n%s%s",
					 (int)seed, which[i]->name, expected, got,
					 buf_string(&own));
			free(got);
			free(expected);
		}
		buf_free(&theirs);
		buf_free(&own);
	}
	for (int i = 0; i < 6; i++)
		assert_true(found[i] > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_relaxed),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_random_runs),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
