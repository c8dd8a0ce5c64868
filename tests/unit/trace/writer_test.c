/*
 * The writer: a trace has the events that were written, or does not appear at all.
 */
#include <dirent.h>
#include <sys/resource.h>
#include <signal.h>

#include "trace/write/writer.h"
#include "trace_util.h"

static size_t files_in_test_dir(void)
{
	DIR *d = opendir(test_dir);
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static struct event nth_event(uint64_t i)
{
	struct event ev = { .time = i + 1, .thread = (uint32_t)(i / 3 % 5 + 1) };

	switch (i % 4) {
	case 0: ev.kind = TRACE_MUTEX_LOCK; ev.addr = 0x1000 + i % 7; break;
	case 1: ev.kind = TRACE_READ; ev.addr = 0x5000 + 8 * i; ev.detail = 3; break;
	case 2: ev.kind = TRACE_WRITE; ev.addr = 0x9000 + i * i % 977; ev.detail = 2; break;
	case 3: ev.kind = TRACE_MALLOC; ev.addr = 0x20000 + i; ev.arg = i; break;
	}
	ev.pc = 0x400000 + i % 40;
	if (ev.kind == TRACE_READ || ev.kind == TRACE_WRITE)
		ev.size = 1ull << ev.detail;
	return ev;
}

static uint64_t write_many(const char *path, unsigned flags, uint64_t count)
{
	struct writer *w = writer_open(path, flags | TRACE_TOTAL_ORDER, NULL);
	struct stat st;

	assert_non_null(w);
	for (uint64_t i = 0; i < count; i++) {
		struct event ev = nth_event(i);

		writer_event(w, &ev);
	}
	assert_int_equal(writer_close(w, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

static void check_many(const char *path, uint64_t count)
{
	struct reader *r = reader_open(path, NULL);
	struct event ev;

	assert_non_null(r);
	for (uint64_t i = 0; i < count; i++) {
		struct event want = nth_event(i);

		assert_int_equal(reader_next(r, &ev, NULL), 1);
		assert_same_event(&ev, &want);
	}
	assert_int_equal(reader_next(r, &ev, NULL), 0);
	assert_int_equal(reader_next(r, &ev, NULL), 0);
	reader_close(r);
}

/* Many chunks of several threads, exact times. */
static void test_round_trip(void **state)
{
	(void)state;
	write_many(test_path("plain"), 0, 100000);
	check_many(test_path("plain"), 100000);
}

static void test_zstd(void **state)
{
	uint64_t plain = write_many(test_path("plain"), 0, 100000);
	uint64_t squeezed = write_many(test_path("zstd"), WRITER_ZSTD, 100000);

	(void)state;
	assert_true(squeezed < plain * 3 / 4);
	check_many(test_path("zstd"), 100000);
}

static void test_empty(void **state)
{
	struct reader *r;
	struct event ev;

	(void)state;
	write_many(test_path("empty"), 0, 0);
	r = reader_open(test_path("empty"), NULL);
	assert_non_null(r);
	assert_int_equal(reader_next(r, &ev, NULL), 0);
	assert_int_equal(reader_info(r)->thread_count, 0);
	reader_close(r);
}

/* Without total order, recorded times are exact and the others lie between them. */
static void test_parallel(void **state)
{
	struct writer *w = writer_open(test_path("parallel"), 0, NULL);
	struct event ev = { .thread = 1, .kind = TRACE_MUTEX_LOCK, .time = 0 }, got;
	uint64_t last = 0;
	struct reader *r;

	(void)state;
	writer_event(w, &ev);
	ev.kind = TRACE_WRITE;
	for (ev.time = 10; ev.time < 10000; ev.time += 10)
		writer_event(w, &ev);
	ev.kind = TRACE_MUTEX_UNLOCK;
	writer_event(w, &ev);
	assert_int_equal(writer_close(w, NULL), 0);
	r = reader_open(test_path("parallel"), NULL);
	for (int i = 0; i <= 1000; i++) {
		assert_int_equal(reader_next(r, &got, NULL), 1);
		assert_in_range(got.time, last, i == 1000 ? 10000 : 9999);
		last = got.time;
	}
	assert_int_equal(last, 10000);
	reader_close(r);
}

static void test_nothing_half_written(void **state)
{
	size_t before = files_in_test_dir();
	struct rlimit old, limit;
	struct writer *w;
	struct err err;
	struct event ev;

	(void)state;
	assert_null(writer_open(test_path("no/such/dir"), 0, &err));
	assert_non_null(strstr(err.text, "No such file"));
	w = writer_open(test_path("aborted"), 0, &err);
	assert_non_null(w);
	writer_abort(w);
	assert_int_equal(files_in_test_dir(), before);

	/* The limit on file sizes stands in for a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 10000;
	setrlimit(RLIMIT_FSIZE, &limit);
	save(test_path("kept"), "old", 3);
	w = writer_open(test_path("kept"), TRACE_TOTAL_ORDER, &err);
	assert_non_null(w);
	for (uint64_t i = 0; i < 100000; i++) {
		ev = nth_event(i);
		writer_event(w, &ev);
	}
	assert_int_equal(writer_close(w, &err), -1);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_non_null(strstr(err.text, "File too large"));
	assert_int_equal(files_in_test_dir(), before + 1);
	struct buf b = load(test_path("kept"));
	assert_int_equal(b.size, 3);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_nothing_half_written),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
