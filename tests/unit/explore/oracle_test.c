/*
 * The oracle: which runs fail, which failures are equal, and how they are described.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/trace_format.h"
#include "abi/turn_log.h"
#include "base/mem.h"
#include "explore/search/interleavings_seen.h"
#include "explore/search/oracle.h"

#define EXIT(code) ((code) << 8)

struct fixture {
	struct server server;
	struct oracle oracle;
	struct oracle_result result;
	struct ctl_report *report;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->server.block = xcalloc(1, sizeof(*f->server.block));
	f->report = &f->server.block->report;
	f->report->outcome = CTL_EXITED;
	f->report->threads = 3;
	for (uint32_t i = 1; i < 3; i++)
		f->report->ordinal[i] = i;
	capture_clear(&f->server.result.out);
	capture_clear(&f->server.result.error);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	capture_free(&f->server.result.out);
	capture_free(&f->server.result.error);
	free(f->server.block);
	free(f);
	return 0;
}

static void judge(struct fixture *f, enum oracle_verdict verdict, enum oracle_failure failure)
{
	struct err err = { "" };

	if (oracle_judge(&f->oracle, &f->server, &f->result, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(f->result.verdict, verdict);
	assert_int_equal(f->result.failure, failure);
}

static void print(struct capture *c, const char *text)
{
	capture_clear(c);
	capture_add(c, text, strlen(text));
}

static void check_words(struct fixture *f, const char *want)
{
	struct buf out = { 0 };
	struct places places;

	places_init(&places);
	oracle_describe(&f->result, f->report, &places, &out);
	assert_string_equal(buf_string(&out), want);
	buf_free(&out);
	places_free(&places);
}

static void test_exit(void **state)
{
	struct fixture *f = *state;

	judge(f, ORACLE_PASSED, ORACLE_NONE);
	f->server.result.status = EXIT(3);
	judge(f, ORACLE_FAILED, ORACLE_EXIT);
	assert_int_equal(f->result.number, 3);
	check_words(f, "exit status 3");
	f->oracle.exit = 3;
	judge(f, ORACLE_PASSED, ORACLE_NONE);
	f->oracle.exit = ORACLE_ANY_EXIT;
	f->server.result.status = EXIT(4);
	judge(f, ORACLE_PASSED, ORACLE_NONE);
}

static void test_signal(void **state)
{
	struct fixture *f = *state;

	f->report->outcome = CTL_RUNNING;
	f->report->thread = 2;
	f->server.result.status = SIGSEGV;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	check_words(f, "killed by signal 11 (Segmentation fault) in thread 0.2");
	f->server.result.status = SIGABRT;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	/* A core dump makes no difference. */
	f->server.result.status = SIGABRT | 0x80;
	print(&f->server.result.error,
	      "one\nbank: bank.c:7: main: Assertion `x' failed.\nAborted\n");
	judge(f, ORACLE_FAILED, ORACLE_ASSERT);
	check_words(f, "assertion failed in thread 0.2\n"
		       "  bank: bank.c:7: main: Assertion `x' failed.");
}

static void test_output(void **state)
{
	struct fixture *f = *state;

	f->oracle.same_output = true;
	print(&f->server.result.out, "a\n");
	f->server.result.status = EXIT(1);
	judge(f, ORACLE_FAILED, ORACLE_EXIT);
	assert_false(f->oracle.has_output);	/* a failing run does not set the expected output */
	f->server.result.status = 0;
	judge(f, ORACLE_PASSED, ORACLE_NONE);
	judge(f, ORACLE_PASSED, ORACLE_NONE);
	print(&f->server.result.out, "b\n");
	judge(f, ORACLE_FAILED, ORACLE_OUTPUT);
	print(&f->server.result.out, "a\n\n");
	judge(f, ORACLE_FAILED, ORACLE_OUTPUT);
}

static void test_check_command(void **state)
{
	struct fixture *f = *state;
	struct err err;

	f->oracle.check = "read line; [ \"$line.$SNARL_STATUS\" = ok.7 ]";
	f->server.result.status = EXIT(7);
	print(&f->server.result.out, "ok\n");
	judge(f, ORACLE_PASSED, ORACLE_NONE);
	print(&f->server.result.out, "bad\n");
	judge(f, ORACLE_FAILED, ORACLE_CHECK);
	f->server.result.status = SIGSEGV;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	f->server.result.status = 0;
	f->oracle.check = "/nowhere/at-all 2>/dev/null";
	assert_int_equal(oracle_judge(&f->oracle, &f->server, &f->result, &err), -1);
	assert_string_equal(err.text,
			    "--check '/nowhere/at-all 2>/dev/null' cannot be run: exit status 127");
}

static void test_runs_without_verdict(void **state)
{
	struct fixture *f = *state;

	f->server.result.status = EXIT(CTL_STATUS);
	f->report->outcome = CTL_STEPS;
	judge(f, ORACLE_INCONCLUSIVE, ORACLE_STEPS);
	f->report->outcome = CTL_DIVERGED;
	f->report->turn = 4;
	judge(f, ORACLE_DIVERGED, ORACLE_NONE);
	assert_int_equal(f->result.turn, 4);
	f->report->outcome = CTL_UNSUPPORTED;
	judge(f, ORACLE_BROKEN, ORACLE_NONE);
	f->report->outcome = CTL_RUNNING;
	judge(f, ORACLE_BROKEN, ORACLE_NONE);	/* CTL_STATUS without an outcome */
	f->server.result.lost = true;
	judge(f, ORACLE_BROKEN, ORACLE_NONE);
	f->server.result.lost = false;
	f->server.result.timed_out = true;
	judge(f, ORACLE_INCONCLUSIVE, ORACLE_TIMEOUT);
}

static void block(struct fixture *f, uint32_t i, uint64_t object, uint32_t owner)
{
	f->report->at[i] = (struct ctl_report_thread){
		.number = i, .state = CTL_REPORT_BLOCKED, .op = SCHED_OP_ACQUIRE,
		.object = object, .site = 0x100 + i, .owner = owner, .held_count = 1,
	};
	f->report->at[i].held[0].object = 0xa0 + i;
	f->report->at[i].held[0].pc = 0x200 + i;
	f->report->described = i + 1;
}

/*
 * The threads of the cycle come first, then other waiters. The signature does not depend on the
 * order.
 */
static void test_deadlock(void **state)
{
	struct fixture *f = *state;
	uint64_t signature;

	f->report->outcome = CTL_FAILED;
	f->report->failure = CTL_FAIL_DEADLOCK;
	block(f, 0, 0xa1, 1);
	block(f, 1, 0xa2, 2);
	block(f, 2, 0xa1, 1);
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_int_equal(f->result.site_count, 3);
	assert_int_equal(f->result.sites[2].thread, 0);
	signature = f->result.signature;
	check_words(f, "deadlock\n"
		       "  thread 0.1 waits at 0x101 for 0xa2, held by thread 0.2 since 0x202\n"
		       "  thread 0.2 waits at 0x102 for 0xa1, held by thread 0.1 since 0x201\n"
		       "  thread 0 waits at 0x100 for 0xa1, held by thread 0.1 since 0x201");
	f->report->at[1].site = 0x102;
	f->report->at[2].site = 0x101;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_true(f->result.signature == signature);
	f->report->at[2].site = 0x300;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_true(f->result.signature != signature);
}

/* A thread that waits outside the cycle does not change the signature. */
static void test_bystanders(void **state)
{
	struct fixture *f = *state;
	uint64_t signature, identity;
	struct places places;

	places_init(&places);
	f->report->outcome = CTL_FAILED;
	f->report->failure = CTL_FAIL_DEADLOCK;
	block(f, 0, 0xa1, 1);
	block(f, 1, 0xa2, 2);
	block(f, 2, 0xa1, 1);
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_int_equal(f->result.key_site_count, 2);
	signature = f->result.signature;
	identity = oracle_identity(&f->result, &places);
	f->report->at[0].site = 0x400;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_true(f->result.signature == signature);
	assert_true(oracle_identity(&f->result, &places) == identity);
	f->report->at[1].site = 0x400;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	assert_true(f->result.signature != signature);
	assert_true(oracle_identity(&f->result, &places) != identity);
	places_free(&places);
}

/* A condition has no owner, so there is no cycle; the description names all waiting threads. */
static void test_lost_wakeup(void **state)
{
	struct fixture *f = *state;

	f->report->outcome = CTL_FAILED;
	f->report->failure = CTL_FAIL_DEADLOCK;
	block(f, 0, 0xa1, UINT32_MAX);
	block(f, 1, 0xa2, UINT32_MAX);
	f->report->at[0].op = SCHED_OP_JOIN;
	f->report->at[1].op = SCHED_OP_WAIT;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	check_words(f, "deadlock\n  thread 0 waits at 0x100 to join\n"
		       "  thread 0.1 waits at 0x101 for 0xa2");
}

static void test_memory(void **state)
{
	struct fixture *f = *state;

	f->report->outcome = CTL_FAILED;
	f->report->failure = CTL_FAIL_UAF;
	f->report->thread = 1;
	f->report->pc = 0x10;
	f->report->pc2 = 0x20;
	f->report->pc3 = 0x30;
	strcpy(f->report->text, "4-byte write");
	judge(f, ORACLE_FAILED, ORACLE_UAF);
	check_words(f, "use after free\n  4-byte write\n  use at 0x10 by thread 0.1\n"
		       "  freed at 0x20\n  allocated at 0x30");
	assert_string_equal(oracle_class(f->result.failure), "memory");
	f->report->failure = CTL_FAIL_MISUSE;
	judge(f, ORACLE_FAILED, ORACLE_MISUSE);
	assert_string_equal(oracle_failure_name(f->result.failure), "misuse");
}

static void check_divergence(struct fixture *f, const struct schedule *s, const char *want)
{
	struct buf out = { 0 };
	struct places places;

	judge(f, ORACLE_DIVERGED, ORACLE_NONE);
	places_init(&places);
	oracle_describe_divergence(&f->result, s, f->report, &places, &out);
	assert_string_equal(buf_string(&out), want);
	buf_free(&out);
	places_free(&places);
}

static void test_divergence(void **state)
{
	struct fixture *f = *state;
	struct schedule s;
	struct err err;
	const char *text = "snarl-schedule 1\nexact\n0 x 2\n0.1 x 5\n0.7 x *\nend\n";

	assert_int_equal(schedule_parse(&s, text, strlen(text), "f", &err), 0);
	f->report->outcome = CTL_DIVERGED;
	f->report->turn = 1;
	f->report->event = 14;
	f->report->thread = 1;
	f->report->kind = TRACE_WRITE;
	f->report->pc = 0x10;
	f->report->object = 0x20;
	strcpy(f->report->text, "no");
	check_divergence(
		f, &s,
		"diverged at event 14 in turn 2 of 3 (thread 0.1 was to take 5 steps): no\n"
		"  thread 0.1 did this instead: write of 0x20 at 0x10");
	f->report->kind = 9999;
	check_divergence(
		f, &s, "diverged at event 14 in turn 2 of 3 (thread 0.1 was to take 5 steps): no");
	/* The turn cannot be taken: the description says where its thread waits. */
	f->report->event = 0;
	block(f, 0, 0xa1, 1);
	block(f, 1, 0xa2, UINT32_MAX);
	check_divergence(f, &s, "diverged at turn 2 of 3 (thread 0.1 was to take 5 steps): no\n"
				"  thread 0.1 waits at 0x101 for 0xa2");
	f->report->at[1].state = CTL_REPORT_ENDED;
	check_divergence(f, &s, "diverged at turn 2 of 3 (thread 0.1 was to take 5 steps): no\n"
				"  thread 0.1 has ended");
	f->report->turn = 2;
	check_divergence(f, &s,
			 "diverged at turn 3 of 3 (of thread 0.7): no\n  there is no thread 0.7");
	f->report->turn = 9;
	check_divergence(f, &s, "diverged: no");
	schedule_free(&s);
}

/* A crash in a library is blamed on the caller; an assertion's message names the line itself. */
static void test_crash_site(void **state)
{
	struct fixture *f = *state;
	uint64_t signature;

	f->server.result.status = SIGSEGV;
	f->report->outcome = CTL_RUNNING;
	f->report->pc = 0x10;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	assert_int_equal(f->result.site_count, 0);	/* the report is about another signal */
	f->report->signal = SIGSEGV;
	f->report->calls[0] = 0x50;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	assert_int_equal(f->result.site_count, 1);
	assert_string_equal(f->result.sites[0].op, "crash");
	signature = f->result.signature;
	f->report->calls[0] = 0x60;
	judge(f, ORACLE_FAILED, ORACLE_SIGNAL);
	assert_true(f->result.signature != signature);
}

static void test_interleavings(void **state)
{
	uint32_t words[2 * TURN_WORDS] = { 0 };
	struct ctl_block *b = xcalloc(1, sizeof(*b) + sizeof(words));
	struct turn first = { .thread = 1, .steps = 2 }, second = { .thread = 3, .steps = 4 };
	uint32_t *at = (uint32_t *)(b + 1);
	struct interleavings_seen c = { 0 };

	(void)state;
	b->turns = sizeof(*b);
	b->turns_size = sizeof(words);
	b->report.turns = turn_put(at, &first) + turn_put(at + 1, &second);
	assert_int_equal(b->report.turns, 2);
	assert_int_equal(interleavings_seen_add(&c, b), 1);
	second.check = 9;	/* equal turns: checks do not count */
	b->report.turns = 1 + turn_put(at + 1, &second);
	assert_int_equal(interleavings_seen_add(&c, b), 1);
	second.steps = 5;
	turn_put(at + 1, &second);
	assert_int_equal(interleavings_seen_add(&c, b), 2);
	b->report.turns = 1;
	assert_int_equal(interleavings_seen_add(&c, b), 3);
	b->report.turns = UINT64_MAX;	/* damaged: limited to the size of the area */
	assert_int_equal(interleavings_seen_add(&c, b), 4);
	interleavings_seen_free(&c);
	free(b);
}

/* The target may damage its report: no index in it is trusted. */
static void test_damaged_report(void **state)
{
	struct fixture *f = *state;
	struct buf out = { 0 };
	struct places places;

	memset(f->report, 0xff, sizeof(*f->report));
	f->report->outcome = CTL_FAILED;
	f->report->failure = CTL_FAIL_DEADLOCK;
	judge(f, ORACLE_FAILED, ORACLE_DEADLOCK);
	places_init(&places);
	oracle_describe(&f->result, f->report, &places, &out);
	assert_true(out.size > 0);
	buf_free(&out);
	places_free(&places);
}

static void test_expect_output_file(void **state)
{
	struct fixture *f = *state;
	struct err err;

	print(&f->server.result.out, "hello\n");
	assert_int_equal(oracle_expect_output(&f->oracle, "/dev/null", &err), 0);
	judge(f, ORACLE_FAILED, ORACLE_OUTPUT);
	print(&f->server.result.out, "");
	judge(f, ORACLE_PASSED, ORACLE_NONE);
	assert_int_equal(oracle_expect_output(&f->oracle, "/nowhere", &err), -1);
	assert_string_equal(err.text, "cannot open /nowhere: No such file or directory");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_exit), TEST(test_signal), TEST(test_output), TEST(test_check_command),
		TEST(test_runs_without_verdict), TEST(test_deadlock), TEST(test_lost_wakeup),
		TEST(test_memory), TEST(test_bystanders), TEST(test_divergence),
		TEST(test_crash_site), TEST(test_interleavings), TEST(test_damaged_report),
		TEST(test_expect_output_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
