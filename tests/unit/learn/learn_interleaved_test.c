/*
 * Visits between two accesses, or acquisitions, of a thread that made no blocking call in
 * between.
 */
#include "learn_util.h"

#include "learn/fold/interleaved.h"
#include "reference/interleaved.h"

static void add(struct buf *b, const char *what, const struct learn_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		buf_addf(b, "%s %u %u\n", what, pairs->items[i].first, pairs->items[i].second);
}

static char *found(const struct interleaved *in)
{
	struct buf b = { 0 };

	add(&b, "near", interleaved_unblocked(in));
	add(&b, "inside", interleaved_visits(in));
	return sorted(&b);
}

/*
 * "1U0" stands for a blocking call of thread 1. The site of an acquisition is the number of its
 * step, too.
 */
static void play(struct interleaved *in, struct learn_step *s, size_t i)
{
	if (s->op == IROOT_OP_RELEASE) {
		interleaved_blocked(in, s->thread);
		return;
	}
	s->site = (uint32_t)i + 1;
	interleaved_step(in, s);
}

static void expect(const char *text, const char *wanted)
{
	struct learn_step steps[STEPS];
	size_t count = parse_steps(text, steps);
	struct interleaved *in = interleaved_new(8);
	char *got;

	for (size_t i = 0; i < count; i++)
		play(in, &steps[i], i);
	got = found(in);
	assert_string_equal(got, wanted);
	free(got);
	interleaved_free(in);
}

static void test_by_hand(void **state)
{
	(void)state;
	expect("1R0 2W0", "");
	expect("1R0 1W0", "near 1 2\n");
	expect("1R0 2W0 1W0", "inside 1 2\nnear 1 3\n");
	expect("1R0 2W1 1W0", "near 1 3\n");			/* other memory */
	/* the thread made a blocking call */
	expect("1R0 2W0 1U0 1W0", "");
	expect("1R0 2W0 2U0 1W0", "inside 1 2\nnear 1 4\n");	/* the other thread did */
	expect("1R0 2R0 3R0 2W0 1W0",
	       "inside 1 2\ninside 1 3\ninside 1 4\ninside 2 3\nnear 1 5\nnear 2 4\n");
	expect("1R0 1R0 2W0 1R0", "inside 2 3\nnear 1 2\nnear 2 4\n");
	expect("1A0 2A0 1A0", "inside 1 2\nnear 1 3\n");
	expect("1A0 2W0 1A0", "near 1 3\n");			/* accesses do not visit a lock */
	expect("1A0 2A0 1U0 1A0", "");
}

/* New memory, and acquisitions at unknown sites. */
static void test_nothing_known(void **state)
{
	struct learn_step s[3] = {
		{ .thread = 1, .op = IROOT_OP_READ, .addr = 0x1000, .size = 8, .site = 1 },
		{ .op = IROOT_OP_FRESH, .addr = 0x1000, .size = 8 },
		{ .thread = 1, .op = IROOT_OP_WRITE, .addr = 0x1000, .size = 8, .site = 2 }
	};
	struct interleaved *in = interleaved_new(8);

	(void)state;
	for (int i = 0; i < 3; i++)
		interleaved_step(in, &s[i]);
	for (uint32_t i = 0; i < 3; i++)
		interleaved_step(in, &(struct learn_step){ .thread = 1,
							   .op = IROOT_OP_ACQUIRE,
							   .addr = 0x1000,
							   .site = i == 1 ? 0 : 3 + i });
	assert_int_equal(interleaved_unblocked(in)->count, 0);
	assert_int_equal(interleaved_visits(in)->count, 0);
	interleaved_free(in);
}

static void test_random_steps(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		struct learn_step steps[STEPS];
		struct interleaved *in = interleaved_new(8);
		bool rests[STEPS];
		char *got, *wanted;

		random_steps(steps, STEPS, 3, 2, &seed);
		for (size_t i = 0; i < STEPS; i++) {
			rests[i] = test_random(&seed) % 8 == 0;
			if (rests[i])
				interleaved_blocked(in, steps[i].thread);
			else
				interleaved_step(in, &steps[i]);
		}
		got = found(in);
		wanted = slow(steps, rests);
		assert_string_equal(got, wanted);
		free(got);
		free(wanted);
		interleaved_free(in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_random_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
