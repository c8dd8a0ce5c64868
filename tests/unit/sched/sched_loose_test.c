/*
 * The strategy loose: follows turns where possible.
 */
#include "sched_sim.h"
#include "explore/bug/delta_debug.h"
#include "sched/loose.h"

#define SITE(thread, event) ((thread) * 1000 + (event) + 1)

struct plan {
	struct sched_plan head;
	struct sched_turn turns[SIM_STEPS];
};

static void add_turn(struct plan *plan, uint64_t name, uint64_t until)
{
	plan->turns[plan->head.turns++] = (struct sched_turn){ .name = name, .steps = until };
}

/* Main creates and joins two threads that take four steps each. */
static void two(struct sim_program *p)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 1; t < 3; t++) {
		sim_add(p, 0, SCHED_OP_CREATE, t);
		for (unsigned i = 0; i < 4; i++)
			sim_add(p, t, SCHED_OP_WRITE, 3);
		p->thread[t].late = true;
	}
	sim_add(p, 0, SCHED_OP_JOIN, 1);
	sim_add(p, 0, SCHED_OP_JOIN, 2);
}

static const char *run(const struct sim_program *p, const struct plan *plan,
		       struct loose_result *out)
{
	static struct sim_result r;
	struct sim_search search;

	sim_open(&search, "loose", (struct sched_params){ .plan = plan });
	sim_next(&search, p, &r);
	loose_result(search.state, out);
	sim_close(&search);
	return sim_text(&r);
}

static void test_turns_are_followed_by_position(void **state)
{
	uint64_t one = sched_child_name(SCHED_MAIN, 1), two_ = sched_child_name(SCHED_MAIN, 2);
	struct loose_result result;
	struct plan plan = { 0 };
	struct sim_program p;

	(void)state;
	two(&p);
	/* There are no preemptions. */
	assert_string_equal(run(&p, &plan, &result), "001111" "2222" "00");
	assert_int_equal(result.switches, 3);
	assert_int_equal(result.preemptions, 0);
	/*
	 * The second thread runs up to its third step once it exists, the first up to its second.
	 */
	add_turn(&plan, two_, 3);
	add_turn(&plan, one, 2);
	add_turn(&plan, two_, 4);
	assert_string_equal(run(&p, &plan, &result), "00" "222" "11" "2" "11" "00");
	assert_int_equal(result.switches, 5);
	assert_int_equal(result.preemptions, 2);	/* main waits at its join */
	/* If the turn of a thread is left out, the thread catches up in its next turn. */
	plan.turns[1] = plan.turns[2];
	plan.head.turns = 2;
	assert_string_equal(run(&p, &plan, &result), "00" "2222" "1111" "00");
	/*
	 * A turn whose thread is past its position is skipped; a thread that does not exist is
	 * awaited.
	 */
	plan.head.turns = 0;
	add_turn(&plan, SCHED_MAIN, 1);
	add_turn(&plan, one, 2);
	add_turn(&plan, one, 1);
	add_turn(&plan, SCHED_MAIN, SCHED_NO_LIMIT);
	assert_string_equal(run(&p, &plan, &result), "0" "11" "0" "11" "2222" "00");
	add_turn(&plan, 12345, 1);
	add_turn(&plan, two_, 1);
	assert_string_equal(run(&p, &plan, &result), "0110" "11" "2222" "00");
}

/* The turns of a run, as positions, give that run again. */
static void test_turns_of_a_run_repeat_it(void **state)
{
	struct sim_program p;
	struct sim_search search;
	static struct sim_result r;

	(void)state;
	two(&p);
	sim_open(&search, "random", (struct sched_params){ .seed = 7, .switch_permille = 400 });
	for (unsigned i = 0; i < 200; i++) {
		struct loose_result result;
		struct plan plan = { 0 };
		char text[SIM_STEPS + 1];
		unsigned switches = 0;

		sim_next(&search, &p, &r);
		snprintf(text, sizeof(text), "%s", sim_text(&r));
		for (unsigned k = 0; k < r.steps; k++) {
			add_turn(&plan, r.end.name[r.thread[k]], 1);
			switches += k > 0 && r.thread[k] != r.thread[k - 1];
		}
		plan.head.turns = delta_debug_positions(plan.turns, plan.head.turns);
		assert_int_equal(plan.head.turns, switches + 1);
		assert_string_equal(run(&p, &plan, &result), text);
		assert_int_equal(result.switches, switches);
	}
	sim_close(&search);
}

/* Orders are observed, not enforced. */
static void test_orders_are_observed(void **state)
{
	uint64_t one = sched_child_name(SCHED_MAIN, 1), two_ = sched_child_name(SCHED_MAIN, 2);
	struct {
		struct sched_plan head;
		struct sched_turn turn;
		struct sched_order orders[3];
	} plan = {
		.head = { .turns = 1, .orders = 3 },
		.turn = { .name = one, .steps = 2 },
		.orders = {
			{ .first = { one, SITE(1, 1), 1 }, .second = { two_, SITE(2, 0), 1 } },
			{ .first = { one, SITE(1, 2), 1 }, .second = { one, SITE(1, 1), 1 } },
			{ .first = { two_, SITE(2, 3), 1 }, .second = { 0, 77, 1 } },
		},
	};
	struct loose_result result;
	struct sim_program p;

	(void)state;
	two(&p);
	assert_string_equal(run(&p, (const struct plan *)&plan, &result), "0"
									  "11110022220");
	assert_int_equal(result.orders, 3);
	assert_int_equal(result.kept, 2);
	assert_int_equal(result.broken, 1);
}

static void test_wake_turns_choose_the_waiter(void **state)
{
	const struct strategy *s = strategy_find("loose");
	struct plan plan = { .head = { .turns = 2 },
			     .turns = { { .name = 1, .steps = 9 },
					{ .name = 30, .kind = SCHED_TURN_WAKE } } };
	const uint64_t names[] = { 10, 20, 30 };
	void *l = calloc(1, s->state_size);

	(void)state;
	s->init(l, &(struct sched_params){ .plan = &plan });
	s->begin(l, &(struct sched_run){ 0 });
	assert_int_equal(s->wake(l, names, 2), 0);	/* 30 does not wait here */
	assert_int_equal(s->wake(l, names, 3), 2);
	assert_int_equal(s->wake(l, names, 3), 0);	/* the plan has no further turn */
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns_are_followed_by_position),
		cmocka_unit_test(test_turns_of_a_run_repeat_it),
		cmocka_unit_test(test_orders_are_observed),
		cmocka_unit_test(test_wake_turns_choose_the_waiter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
