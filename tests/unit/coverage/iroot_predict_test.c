/*
 * Predicted iRoots: hand-worked traces, and a slow way that looks at every two accesses of a
 * trace, compared on random ones.
 */
#include "iroot_util.h"
#include "reference/iroots_predicted.h"

enum { R = IROOT_OP_READ, W = IROOT_OP_WRITE, ACQ = IROOT_OP_ACQUIRE, REL = IROOT_OP_RELEASE,
       SIG = IROOT_OP_SIGNAL, WAIT = IROOT_OP_WAIT };

#define STEP(t, o, a, s) { .thread = (t), .op = (o), .addr = (a), .size = 4, .site = (s) }
#define PREDICTED(steps, window) \
	roots_of(steps, sizeof(steps) / sizeof((steps)[0]), window, IROOT_PREDICTED)

static struct iroot_event event(uint64_t site)
{
	return (struct iroot_event){ site, site >= 40 ? IROOT_RELEASE : site >= 30 ? IROOT_ACQUIRE :
						   site >= 20 ? IROOT_WRITE : IROOT_READ };
}

static bool has(const struct roots *got, uint64_t idiom, uint64_t a, uint64_t b, uint64_t c,
		uint64_t d)
{
	struct iroot root = { .idiom = idiom, .event = { event(a), event(b) } };

	if (c)
		root.event[2] = event(c);
	if (d)
		root.event[3] = event(d);
	return roots_have(got, &root);
}

static size_t count_idiom(const struct roots *got, uint64_t idiom)
{
	size_t n = 0;

	for (size_t i = 0; i < got->count; i++)
		n += got->at[i].idiom == idiom;
	return n;
}

/* The example at the top of iroot_fold.h: a is site 20, b 10, c 21, d 11. */
static void test_example(void **state)
{
	const struct iroot_step steps[] = {
		{ .thread = 1, .op = IROOT_OP_CREATE, .addr = 2 },
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(2, W, 0x1000, 21),
		STEP(1, R, 0x1000, 11),
	};
	const struct iroot_step locked[] = {
		{ .thread = 1, .op = IROOT_OP_CREATE, .addr = 2 },
		STEP(1, ACQ, 0x9000, 30), STEP(1, W, 0x1000, 20), STEP(1, R, 0x1000, 11),
		STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 31), STEP(2, R, 0x1000, 10), STEP(2, W, 0x1000, 21),
		STEP(2, REL, 0x9000, 41),
	};
	struct roots *got = roots_of(steps, 5, IROOT_WINDOW, IROOT_EXPOSED);

	(void)state;
	assert_int_equal(got->count, 3);
	assert_true(has(got, 1, 20, 10, 0, 0));
	assert_true(has(got, 1, 21, 11, 0, 0));
	assert_true(has(got, 3, 20, 10, 21, 11));
	free(got);
	got = PREDICTED(steps, IROOT_WINDOW);
	assert_int_equal(count_idiom(got, 1), 6);
	assert_true(has(got, 1, 20, 10, 0, 0) && has(got, 1, 10, 20, 0, 0));
	assert_true(has(got, 1, 21, 11, 0, 0) && has(got, 1, 11, 21, 0, 0));
	assert_true(has(got, 1, 21, 20, 0, 0) && has(got, 1, 20, 21, 0, 0));
	assert_int_equal(count_idiom(got, 2), 2);
	assert_true(has(got, 2, 10, 20, 21, 0) && has(got, 2, 20, 21, 11, 0));
	assert_int_equal(count_idiom(got, 3), 2);
	assert_true(has(got, 3, 20, 10, 21, 11) && has(got, 3, 10, 20, 11, 21));
	assert_int_equal(got->count, 10);
	free(got);
	got = PREDICTED(locked, IROOT_WINDOW);
	assert_int_equal(got->count, 3);
	assert_true(has(got, 1, 21, 20, 0, 0));
	/* the lock itself */
	assert_true(has(got, 1, 40, 31, 0, 0) && has(got, 1, 41, 30, 0, 0));
	free(got);
}

/* An access before the creation of a thread never comes after that thread's accesses. */
static void test_create(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1000, 21),
		{ .thread = 1, .op = IROOT_OP_CREATE, .addr = 2 },
		STEP(1, W, 0x1000, 22), STEP(2, R, 0x1000, 10),
		{ .thread = 1, .op = IROOT_OP_JOIN, .addr = 2 }, STEP(1, W, 0x1000, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 21, 10, 0, 0));
	assert_false(has(got, 1, 20, 10, 0, 0));	/* 21 comes in between */
	assert_true(has(got, 1, 22, 10, 0, 0));
	assert_true(has(got, 1, 10, 22, 0, 0));
	assert_true(has(got, 1, 10, 23, 0, 0));
	assert_int_equal(count_idiom(got, 1), 4);
	free(got);
}

/* Figure 4.3 of the thesis: A, B in one critical section, C in another one. */
static void test_sections(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, W, 0x1000, 20), STEP(1, W, 0x1000, 21),
		STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 31), STEP(2, W, 0x1000, 22), STEP(2, REL, 0x9000, 41),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 21, 22, 0, 0));		/* B → C */
	assert_true(has(got, 1, 22, 20, 0, 0));		/* C → A */
	assert_true(has(got, 1, 40, 31, 0, 0));
	assert_true(has(got, 1, 41, 30, 0, 0));
	assert_int_equal(count_idiom(got, 1), 4);
	assert_int_equal(count_idiom(got, 2), 0);	/* C cannot come between A and B */
	free(got);
}

/* Figure 4.4: [A of X, B of Y] in one thread, [C of X, D of Y] in another one. */
static void test_pairs(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(2, W, 0x1000, 22), STEP(2, W, 0x1008, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 4, 20, 22, 23, 21));
	assert_true(has(got, 4, 22, 20, 21, 23));
	assert_true(has(got, 6, 20, 22, 21, 23));
	assert_true(has(got, 6, 22, 20, 23, 21));
	assert_int_equal(count_idiom(got, 4), 2);
	assert_int_equal(count_idiom(got, 5), 0);
	assert_int_equal(count_idiom(got, 6), 2);
	free(got);
}

/* With the accesses of one thread exchanged: the shape of a deadlock. */
static void test_crossing(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(2, W, 0x1008, 22), STEP(2, W, 0x1000, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	/* 20 → 23 and 22 → 21. */
	assert_true(has(got, 5, 20, 23, 22, 21));
	assert_int_equal(count_idiom(got, 5), 1);
	free(got);
}

/* A lock around both pairs excludes idioms 4 and 5; idiom 6 stays possible. */
static void test_whole(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 31), STEP(2, W, 0x1008, 22), STEP(2, W, 0x1000, 23),
		STEP(2, W, 0x1008, 24), STEP(2, REL, 0x9000, 41),
	};
	struct iroot_step again[3 * sizeof(steps) / sizeof(steps[0])];
	struct roots *got = PREDICTED(steps, 1);
	size_t n = 0;

	(void)state;
	assert_true(has(got, 1, 20, 23, 0, 0) && has(got, 1, 24, 21, 0, 0));
	assert_int_equal(count_idiom(got, 4), 0);
	assert_int_equal(count_idiom(got, 5), 0);
	assert_true(has(got, 6, 23, 20, 24, 21));
	free(got);

	/* One instance without the lock is enough, even if the pair was known before. */
	for (size_t i = 0; i < 2 * sizeof(steps) / sizeof(steps[0]); i++)
		again[n++] = steps[i % (sizeof(steps) / sizeof(steps[0]))];
	got = roots_of(again, n, 3000, IROOT_PREDICTED);
	assert_false(has(got, 5, 20, 23, 22, 21));
	free(got);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].op == W)
			again[n++] = steps[i];
	got = roots_of(again, n, 3000, IROOT_PREDICTED);
	assert_true(has(got, 5, 20, 23, 22, 21));
	free(got);
}

static void test_between(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, R, 0x1000, 10), STEP(1, W, 0x1000, 20),
		STEP(2, R, 0x1000, 11), STEP(2, W, 0x1000, 21),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 2, 10, 21, 20, 0));
	assert_true(has(got, 2, 11, 20, 21, 0));
	assert_int_equal(count_idiom(got, 2), 2);
	assert_int_equal(count_idiom(got, 3), 0);	/* two reads are no dependency */
	free(got);
}

/* Accesses before a barrier come before other threads' accesses after it. */
static void test_barrier(void **state)
{
	struct iroot_step steps[] = {
		{ .thread = 1, .op = IROOT_OP_BARRIER_INIT, .addr = 5, .size = 2 },
		STEP(1, W, 0x1000, 20),
		{ .thread = 1, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },
		{ .thread = 2, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },
		{ .thread = 1, .op = IROOT_OP_BARRIER_LEAVE, .addr = 5 },
		/* of the next round */
		{ .thread = 1, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },
		{ .thread = 2, .op = IROOT_OP_BARRIER_LEAVE, .addr = 5 },
		STEP(2, W, 0x1000, 21),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 20, 21, 0, 0));
	assert_int_equal(got->count, 1);
	free(got);
}

/* More entries than a history holds; most of them are obsolete. */
static void test_shortened(void **state)
{
	static struct iroot_step steps[4000];
	struct roots *got;
	size_t n = 0;

	(void)state;
	while (n + 6 < sizeof(steps) / sizeof(steps[0])) {
		struct iroot_step round[] = {
			STEP(1, W, 0x1000, 20),
			{ .thread = 1, .op = SIG, .addr = 7 },
			{ .thread = 2, .op = WAIT, .addr = 7 },
			STEP(2, R, 0x1000, 10),
			{ .thread = 2, .op = SIG, .addr = 8 },
			{ .thread = 1, .op = WAIT, .addr = 8 },
		};

		memcpy(&steps[n], round, sizeof(round));
		n += 6;
	}
	got = roots_of(steps, n, 3000, IROOT_PREDICTED);	/* stats.lost stays 0 */
	assert_true(has(got, 1, 20, 10, 0, 0));
	assert_true(has(got, 1, 10, 20, 0, 0));
	free(got);
}

/* `create`: the first thread creates the others, so that histories drop obsolete entries. */
static void compare_random(uint64_t seed, unsigned rounds, bool create)
{
	static struct iroot_step steps[300];
	size_t idioms[IROOT_IDIOMS + 1] = { 0 };
	uint64_t rng = seed;

	for (unsigned round = 0; round < rounds; round++) {
		struct roots *wanted = calloc(1, sizeof(*wanted)), *got;
		uint32_t window = 1 + random_below(&rng, 8), threads = 2 + round % 2;
		size_t n = 0;

		for (uint32_t i = 2; create && i <= threads; i++)
			steps[n++] = (struct iroot_step){ .thread = 1,
							  .op = IROOT_OP_CREATE,
							  .addr = i };
		n += random_steps(&rng, steps + n, 5 + random_below(&rng, create ? 120 : 50),
				  threads, create ? 1 : 3, false);

		got = roots_of(steps, n, window, IROOT_PREDICTED);
		slow_predict(steps, n, window, wanted);
		roots_expect_same(got, wanted);
		for (size_t i = 0; i < got->count; i++)
			idioms[got->at[i].idiom]++;
		free(got);
		free(wanted);
	}
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		assert_true(idioms[i] > 100);
}

static void test_random(void **state)
{
	(void)state;
	compare_random(5, 400, false);
}

static void test_random_created(void **state)
{
	(void)state;
	compare_random(7, 400, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example), cmocka_unit_test(test_create),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_created),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
