/*
 * Who used which memory last: bounds, and random uses against a list for each byte.
 */
#include "analyze_util.h"

#include "analyze/uses.h"

/* What is done at each place of an access, or seen there. */
struct visit {
	struct uses *uses;
	uint32_t use;
	unsigned places;
	uint64_t seen[64];	/* for each byte: indices of its uses, newest first, as one number */
	uint64_t base;
};

static void note(void *ctx, struct place *place)
{
	struct visit *v = ctx;

	uses_note(v->uses, place, v->use);
	v->places++;
}

/* Returns how many places it has. */
static unsigned use(struct uses *u, uint32_t thread, bool write, uint64_t addr, uint64_t size, uint64_t index)
{
	struct visit v = { .uses = u };

	/* Making room may forget all: the event must not be there yet. */
	uses_each(u, addr, 0, note, &v);
	v.use = uses_add(u);
	uses_at(u, v.use)->at = (struct candidate_event){ .thread = thread, .addr = addr, .size = size, .index = index };
	uses_at(u, v.use)->access = write ? ACCESS_WRITE : ACCESS_READ;
	uses_each(u, addr, size, note, &v);
	return v.places;
}

static void count(void *ctx, struct place *place)
{
	(void)place;
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
	/* Events: one after the other of a thread takes no room, those of several do. */
	u = uses_new(100, 4);
	for (unsigned i = 0; i < 100; i++)
		use(u, 1, true, 0x1000, 8, i);
	assert_int_equal(uses_dropped(u), 0);
	for (unsigned i = 0; i < 5; i++)
		use(u, 2 + i, true, 0x1000, 8, 100 + i);
	assert_int_equal(uses_dropped(u), 1);
	assert_int_equal(known(u, 0x1000, 8), 1);
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

#define BYTES 64u
#define KEPT (2 * USES_THREADS)

/* The obvious way: for each byte all that is remembered of it, newest first. */
struct byte {
	struct {
		uint32_t who;
		uint64_t index;
	} last[KEPT + 1];
	unsigned count;
};

static void slow_use(struct byte *b, uint32_t who, uint64_t index)
{
	unsigned i = 0;

	while (i < b->count && b->last[i].who != who)
		i++;
	if (i == b->count && b->count < KEPT)
		b->count++;
	memmove(b->last + 1, b->last, (i < KEPT ? i : KEPT - 1) * sizeof(b->last[0]));
	b->last[0].who = who;
	b->last[0].index = index;
}

static uint64_t add(uint64_t sum, uint64_t index)
{
	return (sum + index + 1) * 0x9e3779b97f4a7c15ull;
}

static void see(void *ctx, struct place *place)
{
	struct visit *v = ctx;
	unsigned count;
	const struct use_mark *last = uses_last(v->uses, place, &count);
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum = add(sum, uses_at(v->uses, last[i].use)->at.index);
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
		assert_int_equal(v.seen[i], sum);
	}
}

static void test_random_uses(void **state)
{
	(void)state;
	for (uint64_t run = 1; run <= 200; run++) {
		uint64_t seed = run * 0x9e3779b97f4a7c15ull;
		struct uses *u = uses_new(1000, 1000);
		struct byte bytes[BYTES] = { 0 };

		for (uint64_t index = 1; index <= 100; index++) {
			uint64_t at = test_random(&seed) % BYTES, size = 1 + test_random(&seed) % (BYTES - at);
			uint32_t thread = 1 + (uint32_t)(test_random(&seed) % 12);
			bool write = test_random(&seed) % 2;

			if (test_random(&seed) % 8 == 0) {
				uses_forget(u, 0x1000 + at, size);
				memset(bytes + at, 0, size * sizeof(bytes[0]));
			} else {
				use(u, thread, write, 0x1000 + at, size, index);
				for (uint64_t i = at; i < at + size; i++)
					slow_use(&bytes[i], 2 * thread + write, index);
			}
			compare(u, bytes);
		}
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
