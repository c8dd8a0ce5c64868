/*
 * snapshots_cut(): the turns of a run up to a point, compared with a list of its single steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explore/target/snapshots.h"
#include "sched/rng.h"

#define TURNS 12u

/* Single steps: one entry for each step of a RUN turn, one for each other turn. */
struct list {
	struct sched_turn at[TURNS * 8];
	size_t count;
};

static void expand(const struct sched_turn *turns, size_t count, struct list *out)
{
	out->count = 0;
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < (turns[i].kind == SCHED_TURN_RUN ? turns[i].steps : 1);
		     k++)
			out->at[out->count++] = (struct sched_turn){ .name = turns[i].name,
								     .kind = turns[i].kind };
}

static size_t random_run(struct sched_turn *turns, uint64_t *rng, uint64_t *steps)
{
	size_t count = 1 + (size_t)rng_below(rng, TURNS);

	*steps = 0;
	for (size_t i = 0; i < count; i++) {
		bool run = rng_below(rng, 4) > 0;

		turns[i] = (struct sched_turn){
			.name = 1 + rng_below(rng, 3), .steps = run ? 1 + rng_below(rng, 7) : 0,
			.kind = run ? SCHED_TURN_RUN : SCHED_TURN_WAKE, .check = 7,
		};
		*steps += turns[i].steps;
	}
	return count;
}

/* The turns up to `from` and those from there to `to` add up to the turns up to `to`. */
static void test_parts(void **state)
{
	uint64_t rng = 5;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct sched_turn turns[TURNS], cut[2 * TURNS];
		struct list whole, parts;
		uint64_t steps, from, to, seen = 0;
		size_t count = random_run(turns, &rng, &steps), used, k = 0;

		to = rng_below(&rng, steps + 1);
		from = rng_below(&rng, to + 1);
		used = snapshots_cut(&(struct snapshots_point){ turns, count, from }, 0, cut);
		used += snapshots_cut(&(struct snapshots_point){ turns, count, to }, from,
				      cut + used);
		if (from == 0)	/* then both parts contain the turns before the first step */
			used = snapshots_cut(&(struct snapshots_point){ turns, count, to }, 0, cut);
		expand(turns, count, &whole);
		expand(cut, used, &parts);
		for (size_t i = 0; i < whole.count; i++) {
			seen += whole.at[i].kind == SCHED_TURN_RUN;
			if (seen > to)
				break;
			assert_true(k < parts.count);
			assert_int_equal(parts.at[k].name, whole.at[i].name);
			assert_int_equal(parts.at[k].kind, whole.at[i].kind);
			k++;
		}
		assert_int_equal(k, parts.count);
	}
}

static void test_possible(void **state)
{
	static const struct sched_turn turns[] = {
		{ .name = 1, .steps = 3 }, { .name = 2, .kind = SCHED_TURN_WAKE },
		{ .name = 1, .steps = 2 }, { .name = 2, .kind = SCHED_TURN_EXPIRE },
		{ .name = 2, .steps = 4 },
	};
	static const bool possible[] = {
		true, true, true, true, true, false, true, true, true, true
	};

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(snapshots_possible(&(struct snapshots_point){ turns, 5, i }),
				 possible[i]);
	assert_false(snapshots_possible(&(struct snapshots_point){ turns, 5, 10 }));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts), cmocka_unit_test(test_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
