/*
 * Access contexts: clocks, lock acquisitions, and that numbers which no analysis keeps are used
 * again.
 */
#include "analyze_actor.h"

/* An analysis that keeps two contexts. */
struct keeper {
	struct contexts *contexts;
	struct access_context kept, other;
	unsigned marked;
};

static void mark_kept(void *ctx)
{
	struct keeper *k = ctx;

	contexts_mark(k->contexts, &k->kept);
	contexts_mark(k->contexts, &k->other);
	k->marked++;
}

static void test_contexts(void **state)
{
	struct locks *locks = locks_new();
	struct keeper k = { .contexts = contexts_new(locks) };
	struct contexts *cs = k.contexts;
	struct actor a, b;
	struct access_context now;
	uint32_t highest = 0;

	(void)state;
	actor_init(&a, 1);
	actor_init(&b, 2);
	contexts_set_marker(cs, mark_kept, &k);
	k.kept = act(cs, &a, 0x10);
	k.other = act(cs, &b, 0x10);
	assert_int_equal(contexts_thread(cs, &k.kept), 1);
	assert_int_equal(contexts_thread(cs, &k.other), 2);
	assert_false(contexts_ordered(cs, k.kept.epoch, k.other.epoch));
	/* Strong happens-before from a to b. */
	tick(cs, &a);
	b.clock[1] = 1;
	tick(cs, &b);
	now = act(cs, &b, 0x10);
	assert_int_not_equal(now.epoch, k.other.epoch);
	assert_true(contexts_ordered(cs, k.kept.epoch, now.epoch));
	assert_false(contexts_ordered(cs, k.other.epoch, now.epoch) &&
		     contexts_ordered(cs, now.epoch, k.other.epoch));
	/* Synchronisation states and epochs that are not marked are used again. */
	for (int i = 0; i < 1000000; i++) {
		tick(cs, &a);
		now = act(cs, &a, 0x10);
		highest = now.sync_state > highest ? now.sync_state : highest;
		assert_int_not_equal(now.sync_state, k.kept.sync_state);
		assert_int_not_equal(now.epoch, k.other.epoch);
	}
	assert_true(highest < 100000);
	assert_true(k.marked > 5);
	assert_int_equal(contexts_thread(cs, &k.kept), 1);
	assert_int_equal(contexts_thread(cs, &k.other), 2);
	assert_true(contexts_ordered(cs, k.kept.epoch, now.epoch));
	assert_false(contexts_ordered(cs, k.other.epoch, now.epoch));
	contexts_free(cs);
	locks_free(locks);
}

/*
 * Returns the event at which `a` of thread 1 has to be held back for `other`, 0: none. Lock n of
 * `a` was acquired by event n + 1.
 */
static uint64_t held_at(const struct contexts *cs, const struct access_context *a,
			const struct access_context *other)
{
	struct candidate_event entry = { 0 };

	return contexts_find_section(cs, a, CONTEXTS_ANY_SECTION, other, &entry) ? entry.index : 0;
}

/* The acquisitions of a kept context stay, whatever other contexts come and go. */
static void test_acquired(void **state)
{
	struct view_acquired taken[LOCKS_OUTER + 1], again[] = { { .index = 90 }, { .index = 91 } };
	struct locks *locks = locks_new();
	struct keeper k = { .contexts = contexts_new(locks) };
	struct actor a, b;
	struct access_context now;
	uint32_t sets[LOCKS_OUTER + 1] = { 0 };

	(void)state;
	actor_init(&a, 1);
	actor_init(&b, 2);
	contexts_set_marker(k.contexts, mark_kept, &k);
	for (uint32_t i = 0; i <= LOCKS_OUTER; i++) {
		taken[i] = (struct view_acquired){ .index = i + 1 };
		sets[i] = locks_acquire(locks, i ? sets[i - 1] : 0, 0xa0 + i, false, i);
	}
	a.view.acquired = b.view.acquired = taken;
	a.view.lockset = sets[LOCKS_OUTER];
	k.kept = act(k.contexts, &a, 0x10);
	for (uint32_t i = 0; i < 200000; i++) {
		b.view.lockset =
			i % 2 ? sets[1] : locks_acquire(locks, 0, 0xa0 + i / 2 % 6, false, 0);
		b.view.acquired = again;
		tick(k.contexts, &b);
		now = act(k.contexts, &b, 0x10);
		if (i % 1000 == 0)
			k.other = now;
		/* Of five locks, four have their acquisition kept (LOCKS_OUTER). */
		if (i % 2 == 0)
			assert_int_equal(held_at(k.contexts, &k.kept, &now),
					 i / 2 % 6 < LOCKS_OUTER ? i / 2 % 6 + 1 : 0);
		assert_int_equal(held_at(k.contexts, &now, &k.kept),
				 i % 2 == 0 && i / 2 % 6 == 5 ? 0 : 90);
	}
	assert_true(k.marked > 1);
	assert_true(k.contexts->inner_count < 100000);
	assert_int_equal(held_at(k.contexts, &k.kept, &k.kept), 1);
	contexts_free(k.contexts);
	locks_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_acquired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
