/*
 * Strategies that draw threads or numbers of steps (random, delay, pct-large), and round robin.
 * Fixed seeds make all measured values reproducible.
 */
#include "sched_sim.h"

static const uint32_t both[] = { 0, 1 };
static const uint64_t names[] = { SCHED_MAIN, 5 };
static const struct sched_event nothing[2] = { { .op = SCHED_OP_OTHER }, { .op = SCHED_OP_OTHER } };

/* Two threads that can always run. */
static struct sched_point two_threads(uint64_t step, uint32_t running)
{
	return (struct sched_point){ .step = step, .running = running, .runs = true,
				     .runnable = both, .count = 2, .threads = 2,
				     .pending = nothing, .name = names };
}

static void writers(struct sim_program *p, unsigned threads, unsigned steps)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < threads; t++)
		for (unsigned i = 0; i < steps; i++)
			sim_add(p, t, SCHED_OP_WRITE, 1);
}

static void test_random_runs_are_geometric(void **state)
{
	static const unsigned draws = 20000;

	(void)state;
	for (uint32_t permille = 20; permille <= 1000; permille *= 7) {
		uint64_t sum = 0, ones = 0, longer = 0, step = 0;
		double q = permille == 980 ? 1 : permille / 1000.0, stay = 1;
		struct sim_search search;
		uint32_t running = 0;

		if (permille == 980)
			permille = 1000;
		sim_open(&search, "random",
			 (struct sched_params){ .seed = 3, .switch_permille = permille });
		search.strategy->begin(search.state, &search.run);
		for (unsigned i = 0; i < draws; i++) {
			struct sched_point point = two_threads(step, running);
			struct sched_choice choice;

			search.strategy->pick(search.state, &point, &choice);
			if (i)
				assert_int_equal(choice.thread, 1 - running);
			running = choice.thread;
			step += choice.steps;
			sum += choice.steps;
			ones += choice.steps == 1;
			longer += choice.steps > 5;
		}
		for (unsigned i = 0; i < 5; i++)
			stay *= 1 - q;
		assert_true(sum * q > draws * 0.97 && sum * q < draws * 1.03);
		assert_true(ones > draws * (q - 0.01) && ones < draws * (q + 0.01));
		assert_true(longer >= draws * (stay - 0.01) && longer < draws * (stay + 0.01));
		sim_close(&search);
	}
}

static void test_random_keeps_its_target_when_asked_early(void **state)
{
	struct sim_search search;
	struct sched_choice first, again;
	struct sched_point point = two_threads(0, 0);

	(void)state;
	sim_open(&search, "random", (struct sched_params){ .seed = 1, .switch_permille = 1 });
	search.strategy->begin(search.state, &search.run);
	search.strategy->pick(search.state, &point, &first);
	assert_true(first.steps > 10);
	point = two_threads(7, first.thread);
	search.strategy->pick(search.state, &point, &again);
	assert_int_equal(again.thread, first.thread);
	assert_int_equal(again.steps, first.steps - 7);
	point.yields = true;
	search.strategy->pick(search.state, &point, &again);
	assert_int_equal(again.thread, 1 - first.thread);
	sim_close(&search);
}

static void test_round_robin(void **state)
{
	static const char *const wanted[] = { "01010101", "00110011", "00011101", "00001111" };
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 2, 4);
	sim_open(&search, "roundrobin", (struct sched_params){ 0 });
	for (unsigned i = 0; i < 4; i++) {
		bool more = sim_next(&search, &p, &r);

		assert_string_equal(sim_text(&r), wanted[i]);
		assert_int_equal(more, i < 3);	/* the quantum of 4 was not used up */
	}
	sim_close(&search);
	writers(&p, 3, 2);
	sim_open(&search, "roundrobin", (struct sched_params){ 0 });
	assert_true(sim_next(&search, &p, &r));
	assert_string_equal(sim_text(&r), "012012");
	sim_close(&search);
}

/* A thread that is blocked by a lock is skipped, and has its turn when it can run. */
static void test_round_robin_passes_over_the_blocked(void **state)
{
	struct sim_program p = { 0 };
	struct sim_search search;
	struct sim_result r;

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		sim_add(&p, t, SCHED_OP_ACQUIRE, 10);
		sim_add(&p, t, SCHED_OP_WRITE, 1);
		sim_add(&p, t, SCHED_OP_RELEASE, 10);
	}
	sim_add(&p, 2, SCHED_OP_WRITE, 2);
	sim_add(&p, 2, SCHED_OP_WRITE, 2);
	sim_open(&search, "roundrobin", (struct sched_params){ 0 });
	sim_next(&search, &p, &r);
	assert_string_equal(sim_text(&r), "02020111");
	sim_close(&search);
}

/* A delay of one step before every step but the first: the threads alternate. */
static void test_delay_at_every_step(void **state)
{
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;

	(void)state;
	writers(&p, 2, 3);
	sim_open(&search, "delay", (struct sched_params){ .switch_permille = 1000 });
	for (unsigned i = 0; i < 5; i++) {
		sim_next(&search, &p, &r);
		assert_string_equal(sim_text(&r), "010101");
	}
	sim_close(&search);
}

/* Delays of the only thread end at once; without delays there are no preemptions. */
static void test_delay_ends(void **state)
{
	struct sim_search search;
	struct sim_program p;
	struct sim_result r;
	unsigned undisturbed = 0;

	(void)state;
	writers(&p, 1, 20);
	sim_open(&search, "delay", (struct sched_params){ .switch_permille = 500 });
	sim_next(&search, &p, &r);
	assert_int_equal(r.steps, 20);
	sim_close(&search);
	writers(&p, 2, 10);
	sim_open(&search, "delay", (struct sched_params){ .switch_permille = 1 });
	for (unsigned i = 0; i < 100; i++) {
		sim_next(&search, &p, &r);
		undisturbed += strcmp(sim_text(&r), "00000000001111111111") == 0;
	}
	/* The first delay is anywhere in 1 to 1999, so 9 or fewer steps have a chance of 0.5 %. */
	assert_in_range(undisturbed, 96, 100);
	sim_close(&search);
}

/* The delayed thread goes on when its time is over, not later; delays are of 1 to 19 steps. */
static void test_delay_is_limited(void **state)
{
	struct sim_search search;
	uint64_t step = 0, turns = 0;
	uint32_t running = 0;

	(void)state;
	sim_open(&search, "delay", (struct sched_params){ .seed = 2, .switch_permille = 100 });
	search.strategy->begin(search.state, &search.run);
	for (uint64_t since = 0; step < 10000; turns++) {
		struct sched_point point = two_threads(step, running);
		struct sched_choice choice;

		search.strategy->pick(search.state, &point, &choice);
		if (choice.thread != running)
			since = step;
		running = choice.thread;
		step += choice.steps;
		assert_true(step - since <= 2 * 19);
	}
	assert_in_range(turns, 700, 3000);
	sim_close(&search);
}

/* Counts steps of thread 0 among the first 20,000, and switches. */
static unsigned share_of_first(const char *name, uint64_t seed, uint32_t depth, unsigned *switches)
{
	struct sim_search search;
	uint32_t running = 0;
	unsigned share = 0;

	*switches = 0;
	sim_open(&search, name, (struct sched_params){ .seed = seed, .depth = depth });
	search.run.length = 20000;
	search.strategy->begin(search.state, &search.run);
	for (uint64_t step = 0; step < 20000;) {
		struct sched_point point = two_threads(step, running);
		struct sched_choice choice;

		search.strategy->pick(search.state, &point, &choice);
		if (choice.steps > 20000 - step)
			choice.steps = 20000 - step;
		*switches += choice.thread != running;
		running = choice.thread;
		step += choice.steps;
		share += choice.thread == 0 ? (unsigned)choice.steps : 0;
	}
	sim_close(&search);
	return share;
}

/* With pct one thread takes all steps; with pct-large both make progress. */
static void test_pct_large_starves_no_thread(void **state)
{
	unsigned switches, uneven = 0, dropped = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		unsigned share = share_of_first("pct", seed, 1, &switches);

		assert_true(share == 0 || share == 20000);
		share = share_of_first("pct-large", seed, 1, &switches);
		assert_true(switches >= 5);
		assert_in_range(share, 20, 19980);
		uneven += share < 5000 || share > 15000;
		/* After many drops both threads are at the lowest level, and have equal shares. */
		share = share_of_first("pct-large", seed, SCHED_MAX_DEPTH, &switches);
		dropped += share < 5000 || share > 15000;
	}
	assert_in_range(uneven, 30, 80);
	assert_in_range(dropped, 0, 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_runs_are_geometric),
		cmocka_unit_test(test_random_keeps_its_target_when_asked_early),
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_round_robin_passes_over_the_blocked),
		cmocka_unit_test(test_delay_at_every_step),
		cmocka_unit_test(test_delay_ends),
		cmocka_unit_test(test_delay_is_limited),
		cmocka_unit_test(test_pct_large_starves_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
