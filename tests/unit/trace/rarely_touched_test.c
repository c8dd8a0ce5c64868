/* Sites whose memory is rarely touched: examples by hand, and a comparison with counters. */
#include "trace_util.h"

#include "trace/sites/rarely_touched.c"

#define MANY (RARELY_MIN_GRANULES * RARELY_SAMPLE * 2)	/* about twice what a site needs */

enum { FILL = 0x1000, TAKE, WARM, BOTH, FEW_GRANULES, WIDE };

static void touch(struct rarely_touched *c, uint64_t pc, uint64_t from, uint64_t granules,
		  unsigned times)
{
	while (times-- > 0)
		for (uint64_t i = 0; i < granules; i++)
			rarely_touched_add(c, pc, from + i * 8, 8);
}

static void fill(struct rarely_touched *c)
{
	touch(c, FILL, 1 << 20, MANY, 1);
	touch(c, TAKE, 1 << 20, MANY, 2);
	/* Half of what BOTH touches is rarely touched, but not on average. */
	touch(c, WARM, 2 << 20, MANY, 2 * RARELY_MAX_ACCESSES);
	touch(c, BOTH, 2 << 20, MANY, 1);
	touch(c, BOTH, 4 << 20, MANY, 1);
	touch(c, FEW_GRANULES, 3 << 20, MANY / 8, 1);
}

static void test_by_hand(void **state)
{
	struct rarely_touched c = { 0 };

	(void)state;
	fill(&c);
	assert_false(rarely_touched_has(&c, FILL));	/* before rarely_touched_finish() */
	rarely_touched_finish(&c, 0);
	assert_true(rarely_touched_has(&c, FILL));
	assert_true(rarely_touched_has(&c, TAKE));
	assert_false(rarely_touched_has(&c, WARM));
	assert_false(rarely_touched_has(&c, BOTH));
	assert_false(rarely_touched_has(&c, FEW_GRANULES));
	assert_false(rarely_touched_has(&c, 0));
	rarely_touched_free(&c);
	assert_false(rarely_touched_has(&c, FILL));
}

/* Exactly as many accesses as allowed. An access that touches two granules counts for both. */
static void test_exactly_at_the_limit(void **state)
{
	struct rarely_touched c = { 0 };

	(void)state;
	for (uint64_t i = 0; i < MANY; i += 2)
		for (unsigned n = 0; n < RARELY_MAX_ACCESSES / 2; n++) {
			rarely_touched_add(&c, WIDE, (1 << 20) + i * 8, 16);
			rarely_touched_add(&c, TAKE, (1 << 20) + i * 8 + 5, 4);
		}
	rarely_touched_finish(&c, c.accesses_seen);
	assert_int_equal(c.accesses_seen, MANY / 2 * RARELY_MAX_ACCESSES);
	assert_true(rarely_touched_has(&c, WIDE));
	assert_true(rarely_touched_has(&c, TAKE));
	assert_int_equal(*map_find(&c.accesses, WIDE),
			 *map_find(&c.granules, WIDE) * RARELY_MAX_ACCESSES);
	rarely_touched_free(&c);
}

/* More accesses were dropped than kept: no site qualifies. */
static void test_no_site_is_listed_if_most_accesses_are_lost(void **state)
{
	struct rarely_touched c = { 0 };

	(void)state;
	fill(&c);
	rarely_touched_finish(&c, c.accesses_seen + 1);
	assert_false(rarely_touched_has(&c, FILL));
	rarely_touched_free(&c);
}

#define PLACES 8
#define GRANULES (1 << 14)

/* Random accesses, compared with a counter for each site and granule. */
static void test_random(void **state)
{
	static uint32_t by[PLACES][GRANULES], all[GRANULES];
	unsigned seed = 5, rare = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct rarely_touched c = { 0 };

		memset(by, 0, sizeof(by));
		memset(all, 0, sizeof(all));
		for (int i = 0; i < 30000 + 10000 * round; i++) {
			unsigned place = (unsigned)rand_r(&seed) % PLACES;
			unsigned range = GRANULES >> (place + (unsigned)round) % 4;
			unsigned granule = (unsigned)rand_r(&seed) % range;

			by[place][granule]++;
			all[granule]++;
			rarely_touched_add(&c, place + 1, (uint64_t)granule * 8,
					   1u << (unsigned)rand_r(&seed) % 4);
		}
		rarely_touched_finish(&c, 0);
		for (unsigned place = 0; place < PLACES; place++) {
			uint64_t granules = 0, accesses = 0;
			bool want;

			for (unsigned g = 0; g < GRANULES; g++)
				if (is_sampled(g) && by[place][g]) {
					granules++;
					accesses += all[g];
				}
			want = granules >= RARELY_MIN_GRANULES &&
			       accesses <= granules * RARELY_MAX_ACCESSES;
			assert_int_equal(rarely_touched_has(&c, place + 1), want);
			rare += want;
		}
		rarely_touched_free(&c);
	}
	assert_in_range(rare, 1, 20 * PLACES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_exactly_at_the_limit),
		cmocka_unit_test(test_no_site_is_listed_if_most_accesses_are_lost),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
