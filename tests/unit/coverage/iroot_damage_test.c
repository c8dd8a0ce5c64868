/*
 * Profiles that the program under test has overwritten: reading one ends, stays within its memory
 * (which lies between guard pages), and reports the damage if it meets any.
 */
#include "iroot_util.h"

#include <sys/mman.h>

#define SIZE (4u << 20)
#define GUARD 4096u

static char *memory;	/* SIZE bytes */

static void map(void)
{
	memory = mmap(NULL, SIZE + 2 * GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(memory, GUARD, PROT_NONE), 0);
	memory += GUARD;
	assert_int_equal(mprotect(memory + SIZE, GUARD, PROT_NONE), 0);
}

static uint64_t make(uint64_t *rng)
{
	static struct iroot_step steps[300];
	struct iroot_profile *p;
	struct iroot_profile_stats stats;
	size_t n = random_steps(rng, steps, sizeof(steps) / sizeof(steps[0]), 3, 12, true);

	memset(memory, 0, SIZE);
	p = iroot_profile_init(memory, SIZE, 20);
	for (size_t i = 0; i < n; i++)
		iroot_profile_step(p, &steps[i]);
	iroot_profile_stats(p, &stats);
	assert_int_equal(stats.lost, 0);
	return stats.bytes;
}

/* Reads all iRoots, each of which has to be valid; returns their number. */
static size_t read_all(struct iroot_profile *p)
{
	uint32_t cursor = 0, flags;
	struct iroot_profile_stats stats;
	struct iroot root;
	size_t count = 0;

	iroot_profile_finish(p);
	iroot_profile_stats(p, &stats);
	while ((flags = iroot_profile_next(p, &cursor, &root))) {
		assert_true(flags && root.idiom >= 1 && root.idiom <= IROOT_IDIOMS);
		for (unsigned i = 0; i < IROOT_EVENTS; i++)
			assert_true(root.event[i].access <= IROOT_RELEASE);
		assert_true(count++ < SIZE / 32);
	}
	return count;
}

/* Overwrites some words: with zero, a flipped bit, a small or any number, or another word. */
static void damage(uint64_t *rng, char *at, uint64_t used, uint32_t words)
{
	while (words-- > 0) {
		uint32_t *word = (uint32_t *)(void *)at + random_below(rng, (uint32_t)(used / 4));

		switch (random_below(rng, 5)) {
		case 0: *word = 0; break;
		case 1: *word ^= 1u << random_below(rng, 32); break;
		case 2: *word = random_below(rng, (uint32_t)(used / 8)); break;
		case 3: *word = random_below(rng, UINT32_MAX); break;
		case 4:
			*word = *((uint32_t *)(void *)at + random_below(rng, (uint32_t)(used / 4)));
			break;
		}
	}
}

static void test_whole(void **state)
{
	uint64_t rng = 3;
	struct iroot_profile *p;

	(void)state;
	make(&rng);
	p = iroot_profile_open(memory, SIZE);
	assert_non_null(p);
	assert_true(read_all(p) > 100);
	assert_false(iroot_profile_damaged(p));
}

static void test_random(void **state)
{
	static char good[SIZE];
	uint64_t rng = 11, used = 0;
	unsigned noticed = 0, read = 0;

	(void)state;
	for (unsigned round = 0; round < 600; round++) {
		struct iroot_profile *p;

		if (round % 100 == 0) {
			used = make(&rng);
			memcpy(good, memory, SIZE);
		}
		memcpy(memory, good, SIZE);
		/* The first bytes, up to all of it. */
		damage(&rng, memory, round % 3 ? used : 1024,
		       1 + random_below(&rng, round % 4 ? 8 : 400));
		p = iroot_profile_open(memory, SIZE);
		if (!p)
			continue;
		read_all(p);
		read++;
		noticed += iroot_profile_damaged(p);
	}
	assert_true(read > 300);
	assert_true(noticed > 100 && noticed < read);
}

/* A list with a cycle, and one that leaves the memory. */
static void test_all_the_same(void **state)
{
	static const uint32_t values[] = { 1, 200, 400, 5000, 0x7fffffff, UINT32_MAX };
	static char good[SIZE];
	uint64_t rng = 17, used = make(&rng);

	(void)state;
	memcpy(good, memory, SIZE);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct iroot_profile *p;

		memcpy(memory, good, SIZE);
		for (uint64_t at = 4096; at + 4 <= used; at += 4)
			memcpy(memory + at, &values[i], sizeof(values[i]));
		p = iroot_profile_open(memory, SIZE);
		assert_non_null(p);
		read_all(p);
		assert_true(iroot_profile_damaged(p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_all_the_same),
	};

	map();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
