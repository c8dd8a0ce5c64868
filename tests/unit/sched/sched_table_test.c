/*
 * Properties of all strategies: they are found by name, choose only threads that can run (the
 * simulator checks that), repeat a run for the same seed, let no spinning thread starve others,
 * and, if stateless, make each run by its number alone. A new strategy is covered without an edit.
 */
#include "sched_sim.h"

static void test_found_by_name(void **state)
{
	size_t count = 0;

	(void)state;
	for (; strategies[count]; count++) {
		assert_ptr_equal(strategy_find(strategies[count]->name), strategies[count]);
		assert_true(strlen(strategies[count]->name) < 32);
		assert_true(strlen(strategies[count]->summary) < 72);
		assert_true(strategies[count]->state_size <= 4 << 20);
	}
	assert_true(count > 0);
	assert_null(strategy_find(""));
	assert_null(strategy_find("pc"));
	assert_null(strategy_find("pctx"));
}

/* A program whose first thread creates all others, as in real programs. */
static void created_program(struct sim_program *p, uint64_t *rng, unsigned threads)
{
	struct sim_thread main_thread;

	sim_random_program(p, rng, threads, 10, rng_below(rng, 2));
	main_thread = p->thread[0];
	p->thread[0].length = 0;
	for (unsigned t = 1; t < threads; t++) {
		sim_add(p, 0, SCHED_OP_WRITE, 1);
		sim_add(p, 0, SCHED_OP_CREATE, t);
		p->thread[t].late = true;
	}
	for (unsigned i = 0; i < main_thread.length; i++)
		p->thread[0].event[p->thread[0].length++] = main_thread.event[i];
	for (unsigned t = 1; t < threads; t++)
		sim_add(p, 0, SCHED_OP_JOIN, t);
}

static unsigned runs_of(const struct strategy *strategy, const struct sim_program *p, uint64_t seed,
			struct sim_result *r, unsigned runs)
{
	struct sim_search search;
	unsigned n = 0;

	sim_open(&search, strategy->name, (struct sched_params){ .seed = seed });
	while (n < runs && sim_next(&search, p, &r[n++]))
		;
	sim_close(&search);
	return n;
}

/* Whether `list`, words separated by spaces, contains the word `name`. */
static bool is_among(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

static void test_same_seed_same_runs(void **state)
{
	/* Whether other strategies use the seed is left to their own tests. */
	static const char *const seeded =
		"random pct pct-large pos surw delay feedback active greedy";
	static const char *const unseeded = "roundrobin chess exact goal loose";
	static struct sim_result first[8], second[8], third[8];
	uint64_t rng = 11;

	(void)state;
	for (size_t i = 0; strategies[i]; i++) {
		bool varies = false;

		for (unsigned k = 0; k < 60; k++) {
			struct sim_program p;
			unsigned n;

			created_program(&p, &rng, 2 + k % 4);
			n = runs_of(strategies[i], &p, k, first, 8);
			assert_int_equal(n, runs_of(strategies[i], &p, k, second, 8));
			for (unsigned run = 0; run < n; run++)
				assert_memory_equal(first[run].thread, second[run].thread,
						    sizeof(first[run].thread));
			runs_of(strategies[i], &p, k + 1, third, 1);
			varies |= memcmp(first[0].thread, third[0].thread, sizeof(first[0].thread));
			for (unsigned run = 0; run < n; run++)
				assert_false(first[run].endless);
		}
		if (is_among(seeded, strategies[i]->name) ||
		    is_among(unseeded, strategies[i]->name))
			assert_int_equal(varies, is_among(seeded, strategies[i]->name));
	}
}

/*
 * Two threads spin on a flag that thread `setter` sets: with every strategy the run ends soon. The
 * setter has the lowest, the middle and the highest number.
 */
static void check_spinning(unsigned setter)
{
	struct sim_program p = { 0 };
	static struct sim_result r[200];

	for (unsigned t = 0; t < 3; t++) {
		if (t != setter) {
			sim_add_spin(&p, t, 1);
			sim_add(&p, t, SCHED_OP_WRITE, 2);
			continue;
		}
		for (unsigned i = 0; i < 5; i++)
			sim_add(&p, t, SCHED_OP_WRITE, 3);
		sim_add(&p, t, SCHED_OP_WRITE, 1);
	}
	for (size_t i = 0; strategies[i]; i++) {
		unsigned n = runs_of(strategies[i], &p, 1, r, 200);

		for (unsigned k = 0; k < n; k++) {
			if (r[k].endless || r[k].stuck || r[k].steps > 100)
				fail_msg("%s, setter %u, run %u: %s", strategies[i]->name, setter,
					 k, sim_text(&r[k]));
		}
	}
}

static void test_spinning_threads_let_others_run(void **state)
{
	(void)state;
	for (unsigned setter = 0; setter < 3; setter++)
		check_spinning(setter);
}

/*
 * A run of a stateless strategy depends on seed and number only: the fifth is the same without the
 * first four.
 */
static void test_a_run_by_its_number(void **state)
{
	struct sim_result fifth, single;
	struct sim_program p;
	uint64_t rng = 12;

	(void)state;
	created_program(&p, &rng, 4);
	for (size_t i = 0; strategies[i]; i++) {
		const char *name = strategies[i]->name;
		struct sim_search search, other;

		/* Round robin is stateful only because its search ends. */
		if (strategies[i]->end && strcmp(name, "roundrobin") != 0)
			continue;
		sim_open(&search, name, (struct sched_params){ .seed = 1 });
		for (unsigned run = 0; run < 4; run++)
			sim_next(&search, &p, &fifth);
		sim_open(&other, name, (struct sched_params){ .seed = 1 });
		other.run = search.run;
		other.run.events = search.events;
		other.run.parent = search.parent;
		other.strategy->begin(other.state, &other.run);
		sim_drive(other.strategy, other.state, &p, &single);
		sim_next(&search, &p, &fifth);
		assert_memory_equal(fifth.thread, single.thread, sizeof(fifth.thread));
		sim_close(&search);
		sim_close(&other);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_by_name),
		cmocka_unit_test(test_same_seed_same_runs),
		cmocka_unit_test(test_spinning_threads_let_others_run),
		cmocka_unit_test(test_a_run_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
