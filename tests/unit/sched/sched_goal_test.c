/*
 * The strategy goal: orders are enforced, counted and given up; turns are followed first.
 */
#include "sched_plans.h"
#include "sched/exact.h"
#include "sched/goal.h"

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
		{ name_of(1, 5), name_of(0, 2) },	/* a late event before an early one */
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

/* Names: the third visit of main to a site, and the first visit of any thread to another. */
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

/* Both orders hold a thread each: one order is given up, and the run ends. */
static void test_goal_gives_up_contradictions(void **state)
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

/* Thread 1 spins until thread 0 writes, but an order wants that write after 1's next event. */
static void test_goal_gives_up_if_a_thread_spins(void **state)
{
	struct plan plan = { .head = { .orders = 1 },
			     .orders = { { name_of(1, 1), name_of(0, 0) } } };
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

/* The last step of the run completes the order; no pick() follows it. */
static void test_goal_met_at_the_end(void **state)
{
	struct plan plan = { .head = { .orders = 1 },
			     .orders = { { name_of(0, 0), name_of(1, 0) } } };
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

/* The run ends after the first event, before the second: the order is kept, but not met. */
static void test_goal_kept_but_not_met(void **state)
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
	struct plan plan = { .head = { .orders = 1 },
			     .orders = { { name_of(1, 0), name_of(0, 0) } } };
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

/* A held thread goes on as soon as its order allows; no other thread's step comes before. */
static void test_goal_releases_held_threads_at_once(void **state)
{
	struct plan plan = { .head = { .orders = 1 },
			     .orders = { { name_of(1, 3), name_of(0, 4) } } };
	struct sim_program p;
	struct sim_result r;
	unsigned waited = 0;

	(void)state;
	writers(&p, 3, 8);
	for (unsigned seed = 0; seed < 200; seed++) {
		struct sim_search search;
		unsigned first;
		bool held = true;

		sim_open(&search, "goal", (struct sched_params){ .seed = seed, .plan = &plan });
		sim_next(&search, &p, &r);
		first = when(&r, SITE(1, 3));
		for (unsigned i = first; i < r.steps; i++)	/* number of this visit */
			held &= r.event[i].site != SITE(0, 3);
		if (held) {
			waited++;
			assert_int_equal(when(&r, SITE(0, 4)), first + 1);
		}
		sim_close(&search);
	}
	assert_in_range(waited, 20, 180);
}

/* GOAL_SWITCH: the other thread comes first although the last one holds a lock that it needs. */
static void test_goal_other_side_first(void **state)
{
	struct plan plan = { .head = { .orders = 1 },
			     .orders = { { name_of(1, 0), name_of(0, 1) } } };
	struct sim_search search;
	struct sim_program p = { 0 };
	struct sim_result r;

	(void)state;
	sim_add(&p, 0, SCHED_OP_ACQUIRE, 10);
	sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add(&p, 0, SCHED_OP_RELEASE, 10);
	for (unsigned i = 0; i < 3; i++)
		sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add(&p, 1, SCHED_OP_WRITE, 1);
	sim_add(&p, 1, SCHED_OP_ACQUIRE, 10);
	sim_add(&p, 1, SCHED_OP_RELEASE, 10);
	sim_add(&p, 1, SCHED_OP_WRITE, 1);
	for (unsigned seed = 0; seed < 50; seed++) {
		unsigned met, released;

		sim_open(&search, "goal", (struct sched_params){
			.seed = seed, .depth = GOAL_SWITCH, .plan = &plan });
		sim_next(&search, &p, &r);
		met = when(&r, SITE(0, 1));
		released = when(&r, SITE(0, 2));
		if (when(&r, SITE(1, 2)) > met) {
			assert_int_equal(released, met + 1);
			assert_true(when(&r, SITE(1, 3)) < when(&r, SITE(0, 3)));
		}
		sim_close(&search);
	}
}

/* A plan with turns and orders. */
struct guided {
	struct sched_plan head;
	union {
		struct sched_turn turns[SIM_STEPS];
		char room[SIM_STEPS * sizeof(struct sched_turn) + 8 * sizeof(struct sched_order)];
	};
};

/* The name of step `at` of a run: thread, site and n-th visit. */
static struct sched_name name_at(const struct sim_result *r, unsigned at)
{
	struct sched_name name = { r->end.name[r->thread[at]], r->event[at].site, 0 };

	for (unsigned i = 0; i <= at; i++)
		name.nth += r->thread[i] == r->thread[at] && r->event[i].site == name.site;
	return name;
}

/* The plan that changes a run: its step `early` is to come after its step `late`. */
static void guided_plan(struct guided *g, const struct sim_result *r, unsigned early, unsigned late)
{
	struct plan turns;

	plan_of(&turns, r, true);
	memset(g, 0, sizeof(*g));
	g->head = (struct sched_plan){ .turns = turns.head.turns, .orders = 1 };
	memcpy(g->turns, turns.turns, sizeof(g->turns[0]) * turns.head.turns);
	((struct sched_order *)(g->turns + turns.head.turns))[0] =
		(struct sched_order){ name_at(r, late), name_at(r, early) };
}

/* Draws two steps of different threads. False: none were found. */
static bool two_steps(const struct sim_result *r, uint64_t *rng, unsigned *early, unsigned *late)
{
	*early = (unsigned)rng_below(rng, r->steps);
	*late = (unsigned)rng_below(rng, r->steps);
	return *early < *late && r->thread[*early] != r->thread[*late];
}

/* A strategy that repeats a run up to a step, then continues with goal, as from a snapshot. */
static struct {
	const struct sim_result *before;
	uint64_t at;
	void *goal;
} middle;

static void middle_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	(void)state;
	if (point->step >= middle.at) {
		strategy_find("goal")->pick(middle.goal, point, out);
		return;
	}
	*out = (struct sched_choice){ middle.before->thread[point->step], 1 };
}

static void check_middle(const struct sim_program *p, const struct sim_result *before,
			 const struct sim_result *whole, const void *state, uint32_t seed)
{
	const struct strategy strategy = { .name = "middle", .pick = middle_pick };
	struct plan plan = { .head = { .orders = 1 } };
	struct sim_search goal;
	struct sim_result r;

	assert_true(goal_rest(state, 1, &middle.at, plan.orders));
	sim_open(&goal, "goal",
		 (struct sched_params){ .seed = seed, .depth = seed % 3, .plan = &plan });
	goal.strategy->begin(goal.state, &goal.run);
	middle.before = before;
	middle.goal = goal.state;
	sim_drive(&strategy, NULL, p, &r);
	assert_int_equal(r.steps, whole->steps);
	assert_memory_equal(r.thread, whole->thread, r.steps * sizeof(r.thread[0]));
	sim_close(&goal);
}

/*
 * Up to the event that is held, the run equals the one that the plan's turns come from. A run from
 * a snapshot at this point equals this run.
 */
static void test_goal_follows_a_run_first(void **state)
{
	unsigned left = 0, met = 0, tried = 0;
	uint64_t rng = 4;

	(void)state;
	for (uint32_t k = 0; k < 3000; k++) {
		struct sim_search search;
		struct sim_result before, r;
		struct goal_result result;
		struct sim_program p;
		struct guided plan;
		unsigned early, late;

		sim_random_program(&p, &rng, 2 + k % 3, 10, false);
		sim_open(&search, "random",
			 (struct sched_params){ .seed = k, .switch_permille = 50 });
		sim_next(&search, &p, &before);
		sim_close(&search);
		if (!two_steps(&before, &rng, &early, &late))
			continue;
		tried++;
		guided_plan(&plan, &before, early, late);
		sim_open(&search, "goal",
			 (struct sched_params){ .seed = k, .depth = k % 3, .plan = &plan });
		sim_next(&search, &p, &r);
		for (unsigned i = 0; i < early; i++)
			assert_int_equal(r.thread[i], before.thread[i]);
		goal_result(search.state, &result);
		met += result.met;
		left++;
		check_middle(&p, &before, &r, search.state, k);
		sim_close(&search);
	}
	assert_true(tried > 500 && left == tried && met > tried / 2);
}

/* The run does not follow turns that are impossible, but still enforces the orders. */
static void test_goal_keeps_orders_after_divergence(void **state)
{
	struct guided plan = { .head = { .turns = 2, .orders = 1 } };
	struct goal_result result;
	struct sim_search search;
	struct sched_order rest[1];
	struct sim_program p;
	struct sim_result r;
	uint64_t at;

	(void)state;
	writers(&p, 2, 4);
	plan.turns[0] = (struct sched_turn){ .name = SCHED_MAIN, .steps = 2 };
	plan.turns[1] = (struct sched_turn){ .name = 4711, .steps = 1 };
	((struct sched_order *)(plan.turns + 2))[0] =
		(struct sched_order){ name_of(1, 3), name_of(0, 3) };
	sim_open(&search, "goal", (struct sched_params){ .plan = &plan });
	sim_next(&search, &p, &r);
	assert_int_equal(r.thread[0] + r.thread[1], 0);
	assert_true(when(&r, SITE(1, 3)) < when(&r, SITE(0, 3)));
	goal_result(search.state, &result);
	assert_int_equal(result.met, 1);
	assert_false(goal_rest(search.state, 1, &at, rest));
	sim_close(&search);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goal_forces_the_orders),
		cmocka_unit_test(test_goal_counts),
		cmocka_unit_test(test_goal_gives_up_contradictions),
		cmocka_unit_test(test_goal_gives_up_if_a_thread_spins),
		cmocka_unit_test(test_goal_met_at_the_end),
		cmocka_unit_test(test_goal_kept_but_not_met),
		cmocka_unit_test(test_goal_continuations),
		cmocka_unit_test(test_goal_releases_held_threads_at_once),
		cmocka_unit_test(test_goal_other_side_first),
		cmocka_unit_test(test_goal_follows_a_run_first),
		cmocka_unit_test(test_goal_keeps_orders_after_divergence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
