#include "learn_util.h"

#include "learn/fold/lifetx.h"
#include "reference/lifetx.h"

static char *cuts_of(struct lifetx *l, size_t sites)
{
	struct buf b = { 0 };

	for (uint32_t i = 1; i <= sites; i++)
		if (lifetx_cuts(l, i))
			buf_addf(&b, "%u%s%s%s\n", i,
				 lifetx_cuts(l, i) & LIFETX_BEFORE ? " before" : "",
				 lifetx_cuts(l, i) & LIFETX_ENTRY ? " entry" : "",
				 lifetx_cuts(l, i) & LIFETX_EXIT ? " exit" : "");
	return sorted(&b);
}

static char *run(const struct learn_step *steps, size_t count, size_t *live)
{
	struct lifetx *l = lifetx_new(8);
	char *text;

	for (size_t i = 0; i < count; i++)
		lifetx_step(l, &steps[i], false);
	lifetx_finish(l);
	text = cuts_of(l, count);
	*live = lifetx_live(l);
	lifetx_free(l);
	return text;
}

static void expect(const char *text, const char *wanted)
{
	struct learn_step steps[64];
	size_t live;
	char *got = run(steps, parse_steps(text, steps), &live);

	assert_string_equal(got, wanted);
	free(got);
}

/*
 * The figure of the thesis: T1 reads C and writes A. T2 writes C, reads A and B. Then T1 writes
 * B, which closes the cycle.
 */
static void test_figure(void **state)
{
	(void)state;
	expect("1R2 2W2 1W0 2R0 2R1 1W1", "6 before\n");
	expect("1R2 2W2 1W0 2R0 2R1", "");
}

static void test_serializable(void **state)
{
	(void)state;
	expect("1R0 1W0 2R0 2W0", "");
	expect("1R0 2W1 1R0 2W1", "");
	expect("1R0 2R0 1R0", "");
	expect("1R0 2W0 1R0", "3 before\n");
	/* A cycle through a third thread. */
	expect("1W0 2R0 2W1 3R1 3W2 1R2", "6 before\n");
}

static void test_locks(void **state)
{
	(void)state;
	/* Only reads: no conflict, in whatever order the lock is taken. */
	expect("1A0 1R1 1U0 2A0 2R1 2U0 1A0 1R1 1U0", "");
	expect("1A0 1R1 1U0 2A0 2W1 2U0 1A0 1R1 1U0", "8 before\n");
	expect("1A0 1R1 1U0 1A0 1R1 1U0 2A0 2W1 2U0", "");
}

static void test_known_cuts(void **state)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[8];
	size_t count = parse_steps("1R0 2W0 1R0", s);

	(void)state;
	lifetx_set_cuts(l, 3, LIFETX_BEFORE);
	for (size_t i = 0; i < count; i++)
		lifetx_step(l, &s[i], false);
	lifetx_free(l);
}

static void test_blocking(void **state)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[8];

	(void)state;
	parse_steps("1R0 2W0 1R0", s);
	lifetx_step(l, &s[0], false);
	lifetx_step(l, &s[1], false);
	lifetx_step(l, &(struct learn_step){ .thread = 1, .op = IROOT_OP_NONE }, true);
	lifetx_step(l, &s[2], false);
	lifetx_free(l);
}

/*
 * The other thread's write comes between two accesses of thread 1. The sites of f are 10, 11 and
 * 12.
 */
enum between { CALLED, RETURNED, CALLED_DEEP, SAME };

static char *functions(enum between how)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[8];
	char *text;

	parse_steps("1R0 2W0 1R0", s);
	lifetx_enter(l, 1, 10, 0);
	if (how == RETURNED)
		lifetx_enter(l, 1, 11, 0);
	lifetx_step(l, &s[0], false);
	lifetx_step(l, &s[1], false);
	if (how == RETURNED)
		lifetx_exit(l, 1);
	if (how == CALLED || how == CALLED_DEEP)
		lifetx_enter(l, 1, 11, 0);
	if (how == CALLED_DEEP)
		lifetx_enter(l, 1, 12, 0);
	lifetx_step(l, &s[2], false);
	text = cuts_of(l, 20);
	lifetx_free(l);
	return text;
}

static void test_functions(void **state)
{
	static const char *const wanted[] = {
		[CALLED] = "11 entry\n", [RETURNED] = "11 exit\n", [CALLED_DEEP] = "11 entry\n",
		[SAME] = "3 before\n",
	};

	(void)state;
	for (enum between i = CALLED; i <= SAME; i++) {
		char *got = functions(i);

		assert_string_equal(got, wanted[i]);
		free(got);
	}
}

/*
 * main (10) calls get (11) and set (12), each with one access: the transaction is a member of
 * main.
 */
static void test_members(void **state)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[8];

	(void)state;
	parse_steps("1R0 1W0 2R1", s);
	for (uint32_t i = 1; i <= 3; i++)
		lifetx_watch(l, i);
	lifetx_enter(l, 1, 10, 0);
	lifetx_enter(l, 1, 11, 0);
	lifetx_step(l, &s[0], false);
	lifetx_exit(l, 1);
	lifetx_enter(l, 1, 12, 0);
	lifetx_step(l, &s[1], false);
	lifetx_exit(l, 1);
	lifetx_exit(l, 1);
	lifetx_enter(l, 2, 13, 0);
	lifetx_step(l, &s[2], false);	/* one access alone is no transaction */
	lifetx_finish(l);
	assert_int_equal(lifetx_members(l)->count, 2);
	assert_true(learn_pairs_have(lifetx_members(l), 10, 1));
	assert_true(learn_pairs_have(lifetx_members(l), 10, 2));
	lifetx_free(l);
}

static char *orders_of(struct lifetx *l)
{
	const struct learn_pairs *orders = lifetx_orders(l);
	struct buf b = { 0 };

	for (size_t i = 0; i < orders->count; i++)
		buf_addf(&b, "%u %u\n", orders->items[i].first, orders->items[i].second);
	return sorted(&b);
}

/*
 * Thread 1 locks at pc 5 and at pc 6 in turn. With `called`, this is in a function called first
 * from pc 7, then from `caller`. Returns the orders, which tell what the iterations are.
 */
static char *iterations(const char *text, bool called, uint64_t caller)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[64];
	size_t count = parse_steps(text, s), taken = 0;
	char *got;

	for (uint32_t i = 1; i <= count; i++)
		lifetx_watch(l, i);
	lifetx_enter(l, 1, 40, 0);
	for (size_t i = 0; i < count; i++) {
		if (called && s[i].op == IROOT_OP_ACQUIRE)
			lifetx_enter(l, 1, 41, taken ? caller : 7);
		s[i].pc = s[i].op == IROOT_OP_ACQUIRE ? 5 + taken++ % 2 : 0;
		lifetx_step(l, &s[i], false);
		if (called && s[i].op == IROOT_OP_RELEASE)
			lifetx_exit(l, 1);
	}
	lifetx_finish(l);
	got = orders_of(l);
	lifetx_free(l);
	return got;
}

static void test_iterations(void **state)
{
	static const struct {
		const char *text, *wanted;
		bool called;
		uint64_t caller;
	} cases[] = {
		{ "1A0 1R0 1U0 1A0 1W0 1U0", "2 5\n", false, 0 },
		{ "1A0 1R0 1U0 1A0 1W0 1U0 1A0 1R0 1U0 1A0 1W0 1U0", "2 5\n8 11\n", false, 0 },
		/* Another lock is held all the time, so no iteration begins. */
		{ "1A1 1A0 1R0 1U0 1A0 1R0 1U0 1A0 1R0 1U0 1U1", "3 6\n3 9\n6 9\n", false, 0 },
		{ "1A0 1R0 1U0 1A1 1R0 1U1 1A0 1R0 1U0", "2 5\n", true, 7 },
		{ "1A0 1R0 1U0 1A1 1R0 1U1 1A0 1R0 1U0", "2 5\n2 8\n5 8\n", true, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = iterations(cases[i].text, cases[i].called, cases[i].caller);

		assert_string_equal(got, cases[i].wanted);
		free(got);
	}
}

/* A thread that waits on a condition stays in its iteration: the next one begins with the lock. */
static void test_iterations_with_waits(void **state)
{
	struct lifetx *l = lifetx_new(8);
	struct learn_step s[16];
	size_t count = parse_steps("1A0 1U0 1A0 1R0 1W0 1U0 1A0 1R0 1U0", s);
	char *got;

	(void)state;
	for (uint32_t i = 1; i <= count; i++)
		lifetx_watch(l, i);
	for (size_t i = 0; i < count; i++) {
		s[i].pc = s[i].op == IROOT_OP_ACQUIRE ? i == 2 ? 6 : 5 : 0;
		lifetx_step(l, &s[i], i == 1 || i == 2);
	}
	got = orders_of(l);
	assert_string_equal(got, "4 5\n");
	free(got);
	lifetx_free(l);
}

static void test_random_traces(void **state)
{
	uint64_t seed = 4242;
	size_t cuts = 0;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct learn_step steps[STEPS];
		char *wanted, *got;
		size_t live;

		random_steps(steps, STEPS, 2 + i % 4, 1 + i % 5, &seed);
		got = run(steps, STEPS, &live);
		wanted = slow(steps, STEPS);
		assert_string_equal(got, wanted);
		cuts += *got != '\0';
		free(got);
		free(wanted);
	}
	assert_true(cuts > 200);
}

/* Two threads in turn, each time a transaction: nodes of transactions that ended are freed. */
static void test_memory(void **state)
{
	struct lifetx *l = lifetx_new(8);

	(void)state;
	lifetx_set_cuts(l, 1, LIFETX_BEFORE);
	for (unsigned i = 0; i < 10000; i++) {
		struct learn_step s = { .thread = 1 + i % 2,
					.op = IROOT_OP_WRITE,
					.addr = 0x1000,
					.size = 8,
					.site = 1,
					.at = i };

		lifetx_step(l, &s, false);
		assert_true(lifetx_live(l) <= 4);
	}
	lifetx_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure),
		cmocka_unit_test(test_serializable),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_known_cuts),
		cmocka_unit_test(test_blocking),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_random_traces),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_iterations_with_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
