/*
 * Recent accesses of a thread, compared with a slow reference; and unshared sites, of which little
 * is kept.
 */
#include "analyze_util.h"

#include "analyze/atomicity/recent_accesses.h"
#include "analyze/relevance/unshared_sites.h"
#include "reference/recent_accesses.h"

static void put_shared(struct recent_accesses *recent, const struct last *l)
{
	struct pair_access *now = &recent->accesses[recent->unused];

	*now = (struct pair_access){
		.side = { .at = { .index = l->index, .addr = l->addr, .size = 8 },
			  .pc = l->pc,
			  .access = l->access }
	};
	recent_put_shared(recent);
}

static void assert_same(const struct recent_accesses *recent, const struct last *last)
{
	for (unsigned i = 0; i < RECENT_MAX && last[i].index; i++) {
		const struct pair_access *kept = &recent->accesses[recent->at[i]];

		assert_true(i < recent->count);
		assert_int_equal(recent->index[i], last[i].index);
		assert_int_equal(recent->addr[i], last[i].addr);
		assert_int_equal(recent->shared >> i & 1, last[i].shared);
		if (last[i].shared)
			assert_int_equal(kept->side.at.index, last[i].index);
	}
}

/* Some addresses and pcs have equal hashes. */
static void test_last(void **state)
{
	uint64_t rng = 88172645463325252ull;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct recent_accesses *recent = recent_new();
		struct last last[RECENT_MAX] = { 0 };
		unsigned locations = 1 + test_random(&rng) % 12, sites = 1 + test_random(&rng) % 6;

		for (uint64_t index = 1; index < 200; index++) {
			uint64_t location = test_random(&rng) % locations,
				 site = test_random(&rng) % sites;
			struct last now = { .index = index,
					    .addr = location % 5 * 4 + (location / 5 << 32),
					    .pc = site % 3 * 16 + (site / 3 << 32) };

			now.access = test_random(&rng) % 2 ? ACCESS_READ : ACCESS_WRITE;
			now.shared = site % 2;
			last[slow_slot(last, now.addr, now.access, now.pc)] = now;
			if (now.shared)
				put_shared(recent, &now);
			else
				recent_put_unshared(recent, now.addr, now.access, now.pc,
						    now.index);
			assert_same(recent, last);
		}
		recent_free(recent);
	}
}

static void test_unshared_sites(void **state)
{
	struct reader *r = open_text("0 create 0.1\n0 create 0.2\n"
				     "0.1 write 0x10000:8 @0x1000\n0.1 read 0x10000:8 @0x1010\n"
				     "0.2 read 0x10008:8 @0x1010\n0.1 read 0x10008:8 @0x1020\n"
				     "0.1 read 0x10010:8 @0x1030\n0.2 write 0x10010:1 @0x1040\n"
				     "0.1 read 0x10008:8 @0x1040\n");
	struct unshared *a = unshared_new(r);
	struct unshared_sites unshared_sites;
	struct event ev;
	struct err err;

	(void)state;
	unshared_sites_prescan(&unshared_sites, a, r);
	assert_true(unshared_sites_has(&unshared_sites, 0x1000));
	assert_true(unshared_sites_has(&unshared_sites, 0x1010));
	assert_true(unshared_sites_has(&unshared_sites, 0x1020));
	assert_false(unshared_sites_has(&unshared_sites, 0x1030));
	assert_false(unshared_sites_has(&unshared_sites, 0x1040));
	assert_int_equal(reader_next(r, &ev, &err), 1);
	assert_int_equal(ev.kind, TRACE_THREAD_CREATE);
	/* If the prescan lost track, no site counts as unshared. */
	a->lost = true;
	unshared_sites_prescan(&unshared_sites, a, r);
	assert_false(unshared_sites_has(&unshared_sites, 0x1000));
	unshared_free(a);
	reader_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_unshared_sites),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
