/*
 * The systematic search: compares numbers of runs with hand calculations, and the traces of random
 * programs with a full enumeration.
 */
#include "sched_sim.h"
#include "sched/chess.h"
#include "reference/interleavings.h"

struct counts {
	unsigned runs;		/* number of runs that were not redundant */
	unsigned all;
	unsigned stuck;
	struct sim_set traces;
};

/* The whole search. */
static void explore(const struct sim_program *p, uint32_t depth, struct counts *n)
{
	struct chess_status status;
	struct sim_search search;
	struct sim_result r;
	uint64_t redundant;
	bool more = true;

	memset(n, 0, sizeof(*n));
	sim_open(&search, "chess", (struct sched_params){ .depth = depth });
	while (more) {
		chess_status(search.state, &status);
		redundant = status.redundant;
		more = sim_next(&search, p, &r);
		chess_status(search.state, &status);
		/* The end of a redundant run is arbitrary. */
		if (status.redundant == redundant)
			set_add(&n->traces, r.trace);
		n->stuck += r.stuck;
		n->all++;
		assert_true(n->all < 1000000 && !r.endless);
	}
	chess_status(search.state, &status);
	assert_int_equal(status.runs, n->all);
	assert_false(status.truncated || status.diverged);
	n->runs = n->all - (unsigned)status.redundant;
	sim_close(&search);
}

static void counts_free(struct counts *n)
{
	free(n->traces.value);
}

/* `threads` threads of `k` steps each; all on one object, or each on its own. */
static void uniform(struct sim_program *p, unsigned threads, unsigned k, unsigned op, bool shared)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < threads; t++)
		for (unsigned i = 0; i < k; i++)
			sim_add(p, t, op, shared ? 1 : 1 + t);
}

static void check_unbounded(const struct sim_program *p, unsigned runs)
{
	struct counts n;

	explore(p, SCHED_MAX_DEPTH, &n);
	assert_int_equal(n.runs, runs);
	assert_int_equal(n.traces.count, runs);
	counts_free(&n);
}

static void test_independent_steps_need_one_run(void **state)
{
	struct sim_program p;
	struct counts n;

	(void)state;
	for (unsigned threads = 2; threads <= 5; threads++) {
		uniform(&p, threads, 8, SCHED_OP_WRITE, false);
		explore(&p, SCHED_MAX_DEPTH, &n);
		assert_int_equal(n.all, 1);
		counts_free(&n);
		uniform(&p, threads, 8, SCHED_OP_READ, true);
		explore(&p, SCHED_MAX_DEPTH, &n);
		assert_int_equal(n.all, 1);
		counts_free(&n);
	}
}

static void test_dependent_steps_need_all_orders(void **state)
{
	static const unsigned binomial[] = { 1, 2, 6, 20, 70, 252, 924 };
	struct sim_program p;

	(void)state;
	for (unsigned k = 1; k <= 6; k++) {
		uniform(&p, 2, k, SCHED_OP_WRITE, true);
		check_unbounded(&p, binomial[k]);
	}
	uniform(&p, 3, 2, SCHED_OP_WRITE, true);
	check_unbounded(&p, 90);	/* 6! / (2! 2! 2!) */
	uniform(&p, 4, 1, SCHED_OP_UPDATE, true);
	check_unbounded(&p, 24);
}

/* One thread writes once, the other reads k times: the write has k + 1 places. */
static void test_a_write_among_reads(void **state)
{
	struct sim_program p;

	(void)state;
	for (unsigned k = 1; k <= 6; k++) {
		memset(&p, 0, sizeof(p));
		for (unsigned i = 0; i < k; i++)
			sim_add(&p, 0, SCHED_OP_READ, 1);
		sim_add(&p, 1, SCHED_OP_WRITE, 1);
		check_unbounded(&p, k + 1);
	}
}

/* Critical sections of one lock exclude each other: they have as many orders as single steps. */
static void test_critical_sections(void **state)
{
	struct sim_program p;

	(void)state;
	for (unsigned threads = 2; threads <= 4; threads++) {
		static const unsigned factorial[] = { 1, 1, 2, 6, 24 };

		memset(&p, 0, sizeof(p));
		for (unsigned t = 0; t < threads; t++) {
			sim_add(&p, t, SCHED_OP_ACQUIRE, 10);
			sim_add(&p, t, SCHED_OP_READ, 1);
			sim_add(&p, t, SCHED_OP_WRITE, 1);
			sim_add(&p, t, SCHED_OP_RELEASE, 10);
		}
		check_unbounded(&p, factorial[threads]);
	}
}

/* main creates two threads that write, and joins them; its other steps have no alternatives. */
static void test_creation_and_join_order(void **state)
{
	struct sim_program p = { 0 };

	(void)state;
	sim_add(&p, 0, SCHED_OP_WRITE, 1);
	sim_add(&p, 0, SCHED_OP_CREATE, 1);
	sim_add(&p, 0, SCHED_OP_CREATE, 2);
	for (unsigned t = 1; t <= 2; t++) {
		p.thread[t].late = true;
		sim_add(&p, t, SCHED_OP_START, 0);
		sim_add(&p, t, SCHED_OP_WRITE, 1);
		sim_add(&p, 0, SCHED_OP_JOIN, t);
	}
	sim_add(&p, 0, SCHED_OP_READ, 1);
	check_unbounded(&p, 2);
}

static void test_a_deadlock_is_found(void **state)
{
	struct sim_program p = { 0 };
	struct counts n;

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		sim_add(&p, t, SCHED_OP_ACQUIRE, 10 + t);
		sim_add(&p, t, SCHED_OP_ACQUIRE, 11 - t);
		sim_add(&p, t, SCHED_OP_RELEASE, 11 - t);
		sim_add(&p, t, SCHED_OP_RELEASE, 10 + t);
	}
	explore(&p, SCHED_MAX_DEPTH, &n);
	assert_int_equal(n.traces.count, 3);	/* one first, the other first, stuck */
	assert_int_equal(n.stuck, 1);
	counts_free(&n);
	explore(&p, 1, &n);
	assert_int_equal(n.traces.count, 3);
	counts_free(&n);
}

/*
 * Two threads of k writes to one object. Without preemptions there are 2 runs: either thread goes
 * first. One preemption, after 1 to k - 1 steps of the first thread, adds 2(k - 1): 2k in all.
 */
static void test_preemption_bound(void **state)
{
	struct sim_program p;
	struct sim_search search;
	struct sim_result r;
	struct chess_status status;

	(void)state;
	for (unsigned k = 1; k <= 6; k++) {
		struct sim_set traces = { 0 };
		bool more = true;

		uniform(&p, 2, k, SCHED_OP_WRITE, true);
		sim_open(&search, "chess", (struct sched_params){ .depth = 1 });
		for (;;) {
			chess_status(search.state, &status);
			if (!more || status.bound == 1)
				break;
			more = sim_next(&search, &p, &r);
			set_add(&traces, r.trace);
		}
		assert_int_equal(traces.count, 2);
		assert_int_equal(status.runs, 2);
		assert_true(more == (k > 1));
		while (more) {
			more = sim_next(&search, &p, &r);
			set_add(&traces, r.trace);
		}
		assert_int_equal(traces.count, 2 * k);
		free(traces.value);
		sim_close(&search);
	}
}

static void test_simple_runs_come_first(void **state)
{
	struct sim_program p;
	struct sim_search search;
	struct sim_result r;

	(void)state;
	uniform(&p, 2, 3, SCHED_OP_WRITE, true);
	sim_open(&search, "chess", (struct sched_params){ 0 });
	assert_true(sim_next(&search, &p, &r));
	assert_string_equal(sim_text(&r), "000111");
	assert_true(sim_next(&search, &p, &r));
	assert_string_equal(sim_text(&r), "111000");
	sim_close(&search);
}

static void compare(const struct sim_program *p, uint32_t depth)
{
	struct sim_set wanted = { 0 };
	struct counts n;
	unsigned runs = 0;
	struct sim s;

	sim_init(&s, p);
	/* No thread runs before the first step, so that it preempts none. */
	for (unsigned t = 0; t < p->threads; t++) {
		struct sim next = s;

		if (!sim_enabled(&s, t))
			continue;
		sim_execute(&next, t);
		sim_enumerate(&next, t, depth, &wanted, &runs);
	}
	explore(p, depth, &n);
	for (size_t i = 0; i < wanted.count; i++)
		if (!set_has(&n.traces, wanted.value[i]))
			fail_msg("bound %u: trace %zu of %zu is missing", depth, i, wanted.count);
	for (size_t i = 0; i < n.traces.count; i++)
		assert_true(set_has(&wanted, n.traces.value[i]));
	if (depth == SCHED_MAX_DEPTH)
		assert_int_equal(n.runs, wanted.count);
	assert_true(n.all <= 3 * runs + 3);
	counts_free(&n);
	free(wanted.value);
}

static void test_all_traces_of_random_programs(void **state)
{
	uint64_t rng = 1;
	struct sim_program p;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		sim_random_program(&p, &rng, 2 + i % 2, i % 2 ? 2 : 5, i % 3 == 0);
		compare(&p, SCHED_MAX_DEPTH);
	}
}

static void test_all_traces_within_a_bound(void **state)
{
	uint64_t rng = 2;
	struct sim_program p;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		sim_random_program(&p, &rng, 2 + i % 2, i % 2 ? 3 : 5, i % 3 == 0);
		compare(&p, 1 + i % 4 / 2);
	}
}

/* One thread spins on a flag that the other sets after three steps: every run ends. */
static void test_runs_with_spinning_end(void **state)
{
	struct sim_program p = { 0 };
	struct counts n;

	(void)state;
	sim_add_spin(&p, 0, 1);
	sim_add(&p, 0, SCHED_OP_READ, 2);
	sim_add(&p, 1, SCHED_OP_WRITE, 2);
	sim_add(&p, 1, SCHED_OP_WRITE, 2);
	sim_add(&p, 1, SCHED_OP_WRITE, 1);
	for (uint32_t depth = 1; depth <= SCHED_MAX_DEPTH; depth += SCHED_MAX_DEPTH - 1) {
		explore(&p, depth, &n);
		assert_in_range(n.all, 2, 100);
		counts_free(&n);
	}
}

static void test_long_runs_are_cut_not_lost(void **state)
{
	static const uint32_t both[] = { 0, 1 };
	static const uint64_t names[] = { SCHED_MAIN, 5 };
	static const struct sched_event pending[2] = {
		{ .object = 8, .size = 1, .op = SCHED_OP_WRITE },
		{ .object = 8, .size = 1, .op = SCHED_OP_WRITE }
	};
	struct sched_point point = { .runs = true, .runnable = both, .count = 2, .threads = 2,
				     .pending = pending, .name = names };
	const struct strategy *chess = strategy_find("chess");
	void *state_memory = calloc(1, chess->state_size);
	struct chess_status status;
	struct sched_choice choice;

	(void)state;
	chess->init(state_memory, &(struct sched_params){ 0 });
	chess->begin(state_memory, &(struct sched_run){ 0 });
	for (point.step = 0; point.step < CHESS_FRAMES; point.step++) {
		chess->pick(state_memory, &point, &choice);
		assert_int_equal(choice.thread, 0);
		assert_int_equal(choice.steps, 1);
	}
	chess_status(state_memory, &status);
	assert_false(status.truncated);
	chess->pick(state_memory, &point, &choice);
	assert_true(choice.steps == SCHED_NO_LIMIT);
	chess_status(state_memory, &status);
	assert_true(status.truncated);
	assert_true(chess->end(state_memory));
	free(state_memory);
}

/* A signal's choice of a waiter: all alternatives are tried, in every combination. */
static void test_all_wake_choices_are_tried(void **state)
{
	const struct strategy *chess = strategy_find("chess");
	void *memory = calloc(1, chess->state_size);
	struct sched_params params = { .depth = SCHED_MAX_DEPTH };
	unsigned seen[3][4] = { { 0 } }, runs = 0;

	(void)state;
	chess->init(memory, &params);
	do {
		uint32_t a, b;

		chess->begin(memory, &(struct sched_run){ 0 });
		a = chess->choose(memory, 3);
		assert_int_equal(chess->choose(memory, 1), 0);
		b = chess->choose(memory, 4);
		assert_true(a < 3 && b < 4);
		seen[a][b]++;
		runs++;
	} while (chess->end(memory));
	assert_int_equal(runs, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(seen[i / 4][i % 4], 1);
	free(memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_independent_steps_need_one_run),
		cmocka_unit_test(test_dependent_steps_need_all_orders),
		cmocka_unit_test(test_a_write_among_reads),
		cmocka_unit_test(test_critical_sections),
		cmocka_unit_test(test_creation_and_join_order),
		cmocka_unit_test(test_a_deadlock_is_found),
		cmocka_unit_test(test_preemption_bound),
		cmocka_unit_test(test_simple_runs_come_first),
		cmocka_unit_test(test_all_traces_of_random_programs),
		cmocka_unit_test(test_all_traces_within_a_bound),
		cmocka_unit_test(test_runs_with_spinning_end),
		cmocka_unit_test(test_long_runs_are_cut_not_lost),
		cmocka_unit_test(test_all_wake_choices_are_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
