/*
 * The strategies that follow a plan: exact and goal.
 */
#include "sched_sim.h"
#include "sched/exact.h"
#include "sched/goal.h"

#define SITE(thread, event) ((thread) * 1000 + (event) + 1)

struct plan {
	struct sched_plan head;
	union {
		struct sched_turn turns[SIM_STEPS];
		struct sched_order orders[64];
	};
};

static void writers(struct sim_program *p, unsigned threads, unsigned steps)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < threads; t++)
		for (unsigned i = 0; i < steps; i++)
			sim_add(p, t, SCHED_OP_WRITE, 1);
}

/* A run as turns, as short as can be or a step each. */
static void plan_of(struct plan *plan, const struct sim_result *r, bool joined)
{
	memset(plan, 0, sizeof(*plan));
	for (unsigned i = 0; i < r->steps; i++) {
		uint64_t name = r->end.name[r->thread[i]];
		struct sched_turn *last = plan->turns + plan->head.turns - 1;

		if (joined && plan->head.turns && last->name == name)
			last->steps++;
		else
			plan->turns[plan->head.turns++] =
				(struct sched_turn){ .name = name, .steps = 1 };
	}
}

static void check_replay(const struct sim_program *p, const struct sim_result *r, bool joined)
{
	struct sim_search search;
	struct sim_result again;
	struct plan plan;
	uint64_t turn;

	plan_of(&plan, r, joined);
	sim_open(&search, "exact", (struct sched_params){ .plan = &plan });
	for (unsigned i = 0; i < 2; i++) {
		sim_next(&search, p, &again);
		assert_false(exact_lost(search.state, &turn));
		assert_true(exact_done(search.state));
		assert_int_equal(again.steps, r->steps);
		assert_memory_equal(again.thread, r->thread, sizeof(r->thread));
		assert_true(again.trace == r->trace && again.stuck == r->stuck);
	}
	sim_close(&search);
}

static void test_exact_repeats_any_strategy(void **state)
{
	uint64_t rng = 9;

	(void)state;
	for (size_t i = 0; strategies[i]; i++) {
		for (unsigned k = 0; k < 40; k++) {
			struct sim_search search;
			struct sim_program p;
			struct sim_result r;

			sim_random_program(&p, &rng, 2 + k % 3, 8, k % 2);
			sim_open(&search, strategies[i]->name, (struct sched_params){ .seed = k });
			for (unsigned run = 0; run < 3; run++) {
				bool more = sim_next(&search, &p, &r);

				check_replay(&p, &r, run % 2);
				if (!more)
					break;
			}
			sim_close(&search);
		}
	}
}

static void test_exact_goes_on_after_the_plan(void **state)
{
	struct plan plan = { .head = { .turns = 2 } };
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;
	uint64_t turn;

	(void)state;
	writers(&p, 2, 4);
	plan.turns[0] = (struct sched_turn){ .name = SCHED_MAIN, .steps = 1 };
	plan.turns[1] = (struct sched_turn){ .name = sched_child_name(SCHED_MAIN, 1), .steps = 2 };
	sim_open(&search, "exact", (struct sched_params){ .plan = &plan });
	sim_next(&search, &p, &r);
	assert_string_equal(sim_text(&r), "01111000");
	assert_false(exact_lost(search.state, &turn));
	sim_close(&search);
}

static void check_lost(const struct sim_program *p, struct plan *plan, uint64_t at)
{
	struct sim_search search;
	struct sim_result r;
	uint64_t turn = 99;

	sim_open(&search, "exact", (struct sched_params){ .plan = plan });
	sim_next(&search, p, &r);
	assert_true(exact_lost(search.state, &turn));
	assert_int_equal(turn, at);
	search.strategy->begin(search.state, &search.run);
	assert_false(exact_lost(search.state, &turn));
	sim_close(&search);
}

static void test_exact_knows_when_it_is_lost(void **state)
{
	uint64_t child = sched_child_name(SCHED_MAIN, 1);
	struct plan plan = { .head = { .turns = 3 } };
	struct sim_program p = { 0 };

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		sim_add(&p, t, SCHED_OP_ACQUIRE, 10);
		sim_add(&p, t, SCHED_OP_RELEASE, 10);
	}
	/* The child cannot have the lock now. */
	plan.turns[0] = (struct sched_turn){ .name = SCHED_MAIN, .steps = 1 };
	plan.turns[1] = (struct sched_turn){ .name = child, .steps = 1 };
	check_lost(&p, &plan, 1);
	/* main has but two steps. */
	plan.turns[0].steps = 3;
	check_lost(&p, &plan, 0);
	/* Nobody has this name. */
	plan.turns[0] = (struct sched_turn){ .name = 4711, .steps = 1 };
	check_lost(&p, &plan, 0);
	/* Nobody took the time-out. */
	plan.turns[0] = (struct sched_turn){ .name = SCHED_MAIN, .steps = 2 };
	plan.turns[1] = (struct sched_turn){ .name = child, .kind = SCHED_TURN_EXPIRE };
	check_lost(&p, &plan, 1);
}

static void pick_at(const struct sim_search *search, uint64_t step, uint32_t running,
		    struct sched_choice *choice)
{
	static const uint32_t both[] = { 0, 1 };
	static const uint64_t names[] = { SCHED_MAIN, 5 };
	static const struct sched_event pending[2];

	search->strategy->pick(search->state, &(struct sched_point){
		.step = step, .running = running, .runs = true, .runnable = both, .count = 2,
		.threads = 2, .pending = pending, .name = names }, choice);
}

/* main 5 steps, its signal wakes the other, a time-out, the other 2 steps, and 1 more. */
static void test_exact_turns_of_other_kinds(void **state)
{
	struct plan plan = { .head = { .turns = 5 }, .turns = {
		{ .name = SCHED_MAIN, .steps = 5 },
		{ .name = 5, .kind = SCHED_TURN_WAKE },
		{ .name = 5, .kind = SCHED_TURN_EXPIRE },
		{ .name = 5, .steps = 2 },
		{ .name = 5, .steps = 1 } } };
	struct sched_choice choice;
	struct sim_search search;
	uint64_t turn;

	(void)state;
	sim_open(&search, "exact", (struct sched_params){ .plan = &plan });
	search.strategy->begin(search.state, &search.run);
	assert_ptr_equal(exact_due(search.state, 0), &plan.turns[0]);
	pick_at(&search, 0, 0, &choice);
	assert_int_equal(choice.thread, 0);
	assert_int_equal(choice.steps, 5);
	/* Asked early: the turn goes on, and what follows it is not due. */
	assert_null(exact_due(search.state, 3));
	assert_int_equal(exact_wants(search.state, 3), SCHED_MAIN);
	assert_int_equal(exact_wants(search.state, 5), 0);
	pick_at(&search, 3, 0, &choice);
	assert_int_equal(choice.thread, 0);
	assert_int_equal(choice.steps, 2);
	assert_null(exact_due(search.state, 4));
	/* In the last step the signal finds its turn. */
	assert_ptr_equal(exact_peek(search.state), &plan.turns[1]);
	exact_advance(search.state);
	assert_ptr_equal(exact_due(search.state, 5), &plan.turns[2]);
	exact_advance(search.state);
	assert_int_equal(exact_wants(search.state, 5), 5);
	pick_at(&search, 5, 0, &choice);
	assert_int_equal(choice.thread, 1);
	assert_int_equal(choice.steps, 2);
	pick_at(&search, 7, 1, &choice);
	assert_int_equal(choice.thread, 1);
	assert_int_equal(choice.steps, 1);
	assert_true(exact_done(search.state));
	assert_null(exact_peek(search.state));
	assert_false(exact_lost(search.state, &turn));
	sim_close(&search);
}

static struct sched_name name_of(unsigned thread, unsigned event)
{
	return (struct sched_name){ thread ? sched_child_name(SCHED_MAIN, thread) : SCHED_MAIN,
				    SITE(thread, event), 1 };
}

static unsigned when(const struct sim_result *r, uint64_t site)
{
	for (unsigned i = 0; i < r->steps; i++)
		if (r->event[i].site == site)
			return i;
	fail_msg("site %llu was not reached", (unsigned long long)site);
	return 0;
}

static void test_goal_forces_the_orders(void **state)
{
	struct plan plan = { .head = { .orders = 2 }, .orders = {
		{ name_of(1, 5), name_of(0, 2) },	/* late in one, early in the other */
		{ name_of(0, 3), name_of(2, 0) } } };
	struct goal_result result;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 3, 8);
	for (unsigned seed = 0; seed < 300; seed++) {
		struct sim_search search;

		sim_open(&search, "goal", (struct sched_params){
			.seed = seed, .depth = seed % 3, .plan = &plan });
		sim_next(&search, &p, &r);
		assert_int_equal(r.steps, 24);
		assert_true(when(&r, SITE(1, 5)) < when(&r, SITE(0, 2)));
		assert_true(when(&r, SITE(0, 3)) < when(&r, SITE(2, 0)));
		goal_result(search.state, &result);
		assert_int_equal(result.orders, 2);
		assert_int_equal(result.met, 2);
		assert_int_equal(result.kept, 2);
		assert_false(result.infeasible || result.truncated);
		sim_close(&search);
	}
}

/* The third time main is at a site, any thread at another. */
static void test_goal_counts(void **state)
{
	struct plan plan = { .head = { .orders = 1 }, .orders = {
		{ { SCHED_MAIN, 77, 3 }, { 0, 88, 2 } } } };
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 2, 5);
	for (unsigned i = 0; i < 5; i++) {
		p.thread[0].event[i].site = 77;
		p.thread[1].event[i].site = 88;
	}
	for (unsigned seed = 0; seed < 100; seed++) {
		struct sim_search search;
		unsigned third = 0, second = 0, seen[2] = { 0, 0 };

		sim_open(&search, "goal", (struct sched_params){ .seed = seed, .plan = &plan });
		sim_next(&search, &p, &r);
		for (unsigned i = 0; i < r.steps; i++) {
			seen[r.thread[i]]++;
			if (r.thread[i] == 0 && seen[0] == 3)
				third = i;
			if (r.thread[i] == 1 && seen[1] == 2)
				second = i;
		}
		assert_true(third < second);
		sim_close(&search);
	}
}

/* Each waits for the other: one order has to be given up, and the run ends. */
static void test_goal_that_cannot_be(void **state)
{
	struct plan plan = { .head = { .orders = 2 }, .orders = {
		{ name_of(0, 1), name_of(1, 0) },
		{ name_of(1, 1), name_of(0, 0) } } };
	struct goal_result result;
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 2, 3);
	sim_open(&search, "goal", (struct sched_params){ .seed = 1, .plan = &plan });
	for (unsigned i = 0; i < 10; i++) {
		sim_next(&search, &p, &r);
		assert_int_equal(r.steps, 6);
		goal_result(search.state, &result);
		assert_true(result.infeasible);
		assert_int_equal(result.met, 1);
		assert_int_equal(result.kept, 1);
	}
	sim_close(&search);
}

/* Thread 1 spins until thread 0 has written, which is to come after what 1 does then. */
static void test_goal_of_one_who_spins(void **state)
{
	struct plan plan = { .head = { .orders = 1 }, .orders = { { name_of(1, 1), name_of(0, 0) } } };
	struct sim_program p = { 0 };
	struct goal_result result;
	struct sim_search search;
	struct sim_result r;

	(void)state;
	sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add_spin(&p, 1, 1);
	sim_add(&p, 1, SCHED_OP_WRITE, 2);
	sim_open(&search, "goal", (struct sched_params){ .seed = 1, .plan = &plan });
	for (unsigned i = 0; i < 10; i++) {
		sim_next(&search, &p, &r);
		assert_false(r.endless);
		goal_result(search.state, &result);
		assert_true(result.infeasible);
		assert_int_equal(result.met, 0);
	}
	sim_close(&search);
}

/* The last step of the run completes the order; nobody asks after it. */
static void test_goal_met_at_the_end(void **state)
{
	struct plan plan = { .head = { .orders = 1 }, .orders = { { name_of(0, 0), name_of(1, 0) } } };
	struct goal_result result;
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 2, 1);
	sim_open(&search, "goal", (struct sched_params){ .plan = &plan });
	sim_next(&search, &p, &r);
	assert_string_equal(sim_text(&r), "01");
	goal_result(search.state, &result);
	assert_int_equal(result.met, 1);
	sim_close(&search);
}

/* The run ends with the first event, before the second: kept, though not met. */
static void test_goal_kept(void **state)
{
	struct plan plan = { .head = { .orders = 2 }, .orders = {
		{ name_of(0, 0), name_of(1, 3) }, { name_of(0, 7), name_of(1, 0) } } };
	struct goal_result result;
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 1, 1);
	sim_open(&search, "goal", (struct sched_params){ .plan = &plan });
	sim_next(&search, &p, &r);
	assert_string_equal(sim_text(&r), "0");
	goal_result(search.state, &result);
	assert_int_equal(result.met, 0);
	assert_int_equal(result.kept, 1);
	sim_close(&search);
}

static void test_goal_continuations(void **state)
{
	struct plan plan = { .head = { .orders = 1 }, .orders = { { name_of(1, 0), name_of(0, 0) } } };
	struct sim_program p;
	struct sim_result r;
	bool mixed = false;

	(void)state;
	writers(&p, 2, 8);
	for (unsigned seed = 0; seed < 100; seed++) {
		for (uint32_t then = GOAL_RUN_ON; then <= GOAL_RANDOM; then++) {
			struct sim_search search;
			unsigned met, switches = 0;

			sim_open(&search, "goal", (struct sched_params){
				.seed = seed, .plan = &plan, .depth = then });
			sim_next(&search, &p, &r);
			met = when(&r, SITE(0, 0));
			for (unsigned i = met + 1; i < r.steps; i++)
				switches += r.thread[i] != r.thread[i - 1];
			if (then == GOAL_RUN_ON)
				assert_int_equal(r.thread[met + 1], 0);
			if (then == GOAL_SWITCH && when(&r, SITE(1, 7)) > met)
				assert_int_equal(r.thread[met + 1], 1);
			if (then != GOAL_RANDOM)
				assert_in_range(switches, 0, 1 + then);
			mixed |= then == GOAL_RANDOM && switches > 2;
			sim_close(&search);
		}
	}
	assert_true(mixed);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_repeats_any_strategy),
		cmocka_unit_test(test_exact_goes_on_after_the_plan),
		cmocka_unit_test(test_exact_knows_when_it_is_lost),
		cmocka_unit_test(test_exact_turns_of_other_kinds),
		cmocka_unit_test(test_goal_forces_the_orders),
		cmocka_unit_test(test_goal_counts),
		cmocka_unit_test(test_goal_that_cannot_be),
		cmocka_unit_test(test_goal_of_one_who_spins),
		cmocka_unit_test(test_goal_met_at_the_end),
		cmocka_unit_test(test_goal_kept),
		cmocka_unit_test(test_goal_continuations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
