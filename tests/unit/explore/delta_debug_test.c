/*
 * Tests delta_debug.h on failing interleavings of simulated programs. Answers are worked out by
 * hand, or are the fewest switches of all failing runs (reference/interleavings.h).
 */
#include "sched_sim.h"
#include "explore/bug/delta_debug.h"
#include "sched/loose.h"
#include "reference/interleavings.h"

#define VALUE 3u	/* the object that counts */
#define LOCK 1u

/* A program whose threads increment a value by a read and a write: updates may be lost. */
static void tellers(struct sim_program *p, unsigned threads, unsigned deposits, bool locked)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 1; t <= threads; t++) {
		sim_add(p, 0, SCHED_OP_CREATE, t);
		for (unsigned i = 0; i < 2 * deposits; i++) {
			if (locked)
				sim_add(p, t, SCHED_OP_ACQUIRE, LOCK);
			sim_add(p, t, i % 2 ? SCHED_OP_WRITE : SCHED_OP_READ, VALUE);
			if (locked)
				sim_add(p, t, SCHED_OP_RELEASE, LOCK);
		}
		p->thread[t].late = true;
	}
	for (unsigned t = 1; t <= threads; t++)
		sim_add(p, 0, SCHED_OP_JOIN, t);
}

/* Number of lost updates in a run. */
static unsigned lost(const struct sim_result *r)
{
	unsigned value = 0, writes = 0, seen[SIM_THREADS] = { 0 };

	for (unsigned i = 0; i < r->steps; i++) {
		if (r->event[i].object != VALUE)
			continue;
		if (r->event[i].op == SCHED_OP_READ)
			seen[r->thread[i]] = value;
		if (r->event[i].op == SCHED_OP_WRITE) {
			value = seen[r->thread[i]] + 1;
			writes++;
		}
	}
	return writes - value;
}

struct target {
	const struct sim_program *program;
	struct sim_result last, best;
	struct sched_turn turns[SIM_STEPS];
	unsigned runs;
	unsigned stop_after;	/* number of runs after which should_stop() is true; 0: never */
};

static size_t turns_of(const struct sim_result *r, struct sched_turn *turns)
{
	for (unsigned i = 0; i < r->steps; i++)
		turns[i] = (struct sched_turn){ .name = r->end.name[r->thread[i]], .steps = 1 };
	return delta_debug_positions(turns, r->steps);
}

static bool fails(void *ctx, const struct sched_turn *turns, size_t count,
		  struct delta_debug_run *got)
{
	struct target *t = ctx;
	struct {
		struct sched_plan head;
		struct sched_turn turns[SIM_STEPS];
	} plan = { .head = { .turns = count } };
	struct loose_result loose;
	struct sim_search search;

	memcpy(plan.turns, turns, count * sizeof(*turns));
	t->runs++;
	sim_open(&search, "loose", (struct sched_params){ .plan = &plan });
	sim_next(&search, t->program, &t->last);
	loose_result(search.state, &loose);
	sim_close(&search);
	*got = (struct delta_debug_run){ .turns = t->turns, .count = turns_of(&t->last, t->turns),
				    .switches = loose.switches, .preemptions = loose.preemptions };
	return lost(&t->last) > 0;
}

static void keep(void *ctx, const struct delta_debug_run *got)
{
	struct target *t = ctx;

	(void)got;
	t->best = t->last;
}

static bool should_stop(void *ctx)
{
	const struct target *t = ctx;

	return t->stop_after && t->runs >= t->stop_after;
}

/* Minimises the run that the strategy `random` makes with this seed; false if it does not fail. */
static bool shrink(const struct sim_program *p, uint64_t seed, struct target *t, unsigned most,
		   struct delta_debug_result *out)
{
	struct delta_debug_config config = { .fails = fails,
					     .keep = keep,
					     .should_stop = should_stop,
					     .ctx = t,
					     .most = most,
					     .thorough = true };
	struct sched_turn turns[SIM_STEPS];
	static struct sim_result r;
	struct sim_search search;

	sim_open(&search, "random", (struct sched_params){ .seed = seed, .switch_permille = 300 });
	sim_next(&search, p, &r);
	sim_close(&search);
	if (!lost(&r))
		return false;
	*t = (struct target){ .program = p, .stop_after = t->stop_after };
	delta_debug_turns(&config, turns, turns_of(&r, turns), out);
	assert_true(out->reproduced);
	assert_int_equal(out->runs, t->runs);
	assert_true(out->runs <= most && out->switches <= out->from);
	assert_true(lost(&t->best) > 0);
	return true;
}

/*
 * The smallest run with a lost update runs main, A, B, A, main: four switches. Only the switch from
 * A to B is a preemption.
 */
static void test_bank(void **state)
{
	static struct target t;
	unsigned failing = 0;

	(void)state;
	for (unsigned deposits = 1; deposits < 4; deposits++)
		for (int locked = 0; locked < 2; locked++)
			for (uint64_t seed = 1; seed <= 60; seed++) {
				struct sim_program p;
				struct delta_debug_result result;

				tellers(&p, 2, deposits, locked);
				if (!shrink(&p, seed, &t, 400, &result))
					continue;
				failing++;
				assert_int_equal(result.switches, 4);
				assert_int_equal(result.preemptions, 1);
			}
	assert_true(failing > 100);
}

/* The limit of runs is kept, and should_stop() ends the search. */
static void test_limits(void **state)
{
	static struct target t;
	struct delta_debug_result result;
	struct sim_program p;
	unsigned failing = 0;

	(void)state;
	tellers(&p, 3, 2, true);
	for (uint64_t seed = 1; seed <= 40; seed++)
		for (unsigned most = 1; most < 12; most += 5) {
			t.stop_after = 0;
			if (!shrink(&p, seed, &t, most, &result))
				continue;
			failing++;
			if (most == 1)
				assert_int_equal(result.switches, result.from);
			t.stop_after = most;
			assert_true(shrink(&p, seed, &t, 400, &result));
			assert_int_equal(result.runs, most);
		}
	assert_true(failing > 20);
}

static bool never(void *ctx, const struct sched_turn *turns, size_t count,
		  struct delta_debug_run *got)
{
	(void)ctx;
	(void)turns;
	(void)count;
	(void)got;
	return false;
}

static void test_not_again(void **state)
{
	struct delta_debug_config config = { .fails = never, .keep = keep, .most = 10 };
	struct delta_debug_result result;

	(void)state;
	delta_debug_turns(&config, NULL, 0, &result);
	assert_false(result.reproduced);
	assert_int_equal(result.runs, 1);
}

static void random_program(struct sim_program *p, uint64_t *rng)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < 3; t++)
		for (unsigned i = 0; i < 2 + rng_below(rng, 2); i++)
			sim_add(p, t, rng_below(rng, 2) ? SCHED_OP_WRITE : SCHED_OP_READ, VALUE);
}

static void test_against_all_runs(void **state)
{
	uint64_t rng = 5;
	unsigned failing = 0, fewer = 0;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		static struct target t;
		static struct sim_result r;
		struct delta_debug_result result;
		struct sim_program p;
		struct sim first;
		unsigned least;

		random_program(&p, &rng);
		if (!shrink(&p, i, &t, 400, &result))
			continue;
		memset(&r, 0, sizeof(r));
		sim_init(&first, &p);
		least = fewest_switches(&first, 0, 0, 99, &r, lost);
		failing++;
		assert_true(result.switches >= least);
		fewer += result.switches > least;
	}
	assert_true(failing > 100);
	/* Changes one at a time may miss the fewest switches, but in at most one of 30 runs. */
	assert_true(fewer * 30 <= failing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bank),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_not_again),
		cmocka_unit_test(test_against_all_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
