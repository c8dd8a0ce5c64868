#include "learn_util.h"

#include "learn/fold/pset.h"
#include "reference/pset.h"

static char *run(const struct learn_step *steps, size_t count)
{
	struct pset *p = pset_new(8);
	struct buf b = { 0 };

	for (size_t i = 0; i < count; i++)
		pset_step(p, &steps[i]);
	for (size_t i = 0; i < pset_pairs(p)->count; i++)
		buf_addf(&b, "%u after %u\n", pset_pairs(p)->items[i].second,
			 pset_pairs(p)->items[i].first);
	pset_free(p);
	return sorted(&b);
}

static void expect(const char *text, const char *wanted)
{
	struct learn_step steps[64];
	char *got = run(steps, parse_steps(text, steps));

	assert_string_equal(got, wanted);
	free(got);
}

/*
 * The figure of the thesis: W1; R1, R2 of another thread, R3 of a third; W2. The set of R2 is
 * empty, since R1 lies between W1 and R2. The set of W2 has two reads.
 */
static void test_figure(void **state)
{
	(void)state;
	expect("1W0 2R0 2R0 3R0 1W0", "2 after 1\n4 after 1\n5 after 3\n5 after 4\n");
}

static void test_conditions(void **state)
{
	(void)state;
	expect("1R0 2R0", "");			/* one of the two must write */
	expect("1W0 1R0", "");			/* (a) */
	expect("1W0 2W1", "");
	expect("1W0 2W0 3R0", "2 after 1\n3 after 2\n");	/* (b): 1 was overwritten */
	expect("1W0 2R0 3W0", "2 after 1\n3 after 2\n");	/* (b): 1 was read */
	expect("1W0 1R0 2R0", "");		/* (c): the first thread accessed it again */
	expect("1W0 1R0 2W0", "3 after 2\n");
	expect("1R0 2R0 1W0", "3 after 2\n");
	expect("2R0 1R0 1W0", "");		/* (c): the second thread had accessed it before */
	expect("1W0 3R0 2R0", "2 after 1\n3 after 1\n");	/* a third thread does not matter */
}

static void test_random_traces(void **state)
{
	uint64_t seed = 777;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct learn_step steps[60];
		struct buf b = { 0 };
		char *wanted, *got;

		random_steps(steps, 60, 2 + i % 3, 1 + i % 4, &seed);
		got = run(steps, 60);
		for (size_t m = 0; m < 60; m++)
			for (size_t p = 0; p < m; p++)
				if (follows(steps, p, m))
					buf_addf(&b, "%zu after %zu\n", m + 1, p + 1);
		wanted = sorted(&b);
		assert_string_equal(got, wanted);
		free(got);
		free(wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure), cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
