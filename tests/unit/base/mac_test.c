/* The message authentication code and words for the shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mac.h"

/* The example of the paper, and values of its reference for a few lengths. */
static void test_vectors(void **state)
{
	static const struct {
		size_t size;
		uint64_t code;
	} wanted[] = {
		{ 0, 0x726fdb47dd0e0e31 }, { 1, 0x74f839c593dc67fd }, { 7, 0xab0200f58b01d137 },
		{ 8, 0x93f5f5799a932462 }, { 15, 0xa129ca6149be45e5 },
	};
	uint8_t key[MAC_KEY], message[64];

	(void)state;
	for (uint8_t i = 0; i < sizeof(message); i++)
		message[i] = i;
	for (uint8_t i = 0; i < MAC_KEY; i++)
		key[i] = i;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(mac(key, message, wanted[i].size), wanted[i].code);
	key[15] ^= 1;
	assert_int_not_equal(mac(key, message, 15), wanted[4].code);
}

static void test_shell_words(void **state)
{
	static const char *const words[][2] = {
		{ "a/b-c.txt", "a/b-c.txt" }, { "", "''" }, { "a b", "'a b'" },
		{ "$(x)", "'$(x)'" }, { "it's", "'it'\\''s'" }, { "a\nb", "$'a\\x0ab'" },
		{ "\x1b[2J'\\", "$'\\x1b[2J\\'\\\\'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct buf out = { 0 };

		buf_add_shell_word(&out, words[i][0]);
		assert_string_equal(buf_string(&out), words[i][1]);
		buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_shell_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
