/*
 * couples: two places that a thread uses together, as far as they are remembered.
 */
#include "analyze_actor.h"

#include "analyze/atomicity/location_pairs.h"

#define MOOT 0x10000000u	/* from there on nothing conflicts */

/* Sites are 1 and 2 of the first thread, 3 and 4 of the second. */
static struct couple_access access_at(struct moments *m, struct couples *c, struct actor *a, uint64_t addr,
				   uint32_t site)
{
	struct couple_access access = {
		.side = { .at = act(m, a, addr), .pc = site, .kind = TRACE_WRITE, .access = ACCESS_WRITE },
		.site = 2 * (a->view.thread - 1) + site,
		.lockset = a->view.lockset,
		.moot = addr >= MOOT,
	};

	couples_place(c, &access);
	return access;
}

static uint32_t couple_of(struct moments *m, struct couples *c, struct actor *a, uint64_t x, uint64_t y,
			  unsigned access)
{
	struct couple_access first = access_at(m, c, a, x, 1), second = access_at(m, c, a, y, 2);
	struct couple_cell *cell = couples_sites(c, a->view.thread, first.site, second.site);
	struct couple_pair pair = { .first = &first, .cell = cell };

	first.side.access = access & 3;
	second.side.access = access >> 2;
	couples_pair(&pair, &second);
	if (couples_walk(cell) && !couples_watched(first.place, second.place)) {
		c->skipped++;
		return 0;
	}
	return couples_note(c, &pair);
}

static uint32_t couple(struct moments *m, struct couples *c, struct actor *a, uint64_t x, uint64_t y)
{
	return couple_of(m, c, a, x, y, ACCESS_WRITE | ACCESS_WRITE << 2);
}

/* The only one of another thread at the same places; 0: none. */
static uint32_t only_other(const struct couples *c, uint32_t couple)
{
	struct couples_others others;
	uint32_t n;

	couples_others(c, couple, &others);
	n = couples_other(c, &others);
	assert_int_equal(couples_other(c, &others), 0);
	return n;
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
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(couples_site(&c), i);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = couple(m, &c, &a, 0x1000, 0x2000);
	assert_int_not_equal(one, 0);
	assert_int_equal(couple(m, &c, &a, 0x1000, 0x2000), 0);
	/* The other way round, by another thread. */
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(only_other(&c, one), two);
	assert_int_equal(couples_cross(&c, one, two), 1);
	/* Freed: no longer the same place. */
	couples_forget(&c, 0x2000, 8);
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(only_other(&c, two), 0);
	assert_int_equal(only_other(&c, one), 2);
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

#define RW (ACCESS_READ | ACCESS_WRITE << 2)
#define WR (ACCESS_WRITE | ACCESS_READ << 2)
#define RR (ACCESS_READ | ACCESS_READ << 2)
#define WW (ACCESS_WRITE | ACCESS_WRITE << 2)

/* Of all that another did, those where each place is written by one of the two, newest first. */
static void test_others(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	uint32_t rw, wr, ww, crossed, mine;
	struct couples_others others;
	struct couples c;
	struct actor a, b;

	(void)state;
	couples_init(&c, m);
	for (uint32_t i = 1; i <= 4; i++)
		couples_site(&c);
	actor_init(&a, 1);
	actor_init(&b, 2);
	ww = couple_of(m, &c, &b, 0x1000, 0x2000, WW);
	mine = couple_of(m, &c, &a, 0x1000, 0x2000, RW);
	couples_others(&c, mine, &others);
	assert_int_equal(couples_other(&c, &others), ww);
	assert_int_equal(couples_other(&c, &others), 0);
	crossed = couple_of(m, &c, &b, 0x2000, 0x1000, RW);
	couples_others(&c, mine, &others);
	assert_int_equal(couples_other(&c, &others), crossed);
	assert_int_equal(couples_other(&c, &others), ww);
	assert_int_equal(couples_other(&c, &others), 0);
	assert_int_equal(couples_cross(&c, mine, crossed), 1);
	assert_int_equal(couples_cross(&c, mine, ww), 0);
	/* y is written by both, x by nobody. */
	rw = couple_of(m, &c, &b, 0x3000, 0x4000, RW);
	mine = couple_of(m, &c, &a, 0x3000, 0x4000, RW);
	couples_others(&c, mine, &others);
	assert_int_equal(couples_other(&c, &others), 0);
	assert_int_equal(couples_cross(&c, mine, rw), COUPLES_APART);
	/* Fields of one granule. */
	wr = couple_of(m, &c, &b, 0x5000, 0x5004, WR);
	mine = couple_of(m, &c, &a, 0x5004, 0x5000, WR);
	couples_others(&c, mine, &others);
	assert_int_equal(couples_other(&c, &others), wr);
	/* By bytes, the second sides meet, which only read. */
	assert_int_equal(couples_cross(&c, mine, wr), COUPLES_APART);
	assert_int_equal(couple_of(m, &c, &a, 0x5004, 0x5000, RR), 0);
	/* A granule and the generation of another: 0x200 ^ 1 is 0x203 ^ 2. */
	couple(m, &c, &a, 0x1018, 0x7000);
	couples_forget(&c, 0x1018, 8);
	mine = couple(m, &c, &a, 0x1018, 0x8000);
	assert_int_not_equal(couple(m, &c, &b, 0x1000, 0x8000), 0);
	assert_int_equal(only_other(&c, mine), 0);
	couples_free(&c);
	moments_free(m);
	locks_free(locks);
}

/* Moot ones take the room of others and are told apart, but nothing else is kept of them. */
static void test_moot(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	struct couples c;
	struct actor a, b;
	uint32_t one, two;

	(void)state;
	couples_init(&c, m);
	for (uint32_t i = 1; i <= 4; i++)
		couples_site(&c);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = couple(m, &c, &a, 0x1000, 0x2000);
	for (unsigned again = 0; again < 2; again++)
		for (uint64_t i = 1; i < COUPLES_KEPT; i++)
			assert_int_equal(couple(m, &c, &a, 0x1000, MOOT + 8 * i), 0);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(couple(m, &c, &a, 0x1000, 0x2000), 0);
	two = couple(m, &c, &b, 0x1000, 0x2000);
	assert_int_equal(only_other(&c, two), one);
	/* The other way round is another. */
	assert_int_equal(couple(m, &c, &a, MOOT + 8, 0x1000), 0);
	assert_int_equal(c.replaced, 1);
	for (uint64_t i = 1; i < COUPLES_KEPT; i++)
		couple(m, &c, &a, MOOT + 0x1000, MOOT + 8 * i);
	assert_int_equal(c.replaced, COUPLES_KEPT);
	assert_int_equal(only_other(&c, two), 0);
	assert_int_equal(couple(m, &c, &a, 0x3000, 0x4000), one);
	assert_int_equal(c.count, 3);
	couples_free(&c);
	moments_free(m);
	locks_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_couples),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_moot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
