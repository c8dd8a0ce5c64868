/*
 * Location pairs: which ones are kept, and which ones of other threads are found by their
 * locations.
 */
#include "analyze_actor.h"

#include "analyze/atomicity/location_pairs.h"

#define UNSHARED 0x10000000u	/* addresses from here on are unshared */

/* Sites 1 and 2 are the first thread's, 3 and 4 the second's. */
static struct pair_access access_at(struct contexts *cs, struct location_pairs *c, struct actor *a,
				    uint64_t addr, uint32_t site)
{
	struct pair_access access = {
		.side = { .at = act(cs, a, addr),
			  .pc = site,
			  .kind = TRACE_WRITE,
			  .access = ACCESS_WRITE },
		.site = 2 * (a->view.thread - 1) + site,
		.lockset = a->view.lockset,
		.unshared = addr >= UNSHARED,
	};

	location_pairs_locate(c, &access);
	return access;
}

static uint32_t add_accesses(struct contexts *cs, struct location_pairs *c, struct actor *a,
			     uint64_t x, uint64_t y, unsigned access)
{
	struct pair_access first = access_at(cs, c, a, x, 1), second = access_at(cs, c, a, y, 2);
	struct pair_cell *cell = location_pairs_sites(c, a->view.thread, first.site, second.site);
	struct pair_attempt pair = { .first = &first, .cell = cell };

	first.side.access = access & 3;
	second.side.access = access >> 2;
	location_pairs_complete(&pair, &second);
	if (location_pairs_walk(cell) && !location_pairs_sampled(first.location, second.location)) {
		c->skipped++;
		return 0;
	}
	return location_pairs_note(c, &pair);
}

static uint32_t add_pair(struct contexts *cs, struct location_pairs *c, struct actor *a,
			      uint64_t x, uint64_t y)
{
	return add_accesses(cs, c, a, x, y, ACCESS_WRITE | ACCESS_WRITE << 2);
}

/* Returns the pair of another thread at the same locations; there must be one at most. 0: none. */
static uint32_t only_other(const struct location_pairs *c, uint32_t location_pair)
{
	struct location_pairs_matches others;
	uint32_t n;

	location_pairs_matches(c, location_pair, &others);
	n = location_pairs_next_match(c, &others);
	assert_int_equal(location_pairs_next_match(c, &others), 0);
	return n;
}

static void test_kept(void **state)
{
	struct locks *locks = locks_new();
	struct contexts *cs = contexts_new(locks);
	struct location_pairs c;
	struct actor a, b;
	uint32_t one, two;

	(void)state;
	location_pairs_init(&c, cs);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(location_pairs_new_site(&c), i);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = add_pair(cs, &c, &a, 0x1000, 0x2000);
	assert_int_not_equal(one, 0);
	assert_int_equal(add_pair(cs, &c, &a, 0x1000, 0x2000), 0);
	/* Another thread, y before x. */
	two = add_pair(cs, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(only_other(&c, one), two);
	assert_int_equal(location_pairs_overlap(&c, one, two), 1);
	/* Freed memory is another location. */
	location_pairs_forget(&c, 0x2000, 8);
	two = add_pair(cs, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(only_other(&c, two), 0);
	assert_int_equal(only_other(&c, one), 2);
	/* Memory does not grow with the number of locations. */
	for (uint64_t i = 0; i < 1000; i++)
		add_pair(cs, &c, &a, 0x100000 + 16 * i, 0x100008 + 16 * i);
	assert_int_equal(c.count, 1 + LOCATION_PAIRS_KEPT + LOCATION_PAIRS_TRIES + 2);
	assert_true(c.skipped > 600);
	assert_true(c.replaced > 200);
	location_pairs_free(&c);
	contexts_free(cs);
	locks_free(locks);
}

#define RW (ACCESS_READ | ACCESS_WRITE << 2)
#define WR (ACCESS_WRITE | ACCESS_READ << 2)
#define RR (ACCESS_READ | ACCESS_READ << 2)
#define WW (ACCESS_WRITE | ACCESS_WRITE << 2)

/* Pairs of another thread in which each location is written by one of the two, latest first. */
static void test_others(void **state)
{
	struct locks *locks = locks_new();
	struct contexts *cs = contexts_new(locks);
	uint32_t rw, wr, ww, crossed, mine;
	struct location_pairs_matches others;
	struct location_pairs c;
	struct actor a, b;

	(void)state;
	location_pairs_init(&c, cs);
	for (uint32_t i = 1; i <= 4; i++)
		location_pairs_new_site(&c);
	actor_init(&a, 1);
	actor_init(&b, 2);
	ww = add_accesses(cs, &c, &b, 0x1000, 0x2000, WW);
	mine = add_accesses(cs, &c, &a, 0x1000, 0x2000, RW);
	location_pairs_matches(&c, mine, &others);
	assert_int_equal(location_pairs_next_match(&c, &others), ww);
	assert_int_equal(location_pairs_next_match(&c, &others), 0);
	crossed = add_accesses(cs, &c, &b, 0x2000, 0x1000, RW);
	location_pairs_matches(&c, mine, &others);
	assert_int_equal(location_pairs_next_match(&c, &others), crossed);
	assert_int_equal(location_pairs_next_match(&c, &others), ww);
	assert_int_equal(location_pairs_next_match(&c, &others), 0);
	assert_int_equal(location_pairs_overlap(&c, mine, crossed), 1);
	assert_int_equal(location_pairs_overlap(&c, mine, ww), 0);
	/* Both write y, none writes x. */
	rw = add_accesses(cs, &c, &b, 0x3000, 0x4000, RW);
	mine = add_accesses(cs, &c, &a, 0x3000, 0x4000, RW);
	location_pairs_matches(&c, mine, &others);
	assert_int_equal(location_pairs_next_match(&c, &others), 0);
	assert_int_equal(location_pairs_overlap(&c, mine, rw), LOCATION_PAIRS_DISJOINT);
	/* Two fields of one granule. */
	wr = add_accesses(cs, &c, &b, 0x5000, 0x5004, WR);
	mine = add_accesses(cs, &c, &a, 0x5004, 0x5000, WR);
	location_pairs_matches(&c, mine, &others);
	assert_int_equal(location_pairs_next_match(&c, &others), wr);
	/* By bytes, the second sides overlap, which only read. */
	assert_int_equal(location_pairs_overlap(&c, mine, wr), LOCATION_PAIRS_DISJOINT);
	assert_int_equal(add_accesses(cs, &c, &a, 0x5004, 0x5000, RR), 0);
	/*
	 * A granule and its generation must not be confused with another granule: 0x200 ^ 1 is
	 * 0x203 ^ 2.
	 */
	add_pair(cs, &c, &a, 0x1018, 0x7000);
	location_pairs_forget(&c, 0x1018, 8);
	mine = add_pair(cs, &c, &a, 0x1018, 0x8000);
	assert_int_not_equal(add_pair(cs, &c, &b, 0x1000, 0x8000), 0);
	assert_int_equal(only_other(&c, mine), 0);
	location_pairs_free(&c);
	contexts_free(cs);
	locks_free(locks);
}

/* Unshared pairs take places among the pairs of their sites, but are not kept otherwise. */
static void test_unshared(void **state)
{
	struct locks *locks = locks_new();
	struct contexts *cs = contexts_new(locks);
	struct location_pairs c;
	struct actor a, b;
	uint32_t one, two;

	(void)state;
	location_pairs_init(&c, cs);
	for (uint32_t i = 1; i <= 4; i++)
		location_pairs_new_site(&c);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = add_pair(cs, &c, &a, 0x1000, 0x2000);
	for (unsigned again = 0; again < 2; again++)
		for (uint64_t i = 1; i < LOCATION_PAIRS_KEPT; i++)
			assert_int_equal(add_pair(cs, &c, &a, 0x1000, UNSHARED + 8 * i), 0);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(add_pair(cs, &c, &a, 0x1000, 0x2000), 0);
	two = add_pair(cs, &c, &b, 0x1000, 0x2000);
	assert_int_equal(only_other(&c, two), one);
	/* (y, x) is another pair than (x, y). */
	assert_int_equal(add_pair(cs, &c, &a, UNSHARED + 8, 0x1000), 0);
	assert_int_equal(c.replaced, 1);
	for (uint64_t i = 1; i < LOCATION_PAIRS_KEPT; i++)
		add_pair(cs, &c, &a, UNSHARED + 0x1000, UNSHARED + 8 * i);
	assert_int_equal(c.replaced, LOCATION_PAIRS_KEPT);
	/* The dropped pair stays comparable, as the only one at its locations. */
	assert_int_equal(only_other(&c, two), one);
	assert_int_equal(c.spared, 1);
	assert_int_equal(add_pair(cs, &c, &a, 0x3000, 0x4000), 3);
	location_pairs_free(&c);
	contexts_free(cs);
	locks_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_unshared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
