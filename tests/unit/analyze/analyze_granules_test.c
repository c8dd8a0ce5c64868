/*
 * Granules: a number for each 8 bytes of memory.
 */
#include "analyze_util.h"

#include "analyze/context/granules.h"

static void note_number(void *ctx, uint32_t *number)
{
	buf_addf(ctx, "%u ", *number);
}

static void assert_range(struct granules *g, uint64_t addr, uint64_t size, const char *expected)
{
	struct buf b = { 0 };

	granules_each(g, addr, size, note_number, &b);
	assert_string_equal(buf_string(&b), expected);
	buf_free(&b);
}

static void test_granules(void **state)
{
	struct granules g;

	(void)state;
	granules_init(&g);
	for (uint32_t n = 1; n <= 5000; n++)
		*granules_at(&g, 0x100000 / 8 + (uint64_t)n * 40) = n;
	for (uint32_t n = 1; n <= 5000; n++)
		assert_int_equal(*granules_at(&g, 0x100000 / 8 + (uint64_t)n * 40), n);
	assert_int_equal(*granules_at(&g, 1), 0);
	assert_range(&g, 0x100000 + 320, 8, "1 ");
	assert_range(&g, 0x100000 + 327, 1, "1 ");
	assert_range(&g, 0x100000 + 328, 312, "");
	assert_range(&g, 0x100000 + 328, 313, "2 ");
	assert_range(&g, 0x100000, 320 * 5 + 1, "1 2 3 4 5 ");
	assert_range(&g, 0x100000, 0, "");
	/* A range up to the end of memory. */
	*granules_at(&g, UINT64_MAX / 8) = 7777;
	assert_range(&g, UINT64_MAX - 100, UINT64_MAX, "7777 ");
	granules_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_granules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
