/*
 * Strategies with guaranteed probabilities: PCT, POS, SURW. Fixed seeds make all measured values
 * reproducible.
 */
#include "sched_sim.h"

#define SEEDS 10000u
#define TOY_THREADS 3u
#define TOY_STEPS 14u

/* Three threads. The third has no effect, nor have steps on a thread's own object. */
static void toy(struct sim_program *p)
{
	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < 3; i++) {
		sim_add(p, 0, SCHED_OP_WRITE, 2);
		sim_add(p, 0, SCHED_OP_WRITE, 1);
		sim_add(p, 1, SCHED_OP_WRITE, 3);
		if (i < 2)
			sim_add(p, 1, SCHED_OP_WRITE, 1);
		sim_add(p, 2, SCHED_OP_WRITE, 4);
	}
}

/* Threads that wrote object 1, in order, as digits. */
static const char *order(const struct sim_result *r)
{
	static char text[SIM_STEPS + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < r->steps; i++)
		if (r->event[i].object == 1)
			text[n++] = (char)('0' + r->thread[i]);
	text[n] = 0;
	return text;
}

/* Number of runs, of SEEDS by pct with this depth, whose writes begin as `wanted`. */
static unsigned pct_hits(uint32_t depth, const char *wanted)
{
	struct sim_program p;
	struct sim_result r;
	unsigned hits = 0;

	toy(&p);
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct sim_search search;

		sim_open(&search, "pct", (struct sched_params){ .seed = seed, .depth = depth });
		search.run.length = TOY_STEPS;
		sim_next(&search, &p, &r);
		assert_int_equal(r.steps, TOY_STEPS);
		hits += strncmp(order(&r), wanted, strlen(wanted)) == 0;
		sim_close(&search);
	}
	return hits;
}

/*
 * Let a1, a2, a3 be the writes of thread 0, and b1, b2 those of thread 1. The order b1 < a1 has
 * depth 1, a1 < b1 < a2 has depth 2, a1 < b1 < a2 < b2 has depth 3.
 */
static void test_pct_keeps_its_promise(void **state)
{
	static const char *const bug[] = { NULL, "1", "01", "010" };
	uint64_t promise = TOY_THREADS;	/* threads * length^(depth-1) */

	(void)state;
	for (uint32_t d = 1; d <= 3; d++, promise *= TOY_STEPS)
		assert_true(pct_hits(d, bug[d]) * promise >= SEEDS);
}

/* With a smaller depth the order cannot come about. */
static void test_pct_depth_matters(void **state)
{
	(void)state;
	assert_int_equal(pct_hits(1, "01"), 0);
	assert_int_equal(pct_hits(2, "010"), 0);
	assert_int_equal(pct_hits(3, "0101"), 0);
	assert_in_range(pct_hits(1, "00011"), 4850, 5150);
	assert_in_range(pct_hits(1, "11000"), 4850, 5150);
}

/* A spinning thread of the highest priority does not starve the thread it waits for. */
static void test_pct_lets_others_run_on_a_yield(void **state)
{
	struct sim_program p = { 0 };
	struct sim_result r;

	(void)state;
	sim_add_spin(&p, 0, 1);
	sim_add(&p, 1, SCHED_OP_WRITE, 2);
	sim_add(&p, 1, SCHED_OP_WRITE, 1);
	for (unsigned seed = 0; seed < 50; seed++) {
		struct sim_search search;

		sim_open(&search, "pct", (struct sched_params){ .seed = seed, .depth = 1 });
		sim_next(&search, &p, &r);
		assert_true(strcmp(sim_text(&r), "0110") == 0 || strcmp(sim_text(&r), "110") == 0);
		sim_close(&search);
	}
}

/* Counts how often each run occurred. Runs are distinguished by sim_text(). */
struct tally {
	unsigned kinds;
	unsigned count[512];
	char text[512][32];
};

static void tally_add(struct tally *t, const char *text)
{
	unsigned i = 0;

	while (i < t->kinds && strcmp(t->text[i], text))
		i++;
	assert_true(i < 512 && strlen(text) < 32);
	if (i == t->kinds)
		strcpy(t->text[t->kinds++], text);
	t->count[i]++;
}

static unsigned tally_of(const struct tally *t, const char *text)
{
	for (unsigned i = 0; i < t->kinds; i++)
		if (strcmp(t->text[i], text) == 0)
			return t->count[i];
	return 0;
}

static void sample(struct tally *t, const char *name, const struct sim_program *p, unsigned runs,
		   struct sched_params params)
{
	struct sim_search search;
	struct sim_result r;

	memset(t, 0, sizeof(*t));
	sim_open(&search, name, params);
	sim_next(&search, p, &r);	/* this run provides the counts */
	for (unsigned i = 0; i < runs; i++) {
		sim_next(&search, p, &r);
		tally_add(t, sim_text(&r));
	}
	sim_close(&search);
}

/* The chi-squared statistic of `kinds` different runs that should be equally frequent. */
static double chi_square(const struct tally *t, unsigned kinds, unsigned runs)
{
	double expected = (double)runs / kinds, sum = (kinds - t->kinds) * expected;

	for (unsigned i = 0; i < t->kinds; i++)
		sum += (t->count[i] - expected) * (t->count[i] - expected) / expected;
	return sum;
}

/* C(8,4) = 70 runs; 99.9 % of chi-squared with 69 degrees of freedom is below 111.1. */
static void test_surw_is_uniform(void **state)
{
	struct sim_program p = { 0 };
	struct tally t;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		sim_add(&p, i % 2, SCHED_OP_WRITE, 1 + i % 2);
	sample(&t, "surw", &p, 14000, (struct sched_params){ .seed = 4 });
	assert_int_equal(t.kinds, 70);
	assert_true(chi_square(&t, 70, 14000) < 111.1);
	sample(&t, "random", &p, 14000, (struct sched_params){ .seed = 4, .switch_permille = 500 });
	assert_true(chi_square(&t, 70, 14000) > 1000);
}

/*
 * main: a create b c; its child: d e; a third thread: f g. Once created, the child
 * is one of two chains of 2 after the chain of 2: a create {b c | d e}: 6 orders of
 * 6; f and g among them: C(8,2) = 28; 168 runs. 99.9 % of chi-squared with 167 is below 229.
 */
static void test_surw_counts_threads_created_later(void **state)
{
	struct sim_program p = { 0 };
	struct tally t;

	(void)state;
	p.thread[2].late = true;
	sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add(&p, 0, SCHED_OP_CREATE, 2);
	for (unsigned i = 0; i < 6; i++)
		sim_add(&p, i % 3, SCHED_OP_WRITE, 1);
	sample(&t, "surw", &p, 16800, (struct sched_params){ .seed = 5 });
	assert_int_equal(t.kinds, 168);
	assert_true(chi_square(&t, 168, 16800) < 229);
}

/* All events depend on each other: pos redraws before every step, like a random walk. */
static void test_pos_draws_anew_after_a_race(void **state)
{
	struct sim_program p = { 0 };
	struct tally t;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		sim_add(&p, i % 2, SCHED_OP_WRITE, 1);
	sample(&t, "pos", &p, 8000, (struct sched_params){ .seed = 6 });
	assert_in_range(tally_of(&t, "0011"), 1880, 2120);	/* 1/4 */
	assert_in_range(tally_of(&t, "1100"), 1880, 2120);
	assert_in_range(tally_of(&t, "0101"), 910, 1090);	/* 1/8 */
	assert_in_range(tally_of(&t, "1001"), 910, 1090);
}

/*
 * One thread writes x at once, the other after 10 steps that race with nothing. The
 * late write comes first if 11 draws are above the first thread's one: 1/12; in a
 * random walk it takes 11 tails in a row: 1/2048.
 */
static void test_pos_reaches_far_orders(void **state)
{
	struct sim_program p = { 0 };
	struct tally t;
	unsigned pos, walk;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		sim_add(&p, 0, SCHED_OP_WRITE, 2);
	sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add(&p, 1, SCHED_OP_WRITE, 1);
	sample(&t, "pos", &p, 12000, (struct sched_params){ .seed = 7 });
	pos = tally_of(&t, "000000000001");
	sample(&t, "random", &p, 12000, (struct sched_params){ .seed = 7, .switch_permille = 500 });
	walk = tally_of(&t, "000000000001");
	assert_in_range(pos, 910, 1090);
	assert_in_range(walk, 0, 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pct_keeps_its_promise),
		cmocka_unit_test(test_pct_depth_matters),
		cmocka_unit_test(test_pct_lets_others_run_on_a_yield),
		cmocka_unit_test(test_surw_is_uniform),
		cmocka_unit_test(test_surw_counts_threads_created_later),
		cmocka_unit_test(test_pos_draws_anew_after_a_race),
		cmocka_unit_test(test_pos_reaches_far_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
