/*
 * Locksets: sets and histories, recursion, comparisons, and random traces against plain lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/context/locksets.h"
#include "analyze_util.h"

enum { A = 1000, B = 2000, C = 3000 };

static uint32_t acquire(struct locks *l, uint32_t set, uint64_t lock)
{
	return locks_acquire(l, set, lock, false, lock + 1);
}

static void test_sets(void **state)
{
	struct locks *l = locks_new();
	uint32_t a = acquire(l, LOCKS_NONE, A), ab = acquire(l, a, B), b;
	struct locks_held held;

	(void)state;
	assert_int_equal(acquire(l, LOCKS_NONE, A), a);
	assert_int_equal(locks_count(l, LOCKS_NONE), 0);
	assert_int_equal(locks_count(l, ab), 2);
	locks_at(l, ab, 1, &held);
	assert_int_equal(held.lock, B);
	assert_int_equal(held.acquired_pc, B + 1);
	assert_int_equal(held.history_count, 0);
	locks_at(l, ab, 0, &held);
	assert_int_equal(held.history_count, 1);
	assert_int_equal(held.history[0], B);

	/* Released in another order; locks acquired meanwhile stay in the history. */
	b = locks_release(l, ab, A);
	assert_int_equal(b, acquire(l, LOCKS_NONE, B));
	assert_false(locks_has(l, b, A));
	assert_true(locks_has(l, b, B));
	assert_int_not_equal(locks_release(l, ab, B), a);
	locks_at(l, locks_release(l, ab, B), 0, &held);
	assert_int_equal(held.lock, A);
	assert_int_equal(held.history_count, 1);
	assert_int_equal(locks_release(l, locks_release(l, ab, B), A), LOCKS_NONE);

	/*
	 * Another site or mode makes another set. Releasing a lock that is not held does nothing.
	 */
	assert_int_not_equal(locks_acquire(l, LOCKS_NONE, A, false, 5), a);
	assert_int_not_equal(locks_acquire(l, LOCKS_NONE, A, true, A + 1), a);
	assert_int_equal(locks_release(l, a, C), a);
	assert_int_equal(locks_index(l, ab, C), LOCKS_ABSENT);
	assert_int_equal(locks_index(l, ab, B), 1);
	locks_free(l);
}

static void test_recursion(void **state)
{
	struct locks *l = locks_new();
	uint32_t once = acquire(l, LOCKS_NONE, A), twice = acquire(l, once, A);

	(void)state;
	assert_int_not_equal(once, twice);
	assert_int_equal(locks_count(l, twice), 1);
	assert_int_equal(locks_release(l, twice, A), once);
	assert_int_equal(locks_release(l, once, A), LOCKS_NONE);
	locks_free(l);
}

static void test_exclude(void **state)
{
	struct locks *l = locks_new();
	uint32_t a = acquire(l, LOCKS_NONE, A), ba = acquire(l, acquire(l, LOCKS_NONE, B), A);
	uint32_t read = locks_acquire(l, LOCKS_NONE, A, true, 7);

	(void)state;
	assert_false(locks_exclude(l, LOCKS_NONE, a));
	assert_true(locks_exclude(l, a, ba));
	assert_true(locks_exclude(l, ba, a));
	assert_false(locks_exclude(l, a, acquire(l, LOCKS_NONE, B)));
	assert_false(locks_exclude(l, read, read));
	assert_true(locks_exclude(l, read, a));
	locks_free(l);
}

/* Each holds what the other has taken since: one of the two must have been first. */
static void test_compatible(void **state)
{
	struct locks *l = locks_new();
	uint32_t a = acquire(l, LOCKS_NONE, A), b = acquire(l, LOCKS_NONE, B);
	uint32_t a_then_b = locks_release(l, acquire(l, a, B), B);
	uint32_t b_then_a = locks_release(l, acquire(l, b, A), A);
	uint32_t read = locks_acquire(l, LOCKS_NONE, B, true, 9);

	(void)state;
	assert_false(locks_compatible(l, a_then_b, b_then_a));
	assert_false(locks_compatible(l, b_then_a, a_then_b));
	assert_true(locks_compatible(l, a_then_b, b));
	assert_true(locks_compatible(l, a, b_then_a));
	assert_true(locks_compatible(l, a_then_b, LOCKS_NONE));
	/* Whether a read lock would have blocked the other is not known. */
	assert_true(locks_compatible(l, a_then_b, locks_release(l, acquire(l, read, A), A)));
	locks_free(l);
}

/* Sets that differ only in their histories have the same core. */
static void test_core(void **state)
{
	struct locks *l = locks_new();
	uint32_t m = locks_acquire(l, LOCKS_NONE, 0x10, false, 1);
	uint32_t both = locks_acquire(l, m, 0x20, false, 2), later = locks_release(l, both, 0x20);
	struct locks_held held;

	(void)state;
	assert_int_equal(locks_core(l, LOCKS_NONE), LOCKS_NONE);
	assert_int_not_equal(later, m);
	assert_int_equal(locks_core(l, later), m);
	assert_int_equal(locks_core(l, m), m);
	assert_int_not_equal(locks_core(l, both), both);
	assert_int_equal(locks_count(l, locks_core(l, both)), 2);
	locks_at(l, locks_core(l, both), 1, &held);
	assert_int_equal(held.lock, 0x20);
	assert_int_equal(held.acquired_pc, 2);
	assert_int_not_equal(locks_core(l, locks_acquire(l, LOCKS_NONE, 0x10, false, 9)), m);
	assert_true(locks_never_nested(l, 0x10));
	assert_false(locks_never_nested(l, 0x20));
	locks_acquire(l, locks_acquire(l, LOCKS_NONE, 0x20, false, 1), 0x10, false, 1);
	assert_false(locks_never_nested(l, 0x10));
	locks_free(l);
}

/* Histories are cut at 64 locks; sets keep their numbers while others are added. */
static void test_many(void **state)
{
	struct locks *l = locks_new();
	uint32_t outer = acquire(l, LOCKS_NONE, A), set = outer, sets[600];
	struct locks_held held;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		set = locks_release(l, acquire(l, set, 10000 - i), 10000 - i);
	locks_at(l, set, 0, &held);
	assert_int_equal(held.history_count, 64);
	for (size_t i = 1; i < held.history_count; i++)
		assert_true(held.history[i - 1] < held.history[i]);
	for (uint64_t i = 0; i < 600; i++)
		sets[i] = acquire(l, LOCKS_NONE, 20000 + i);
	for (uint64_t i = 0; i < 600; i++) {
		assert_int_equal(acquire(l, LOCKS_NONE, 20000 + i), sets[i]);
		assert_true(locks_has(l, sets[i], 20000 + i));
		assert_int_equal(locks_release(l, sets[i], 20000 + i), LOCKS_NONE);
	}
	/* A thread can hold 256 locks; further acquisitions are ignored. */
	set = LOCKS_NONE;
	for (uint64_t i = 0; i < 300; i++)
		set = acquire(l, set, 30000 + i);
	assert_int_equal(locks_count(l, set), 256);
	for (uint64_t i = 0; i < 300; i++)
		set = locks_release(l, set, 30000 + i);
	assert_int_equal(set, LOCKS_NONE);
	locks_free(l);
}

/* Reference: a set as a list, outermost first. */
struct list {
	uint64_t lock[6];
	bool shared[6];
	unsigned depth[6];
	size_t count;
};

static size_t list_find(const struct list *s, uint64_t lock)
{
	size_t i = 0;

	while (i < s->count && s->lock[i] != lock)
		i++;
	return i < s->count ? i : LOCKS_ABSENT;
}

static void list_step(struct list *s, uint64_t lock, bool shared, bool release)
{
	size_t at = list_find(s, lock);

	if (at == LOCKS_ABSENT && !release) {
		s->lock[s->count] = lock;
		s->shared[s->count] = shared;
		s->depth[s->count++] = 0;
	} else if (at != LOCKS_ABSENT && (!release || s->depth[at])) {
		s->depth[at] += release ? -1u : 1u;
	} else if (at != LOCKS_ABSENT) {
		for (s->count--; at < s->count; at++) {
			s->lock[at] = s->lock[at + 1];
			s->shared[at] = s->shared[at + 1];
			s->depth[at] = s->depth[at + 1];
		}
	}
}

static bool lists_exclude(const struct list *a, const struct list *b)
{
	for (size_t i = 0; i < a->count; i++) {
		size_t at = list_find(b, a->lock[i]);

		if (at != LOCKS_ABSENT && !(a->shared[i] && b->shared[at]))
			return true;
	}
	return false;
}

static void check_list(const struct locks *l, uint32_t set, const struct list *s)
{
	struct locks_held held;

	assert_int_equal(locks_count(l, set), s->count);
	for (size_t i = 0; i < s->count; i++) {
		locks_at(l, set, i, &held);
		assert_int_equal(held.lock, s->lock[i]);
		assert_int_equal(held.shared, s->shared[i]);
		assert_int_equal(held.depth, s->depth[i]);
	}
	for (uint64_t lock = 1; lock <= 6; lock++) {
		assert_int_equal(locks_place(l, set, lock), list_find(s, lock));
		assert_int_equal(locks_index(l, set, lock), list_find(s, lock));
	}
}

/* Random acquisitions and releases, also with memoized results, give what lists give. */
static void test_lists(void **state)
{
	struct locks *l = locks_new();
	struct list now[2] = { 0 };
	uint32_t set[2] = { LOCKS_NONE, LOCKS_NONE };
	uint64_t random = 7;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		unsigned who = test_random(&random) % 2;
		uint64_t lock = 1 + test_random(&random) % 6;
		bool shared = test_random(&random) % 3 == 0, release = test_random(&random) % 9 > 3;

		set[who] = release ? locks_release(l, set[who], lock) :
				     locks_acquire(l, set[who], lock, shared, lock);
		list_step(&now[who], lock, shared, release);
		check_list(l, set[who], &now[who]);
		assert_int_equal(locks_exclude(l, set[0], set[1]), lists_exclude(&now[0], &now[1]));
	}
	locks_free(l);
}

/* The example in locksets.h. */
static void test_example(void **state)
{
	enum { M = 100, N = 200 };
	struct locks *l = locks_new();
	uint32_t s1 = locks_acquire(l, LOCKS_NONE, M, false, 1),
		 s2 = locks_acquire(l, s1, N, false, 2);
	uint32_t s3 = locks_release(l, s2, N), s4, s5, s6;

	(void)state;
	assert_int_equal(locks_release(l, s3, M), 0);
	s4 = locks_acquire(l, LOCKS_NONE, N, false, 3);
	s5 = locks_acquire(l, s4, M, false, 4);
	s6 = locks_release(l, s5, M);
	for (uint32_t i = 1; i <= 6; i++)
		assert_int_equal(((uint32_t[]){ 0, s1, s2, s3, s4, s5, s6 })[i], i);
	assert_int_equal(locks_acquire(l, LOCKS_NONE, M, false, 1), 1);
	assert_true(locks_exclude(l, 2, 4));
	assert_false(locks_exclude(l, 3, 6));
	assert_false(locks_compatible(l, 3, 6));
	assert_int_equal(locks_needed(l, 1, 5), 0);
	assert_int_equal(locks_core(l, 3), 1);
	locks_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets), cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_exclude), cmocka_unit_test(test_compatible),
		cmocka_unit_test(test_core), cmocka_unit_test(test_example),
		cmocka_unit_test(test_many), cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
