#include "learn_util.h"

#include "learn/fold/avio.h"
#include "reference/avio.h"

static char *run(const struct learn_step *steps, size_t count)
{
	struct avio *a = avio_new(8);
	struct buf b = { 0 };

	for (size_t i = 0; i < count; i++)
		avio_step(a, &steps[i]);
	for (size_t i = 0; i < avio_count(a); i++) {
		const struct avio_triple *t = avio_at(a, i);

		buf_addf(&b, "%s %u %u %u x%llu\n", avio_pattern_name(t->pattern), t->p, t->r, t->i,
			 (unsigned long long)t->count);
	}
	avio_free(a);
	return sorted(&b);
}

static void expect(const char *text, const char *wanted)
{
	struct learn_step steps[64];
	char *got = run(steps, parse_steps(text, steps));

	assert_string_equal(got, wanted);
	free(got);
}

static void test_patterns(void **state)
{
	(void)state;
	expect("1R0 2W0 1R0", "RWR 1 2 3 x1\n");
	expect("1W0 2W0 1R0", "WWR 1 2 3 x1\n");
	expect("1R0 2W0 1W0", "RWW 1 2 3 x1\n");
	expect("1W0 2R0 1W0", "WRW 1 2 3 x1\n");
	expect("1R0 2R0 1R0", "");
	expect("1W0 2R0 1R0", "");
	expect("1R0 2R0 1W0", "");
	expect("1W0 2W0 1W0", "");
	expect("1R0 2W1 1R0", "");	/* other memory */
	expect("1R0 1R0 2W0", "");
}

static void test_several_between(void **state)
{
	(void)state;
	/* A pair of writes is broken if the accesses between them begin with a read. */
	expect("1W0 2R0 3W0 1W0", "WRW 1 2 4 x1\n");
	expect("1W0 2W0 3R0 1W0", "");
	/* Of several writes in between, the read sees the last one. */
	expect("1R0 2W0 3W0 1R0", "RWR 1 3 4 x1\n");
	expect("1R0 2W0 3R0 1W0", "RWW 1 2 4 x1\n");
}

static void test_sizes(void **state)
{
	struct learn_step s[] = {
		{ 1, IROOT_OP_READ, 0x1000, 16, 1, 1, 0 },
		{ 2, IROOT_OP_WRITE, 0x100c, 4, 2, 2, 0 },
		{ 1, IROOT_OP_READ, 0x1000, 4, 3, 3, 0 },
		{ 1, IROOT_OP_READ, 0x1008, 1, 4, 4, 0 },
	};
	char *got = run(s, 4);

	(void)state;
	/* The remote write is in another cell than 0x1000. */
	assert_string_equal(got, "RWR 1 2 4 x1\n");
	free(got);
	/* Accesses to memory that was allocated anew are forgotten. */
	s[2] = (struct learn_step){ 1, IROOT_OP_FRESH, 0x1008, 8, 0, 3, 0 };
	got = run(s, 4);
	assert_string_equal(got, "");
	free(got);
}

static void test_counts(void **state)
{
	struct learn_step s[6];

	(void)state;
	parse_steps("1R0 2W0 1R0 2W0 1R0 2R0", s);
	s[2].site = s[4].site = 1;
	s[3].site = 2;
	char *got = run(s, 6);

	/* the second pair breaks the writes of thread 2 */
	assert_string_equal(got, "RWR 1 2 1 x2\nWRW 2 1 2 x1\n");
	free(got);
}

/*
 * The thread read its own first value before it wrote again; the other thread saw that value all
 * the same.
 */
static void test_leak(void **state)
{
	(void)state;
	expect("1W0 2R0 1R0 1W0", "WRW 1 2 4 x1\n");
	expect("1W0 1R0 2R0 1W0", "WRW 1 3 4 x1\n");
	expect("1W0 1R0 1R0 2R0 1R0 1W0", "WRW 1 4 6 x1\n");
	/* Another thread overwrote the value: the WRW starts after that. */
	expect("1W0 2R0 2W0 1R0 1W0", "WWR 1 3 4 x1\n");
	expect("1W0 1R0 2R0 2W0 1W0", "RWW 2 4 5 x1\n");
	expect("1W0 2R0 1R0 2W0 1R0 1W0", "RWR 3 4 5 x1\n");
	expect("1R0 2R0 1W0", "");
}

static void test_random_traces(void **state)
{
	uint64_t seed = 12345;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct learn_step steps[60];
		char *wanted, *got;

		random_steps(steps, 60, 2 + i % 3, 1 + i % 4, &seed);
		got = run(steps, 60);
		wanted = slow(steps, 60);
		assert_string_equal(got, wanted);
		free(got);
		free(wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_several_between),
		cmocka_unit_test(test_leak), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
