/* Response files: files with words of a command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/args/response.h"

static void check_response(const char *text, const char *expected)
{
	struct args a = { 0 };
	char *got;

	response_parse(text, strlen(text), &a);
	got = args_quote(&a);
	assert_string_equal(got, expected);
	free(got);
	args_free(&a);
}

static void test_response_parse(void **state)
{
	(void)state;
	check_response("", "");
	check_response(" \n\t", "");
	check_response("a b\nc\r\n", "a b c");
	check_response("'a b' \"c d\" e\\ f", "'a b' 'c d' 'e f'");
	check_response("a\"b c\"d", "'ab cd'");
	check_response("\"\" ''", "'' ''");
	check_response("\"a\\\"b\" 'c\\'d'", "'a\"b' 'c'\\''d'");
	check_response("a\\", "'a\\'");
	check_response("\"open", "open");
}

static void test_response_round_trip(void **state)
{
	static const char *const words[] = {
		"a", "", "b c", "\"", "'", "\\", "x\\\"y", "new\nline", "@f", "-DX=\"a b\"",
	};
	struct args a = { 0 }, b = { 0 };
	size_t size;
	char *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		args_add(&a, words[i]);
	text = response_text(&a, &size);
	response_parse(text, size, &b);
	assert_int_equal(a.count, b.count);
	for (size_t i = 0; i < a.count; i++)
		assert_string_equal(a.v[i], b.v[i]);
	free(text);
	args_free(&a);
	args_free(&b);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_response_files(void **state)
{
	char folder[] = "/tmp/snarl-rewrite-XXXXXX", path[100], at[102], text[300], *got;
	struct args a = { 0 };
	struct err err = { "" };
	char *words[] = { "first", at, "@/nonexistent/file", "@" };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/inner", folder);
	write_file(path, "-shared 'x y'");
	snprintf(text, sizeof(text), "a @%s b", path);
	snprintf(path, sizeof(path), "%s/outer", folder);
	write_file(path, text);
	snprintf(at, sizeof(at), "@%s", path);
	assert_int_equal(response_expand(words, ARRAY_SIZE(words), &a, &err), 0);
	got = args_quote(&a);
	assert_string_equal(got, "first a -shared 'x y' b @/nonexistent/file @");
	free(got);
	args_free(&a);

	write_file(path, at);	/* the file names itself */
	assert_int_equal(response_expand(words, ARRAY_SIZE(words), &a, &err), -1);
	assert_non_null(strstr(err.text, "too many response files"));
	args_free(&a);
	unlink(path);
	snprintf(path, sizeof(path), "%s/inner", folder);
	unlink(path);
	rmdir(folder);
}

static void test_response_shorten(void **state)
{
	struct args a = { 0 }, back = { 0 };
	struct err err = { "" };
	char *file;

	(void)state;
	args_add(&a, "gcc");
	for (int i = 0; i < 1000; i++)
		args_addf(&a, "-DX%d=\"a b\"", i);
	assert_int_equal(response_shorten(&a, 1, 1 << 20, &err), 0);
	assert_int_equal(a.count, 1001);
	assert_int_equal(response_shorten(&a, 1, 1000, &err), 0);
	assert_int_equal(a.count, 2);
	file = a.v[1];
	assert_int_equal(response_expand(&file, 1, &back, &err), 0);
	assert_int_equal(back.count, 1000);
	assert_string_equal(back.v[999], "-DX999=\"a b\"");
	close(atoi(strrchr(file, '/') + 1));
	args_free(&back);
	args_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_response_parse),
		cmocka_unit_test(test_response_round_trip),
		cmocka_unit_test(test_response_files),
		cmocka_unit_test(test_response_shorten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
