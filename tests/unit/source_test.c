/*
 * Lines of sources in reports.
 */
#include "trace_util.h"

#include "explore/source.h"

static void check_escape(const char *text, size_t size, const char *want)
{
	struct buf out = { 0 };

	source_escape(text, size, &out);
	assert_string_equal(buf_string(&out), want);
	buf_free(&out);
}

static void test_escape(void **state)
{
	(void)state;
	check_escape("a\tb", 3, "a b");
	check_escape("\033[2Jx\007\177", 7, "?[2Jx??");
	check_escape("größe €𝄞", strlen("größe €𝄞"), "größe €𝄞");
	check_escape("\302\2331m", 4, "??1m");	/* a control sequence of one character */
	check_escape("\302\240", 2, "\302\240");
	check_escape("\303", 1, "?");		/* cut short */
	check_escape("\303x\200\377\300\200", 6, "?x????");
	check_escape("a\0b", 3, "a?b");
}

static void test_fit(void **state)
{
	(void)state;
	assert_int_equal(source_width(""), 0);
	assert_int_equal(source_width("größe"), 5);
	assert_int_equal(source_fit("größe", 5), 7);
	assert_int_equal(source_fit("größe", 3), 4);
	assert_int_equal(source_fit("größe", 4), 6);
	assert_int_equal(source_fit("abc", 0), 0);
	assert_int_equal(source_fit("abc", 9), 3);
}

static void check_line(const char *path, uint32_t line, const char *want)
{
	struct places places;
	struct buf out = { 0 };

	places_init(&places);
	assert_int_equal(source_line(&places, 0, path, line, &out), want != NULL);
	assert_string_equal(buf_string(&out), want ? want : "");
	buf_free(&out);
	places_free(&places);
}

static void test_line(void **state)
{
	static const char text[] = "first\n\t\tx = 1;  \r\n\n\033]0;title\007\nlast";
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s", test_path("a.c"));
	save(path, text, sizeof(text) - 1);
	check_line(path, 1, "first");
	check_line(path, 2, "x = 1;");
	check_line(path, 3, NULL);
	check_line(path, 4, "?]0;title?");
	check_line(path, 5, "last");
	check_line(path, 6, NULL);
	check_line(path, 0, NULL);
	check_line(test_path("nothing"), 1, NULL);
	check_line(NULL, 1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
