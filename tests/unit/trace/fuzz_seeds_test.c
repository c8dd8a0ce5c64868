/*
 * The fuzzer's seeds are read to their end: a seed refused at its first chunk would be useless.
 * Inputs that once made the reader fail are refused or read without a crash.
 */
#include <dirent.h>

#include "../fuzz/seeds.h"
#include "../fuzz/target.h"

static long count_events(const char *path)
{
	struct err err = { "" };
	struct reader *r = reader_open(path, &err);
	struct event ev;
	long n = 0;
	int got;

	if (!r)
		fail_msg("%s", err.text);
	while ((got = reader_next(r, &ev, &err)) > 0)
		n++;
	if (got < 0)
		fail_msg("%s", err.text);
	reader_close(r);
	return n;
}

static void test_read_to_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fuzz_seeds); i++) {
		const char *seed = test_path("seed"), *trace = seed;
		struct err err = { "" };
		struct buf b = { 0 };

		fuzz_seeds[i].make(&b);
		save(seed, b.data, b.size);
		buf_free(&b);
		if (strcmp(fuzz_seeds[i].name, "live") == 0) {
			trace = test_path("finished");
			assert_int_equal(finish_trace(trace, seed, NULL, &err), 0);
		}
		if (count_events(trace) != fuzz_seeds[i].events)
			fail_msg("%s: %ld events", fuzz_seeds[i].name, count_events(trace));
	}
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fuzz_seeds); i++) {
		struct buf b = { 0 };

		fuzz_seeds[i].make(&b);
		for (size_t size = 0; size <= b.size; size += size < 128 ? 1 : 13)
			fuzz_one(b.data, size);
		buf_free(&b);
	}
}

static void test_former_crashes_stay_fixed(void **state)
{
	DIR *dir = opendir("tests/fuzz/corpus");
	struct dirent *e;
	char path[512];

	(void)state;
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		struct buf b;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "tests/fuzz/corpus/%s", e->d_name);
		b = load(path);
		fuzz_one(b.data, b.size);
		buf_free(&b);
	}
	closedir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_to_the_end),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_former_crashes_stay_fixed),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
