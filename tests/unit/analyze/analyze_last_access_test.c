/*
 * Last accesses to memory: the example of last_access.h, bounds, and random accesses against a list
 * for each byte.
 */
#include "analyze_util.h"

#include "analyze/order/last_access.h"
#include "reference/last_access.h"

/* What a callback records at each location of an access, or sums up there. */
struct visit {
	struct last_accesses *all;
	struct thread_segment segment;
	struct access_site site;
	unsigned locations;	/* visited */
	uint64_t sum[BYTES];	/* by byte: hash of its accesses, newest first */
	uint64_t base;		/* first byte of the granule that is visited */
};

static bool has_one_write(const struct last_accesses *all, const struct location *loc)
{
	const struct packed_access *first = last_access_first_write(loc);
	const struct packed_access *latest = last_access_latest_write(all, loc);

	return latest->index == first->index && latest->segment == first->segment;
}

static void note(void *ctx, struct location *loc, uint64_t granule)
{
	struct visit *v = ctx;
	bool write = v->site.access & ACCESS_WRITE;
	struct access_site site = v->site;
	struct packed_access access;

	if (site.size <= LAST_ACCESS_RELATIVE)
		site.addr -= granule * 8;
	access = last_access_pack(v->all, &v->segment, &site);

	/* The reference does the same: the first two writes of threads with even numbers. */
	if (write && v->segment.thread % 2 == 0 && !last_access_first_write(loc))
		last_access_set_first_write(v->all, loc, &access);
	else if (write && v->segment.thread % 2 == 0 && has_one_write(v->all, loc))
		last_access_set_latest_write(v->all, loc, &access);
	last_access_set(v->all, loc, &access, 2 * v->segment.thread + write);
	v->locations++;
}

/* An access of the thread; returns its number of locations. */
static unsigned use(struct last_accesses *u, uint32_t thread, bool write, uint64_t addr,
		    uint64_t size, uint64_t index)
{
	struct visit v = { .all = u };

	/* Some accesses have a segment in common. */
	v.segment = (struct thread_segment){ .thread = thread, .index = index, .time = 3 * index,
					     .stack = (uint32_t)index / 16 };
	v.site = (struct access_site){ .pc = index % 7, .addr = addr, .size = size,
				       .kind = write ? TRACE_WRITE : TRACE_READ,
				       .access = write ? ACCESS_WRITE : ACCESS_READ };
	last_access_each(u, addr, size, note, &v);
	return v.locations;
}

static void count(void *ctx, struct location *loc, uint64_t granule)
{
	(void)loc;
	(void)granule;
	++*(unsigned *)ctx;
}

static unsigned known(struct last_accesses *u, uint64_t addr, uint64_t size)
{
	unsigned locations = 0;

	last_access_each_known(u, addr, size, count, &locations);
	return locations;
}

static void get_location(void *ctx, struct location *loc, uint64_t granule)
{
	(void)granule;
	*(struct location **)ctx = loc;
}

/* The example at the top of last_access.h, as far as order_violation.c has no part in it. */
static void test_example(void **state)
{
	struct last_accesses *u = last_access_new(100, 100);
	struct location *loc = NULL;

	(void)state;
	use(u, 1, true, 0x1000, 8, 10);
	last_access_each_known(u, 0x1000, 8, get_location, &loc);
	last_access_set_first_write(u, loc, &loc->direct[0]);
	assert_int_equal(loc->mask, 0xff);
	assert_int_equal(loc->count, 1);
	assert_int_equal(loc->key0, 3);
	assert_int_equal(loc->direct[0].segment, 1);
	assert_int_equal(loc->direct[0].site, 1);
	assert_int_equal(u->sites[1].addr, 0);
	last_access_make_overflow(u, loc);
	use(u, 2, false, 0x1000, 8, 4);
	assert_int_equal(loc->count, 2);
	assert_int_equal(loc->overflow, OVERFLOW_SMALL);
	assert_int_equal(loc->extra, 1);
	assert_int_equal(loc->key0, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(loc->direct[i].segment, 1);
	assert_int_equal(u->small[1].head.recency, 0x101);
	assert_int_equal(u->small[1].key[0], 3);
	assert_int_equal(u->small[1].key[1], 4);
	assert_int_equal(u->small[1].access[1].segment, 2);
	last_access_forget(u, 0x1000, 8);
	assert_int_equal(loc->mask, 0);
	assert_int_equal(u->free_small, 1);
	last_access_free(u);
}

static void test_locations(void **state)
{
	struct last_accesses *u = last_access_new(100, 100);

	(void)state;
	assert_int_equal(use(u, 1, true, 0x1000, 8, 1), 1);
	assert_int_equal(use(u, 1, true, 0x1004, 4, 2), 1);
	assert_int_equal(known(u, 0x1000, 8), 2);
	assert_int_equal(use(u, 1, true, 0x1000, 16, 3), 3);
	last_access_forget(u, 0x1004, 4);
	assert_int_equal(known(u, 0x1000, 16), 2);
	assert_int_equal(known(u, 0x1004, 4), 0);
	assert_int_equal(last_access_dropped(u), 0);
	last_access_free(u);
}

static void test_bounds(void **state)
{
	struct last_accesses *u = last_access_new(4, 100);

	(void)state;
	/* The fifth location exceeds the limit: the other four are forgotten. */
	for (unsigned i = 0; i < 4; i++)
		use(u, 1, true, 0x1000 + 8 * i, 8, i);
	assert_int_equal(known(u, 0x1000, 32), 4);
	assert_int_equal(last_access_dropped(u), 0);
	use(u, 1, true, 0x2000, 8, 5);
	assert_int_equal(known(u, 0x1000, 32), 0);
	assert_int_equal(known(u, 0x2000, 8), 1);
	assert_int_equal(last_access_dropped(u), 4);
	/* Forgotten locations are reused. */
	for (unsigned i = 0; i < 100; i++) {
		use(u, 1, true, 0x3000, 8, 6 + i);
		last_access_forget(u, 0x3000, 8);
	}
	assert_int_equal(known(u, 0x2000, 8), 1);
	assert_int_equal(last_access_dropped(u), 4);
	last_access_free(u);
	/* Segments that no access names any more are collected; others count against the limit. */
	u = last_access_new(1000000, 30000);
	for (unsigned i = 0; i < 1000000; i++)
		use(u, 1, true, 0x1000 + i % 256 * 8, 8, 16 * i);
	assert_int_equal(last_access_dropped(u), 0);
	assert_in_range(u->segment_count, 256, 30000);
	assert_int_equal(known(u, 0x1000, 8 * 256), 256);
	for (unsigned i = 0; i < 40000; i++)
		use(u, 1, true, 0x100000 + 8ull * i, 8, 16 * i);
	assert_in_range(last_access_dropped(u), 20000, 40000);
	assert_in_range(known(u, 0x100000, 8 * 40000), 1, 20000);
	last_access_free(u);
	/* Sites are collected too. */
	u = last_access_new(1000000, 30000);
	for (unsigned i = 0; i < 100000; i++)
		use(u, 1, true, 0x1000 + 80 * (i % 7777), 80, i);
	assert_int_equal(last_access_dropped(u), 0);
	assert_in_range(u->site_count, 7777, 30000);
	last_access_free(u);
	/* A location remembers accesses of 2 * LAST_ACCESS_THREADS threads that only read. */
	u = last_access_new(100, 100);
	for (unsigned i = 0; i < 2 * LAST_ACCESS_THREADS; i++)
		use(u, 1 + i, false, 0x1000, 8, i);
	assert_int_equal(last_access_dropped(u), 0);
	use(u, 50, false, 0x1000, 8, 90);
	assert_int_equal(last_access_dropped(u), 1);
	last_access_free(u);
}

static uint64_t add(uint64_t sum, uint64_t index)
{
	return (sum + index + 1) * 0x9e3779b97f4a7c15ull;
}

/* Sums up a location: its accesses, the three special writes, and the newest access unpacked. */
static void sum_location(void *ctx, struct location *loc, uint64_t granule)
{
	struct visit *v = ctx;
	const struct packed_access *write;
	struct unpacked_access newest;
	uint64_t sum = 0;
	uint32_t key;

	for (unsigned i = 0; i < loc->count; i++) {
		const struct packed_access *k = last_access_nth(v->all, loc, i, &key);

		sum = add(sum, last_access_index(v->all, k));
		assert_int_equal(last_access_segment(v->all, k)->thread, key / 2);
		assert_ptr_equal(last_access_of(v->all, loc, key), k);
	}
	write = last_access_write(v->all, loc, &key);
	sum = add(sum, write ? last_access_index(v->all, write) : 0);
	assert_int_equal(write ? last_access_segment(v->all, write)->thread : key, key);
	sum = add(sum, last_access_first_write(loc) ?
		  last_access_index(v->all, last_access_first_write(loc)) : 0);
	sum = add(sum, last_access_first_write(loc) ?
		  last_access_index(v->all, last_access_latest_write(v->all, loc)) : 0);
	newest = last_access_unpack(v->all, last_access_nth(v->all, loc, 0, &key), granule);
	assert_int_equal(newest.at.time, 3 * newest.at.index);
	sum = add(add(add(sum, newest.at.addr), newest.at.size), newest.at.pc);
	for (unsigned i = 0; i < 8; i++)
		if (loc->mask >> i & 1)
			v->sum[v->base + i] = sum;
}

static void compare(struct last_accesses *u, const struct byte *bytes)
{
	struct visit v = { .all = u };

	for (v.base = 0; v.base < BYTES; v.base += 8)
		last_access_each_known(u, 0x1000 + v.base, 8, sum_location, &v);
	for (unsigned i = 0; i < BYTES; i++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < bytes[i].count; k++)
			sum = add(sum, bytes[i].last[k].index);
		if (bytes[i].count) {
			sum = add(add(add(sum, bytes[i].last_write), bytes[i].first),
				  bytes[i].latest);
			sum = add(add(add(sum, bytes[i].addr), bytes[i].size), bytes[i].pc);
		}
		assert_int_equal(v.sum[i], sum);
	}
}

static void test_random_accesses(void **state)
{
	(void)state;
	for (uint64_t run = 1; run <= 200; run++) {
		uint64_t seed = run * 0x9e3779b97f4a7c15ull;
		struct last_accesses *u = last_access_new(1000, 1000);
		struct byte *bytes = xcalloc(BYTES, sizeof(*bytes));

		for (uint64_t index = 1; index <= 100; index++) {
			uint64_t at = test_random(&seed) % BYTES;
			uint64_t size = 1 + test_random(&seed) % (BYTES - at);
			uint32_t thread = 1 + (uint32_t)(test_random(&seed) % 12);
			bool write = test_random(&seed) % 2;

			if (test_random(&seed) % 8 == 0) {
				last_access_forget(u, 0x1000 + at, size);
				memset(bytes + at, 0, size * sizeof(bytes[0]));
			} else {
				use(u, thread, write, 0x1000 + at, size, index);
				for (uint64_t i = at; i < at + size; i++) {
					slow_access(&bytes[i], 2 * thread + write, index);
					bytes[i].addr = 0x1000 + at;
					bytes[i].size = size;
					bytes[i].pc = index % 7;
				}
			}
			compare(u, bytes);
		}
		free(bytes);
		last_access_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_random_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
