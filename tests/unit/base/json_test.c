#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

static void check_text(const char *in, const char *out)
{
	struct buf b = { 0 };
	struct json j = { .out = &b };

	json_text(&j, NULL, in);
	assert_string_equal(buf_string(&b), out);
	buf_free(&b);
}

static void test_escapes(void **state)
{
	(void)state;
	check_text("", "\"\"");
	check_text("a\"b\\c", "\"a\\\"b\\\\c\"");
	check_text("\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\"");
	check_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b",
		   "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b\"");
	check_text(NULL, "null");
}

/* Each byte that is cut off, overlong, of a surrogate, above U+10FFFF or stray is replaced. */
static void test_invalid_utf8(void **state)
{
	(void)state;
	check_text("a\xff" "b", "\"a\\ufffdb\"");
	check_text("\xc3", "\"\\ufffd\"");
	check_text("\xe2\x82", "\"\\ufffd\\ufffd\"");
	check_text("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	check_text("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	check_text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	check_text("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void test_structure(void **state)
{
	struct buf b = { 0 };
	struct json j = { .out = &b };

	(void)state;
	json_open(&j, NULL, '{');
	json_number(&j, "n", 9007199254740992);
	json_number(&j, "big", UINT64_MAX);
	json_hex(&j, "h", 255);
	json_open(&j, "list", '[');
	json_bool(&j, NULL, true);
	json_open(&j, NULL, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_members(&j, "", 0);
	json_members(&j, "\"x\":1", 5);
	json_decimal(&j, "r", 1.5);
	json_close(&j, '}');
	assert_string_equal(buf_string(&b),
			    "{\"n\":9007199254740992,\"big\":\"18446744073709551615\","
			    "\"h\":\"0xff\",\"list\":[true,{}],\"x\":1,\"r\":1.500}");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_invalid_utf8),
		cmocka_unit_test(test_structure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
