/*
 * What counts as a failure, and how it is put in words.
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

#include "base/mem.h"
#include "explore/oracle.h"

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
	print(&f->server.result.error, "one\nbank: bank.c:7: main: Assertion `x' failed.\nAborted\n");
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
	assert_false(f->oracle.has_output);	/* only a good run sets the example */
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

static void test_ends_that_say_nothing(void **state)
{
	struct fixture *f = *state;

	f->server.result.status = EXIT(CTL_STATUS);
	f->report->outcome = CTL_STEPS;
	judge(f, ORACLE_CUT, ORACLE_NONE);
	f->report->outcome = CTL_DIVERGED;
	f->report->turn = 4;
	judge(f, ORACLE_DIVERGED, ORACLE_NONE);
	assert_int_equal(f->result.turn, 4);
	f->report->outcome = CTL_UNSUPPORTED;
	judge(f, ORACLE_BROKEN, ORACLE_NONE);
	f->report->outcome = CTL_RUNNING;
	f->server.result.lost = true;
	judge(f, ORACLE_BROKEN, ORACLE_NONE);
	f->server.result.lost = false;
	f->server.result.timed_out = true;
	judge(f, ORACLE_FAILED, ORACLE_TIMEOUT);
}

static void block(struct fixture *f, uint32_t i, uint64_t object, uint32_t owner)
{
	f->report->at[i] = (struct ctl_report_thread){
		.number = i, .state = 1, .op = SCHED_OP_ACQUIRE, .object = object,
		.site = 0x100 + i, .owner = owner, .held_count = 1,
	};
	f->report->at[i].held[0].object = 0xa0 + i;
	f->report->at[i].held[0].pc = 0x200 + i;
	f->report->described = i + 1;
}

/* The circle comes first, whoever waits outside of it later; the signature is the same either way. */
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

/* Nobody owns what is waited for: no circle, but all are named. */
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
		       "  free at 0x20\n  malloc at 0x30");
	assert_string_equal(oracle_class(f->result.failure), "memory");
	f->report->failure = CTL_FAIL_MISUSE;
	judge(f, ORACLE_FAILED, ORACLE_MISUSE);
	assert_string_equal(oracle_failure_name(f->result.failure), "misuse");
}

/* What the target wrote is not to be trusted. */
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
		TEST(test_ends_that_say_nothing), TEST(test_deadlock), TEST(test_lost_wakeup),
		TEST(test_memory), TEST(test_damaged_report), TEST(test_expect_output_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
