/*
 * Which threads can play the parts of an interleaving root, by the visits of a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explore/cover/expose_active.h"

/* A visit of thread t after `at` of its steps, accessing x; it took a lock `held` steps before. */
static struct active_visit seen(uint64_t t, uint64_t at, uint64_t held, uint64_t x)
{
	return (struct active_visit){
		{ t, at, at - held, 0 }, x, 4, 100 * t + at, 100 * t + at - held
	};
}

static void test_one_dependency(void **state)
{
	const struct iroot root = { .idiom = 1 };
	const struct active_visit a[] = { seen(1, 5, 0, 8), seen(2, 6, 0, 8), seen(1, 9, 3, 64) };
	const struct active_visit b[] = { seen(2, 7, 2, 10), seen(1, 8, 0, 8) };
	const struct active_visit *const both[IROOT_EVENTS] = { a, b };
	const uint32_t count[IROOT_EVENTS] = { 3, 2 };
	struct expose_assignment parts[8];

	(void)state;
	/* Two threads, overlapping memory: thread 1 then 2, or 2 then 1. */
	assert_int_equal(expose_assign(&root, both, count, 1, parts, 8), 2);
	for (unsigned i = 0; i < 2; i++) {
		bool first = parts[i].part[0].thread == 1;

		assert_int_equal(parts[i].part[0].at, first ? 5 : 6);
		assert_int_equal(parts[i].part[1].thread, first ? 2 : 1);
		assert_int_equal(parts[i].part[1].at, first ? 7 : 8);
		assert_int_equal(parts[i].part[1].unlocked, first ? 5 : 8);
		/* The prefix ends where the first of both holds no lock for the last time. */
		assert_int_equal(parts[i].prefix, first ? 105 : 108);
		assert_int_equal(parts[i].score, 0);
	}
	assert_int_not_equal(parts[0].part[0].thread, parts[1].part[0].thread);
	assert_int_equal(expose_assign(&root, both, count, 1, parts, 1), 1);
}

/* Assignments come first if the run also had the other events of the root after them. */
static void test_the_rest(void **state)
{
	const struct iroot root = { .idiom = 4 };	/* A and D of one, B and C of the other */
	const struct active_visit a[] = { seen(1, 5, 0, 8), seen(1, 15, 0, 8), seen(1, 25, 0, 8) };
	const struct active_visit b[] = { seen(2, 3, 0, 8), seen(2, 13, 0, 8) };
	/* Not its variable. */
	const struct active_visit c[] = { seen(2, 4, 0, 16), seen(2, 14, 0, 8) };
	const struct active_visit d[] = { seen(1, 16, 0, 16), seen(2, 30, 0, 16) };
	const struct active_visit *const all[IROOT_EVENTS] = { a, b, c, d };
	const uint32_t count[IROOT_EVENTS] = { 3, 2, 2, 2 };
	struct expose_assignment parts[8];

	(void)state;
	assert_int_equal(expose_assign(&root, all, count, 7, parts, 8), 6);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(parts[i].score, 2);	/* A at 5 or 15, B at 3 */
		assert_int_equal(parts[i].part[1].at, 3);
		assert_in_range(parts[i].part[0].at, 5, 15);
	}
	assert_int_equal(parts[5].score, 0);
	assert_int_equal(parts[5].part[0].at, 25);
	assert_int_equal(parts[5].part[1].at, 13);
}

/* The first events of both parts access different memory. */
static void test_crossing(void **state)
{
	const struct iroot root = { .idiom = 5 };
	const struct active_visit a[] = { seen(1, 5, 0, 8) },
				  c[] = { seen(2, 3, 0, 8), seen(2, 4, 0, 16) };
	const struct active_visit *const all[IROOT_EVENTS] = { a, a, c, c };
	const uint32_t count[IROOT_EVENTS] = { 1, 0, 2, 0 };
	struct expose_assignment parts[8];

	(void)state;
	assert_int_equal(expose_assign(&root, all, count, 7, parts, 8), 1);
	assert_int_equal(parts[0].part[1].at, 4);
}

/* Of equally likely assignments, each pair of call stacks comes before any comes again. */
static void test_calls(void **state)
{
	const struct iroot root = { .idiom = 1 };
	struct active_visit a[8], b[2] = { seen(2, 7, 0, 8), seen(2, 9, 0, 8) };
	const struct active_visit *const both[IROOT_EVENTS] = { a, b };
	const uint32_t count[IROOT_EVENTS] = { 8, 2 };
	struct expose_assignment parts[16];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		a[i] = seen(1, 5 + i, 0, 8);
		a[i].reached.context = i == 6 ? 77 : 55;
	}
	b[1].reached.context = 99;
	for (uint64_t salt = 0; salt < 20; salt++) {
		unsigned rare = 0, other = 0;

		assert_int_equal(expose_assign(&root, both, count, salt, parts, 16), 16);
		for (unsigned i = 0; i < 4; i++) {
			rare += parts[i].part[0].context == 77;
			other += parts[i].part[1].context == 99;
		}
		assert_int_equal(rare, 2);
		assert_int_equal(other, 2);
		/* All 16 are there, once each. */
		for (unsigned i = 0; i < 16; i++)
			for (unsigned k = 0; k < i; k++)
				assert_false(parts[i].part[0].at == parts[k].part[0].at &&
					     parts[i].part[1].at == parts[k].part[1].at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_dependency),
		cmocka_unit_test(test_the_rest),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_crossing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
