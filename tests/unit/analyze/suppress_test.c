/*
 * Suppression files: which lines there are, what their patterns match, and what that
 * says of candidates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/suppress.h"
#include "base/mem.h"
#include "reference/suppression_pattern.h"

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		/* anywhere, unless tied to an end */
		{ "deposit", "deposit", true },
		{ "deposit", "bank_deposit_all", true },
		{ "deposit", "deposi", false },
		{ "^deposit", "deposit_all", true },
		{ "^deposit", "bank_deposit", false },
		{ "deposit$", "bank_deposit", true },
		{ "deposit$", "deposit_all", false },
		{ "^deposit$", "deposit", true },
		{ "^deposit$", "deposits", false },
		{ "foo$", "foofoo", true },
		/* stars */
		{ "foo*bar", "foobar", true },
		{ "foo*bar", "xfoo::yyy::barx", true },
		{ "foo*bar", "barfoo", false },
		{ "^foo*bar$", "foo bar bar", true },
		{ "^foo*bar$", "foo bar barx", false },
		{ "^*bar", "foobarx", true },
		{ "a**b", "ab", true },
		{ "*", "x", true },
		{ "^*$", "x", true },
		{ "^a*b*c$", "abbc", true },
		{ "^a*b*c$", "abbcb", false },
		/* other characters stand for themselves, also ^ and $ elsewhere */
		{ "a.c", "abc", false },
		{ "operator[]", "T::operator[](int)", true },
		{ "a^b", "a^b", true },
		{ "a$b", "a$b", true },
		{ "a^b", "ab", false },
		/* what is not there is not matched */
		{ "*", "", false },
		{ "*", NULL, false },
		{ "^$", "x", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (suppress_match(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].pattern,
				 cases[i].name ? cases[i].name : "NULL");
}

static void test_random_patterns(void **state)
{
	unsigned seed = 7, matched = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		char pattern[12] = "", name[12] = "";
		size_t length = (size_t)rand_r(&seed) % 8;

		for (size_t k = 0; k < length; k++)
			pattern[k] = "aab*^$"[rand_r(&seed) % 6];
		length = (size_t)rand_r(&seed) % 8;
		for (size_t k = 0; k < length; k++)
			name[k] = "aab^$"[rand_r(&seed) % 5];
		matched += suppress_match(pattern, name);
		if (suppress_match(pattern, name) != slow_match(pattern, name))
			fail_msg("'%s' and '%s'", pattern, name);
	}
	assert_true(matched > 10000 && matched < 190000);
}

static struct suppressions *parse(const char *text)
{
	struct suppressions *s = suppress_new();
	struct err err;

	if (suppress_parse(s, "s.txt", text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void test_lines(void **state)
{
	struct suppressions *s = parse("# of the library\n"
				       "\n"
				       "race:one\r\n"
				       " \t race_top:two  \n"
				       "deadlock:a:b\n"
				       "mutex:m\nthread:t\nsignal:s\n"
				       "called_from_lib:libz.so");

	(void)state;
	assert_true(suppress_name(s, SUPPRESS_RACE, "one"));
	assert_false(suppress_name(s, SUPPRESS_RACE, "two"));
	assert_false(suppress_name(s, SUPPRESS_DEADLOCK, "one"));
	assert_true(suppress_name(s, SUPPRESS_RACE_TOP, "two"));
	assert_true(suppress_name(s, SUPPRESS_DEADLOCK, "a:b"));
	assert_true(suppress_name(s, SUPPRESS_MUTEX, "m"));
	assert_true(suppress_name(s, SUPPRESS_CALLED_FROM_LIB, "/usr/lib/libz.so.1"));
	suppress_free(s);
	s = parse("");
	assert_false(suppress_name(s, SUPPRESS_RACE, "one"));
	suppress_free(s);
	suppress_free(NULL);
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "race:a\nrace\n", "s.txt:2: no ':' in 'race'" },
		{ "# x\n\n  data_race:a", "s.txt:3: no type 'data_race'" },
		{ "rac:a", "s.txt:1: no type 'rac'" },
		{ "race_to:a", "s.txt:1: no type 'race_to'" },
		{ "race:", "s.txt:1: nothing after 'race:'" },
		{ "race: \t", "s.txt:1: nothing after 'race:'" },
		{ ":a", "s.txt:1: no type ''" },
	};
	struct suppressions *s = suppress_new();
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
			suppress_parse(s, "s.txt", cases[i].text, strlen(cases[i].text), &err), -1);
		if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
	assert_int_equal(suppress_parse(s, "s.txt", "race:a\0b", 8, &err), -1);
	assert_string_equal(err.text, "s.txt:1: a zero byte: not a text file");
	assert_int_equal(suppress_read(s, "/does/not/exist", &err), -1);
	assert_string_equal(err.text,
			    "cannot open the suppressions /does/not/exist: No such file or "
			    "directory");
	suppress_free(s);
}

static void test_frames(void **state)
{
	const struct symbol_frame frames[] = {
		{ .function = "list_add", .file = "src/list.h", .line = 3, .inlined = true },
		{ .function = "queue_put", .file = "src/queue.c", .line = 9 },
		{ .function = "??" },
	};
	struct suppressions *s = parse("race:queue.c\nrace_top:list_add\nrace_top:queue_put\n"
				       "mutex:libq\n");

	(void)state;
	assert_true(suppress_frames(s, SUPPRESS_RACE, frames, 3, NULL));
	assert_false(suppress_frames(s, SUPPRESS_RACE, frames, 1, "queue"));
	assert_true(suppress_frames(s, SUPPRESS_RACE_TOP, frames, 1, NULL));
	assert_false(suppress_frames(s, SUPPRESS_RACE_TOP, &frames[2], 1, NULL));
	assert_true(suppress_frames(s, SUPPRESS_MUTEX, frames, 3, "/lib/libq.so"));
	assert_false(suppress_frames(s, SUPPRESS_DEADLOCK, frames, 3, "/lib/libq.so"));
	suppress_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_random_patterns),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
