#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/turn_log.h"
#include "base/mem.h"
#include "explore/search/strategy_shares.h"

/* Makes a control block with these turns: a letter is a thread, each occurrence one step. */
static struct ctl_block *block(const char *steps)
{
	struct ctl_block *b = xcalloc(1, sizeof(*b) + 256 * sizeof(uint32_t));
	uint32_t *words = (uint32_t *)(b + 1);

	b->turns = sizeof(*b);
	b->turns_size = 256 * sizeof(*words);
	while (*steps) {
		size_t count = strspn(steps, (char[]){ *steps, 0 });
		struct turn turn = { (uint32_t)(*steps - 'a'), SCHED_TURN_RUN, count, 0 };

		b->report.turns += turn_put(words + b->report.turns, &turn);
		steps += count;
	}
	return b;
}

static uint64_t note(struct feedback *f, uint64_t run, const char *steps)
{
	struct ctl_block *b = block(steps);
	uint64_t fresh = feedback_note(f, run, b);

	free(b);
	return fresh;
}

static void test_what_is_new(void **state)
{
	struct feedback f = { 0 };

	(void)state;
	feedback_begin(&f, 4);
	assert_int_equal(note(&f, 0, "aabb"), 1);	/* switch from a after two steps */
	assert_int_equal(note(&f, 1, "aabb"), 1);	/* equal switch, same slice: new */
	assert_int_equal(note(&f, 2, "abab"), 3);
	assert_int_equal(note(&f, 3, "aaaa"), 0);
	assert_int_equal(feedback_end(&f), 3);
	assert_int_equal(f.runs_since_new, 0);
	feedback_begin(&f, 3);
	assert_int_equal(note(&f, 0, "aabbbb"), 0);
	assert_int_equal(note(&f, 1, "ababa"), 1);	/* switch from b after two steps */
	assert_int_equal(note(&f, 2, "aac"), 1);	/* from a after two steps, but to c */
	assert_int_equal(feedback_end(&f), 2);
	feedback_free(&f);
}

/* Counts runs since the last new interleaving, in the order of run numbers. */
static void test_runs_since_new(void **state)
{
	struct feedback f = { 0 };

	(void)state;
	feedback_begin(&f, 4);
	note(&f, 3, "ab");
	note(&f, 2, "ab");
	note(&f, 0, "ab");
	note(&f, 1, "ba");
	feedback_end(&f);
	assert_int_equal(f.runs_since_new, 2);
	feedback_begin(&f, 4);
	note(&f, 1, "ba");
	note(&f, 0, "ab");
	feedback_end(&f);	/* the slice ends before its other runs are made */
	assert_int_equal(f.runs_since_new, 4);
	feedback_begin(&f, 3);
	note(&f, 0, "aab");
	note(&f, 1, "aab");
	note(&f, 2, "ab");
	feedback_end(&f);
	assert_int_equal(f.runs_since_new, 2);
	assert_int_equal(f.longest, 4);
	feedback_free(&f);
}

static void count(const struct feedback *f, unsigned *runs)
{
	memset(runs, 0, FEEDBACK_WAYS * sizeof(*runs));
	for (uint64_t i = 0; i < f->slice; i++)
		runs[f->way[i]]++;
}

/* At first all strategies get equal shares, then those that find new switches get more. */
static void test_shares(void **state)
{
	unsigned runs[FEEDBACK_WAYS];
	struct feedback f = { 0 };
	char steps[40];

	(void)state;
	feedback_begin(&f, 100);
	count(&f, runs);
	for (unsigned i = 0; i < FEEDBACK_WAYS; i++)
		assert_int_equal(runs[i], 100 / FEEDBACK_WAYS);
	for (unsigned i = 0; i < FEEDBACK_WAYS; i++)
		assert_int_equal(f.way[i], i);	/* ties go to the lowest index */
	for (uint64_t run = 0; run < f.slice; run++) {
		memset(steps, 'b', sizeof(steps));
		memset(steps, 'a', f.way[run] == 2 ? 1 + run / FEEDBACK_WAYS : 1);
		steps[sizeof(steps) - 1] = 0;
		note(&f, run, f.way[run] == 2 ? steps : "bbb");
	}
	assert_int_equal(feedback_end(&f), 20);
	feedback_begin(&f, 200);
	count(&f, runs);
	assert_int_equal(runs[2], 120);
	assert_true(runs[0] == 20 && runs[1] == 20 && runs[3] == 20 && runs[4] == 20);
	/* No strategy found a new switch: equal shares again. */
	feedback_end(&f);
	feedback_begin(&f, 1000);
	assert_int_equal(f.slice, FEEDBACK_SLICE_MOST);
	count(&f, runs);
	for (unsigned i = 0; i < FEEDBACK_WAYS; i++)
		assert_in_range(runs[i], FEEDBACK_SLICE_MOST / FEEDBACK_WAYS,
				FEEDBACK_SLICE_MOST / FEEDBACK_WAYS + 1);
	feedback_free(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_new), cmocka_unit_test(test_runs_since_new),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
