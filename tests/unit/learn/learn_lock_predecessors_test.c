/* Predecessor sets of acquisitions: seen, expected, first, after. */
#include "learn_util.h"

#include "learn/fold/lock_predecessors.h"

static void add(struct buf *b, const char *what, const struct learn_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		buf_addf(b, "%s %u %u\n", what, pairs->items[i].first, pairs->items[i].second);
}

/* Steps by hand; only locks order the threads. */
static void expect(const char *text, const char *wanted)
{
	struct learn_step steps[64];
	size_t count = parse_steps(text, steps);
	struct learn_pairs seen = { 0 }, expected = { 0 }, first = { 0 }, after = { 0 };
	struct vclock nothing = { 0 };
	struct lock_pred *t = lock_pred_new();
	struct buf b = { 0 };
	char *got;

	for (size_t i = 0; i < count; i++) {
		struct view view = { .thread = steps[i].thread,
				     .strong = &nothing,
				     .strong_epoch = 1 };

		/* The site of an acquisition is the number of its step. */
		if (steps[i].op == IROOT_OP_ACQUIRE)
			steps[i].site = (uint32_t)i + 1;
		lock_pred_step(t, &steps[i], &view);
	}
	lock_pred_add_to(t, &(struct lock_pred_lists){ &seen, &expected, &first, &after });
	add(&b, "seen", &seen);
	add(&b, "first", &first);
	add(&b, "after", &after);
	add(&b, "expected", &expected);
	got = sorted(&b);
	assert_string_equal(got, wanted);
	free(got);
	lock_pred_free(t);
	learn_pairs_free(&seen);
	learn_pairs_free(&expected);
	learn_pairs_free(&first);
	learn_pairs_free(&after);
}

static void test_acquisitions(void **state)
{
	(void)state;
	expect("1A0", "first 1 1\n");
	expect("1A0 1U0 1A0 1U0", "first 1 1\nfirst 3 3\n");
	expect("1A0 1U0 2A0 2U0", "after 3 3\nexpected 1 3\nexpected 3 1\nfirst 1 1\nseen 1 3\n");
	expect("1A0 1U0 2A1 2U1", "first 1 1\nfirst 3 3\n");	/* another lock */
	/* 5 directly follows 3, not 1; but it may follow 1. */
	expect("1A0 1U0 2A0 2U0 1A0 1U0",
	       "after 3 3\nafter 5 5\nexpected 1 3\nexpected 3 1\nexpected 3 5\nexpected 5 3\n"
	       "first 1 1\n"
	       "seen 1 3\nseen 3 5\n");
}

/* Acquisitions that are ordered by more than locks are not expected. */
static void test_ordered(void **state)
{
	struct learn_step s = { .thread = 1, .op = IROOT_OP_ACQUIRE, .addr = 0x1000, .site = 1 };
	struct learn_pairs seen = { 0 }, expected = { 0 }, first = { 0 }, after = { 0 };
	struct vclock saw = { 0 };
	struct view view = { .thread = 1, .strong = &saw, .strong_epoch = 1 };
	struct lock_pred *t = lock_pred_new();

	(void)state;
	lock_pred_step(t, &s, &view);
	vclock_raise(&saw, 1, 1);
	s.thread = view.thread = 2;
	s.site = 2;
	lock_pred_step(t, &s, &view);
	/* At an unknown site: nothing follows it. */
	s.site = 0;
	lock_pred_step(t, &s, &view);
	s.thread = view.thread = 1;
	s.site = 3;
	lock_pred_step(t, &s, &view);
	lock_pred_add_to(t, &(struct lock_pred_lists){ &seen, &expected, &first, &after });
	assert_int_equal(seen.count, 1);	/* (1, 2) */
	assert_true(learn_pairs_have(&seen, 1, 2));
	assert_true(learn_pairs_have(&first, 2, 2));
	assert_false(learn_pairs_have(&expected, 1, 2));
	assert_true(learn_pairs_have(&after, 3, 3));	/* only the lock orders 2 before it */
	vclock_free(&saw);
	lock_pred_free(t);
	learn_pairs_free(&seen);
	learn_pairs_free(&expected);
	learn_pairs_free(&first);
	learn_pairs_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_acquisitions),
					    cmocka_unit_test(test_ordered) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
