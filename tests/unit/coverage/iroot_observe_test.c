/*
 * Exposed iRoots: hand-worked traces of each idiom, and a slow way to find them, byte by byte
 * and pair by pair as coverage/fold/iroot_fold.h says, compared on random ones.
 */
#include "iroot_util.h"
#include "reference/iroots_exposed.h"

enum { R = IROOT_OP_READ, W = IROOT_OP_WRITE, ACQ = IROOT_OP_ACQUIRE, REL = IROOT_OP_RELEASE };

/* Thread, operation, address, site. */
#define STEP(t, o, a, s) { .thread = (t), .op = (o), .addr = (a), .size = 4, .site = (s) }

static struct iroot_event event(uint64_t site)
{
	return (struct iroot_event){ site, site >= 40 ? IROOT_RELEASE : site >= 30 ? IROOT_ACQUIRE :
						   site >= 20 ? IROOT_WRITE : IROOT_READ };
}

static void expect(const struct roots *got, uint64_t idiom, uint64_t a, uint64_t b, uint64_t c,
		   uint64_t d)
{
	struct iroot root = { .idiom = idiom, .event = { event(a), event(b) } };

	if (c)
		root.event[2] = event(c);
	if (d)
		root.event[3] = event(d);
	if (!roots_have(got, &root)) {
		roots_print(got);
		fail_msg("idiom %u is missing", (unsigned)idiom);
	}
}

static size_t count_idiom(const struct roots *got, uint64_t idiom)
{
	size_t n = 0;

	for (size_t i = 0; i < got->count; i++)
		n += got->at[i].idiom == idiom;
	return n;
}

#define OBSERVED(steps, window) \
	roots_of(steps, sizeof(steps) / sizeof((steps)[0]), window, IROOT_EXPOSED)

static void test_dependency(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(2, R, 0x1000, 11),
		STEP(1, R, 0x1000, 12),		/* two reads: no dependency */
		STEP(2, W, 0x1002, 21),		/* overlaps by two bytes */
		STEP(1, W, 0x1006, 22),		/* not these */
	};
	struct roots *got = OBSERVED(steps, 1);

	(void)state;
	expect(got, 1, 20, 10, 0, 0);
	expect(got, 1, 12, 21, 0, 0);
	assert_int_equal(got->count, 2);
	free(got);
}

static void test_one_variable(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, W, 0x1000, 21),	/* 2 */
		STEP(2, R, 0x1000, 11), STEP(2, W, 0x1000, 22), STEP(1, R, 0x1000, 12),	/* 3 */
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	expect(got, 2, 20, 10, 21, 0);
	expect(got, 3, 21, 11, 22, 12);
	expect(got, 2, 10, 21, 11, 0);
	assert_int_equal(count_idiom(got, 2), 2);
	assert_int_equal(count_idiom(got, 3), 1);
	assert_int_equal(count_idiom(got, 1), 4);
	free(got);
}

static void test_touched_between(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, R, 0x1000, 11),
		STEP(2, W, 0x1000, 22), STEP(1, R, 0x1000, 12),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	/* 20 -> 10 ... 22 -> 12, but thread 1 accessed the variable in between. */
	assert_int_equal(count_idiom(got, 3), 0);
	expect(got, 2, 11, 22, 12, 0);
	assert_int_equal(count_idiom(got, 2), 1);
	free(got);
}

static void test_two_variables(void **state)
{
	const struct iroot_step four[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(2, W, 0x1004, 21),
		STEP(1, R, 0x1004, 11),
	}, five[] = {
		STEP(1, W, 0x1000, 20), STEP(2, W, 0x1004, 21), STEP(2, R, 0x1000, 10),
		STEP(1, R, 0x1004, 11),
	}, six[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1004, 21), STEP(2, R, 0x1000, 10),
		STEP(2, R, 0x1004, 11),
	}, crossed[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1004, 21), STEP(2, R, 0x1004, 11),
		STEP(2, R, 0x1000, 10),
	};
	struct roots *got = OBSERVED(four, 3000);

	(void)state;
	expect(got, 4, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(five, 3000);
	expect(got, 5, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(six, 3000);
	expect(got, 6, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(crossed, 3000);
	assert_int_equal(got->count, 2);	/* only the two dependencies */
	free(got);
}

static void test_window(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, W, 0x2000, 22),
		STEP(1, W, 0x1000, 21),
	};
	struct roots *got = OBSERVED(steps, 2);

	(void)state;
	expect(got, 2, 20, 10, 21, 0);
	free(got);
	got = OBSERVED(steps, 1);
	assert_int_equal(count_idiom(got, 2), 0);
	free(got);
}

static void test_locks(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, ACQ, 0x9000, 31),	/* recursive: no step */
		STEP(1, REL, 0x9000, 41), STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 32), STEP(2, REL, 0x9000, 42), STEP(1, ACQ, 0x9000, 33),
	}, readers[] = {
		STEP(1, IROOT_OP_ACQUIRE_SHARED, 0x9000, 30), STEP(1, REL, 0x9000, 40),
		STEP(2, IROOT_OP_ACQUIRE_SHARED, 0x9000, 31), STEP(2, REL, 0x9000, 41),
		STEP(1, ACQ, 0x9000, 32),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	expect(got, 1, 40, 32, 0, 0);
	expect(got, 1, 42, 33, 0, 0);
	expect(got, 3, 40, 32, 42, 33);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(readers, 3000);
	expect(got, 1, 41, 32, 0, 0);
	assert_int_equal(got->count, 1);
	free(got);
}

/*
 * Data under a lock: each dependency of it comes right after one of the lock, which is of the same
 * kind as the one that is wanted, but too late.
 */
static void test_last_but_one(void **state)
{
	const struct iroot_step section[] = {
		STEP(1, ACQ, 0x9000, 30),
		STEP(1, R, 0x1000, 10),
		STEP(1, W, 0x1000, 20),
		STEP(1, REL, 0x9000, 40),
	};
	struct iroot_step steps[16];
	struct roots *got;

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		steps[i] = section[i % 4];
		steps[i].thread = 1 + i / 4 % 2;
	}
	got = OBSERVED(steps, 3000);
	/* the first release and acquisition, the write and read at the end */
	expect(got, 6, 40, 30, 20, 10);
	free(got);
}

static void test_fresh(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), { .op = IROOT_OP_FRESH, .addr = 0x1000, .size = 8 },
		STEP(2, R, 0x1000, 10),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	assert_int_equal(got->count, 0);
	free(got);
}

static void test_random(void **state)
{
	static struct iroot_step steps[300];
	size_t idioms[IROOT_IDIOMS + 1] = { 0 };
	uint64_t rng = 1;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct roots *wanted = calloc(1, sizeof(*wanted)), *got;
		uint32_t window = 1 + random_below(&rng, 12);
		size_t n = random_steps(&rng, steps, 5 + random_below(&rng, 80), 2 + round % 3, 5,
					true);

		got = roots_of(steps, n, window, IROOT_EXPOSED);
		slow_observe(steps, n, window, wanted);
		roots_expect_same(got, wanted);
		for (size_t i = 0; i < got->count; i++)
			idioms[got->at[i].idiom]++;
		free(got);
		free(wanted);
	}
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		assert_true(idioms[i] > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependency),
		cmocka_unit_test(test_one_variable),
		cmocka_unit_test(test_touched_between),
		cmocka_unit_test(test_two_variables),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_last_but_one),
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
