/*
 * Who used which memory last: bounds, and random uses against a list for each byte.
 */
#include "analyze_util.h"

#include "analyze/order/last_access.h"
#include "reference/last_access.h"

/* What is done at each place of an access, or seen there. */
struct visit {
	struct uses *uses;
	struct situation situation;
	struct site site;
	unsigned places;
	uint64_t seen[96];	/* for each byte: indices of its uses, newest first, as one number */
	uint64_t base;
};

static void note(void *ctx, struct place *place, uint64_t granule)
{
	struct visit *v = ctx;
	bool write = v->site.access & ACCESS_WRITE;
	struct site site = v->site;
	struct kept use;

	if (site.size <= USES_NEAR)
		site.addr -= granule * 8;
	use = uses_make(v->uses, &v->situation, &site);

	/* Of a thread with an even number, first and latest are its first two writes. */
	if (write && v->situation.thread % 2 == 0 && !uses_first(place))
		uses_set_first(v->uses, place, &use);
	else if (write && v->situation.thread % 2 == 0 && uses_latest(v->uses, place)->index == uses_first(place)->index &&
		 uses_latest(v->uses, place)->situation == uses_first(place)->situation)
		uses_set_latest(v->uses, place, &use);
	uses_note(v->uses, place, &use, 2 * v->situation.thread + write);
	v->places++;
}

/* Returns how many places it has. */
static unsigned use(struct uses *u, uint32_t thread, bool write, uint64_t addr, uint64_t size, uint64_t index)
{
	struct visit v = { .uses = u };

	/* Some have a situation in common. */
	v.situation = (struct situation){ .thread = thread, .index = index, .time = 3 * index, .stack = (uint32_t)index / 16 };
	v.site = (struct site){ .pc = index % 7, .addr = addr, .size = size, .kind = write ? TRACE_WRITE : TRACE_READ,
				.access = write ? ACCESS_WRITE : ACCESS_READ };
	uses_each(u, addr, size, note, &v);
	return v.places;
}

static void count(void *ctx, struct place *place, uint64_t granule)
{
	(void)place;
	(void)granule;
	++*(unsigned *)ctx;
}

static unsigned known(struct uses *u, uint64_t addr, uint64_t size)
{
	unsigned places = 0;

	uses_known(u, addr, size, count, &places);
	return places;
}

static void test_places(void **state)
{
	struct uses *u = uses_new(100, 100);

	(void)state;
	assert_int_equal(use(u, 1, true, 0x1000, 8, 1), 1);
	assert_int_equal(use(u, 1, true, 0x1004, 4, 2), 1);
	assert_int_equal(known(u, 0x1000, 8), 2);
	assert_int_equal(use(u, 1, true, 0x1000, 16, 3), 3);
	uses_forget(u, 0x1004, 4);
	assert_int_equal(known(u, 0x1000, 16), 2);
	assert_int_equal(known(u, 0x1004, 4), 0);
	assert_int_equal(uses_dropped(u), 0);
	uses_free(u);
}

static void test_bounds(void **state)
{
	struct uses *u = uses_new(4, 100);

	(void)state;
	/* The fifth place is one too many: the four are forgotten, it is not. */
	for (unsigned i = 0; i < 4; i++)
		use(u, 1, true, 0x1000 + 8 * i, 8, i);
	assert_int_equal(known(u, 0x1000, 32), 4);
	assert_int_equal(uses_dropped(u), 0);
	use(u, 1, true, 0x2000, 8, 5);
	assert_int_equal(known(u, 0x1000, 32), 0);
	assert_int_equal(known(u, 0x2000, 8), 1);
	assert_int_equal(uses_dropped(u), 4);
	/* What was given back makes room. */
	for (unsigned i = 0; i < 100; i++) {
		use(u, 1, true, 0x3000, 8, 6 + i);
		uses_forget(u, 0x3000, 8);
	}
	assert_int_equal(known(u, 0x2000, 8), 1);
	assert_int_equal(uses_dropped(u), 4);
	uses_free(u);
	/* Situations that no use has any more take no room, others do. */
	u = uses_new(1000000, 30000);
	for (unsigned i = 0; i < 1000000; i++)
		use(u, 1, true, 0x1000 + i % 256 * 8, 8, 16 * i);
	assert_int_equal(uses_dropped(u), 0);
	assert_in_range(u->situation_count, 256, 30000);
	assert_int_equal(known(u, 0x1000, 8 * 256), 256);
	for (unsigned i = 0; i < 40000; i++)
		use(u, 1, true, 0x100000 + 8ull * i, 8, 16 * i);
	assert_in_range(uses_dropped(u), 20000, 40000);
	assert_in_range(known(u, 0x100000, 8 * 40000), 1, 20000);
	uses_free(u);
	/* So do sites. */
	u = uses_new(1000000, 30000);
	for (unsigned i = 0; i < 100000; i++)
		use(u, 1, true, 0x1000 + 80 * (i % 7777), 80, i);
	assert_int_equal(uses_dropped(u), 0);
	assert_in_range(u->site_count, 7777, 30000);
	uses_free(u);
	/* Of a place, the last of so many threads. */
	u = uses_new(100, 100);
	for (unsigned i = 0; i < 2 * USES_THREADS; i++)
		use(u, 1 + i, false, 0x1000, 8, i);
	assert_int_equal(uses_dropped(u), 0);
	use(u, 50, false, 0x1000, 8, 90);
	assert_int_equal(uses_dropped(u), 1);
	uses_free(u);
}

static uint64_t add(uint64_t sum, uint64_t index)
{
	return (sum + index + 1) * 0x9e3779b97f4a7c15ull;
}

/* All that the place has: its uses, then what is known of writes, and the newest in full. */
static void see(void *ctx, struct place *place, uint64_t granule)
{
	struct visit *v = ctx;
	const struct kept *write;
	struct use newest;
	uint64_t sum = 0;
	uint32_t who;

	for (unsigned i = 0; i < place->count; i++) {
		const struct kept *k = uses_last(v->uses, place, i, &who);

		sum = add(sum, uses_number(v->uses, k));
		assert_int_equal(uses_situation(v->uses, k)->thread, who / 2);
		assert_ptr_equal(uses_last_of(v->uses, place, who), k);
	}
	write = uses_last_write(v->uses, place, &who);
	sum = add(sum, write ? uses_number(v->uses, write) : 0);
	assert_int_equal(write ? uses_situation(v->uses, write)->thread : who, who);
	sum = add(sum, uses_first(place) ? uses_number(v->uses, uses_first(place)) : 0);
	sum = add(sum, uses_first(place) ? uses_number(v->uses, uses_latest(v->uses, place)) : 0);
	newest = uses_at(v->uses, uses_last(v->uses, place, 0, &who), granule);
	assert_int_equal(newest.at.time, 3 * newest.at.index);
	sum = add(add(add(sum, newest.at.addr), newest.at.size), newest.at.pc);
	for (unsigned i = 0; i < 8; i++)
		if (place->mask >> i & 1)
			v->seen[v->base + i] = sum;
}

static void compare(struct uses *u, const struct byte *bytes)
{
	struct visit v = { .uses = u };

	for (v.base = 0; v.base < BYTES; v.base += 8)
		uses_known(u, 0x1000 + v.base, 8, see, &v);
	for (unsigned i = 0; i < BYTES; i++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < bytes[i].count; k++)
			sum = add(sum, bytes[i].last[k].index);
		if (bytes[i].count) {
			sum = add(add(add(sum, bytes[i].last_write), bytes[i].first), bytes[i].latest);
			sum = add(add(add(sum, bytes[i].addr), bytes[i].size), bytes[i].pc);
		}
		assert_int_equal(v.seen[i], sum);
	}
}

static void test_random_uses(void **state)
{
	(void)state;
	for (uint64_t run = 1; run <= 200; run++) {
		uint64_t seed = run * 0x9e3779b97f4a7c15ull;
		struct uses *u = uses_new(1000, 1000);
		struct byte *bytes = xcalloc(BYTES, sizeof(*bytes));

		for (uint64_t index = 1; index <= 100; index++) {
			uint64_t at = test_random(&seed) % BYTES, size = 1 + test_random(&seed) % (BYTES - at);
			uint32_t thread = 1 + (uint32_t)(test_random(&seed) % 12);
			bool write = test_random(&seed) % 2;

			if (test_random(&seed) % 8 == 0) {
				uses_forget(u, 0x1000 + at, size);
				memset(bytes + at, 0, size * sizeof(bytes[0]));
			} else {
				use(u, thread, write, 0x1000 + at, size, index);
				for (uint64_t i = at; i < at + size; i++) {
					slow_use(&bytes[i], 2 * thread + write, index);
					bytes[i].addr = 0x1000 + at;
					bytes[i].size = size;
					bytes[i].pc = index % 7;
				}
			}
			compare(u, bytes);
		}
		free(bytes);
		uses_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_random_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
