/*
 * The corpus of the strategy `feedback`: which schedules it keeps, and how it mutates them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "explore/search/corpus.h"
#include "sched/rng.h"

/* Makes turns of threads 1, 2, 1, 2, … with 10 steps each. */
static struct sched_turn *turns_of(size_t count)
{
	struct sched_turn *t = xcalloc(count, sizeof(*t));

	for (size_t i = 0; i < count; i++)
		t[i] = (struct sched_turn){ .name = 1 + i % 2, .steps = 10 };
	return t;
}

static void add(struct corpus *c, uint64_t run, unsigned from, unsigned to)
{
	uint8_t bits[CORPUS_BYTES] = { 0 };

	for (unsigned i = from; i < to; i++)
		bits[i / 8] |= (uint8_t)(1u << i % 8);
	if (corpus_new(c, bits) > 0)
		corpus_add(c, run, bits, turns_of(4), 4);
}

/* Runs are merged in the order of their numbers, not in the order in which they ended. */
static void test_what_is_kept(void **state)
{
	struct corpus *c = xcalloc(1, sizeof(*c));

	(void)state;
	add(c, 2, 0, 10);
	add(c, 1, 5, 8);
	add(c, 3, 6, 8);
	assert_int_equal(c->count, 0);		/* nothing is merged before corpus_end() */
	assert_int_equal(corpus_end(c), 10);
	assert_int_equal(c->count, 2);		/* run 3 has no bit that runs 1 and 2 lack */
	assert_int_equal(c->entry[0].run, 1);
	assert_int_equal(c->entry[0].new_bits, 3);
	assert_int_equal(c->entry[1].run, 2);
	assert_int_equal(c->entry[1].new_bits, 7);
	add(c, 4, 0, 10);
	assert_int_equal(c->pending_count, 0);	/* no new bit: not added */
	assert_int_equal(corpus_end(c), 0);
	/* A full corpus drops the entry with the fewest new bits. */
	for (unsigned i = 0; i < CORPUS_MOST; i++)
		add(c, 10 + i, 10 + 4 * i, 14 + 4 * i);
	assert_int_equal(corpus_end(c), 4 * CORPUS_MOST);
	assert_int_equal(c->count, CORPUS_MOST);
	assert_int_equal(c->entry[0].run, 2);	/* dropped: run 1, 3 new bits, then one with 4 */
	assert_int_equal(c->entry[1].run, 11);
	corpus_free(c);
	free(c);
}

static uint64_t steps_of(const struct sched_turn *t, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(t[i].steps > 0 && (t[i].name == 1 || t[i].name == 2));
		sum += t[i].steps;
	}
	return sum;
}

static void test_mutations(void **state)
{
	struct corpus *c = xcalloc(1, sizeof(*c));
	static struct sched_turn out[CORPUS_TURNS], again[CORPUS_TURNS];
	unsigned shorter = 0, longer = 0, same = 0, moved = 0;
	uint8_t bits[CORPUS_BYTES] = { 1 };
	uint64_t rng = 9;

	(void)state;
	assert_int_equal(corpus_mutate(c, &rng, out), 0);
	corpus_add(c, 0, bits, turns_of(40), 40);
	bits[1] = 1;
	corpus_add(c, 1, bits, turns_of(CORPUS_TURNS + 100), CORPUS_TURNS + 100);
	corpus_end(c);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t first = rng_next(&rng), second = first;
		size_t count = corpus_mutate(c, &first, out);

		assert_int_equal(corpus_mutate(c, &second, again), count);
		assert_memory_equal(out, again, count * sizeof(*out));
		assert_in_range(count, 1, CORPUS_TURNS);
		shorter += count < 40;
		longer += count > 40 && count < 60;
		same += count == 40;
		moved += count == 40 && steps_of(out, count) != 400;
	}
	assert_true(shorter > 100 && longer > 100 && same > 100 && moved > 50);
	corpus_free(c);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
