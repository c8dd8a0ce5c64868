#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "learn/fold/sample.h"

#define BASE 0x10000u

static bool takes(struct sample *s, uint32_t site, uint64_t addr)
{
	struct sample_part run;
	bool taken = sample_next(s, site, &addr, addr + 8, &run);

	if (taken)
		assert_int_equal(run.size, 8);
	return taken;
}

static uint64_t line(uint64_t number)
{
	return BASE + number * SAMPLE_LINE;
}

/*
 * Of the lines that a site touches first, the first ones are all taken, later ones by chance.
 * The same seed gives the same lines.
 */
static void test_lines(void **state)
{
	struct sample *s = sample_new(3), *again = sample_new(3), *other = sample_new(4);
	unsigned taken = 0, differ = 0;

	(void)state;
	for (unsigned i = 0; i < 100 * SAMPLE_SITE_LINES; i++) {
		bool one = takes(s, 1, line(i));

		assert_true(one || i >= SAMPLE_SITE_LINES);
		assert_int_equal(one, takes(again, 1, line(i)));
		/* Other sites see the same lines. */
		assert_int_equal(one, takes(s, 2, line(i) + 8));
		differ += one != takes(other, 1, line(i));
		taken += one;
	}
	/* The expected number is 1 + ln 100 times SAMPLE_SITE_LINES. */
	assert_in_range(taken, 4 * SAMPLE_SITE_LINES, 8 * SAMPLE_SITE_LINES);
	assert_true(differ > SAMPLE_SITE_LINES);
	/* Another site has lines of its own. */
	assert_true(takes(s, 2, line(1u << 20)));
	sample_free(s);
	sample_free(again);
	sample_free(other);
}

static void test_bursts(void **state)
{
	struct sample *s = sample_new(1);
	uint64_t addr = BASE;
	struct sample_part run;

	(void)state;
	for (unsigned burst = 0; burst < 3; burst++) {
		for (unsigned i = 0; i < SAMPLE_BURST; i++) {
			addr = BASE;
			assert_true(sample_next(s, 1, &addr, BASE + 8, &run));
			assert_int_equal(run.after_rest, burst > 0 && i == 0);
		}
		for (unsigned i = 0; i < SAMPLE_BURST << (burst + 1); i++)
			assert_false(takes(s, 1, BASE));
	}
	/* A line that is not busy has no rest. */
	assert_true(takes(s, 1, line(1)));
	sample_free(s);
}

/* In a run of many accesses to many lines, the share that is taken falls. */
static void test_many(void **state)
{
	struct sample *s = sample_new(1);
	unsigned taken = 0;

	(void)state;
	for (unsigned i = 0; i < 10000000; i++)
		taken += takes(s, 1, line(i % SAMPLE_SITE_LINES));
	assert_in_range(taken, SAMPLE_ENOUGH, 10 * SAMPLE_ENOUGH);
	sample_free(s);
}

static void test_ranges(void **state)
{
	struct sample *s = sample_new(1);
	uint64_t addr = BASE + 60, end = line(2) + 4;
	struct sample_part run;

	(void)state;
	assert_true(sample_next(s, 1, &addr, end, &run));
	assert_int_equal(run.addr, BASE + 60);
	assert_int_equal(run.size, 4);
	assert_true(sample_next(s, 1, &addr, end, &run));
	assert_int_equal(run.addr, line(1));
	assert_int_equal(run.size, SAMPLE_LINE);
	assert_true(sample_next(s, 1, &addr, end, &run));
	assert_int_equal(run.size, 4);
	assert_false(sample_next(s, 1, &addr, end, &run));
	/* A large range leaves lines beyond its share to other sites. */
	for (addr = line(10); sample_next(s, 1, &addr, line(10 + 4 * SAMPLE_SITE_LINES), &run);)
		;
	assert_true(takes(s, 2, line(9 + 4 * SAMPLE_SITE_LINES)));
	sample_free(s);
}

static void test_fresh(void **state)
{
	struct sample *s = sample_new(1);
	uint64_t out = 0;

	(void)state;
	for (unsigned i = 0; i < 10 * SAMPLE_SITE_LINES; i++)
		if (!takes(s, 1, line(i)))
			out = line(i);
	assert_true(out);
	/* A line that lies only partly in the new memory is not decided again. */
	sample_fresh(s, out + 8, SAMPLE_LINE - 8);
	assert_false(takes(s, 2, out));
	sample_fresh(s, out, SAMPLE_LINE);
	assert_true(takes(s, 2, out));
	sample_fresh(s, 0, UINT64_MAX);
	sample_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines), cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_many),  cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
