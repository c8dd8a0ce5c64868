/*
 * couples: two places that a thread uses together, as far as they are remembered.
 */
#include "analyze_actor.h"

#include "analyze/couples.h"

static struct couple_side side(struct moments *m, struct couples *c, struct actor *a, uint64_t addr,
			       uint64_t pc)
{
	struct couple_side side = { .at = act(m, a, addr), .pc = pc,
				    .kind = TRACE_WRITE, .access = ACCESS_WRITE };

	couples_place(c, &side);
	return side;
}

static uint32_t couple(struct moments *m, struct couples *c, struct actor *a, uint64_t x, uint64_t y)
{
	struct couple_side first = side(m, c, a, x, 1), second = side(m, c, a, y, 2);

	return couples_note(c, couples_sites(c, a->view.thread, 1, 2), &first, &second);
}

static void test_couples(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	struct couples c;
	struct actor a, b;
	uint32_t one, two;

	(void)state;
	couples_init(&c, m);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = couple(m, &c, &a, 0x1000, 0x2000);
	assert_int_not_equal(one, 0);
	assert_int_equal(couple(m, &c, &a, 0x1000, 0x2000), 0);
	/* The other way round, by another thread. */
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(couples_of_others(&c, one, 0), two);
	assert_int_equal(couples_of_others(&c, one, two), 0);
	/* Freed: no longer the same place. */
	couples_forget(&c, 0x2000, 8);
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(couples_of_others(&c, two, 0), 0);
	assert_int_equal(couples_of_others(&c, one, 0), 2);
	/* Ever other places do not need ever more memory. */
	for (uint64_t i = 0; i < 1000; i++)
		couple(m, &c, &a, 0x100000 + 16 * i, 0x100008 + 16 * i);
	assert_int_equal(c.count, 1 + COUPLES_KEPT + 2);
	assert_true(c.skipped > 600);
	assert_true(c.replaced > 200);
	couples_free(&c);
	moments_free(m);
	locks_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_couples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
