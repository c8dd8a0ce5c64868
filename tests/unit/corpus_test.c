/*
 * Replays tests/fuzz/corpus. Tests run in the root of the sources.
 */
#include <dirent.h>

#include "trace_util.h"
#include "../fuzz/target.h"

static void test_corpus(void **state)
{
	const char *dir = "tests/fuzz/corpus";
	DIR *d = opendir(dir);
	struct dirent *e;
	int files = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[512];
		struct buf b;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		b = load(path);
		fuzz_one(b.data, b.size);
		/* And cut, and with single bytes changed. */
		for (size_t i = 0; i < b.size; i += 13) {
			uint8_t *exact = xmalloc(b.size);

			memcpy(exact, b.data, b.size);
			fuzz_one(exact, i);
			exact[i] ^= (uint8_t)(1 + i);
			fuzz_one(exact, b.size);
			free(exact);
		}
		buf_free(&b);
		files++;
	}
	closedir(d);
	assert_true(files > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
