#include "trace_util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/target/inputs.h"

static void check_argument(const char *text, const char *want)
{
	char *got = inputs_argument(text, "/in/x");

	assert_string_equal(got, want);
	free(got);
}

static void test_argument(void **state)
{
	(void)state;
	check_argument("", "");
	check_argument("-v", "-v");
	check_argument("@", "@");
	check_argument("@@", "/in/x");
	check_argument("--file=@@", "--file=/in/x");
	check_argument("@@:@@@", "/in/x:/in/x@");
}

static const char *folder(void)
{
	static char path[4096];

	if (!*path) {
		char file[4200];

		snprintf(path, sizeof(path), "%s", test_path("inputs"));
		mkdir(path, 0700);
		snprintf(file, sizeof(file), "%s/b", path);
		save(file, "second", 6);
		snprintf(file, sizeof(file), "%s/a", path);
		save(file, "first one", 9);
		snprintf(file, sizeof(file), "%s/.hidden", path);
		save(file, "x", 1);
		snprintf(file, sizeof(file), "%s/folder", path);
		mkdir(file, 0700);
	}
	return path;
}

static void open_target(struct target *t, char *argument)
{
	char *argv[] = { (char *)"/proc/self/exe", argument, NULL };
	struct err err;

	if (target_init(t, argv, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_stdin(void **state)
{
	char text[16] = "";
	struct inputs in;
	struct target t;
	struct err err;

	(void)state;
	open_target(&t, (char *)"-");
	assert_int_equal(inputs_open(&in, &t, folder(), &err), 0);
	assert_int_equal(in.count, 2);
	assert_int_equal(inputs_select(&in, 1, &err), 0);
	assert_int_equal(t.input_size, 6);
	assert_int_equal(pread(t.input, text, sizeof(text), 0), 6);
	assert_string_equal(text, "second");
	assert_int_equal(inputs_select(&in, 0, &err), 0);
	assert_int_equal(t.input_size, 9);
	assert_string_equal(t.argv[1], "-");
	inputs_restore(&in);
	assert_int_equal(t.input, -1);
	assert_int_equal(t.input_size, 0);
	inputs_close(&in);
	target_free(&t);
}

static void test_in_arguments(void **state)
{
	struct inputs in;
	struct target t;
	struct err err;

	(void)state;
	open_target(&t, (char *)"-f@@");
	assert_int_equal(inputs_open(&in, &t, folder(), &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(inputs_select(&in, (size_t)i % 2, &err), 0);
		assert_memory_equal(t.argv[1], "-f/", 3);
		assert_string_equal(strrchr(t.argv[1], '/'), i % 2 ? "/b" : "/a");
		assert_int_equal(t.input, -1);
	}
	inputs_close(&in);
	assert_string_equal(t.argv[1], "-f@@");
	target_free(&t);
}

static void test_none(void **state)
{
	struct inputs in;
	struct target t;
	struct err err;

	(void)state;
	open_target(&t, (char *)"@@");
	assert_int_equal(inputs_open(&in, &t, NULL, &err), 0);
	assert_int_equal(in.count, 1);
	assert_int_equal(inputs_select(&in, 0, &err), 0);
	assert_string_equal(t.argv[1], "@@");
	inputs_close(&in);
	assert_int_equal(inputs_open(&in, &t, test_path("not there"), &err), -1);
	inputs_close(&in);
	mkdir(test_path("empty"), 0700);
	assert_int_equal(inputs_open(&in, &t, test_path("empty"), &err), -1);
	assert_non_null(strstr(err.text, "no file"));
	inputs_close(&in);
	target_free(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argument), cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_in_arguments), cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
