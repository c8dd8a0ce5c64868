/*
 * Workers with and without a fork server: output, time limits, servers that die, snapshots,
 * orphans.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "explore/target/orphans.h"
#include "explore/target/worker.h"
#include "fake_target.h"
#include "server_snapshot.h"

struct fixture {
	struct target target;
	struct server server;
	struct err err;
};

static void open_fake(struct fixture *f, const char *what, bool exec, double timeout)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)what, NULL };
	struct server_config config = { .target = &f->target, .exec = exec, .timeout = timeout };

	f->err = (struct err){ "" };
	if (target_init(&f->target, argv, NULL, &f->err) < 0)
		fail_msg("%s", f->err.text);
	if (server_open(&f->server, &config, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

static void close_fake(struct fixture *f)
{
	server_close(&f->server);
	target_free(&f->target);
}

static void run(struct fixture *f)
{
	if (server_run(&f->server, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

static const char *out_text(struct fixture *f, struct buf *b)
{
	buf_clear(b);
	capture_text(&f->server.result.out, b);
	return buf_string(b);
}

static void test_runs(void **state)
{
	struct fixture f;
	struct buf text = { 0 };

	(void)state;
	for (int exec = 0; exec < 2; exec++) {
		open_fake(&f, "echo", exec, 60);
		for (uint64_t seed = 1; seed <= 3; seed++) {
			char want[40];

			server_request(&f.server)->seed = seed;
			run(&f);
			snprintf(want, sizeof(want), "%llu after 0\n", (unsigned long long)seed);
			assert_string_equal(out_text(&f, &text), want);
			assert_int_equal(f.server.result.status, 0);
			assert_int_equal(server_report(&f.server)->outcome, CTL_EXITED);
		}
		close_fake(&f);
	}
	buf_free(&text);
}

/* Large output: head and tail are kept, size and hash cover all of it. */
static void test_much_output(void **state)
{
	struct fixture f;
	struct buf text = { 0 };
	uint64_t hash = HASH_START;
	char piece[1000];

	(void)state;
	open_fake(&f, "big", false, 60);
	run(&f);
	for (int i = 0; i < 3000; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		hash = hash_bytes(hash, piece, sizeof(piece));
	}
	assert_int_equal(f.server.result.out.size, 3000000);
	assert_true(f.server.result.out.hash == hash);
	out_text(&f, &text);
	assert_true(text.size < CAPTURE_HEAD + CAPTURE_TAIL + 100);
	assert_int_equal(text.data[0], 'a');
	assert_memory_equal(text.data + text.size - 1000, piece, 1000);
	assert_non_null(strstr(buf_string(&text), "\n[… 1885888 bytes …]\n"));
	buf_free(&text);
	close_fake(&f);
}

/* The output before main is part of every run's output. */
static void test_early_output(void **state)
{
	struct fixture f;
	struct buf text = { 0 };

	(void)state;
	open_fake(&f, "early", false, 60);
	run(&f);
	run(&f);
	assert_string_equal(out_text(&f, &text), "early\n");
	buf_free(&text);
	close_fake(&f);
}

static void test_input_is_rewound(void **state)
{
	struct fixture f;
	struct buf text = { 0 };
	int fd = memfd_create("input", 0);

	(void)state;
	assert_int_equal(write(fd, "first\nsecond\n", 13), 13);
	lseek(fd, 0, SEEK_SET);
	open_fake(&f, "input", false, 60);
	server_close(&f.server);
	assert_int_equal(target_input(&f.target, fd, &f.err), 0);
	assert_int_equal(
		server_open(&f.server, &(struct server_config){ .target = &f.target }, &f.err), 0);
	for (int i = 0; i < 2; i++) {
		run(&f);
		assert_string_equal(out_text(&f, &text), "first\n");
	}
	close(fd);
	buf_free(&text);
	close_fake(&f);
}

static void test_timeout(void **state)
{
	struct fixture f;

	(void)state;
	for (int exec = 0; exec < 2; exec++) {
		open_fake(&f, "hang", exec, 0.05);
		for (int i = 0; i < 2; i++) {
			run(&f);
			assert_true(f.server.result.timed_out && !f.server.result.lost);
			assert_true(WIFSIGNALED(f.server.result.status));
		}
		close_fake(&f);
	}
}

static void test_lost_server(void **state)
{
	struct fixture f;

	(void)state;
	open_fake(&f, "kill-server", false, 60);
	for (int i = 0; i < 3; i++) {
		run(&f);
		assert_true(f.server.result.lost);
	}
	assert_int_equal(server_run(&f.server, &f.err), -1);
	assert_non_null(strstr(f.err.text, "the fork server was lost 3 times in a row "
					   "(killed by signal 9)"));
	close_fake(&f);
}

static void test_not_controlled(void **state)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)"deaf", NULL };
	struct fixture f = { .err = { "" } };

	(void)state;
	assert_int_equal(target_init(&f.target, argv, NULL, &f.err), 0);
	assert_int_equal(
		server_open(&f.server, &(struct server_config){ .target = &f.target }, &f.err), -1);
	assert_non_null(
		strstr(f.err.text, "is not under snarl's control; was it built with snarl-cc?"));
	close_fake(&f);
}

static void test_not_a_program(void **state)
{
	char *script[] = { (char *)"/usr/bin/ldd", NULL }, *none[] = { (char *)"./none", NULL };
	struct target t;
	struct err err;

	(void)state;
	assert_int_equal(target_init(&t, none, NULL, &err), -1);
	assert_string_equal(err.text, "cannot run ./none: No such file or directory");
	target_free(&t);
	assert_int_equal(target_init(&t, script, NULL, &err), -1);
	assert_non_null(strstr(err.text, "no ELF file"));
	target_free(&t);
}

/* A process that a run leaves behind is killed at the end of the run. */
static void test_orphans(void **state)
{
	struct fixture f;

	(void)state;
	orphans_adopt();
	open_fake(&f, "stray", false, 60);
	run(&f);
	run(&f);
	close_fake(&f);
	orphans_end_all(NULL, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_snapshot(void **state)
{
	struct fixture f;
	struct buf text = { 0 };

	(void)state;
	open_fake(&f, "echo", false, 60);
	assert_int_equal(server_snapshot(&f.server, &f.err), 1);
	for (uint64_t seed = 5; seed < 8; seed++) {
		server_request(&f.server)->seed = seed;
		run(&f);
		assert_int_equal(out_text(&f, &text)[0], (char)('0' + seed));
	}
	assert_int_equal(server_snapshot(&f.server, &f.err), 1);
	run(&f);
	assert_int_equal(server_leave(&f.server, &f.err), 0);
	assert_int_equal(server_leave(&f.server, &f.err), 0);
	assert_int_equal(server_leave(&f.server, &f.err), -1);
	run(&f);
	assert_int_equal(f.server.result.status, 0);
	buf_free(&text);
	close_fake(&f);
}

/* Variables that schedules save come first: the well-known ones and those asked for. */
static void test_environment(void **state)
{
	static const char *const want[] = { "LC_ALL=C", "MALLOC_X=1", "MY_TOKEN=t",
					    "GIVEN=1",	"PLAIN=x",    "SSH_CLIENT=c" };
	char *argv[] = { (char *)"/proc/self/exe", NULL };
	const char *const keep[] = { "MY_TOKEN", "GIVEN=1", "MISSING", NULL };
	struct schedule s = { .program = argv[0], .directory = (char *)"/" };
	struct target t;
	struct err err;

	(void)state;
	clearenv();
	setenv("PLAIN", "x", 1);
	setenv("LC_ALL", "C", 1);
	setenv("MY_TOKEN", "t", 1);
	setenv("SSH_CLIENT", "c", 1);
	setenv("MALLOC_X", "1", 1);
	setenv("SNARL_OPTIONS", "o", 1);
	assert_int_equal(target_init(&t, argv, keep, &err), 0);
	assert_int_equal(t.env_saved, 4);
	assert_int_equal(t.env_count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(t.env[i], want[i]);
	target_free(&t);

	/* From a schedule that has no LC_ALL and MALLOC_X: they stay unset. */
	schedule_list_add(&s.environment, "TZ=UTC");
	schedule_list_add(&s.environment, "PLAIN=y");
	setenv("PWD", "/elsewhere", 1);
	assert_int_equal(schedule_get_target(&s, ".", &t, &err), 0);
	assert_int_equal(t.env_count, 5);
	assert_string_equal(t.env[0], "TZ=UTC");
	assert_string_equal(t.env[1], "PLAIN=y");
	assert_string_equal(t.env[2], "MY_TOKEN=t");
	assert_string_equal(t.env[3], "SSH_CLIENT=c");
	assert_string_equal(t.env[4], "PWD=/");
	target_free(&t);
	s.program = s.directory = NULL;
	schedule_free(&s);
	unsetenv("SNARL_OPTIONS");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs), cmocka_unit_test(test_much_output),
		cmocka_unit_test(test_early_output), cmocka_unit_test(test_input_is_rewound),
		cmocka_unit_test(test_timeout), cmocka_unit_test(test_lost_server),
		cmocka_unit_test(test_not_controlled), cmocka_unit_test(test_not_a_program),
		cmocka_unit_test(test_orphans), cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_environment),
	};

	fake_target_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
