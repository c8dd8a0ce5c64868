/*
 * The strategy exact.
 */
#include "sched_plans.h"
#include "sched/exact.h"

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

static void test_exact_continues_after_the_plan(void **state)
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

static void test_exact_reports_divergence(void **state)
{
	uint64_t child = sched_child_name(SCHED_MAIN, 1);
	struct plan plan = { .head = { .turns = 3 } };
	struct sim_program p = { 0 };

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		sim_add(&p, t, SCHED_OP_ACQUIRE, 10);
		sim_add(&p, t, SCHED_OP_RELEASE, 10);
	}
	/* The child cannot get the lock now. */
	plan.turns[0] = (struct sched_turn){ .name = SCHED_MAIN, .steps = 1 };
	plan.turns[1] = (struct sched_turn){ .name = child, .steps = 1 };
	check_lost(&p, &plan, 1);
	/* main has only two steps. */
	plan.turns[0].steps = 3;
	check_lost(&p, &plan, 0);
	/* No thread has this name. */
	plan.turns[0] = (struct sched_turn){ .name = 4711, .steps = 1 };
	check_lost(&p, &plan, 0);
	/* The runtime did not take the turn of the time-out. */
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

/* main: 5 steps, the last a signal that wakes the child; a time-out; the child: 2 steps, then 1. */
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
	/* A pick() in the middle of a turn: the turn goes on, and the next one is not due. */
	assert_null(exact_due(search.state, 3));
	assert_int_equal(exact_wants(search.state, 3), SCHED_MAIN);
	assert_int_equal(exact_wants(search.state, 5), 0);
	pick_at(&search, 3, 0, &choice);
	assert_int_equal(choice.thread, 0);
	assert_int_equal(choice.steps, 2);
	assert_null(exact_due(search.state, 4));
	/* During the last step the signal finds its turn. */
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_repeats_any_strategy),
		cmocka_unit_test(test_exact_continues_after_the_plan),
		cmocka_unit_test(test_exact_reports_divergence),
		cmocka_unit_test(test_exact_turns_of_other_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
