/*
 * The tool's copy of the control block: every figure that a program may have overwritten is
 * checked, and a run with a wrong one is not judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/turn_log.h"
#include "base/mem.h"
#include "explore/search/oracle.h"
#include "explore/target/block.h"
#include "fake_target.h"

static struct ctl_block good_block(void)
{
	struct ctl_block b = { .turns_size = 4096, .shared_size = 800, .checks_size = 100,
			       .request = { .shared_count = 90 } };
	struct ctl_report *r = &b.report;

	r->outcome = CTL_FAILED;
	r->failure = CTL_FAIL_DEADLOCK;
	r->threads = 3;
	r->parent[2] = 1;
	r->ordinal[1] = r->ordinal[2] = 1;
	r->steps = 12;
	r->turns = 1024;
	r->checks = 100;
	r->shared_new = 10;
	r->described = 2;
	r->at[1] = (struct ctl_report_thread){ .number = 1, .state = CTL_REPORT_TIMED,
					       .owner = UINT32_MAX, .held_count = 16,
					       .stack_count = CTL_STACK };
	r->modules = CTL_MODULES;
	return b;
}

static void test_good(void **state)
{
	struct ctl_block b = good_block(), none = { 0 };

	(void)state;
	assert_null(block_report_damage(&b, &b.report));
	assert_null(block_report_damage(&none, &none.report));
}

/* The block is too large for many copies on the stack: each check gets a fresh one. */
#define DAMAGED(change) do { \
	struct ctl_block b = good_block(); \
	struct ctl_report *r = &b.report; \
	change; \
	if (!block_report_damage(&b, r)) \
		fail_msg("not noticed: %s", #change); \
} while (0)

static void test_counts(void **state)
{
	(void)state;
	DAMAGED(r->outcome = CTL_UNSUPPORTED + 1);
	DAMAGED(r->failure = CTL_FAIL_OVERFLOW + 1);
	DAMAGED(r->failure = CTL_FAIL_NONE);
	DAMAGED(r->threads = CTL_THREADS + 1);
	DAMAGED(r->thread = CTL_THREADS);
	DAMAGED(r->modules = CTL_MODULES + 1);
	DAMAGED(r->signal = 65);
	DAMAGED(r->steps = 1ull << 60);
	DAMAGED(r->turns = 1025);
	DAMAGED(r->turns = UINT64_MAX);
	DAMAGED(r->checks = 101);
	DAMAGED(r->shared_new = 11);
	DAMAGED(b.request.shared_count = 101; r->shared_new = 0);
	DAMAGED(r->shared_new = UINT64_MAX);
	DAMAGED(r->described = CTL_REPORT_THREADS + 1);
	DAMAGED(r->kind = UINT32_MAX);
	DAMAGED(memset(r->text, 'x', sizeof(r->text)));
}

static void test_entries(void **state)
{
	(void)state;
	DAMAGED(r->parent[2] = 2);
	DAMAGED(r->events[1] = UINT64_MAX);
	DAMAGED(r->at[1].number = CTL_THREADS);
	DAMAGED(r->at[1].parent = CTL_THREADS);
	DAMAGED(r->at[1].state = CTL_REPORT_TIMED + 1);
	DAMAGED(r->at[1].op = SCHED_OP_OTHER + 1);
	DAMAGED(r->at[0].owner = CTL_THREADS);
	DAMAGED(r->at[1].held_count = 17);
	DAMAGED(r->at[1].stack_count = CTL_STACK + 1);
	DAMAGED(memset(r->module[3].path, 'x', sizeof(r->module[3].path)));
}

static void test_turns(void **state)
{
	uint32_t words[3 * TURN_WORDS];
	size_t count = turn_put(words, &(struct turn){ .thread = 1, .steps = 7 });
	size_t first = count;

	(void)state;
	count += turn_put(words + count,
			  &(struct turn){ .thread = 2, .steps = 1 << 20, .check = 5 });
	assert_null(block_turns_damage(words, count, 3));
	assert_null(block_turns_damage(words, count - 1, 3));	/* cut off by a kill */
	assert_non_null(block_turns_damage(words, count, 2));
	turn_put(words + first, &(struct turn){ .thread = 2, .kind = SCHED_TURN_SIGNAL + 1 });
	assert_non_null(block_turns_damage(words, count, 3));
	turn_put(words + first, &(struct turn){ .thread = 2, .steps = 1ull << 49 });
	assert_non_null(block_turns_damage(words, count, 3));
}

/* A run that damages the block is told apart, and the next one is judged as if it had not been. */
static void test_runs(void **state)
{
	static const char *const ways[] = { "wrong-request", "wrong-areas", "wrong-report",
					    "wrong-turns", "wrong-granule", "wrong-state", "cut" };
	struct oracle oracle = { 0 };
	struct oracle_result got;
	struct err err = { "" };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		const char *way = ways[i / 2];
		char *argv[] = { (char *)"/proc/self/exe", (char *)way, NULL };
		struct target target;
		struct server_config config = { .target = &target, .exec = i % 2, .timeout = 60 };
		struct server s;

		assert_int_equal(target_init(&target, argv, NULL, &err), 0);
		assert_int_equal(server_open(&s, &config, &err), 0);
		for (uint64_t run = 0; run < 4; run++) {
			bool wrong = run % 2 == 1 && strcmp(way, "cut") != 0;

			snprintf(server_request(&s)->strategy, 32, "chess");
			server_request(&s)->run = run;
			assert_int_equal(server_run(&s, &err), 0);
			assert_int_equal(oracle_judge(&oracle, &s, &got, &err), 0);
			if ((got.verdict == ORACLE_DAMAGED) != wrong)
				fail_msg("%s, run %d: verdict %d %s", way, (int)run, got.verdict,
					 got.text);
			if (!wrong)
				assert_int_equal(got.verdict, ORACLE_PASSED);
			assert_int_equal(server_report(&s)->steps, wrong ? 0 : 100);
		}
		server_close(&s);
		target_free(&target);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_entries), cmocka_unit_test(test_turns),
		cmocka_unit_test(test_runs),
	};

	fake_target_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
