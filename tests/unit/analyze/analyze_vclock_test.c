#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/context/call_stacks.h"
#include "analyze/context/vclock.h"

static void test_clock(void **state)
{
	struct vclock a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	assert_true(vclock_leq(&a, &b));
	assert_int_equal(vclock_get(&a, 7), 0);
	vclock_tick(&a, 2);
	vclock_tick(&a, 2);
	vclock_tick(&b, 20);
	assert_int_equal(vclock_get(&a, 2), 2);
	assert_int_equal(vclock_get(&a, 1), 0);
	assert_int_equal(vclock_get(&b, 20), 1);
	assert_false(vclock_leq(&a, &b));
	assert_false(vclock_leq(&b, &a));

	vclock_copy(&c, &a);
	vclock_join(&c, &b);
	assert_true(vclock_leq(&a, &c));
	assert_true(vclock_leq(&b, &c));
	assert_false(vclock_leq(&c, &b));
	assert_true(vclock_saw(&c, 2, 2));
	assert_false(vclock_saw(&c, 2, 3));

	/* A shorter copy hides nothing of the longer one it replaces. */
	vclock_copy(&c, &a);
	assert_int_equal(vclock_get(&c, 20), 0);
	vclock_join(&c, &b);
	assert_int_equal(vclock_get(&c, 20), 1);
	assert_int_equal(vclock_get(&c, 10), 0);
	vclock_free(&a);
	vclock_free(&b);
	vclock_free(&c);
	assert_int_equal(c.count, 0);
}

static void test_stacks(void **state)
{
	struct stacks *s = stacks_new();
	uint32_t f = stacks_call(s, 0, 0x10), g = stacks_call(s, f, 0x20), deep = 0, again = 0;
	uint64_t pcs[4];

	(void)state;
	assert_int_equal(stacks_pcs(s, 0, pcs, 4), 0);
	assert_int_equal(stacks_call(s, 0, 0x10), f);
	assert_int_equal(stacks_call(s, f, 0x20), g);
	assert_int_not_equal(stacks_call(s, 0, 0x20), g);
	assert_int_equal(stacks_pcs(s, g, pcs, 4), 2);
	assert_int_equal(pcs[0], 0x20);
	assert_int_equal(pcs[1], 0x10);
	for (uint32_t i = 0; i < 5000; i++)
		deep = stacks_call(s, deep, i + 1);
	assert_int_equal(stacks_pcs(s, deep, pcs, 4), 4);
	assert_int_equal(pcs[0], 5000);
	for (uint32_t i = 0; i < 5000; i++)
		again = stacks_call(s, again, i + 1);
	assert_int_equal(again, deep);
	stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock), cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
