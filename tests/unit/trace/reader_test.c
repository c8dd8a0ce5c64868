/*
 * The reader: order, times, calls, thread names, and errors of damaged files.
 */
#include <fcntl.h>

#include "trace_util.h"

#define START(parent, ordinal, time) \
	rec(TRACE_THREAD_START, 0x400, 0), extra(time, (uint64_t)(parent) << 32 | (ordinal)), \
		extra(0x7000, 0x8000)

static struct buf whole(void)
{
	const struct trace_record main_thread[] = { START(0, 0, 10), rec(TRACE_MUTEX_LOCK, 1, 2),
						    extra(20, 0) };
	struct buf b = { 0 };

	raw_header(&b, 0);
	raw_events(&b, 1, 0, 10, main_thread, ARRAY_SIZE(main_thread));
	raw_end(&b);
	return b;
}

static void test_merge_by_time(void **state)
{
	const struct trace_record t1[] = { START(0, 0, 10), rec(TRACE_MUTEX_LOCK, 1, 0),
					   extra(30, 0) };
	const struct trace_record t2[] = { START(1, 1, 20), rec(TRACE_MUTEX_LOCK, 2, 0),
					   extra(30, 0) };
	const struct trace_record t1_later[] = { rec(TRACE_MUTEX_UNLOCK, 1, 0), extra(40, 0) };
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	/* In any order in the file: seq counts. */
	raw_events(&b, 1, 1, 35, t1_later, 2);
	raw_events(&b, 2, 0, 20, t2, ARRAY_SIZE(t2));
	raw_events(&b, 1, 0, 10, t1, ARRAY_SIZE(t1));
	raw_events(&b, 1, 1, 35, t2, 2);	/* a duplicate seq: not read */
	raw_end(&b);
	assert_brief(&b, "0 start 400 t10 d0\n"
			 "0.1 start 400 t20 d0\n"
			 "0 lock 1 t30 d0\n"
			 "0.1 lock 2 t30 d0\n"
			 "0 unlock 1 t40 d0\n");
	buf_free(&b);
}

/* The example at the top of reader.h. */
static void test_header_example(void **state)
{
	const struct trace_record t1[] = {
		rec(TRACE_WRITE, 0xa, 1), rec(TRACE_WRITE, 0xb, 1), rec(TRACE_WRITE, 0xc, 1),
		rec(TRACE_MUTEX_LOCK, 0x11, 1), extra(110, 0),
	};
	const struct trace_record t2[] = {
		rec(TRACE_WRITE, 0xd, 1), rec(TRACE_MUTEX_LOCK, 0x12, 1), extra(106, 0),
	};
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 100, t1, ARRAY_SIZE(t1));
	raw_events(&b, 2, 0, 104, t2, ARRAY_SIZE(t2));
	raw_end(&b);
	assert_brief(&b, "?1 write a t102 d0\n"
			 "?1 write b t105 d0\n"
			 "?2 write d t105 d0\n"
			 "?2 lock 12 t106 d0\n"
			 "?1 write c t107 d0\n"
			 "?1 lock 11 t110 d0\n");
	buf_free(&b);
}

static void test_times_are_spread(void **state)
{
	const struct trace_record t1[] = {
		START(0, 0, 100),
		rec(TRACE_WRITE, 1, 1), rec(TRACE_WRITE, 2, 1), rec(TRACE_WRITE, 3, 1),
		rec(TRACE_MUTEX_LOCK, 4, 1), extra(110, 0),
		rec(TRACE_WRITE, 5, 1),
		{ 200, TRACE_SITE(TRACE_STAMP, 0, 0) },
		rec(TRACE_WRITE, 6, 1),		/* up to the next chunk's beginning */
	};
	const struct trace_record t2[] = { rec(TRACE_WRITE, 7, 1), rec(TRACE_WRITE, 8, 1) };
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 100, t1, ARRAY_SIZE(t1));
	raw_events(&b, 1, 1, 300, t2, ARRAY_SIZE(t2));
	raw_end(&b);
	assert_brief(&b, "0 start 400 t100 d0\n"
			 "0 write 1 t102 d0\n"
			 "0 write 2 t105 d0\n"
			 "0 write 3 t107 d0\n"
			 "0 lock 4 t110 d0\n"
			 "0 write 5 t155 d0\n"
			 "0 write 6 t250 d0\n"
			 "0 write 7 t301 d0\n"
			 "0 write 8 t301 d0\n");
	buf_free(&b);
}

static void test_time_never_sinks(void **state)
{
	const struct trace_record t1[] = {
		START(0, 0, 100), rec(TRACE_WRITE, 1, 1), rec(TRACE_MUTEX_LOCK, 2, 1), extra(50, 0),
		rec(TRACE_WRITE, 3, 1), rec(TRACE_MUTEX_LOCK, 4, 1), extra(~0ull, 0),
		rec(TRACE_WRITE, 5, 1),
	};
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 100, t1, ARRAY_SIZE(t1));
	raw_end(&b);
	assert_brief(&b, "0 start 400 t100 d0\n"
			 "0 write 1 t100 d0\n"
			 "0 lock 2 t100 d0\n"
			 "0 write 3 t9223372036854775857 d0\n"
			 "0 lock 4 t18446744073709551615 d0\n"
			 "0 write 5 t18446744073709551615 d0\n");
	buf_free(&b);
}

/* Far more events without a time than STREAM_LOOKAHEAD: they keep one time, all are delivered. */
static void test_no_time_for_long(void **state)
{
	enum { COUNT = 10000 };
	static struct trace_record t1[COUNT + 2];
	struct buf b = { 0 };
	struct err err;
	struct event ev;
	struct reader *r;
	uint64_t last = 0;
	int n = 0, got;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		t1[i] = rec(TRACE_WRITE, (uint64_t)i, 1);
	t1[COUNT] = rec(TRACE_MUTEX_LOCK, 1, 1);
	t1[COUNT + 1] = extra(1000000, 0);
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 100, t1, COUNT + 2);
	raw_end(&b);
	save(test_path("long"), b.data, b.size);
	r = reader_open(test_path("long"), &err);
	assert_non_null(r);
	while ((got = reader_next(r, &ev, &err)) > 0) {
		assert_true(ev.time >= last);
		if (n < 8192)
			assert_int_equal(ev.time, 100);
		if (n < COUNT)
			assert_int_equal(ev.addr, n);
		last = ev.time;
		n++;
	}
	assert_int_equal(got, 0);
	assert_int_equal(n, COUNT + 1);
	assert_int_equal(last, 1000000);
	assert_string_equal(reader_info(r)->threads[0].name, "?1");
	assert_int_equal(reader_info(r)->threads[0].events, COUNT + 1);
	reader_close(r);
	buf_free(&b);
}

static void test_total_order(void **state)
{
	const struct trace_record t1[] = {
		rec(TRACE_WRITE, 1, 1), rec(TRACE_WRITE, 2, 1),
		{ 6, TRACE_SITE(TRACE_STAMP, 0, 0) }, rec(TRACE_WRITE, 3, 1),
		rec(TRACE_MUTEX_LOCK, 4, 1), extra(9, 0), rec(TRACE_WRITE, 5, 1),
	};
	const struct trace_record t2[] = { rec(TRACE_READ, 1, 1), rec(TRACE_READ, 2, 1) };
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, TRACE_TOTAL_ORDER);
	raw_events(&b, 1, 0, 0, t1, ARRAY_SIZE(t1));
	raw_events(&b, 2, 0, 3, t2, 2);
	raw_end(&b);
	assert_brief(&b, "?1 write 1 t1 d0\n"
			 "?1 write 2 t2 d0\n"
			 "?2 read 1 t4 d0\n"
			 "?2 read 2 t5 d0\n"
			 "?1 write 3 t7 d0\n"
			 "?1 lock 4 t9 d0\n"
			 "?1 write 5 t10 d0\n");
	buf_free(&b);
}

/* Calls without events inside are not delivered, others just before their first event. */
static void test_calls(void **state)
{
	const struct trace_record full[] = {
		START(0, 0, 10),
		rec(TRACE_FUNC_EXIT, 0, 9),		/* entered before recording began */
		rec(TRACE_FUNC_ENTRY, 1, 0x10),		/* f */
		rec(TRACE_FUNC_ENTRY, 2, 0x20),		/* g: no events inside */
		rec(TRACE_FUNC_EXIT, 0, 0x29),
		rec(TRACE_FUNC_ENTRY, 3, 0x30),		/* h */
		rec(TRACE_MUTEX_LOCK, 4, 0x31), extra(20, 0),
		rec(TRACE_FUNC_EXIT, 0, 0x39),
		rec(TRACE_FUNC_ENTRY, 5, 0x50),
		rec(TRACE_FUNC_ENTRY, 6, 0x60),
		rec(TRACE_JUMP, 0, 0x61), extra(30, 1),
		rec(TRACE_MUTEX_UNLOCK, 4, 0x11), extra(40, 0),
		rec(TRACE_FUNC_EXIT, 0, 0x19),
		rec(TRACE_FUNC_ENTRY, 7, 0x70),		/* still in it at the end */
	};
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 10, full, ARRAY_SIZE(full));
	raw_end(&b);
	assert_brief(&b, "0 start 400 t10 d0\n"
			 "0 exit 0 t11 d0\n"
			 "0 enter 1 t20 d0\n"
			 "0 enter 3 t20 d1\n"
			 "0 lock 4 t20 d2\n"
			 "0 exit 0 t22 d1\n"
			 "0 enter 5 t30 d1\n"
			 "0 enter 6 t30 d2\n"
			 "0 longjmp 0 t30 d3\n"
			 "0 unlock 4 t40 d1\n"
			 "0 exit 0 t41 d0\n");
	buf_free(&b);
}

static void add_start(struct buf *b, uint32_t id, uint32_t parent, uint32_t ordinal)
{
	const struct trace_record start[] = { START(parent, ordinal, id) };

	raw_events(b, id, 0, 0, start, 3);
}

static void test_thread_names(void **state)
{
	static const char *const names[] = { "0", "0.2", "0.2.1", "~1", "~1.3", "?77.4", "?7", "?8",
					     "?9" };
	struct buf b = { 0 };
	struct err err;
	struct reader *r;

	(void)state;
	raw_header(&b, 0);
	add_start(&b, 9, 8, 1);		/* each other's parent */
	add_start(&b, 8, 9, 1);
	add_start(&b, 3, 2, 1);		/* before its parent in the file */
	add_start(&b, 2, 1, 2);
	add_start(&b, 1, 0, 0);
	add_start(&b, 4, 0, 1);
	add_start(&b, 5, 4, 3);
	add_start(&b, 6, 77, 4);	/* a parent that is not in the trace */
	add_start(&b, 7, 1, 2);		/* a name that is taken */
	raw_end(&b);
	save(test_path("names"), b.data, b.size);
	r = reader_open(test_path("names"), &err);
	assert_non_null(r);
	assert_int_equal(reader_info(r)->thread_count, 9);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(reader_info(r)->threads[i].name, names[i]);
	assert_int_equal(reader_thread(r, 2)->parent, 1);
	assert_int_equal(reader_thread(r, 2)->ordinal, 2);
	assert_int_equal(reader_thread(r, 2)->stack_low, 0x7000);
	assert_int_equal(reader_thread(r, 2)->stack_high, 0x8000);
	assert_null(reader_thread(r, 77));
	reader_close(r);
	buf_free(&b);
}

static void test_modules_and_keys(void **state)
{
	static const char metas[] = "arg\0./a.out\0arg\0-x\0exe\0/bin/a";
	struct trace_module m = { .time = 3, .base = 0x1000, .start = 0x2000, .end = 0x3000,
				  .build_id_size = 2, .path_size = 4 };
	struct buf b = { 0 }, payload = { 0 };
	const char *key, *value;
	struct err err;
	struct reader *r;

	(void)state;
	buf_add(&payload, &m, sizeof(m));
	buf_add(&payload, "\xab\xcd/lib", 6);
	raw_header(&b, 0);
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_META }, metas, sizeof(metas));
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_MODULE }, payload.data,
		  payload.size);
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_END }, "status\0" "0", 9);
	save(test_path("meta"), b.data, b.size);
	r = reader_open(test_path("meta"), &err);
	assert_non_null(r);
	assert_string_equal(reader_meta(r, "arg", 1), "-x");
	assert_null(reader_meta(r, "arg", 2));
	assert_string_equal(reader_meta(r, "status", 0), "0");
	assert_true(reader_meta_at(r, 2, &key, &value));
	assert_string_equal(key, "exe");
	assert_false(reader_meta_at(r, 4, &key, &value));
	assert_int_equal(reader_info(r)->module_count, 1);
	assert_string_equal(reader_info(r)->modules[0].path, "/lib");
	assert_int_equal(reader_info(r)->modules[0].build_id_size, 2);
	assert_int_equal(reader_info(r)->modules[0].build_id[1], 0xcd);
	assert_false(reader_info(r)->incomplete);
	reader_close(r);
	buf_free(&b);
	buf_free(&payload);
}

static void test_refused(void **state)
{
	struct buf b = whole();
	struct trace_header *h = (struct trace_header *)b.data;
	struct err err;

	(void)state;
	assert_refused("", 0, "is empty");
	assert_refused("#!/bin/sh\n", 10, "is not a snarl trace");
	assert_refused("SNARL", 5, "ends within its header at byte 5");
	assert_refused(b.data, 40, "ends within its header at byte 40");
	h->version = 6;
	assert_refused(b.data, b.size, "made by a newer snarl (format 6, this one reads 5)");
	h->version = 5;
	h->pid++;
	assert_refused(b.data, b.size, "damaged at byte 0");
	assert_null(reader_open(test_dir, &err));
	assert_non_null(strstr(err.text, "is a directory"));
	assert_null(reader_open(test_path("absent"), &err));
	assert_non_null(strstr(err.text, "No such file"));
	assert_null(reader_open("/dev/null", &err));
	assert_non_null(strstr(err.text, "not a regular file"));
	buf_free(&b);
}

/* In a trace with an END chunk every changed byte is detected. */
static void test_every_damaged_byte(void **state)
{
	struct buf b = whole();

	(void)state;
	for (size_t i = 8; i < b.size; i++) {
		struct err err = { "" };
		struct reader *r;
		char *got;

		b.data[i] ^= 0x40;
		save(test_path("damaged"), b.data, b.size);
		r = reader_open(test_path("damaged"), &err);
		if (r) {
			/* Without the END chunk it is the trace of a killed run. */
			assert_true(i >= b.size - sizeof(struct trace_chunk));
			assert_true(reader_info(r)->incomplete);
			assert_int_equal(reader_info(r)->torn_bytes, sizeof(struct trace_chunk));
			got = brief(r, &err);
			assert_string_equal(got, "0 start 400 t10 d0\n0 lock 1 t20 d0\n");
			free(got);
			reader_close(r);
		} else {
			assert_non_null(strstr(err.text, i < 64 ? "" : "damaged at byte 64"));
		}
		b.data[i] ^= 0x40;
	}
	buf_free(&b);
}

/* Truncated at every byte: whole chunks are read, and the reader reports it as incomplete. */
static void test_every_truncation(void **state)
{
	const struct trace_record more[] = { rec(TRACE_MUTEX_UNLOCK, 1, 0), extra(40, 0) };
	struct buf b = whole();
	size_t end = b.size;

	(void)state;
	raw_events(&b, 1, 1, 30, more, 2);
	for (size_t size = sizeof(struct trace_header); size < end; size++) {
		size_t first = end - sizeof(struct trace_chunk);
		struct err err;
		struct reader *r;
		char *got;

		save(test_path("cut"), b.data, size);
		r = reader_open(test_path("cut"), &err);
		assert_non_null(r);
		assert_true(reader_info(r)->incomplete);
		assert_int_equal(reader_info(r)->torn_bytes,
				 size < first ? size - sizeof(struct trace_header) : size - first);
		got = brief(r, &err);
		assert_string_equal(got,
				    size < first ? "" : "0 start 400 t10 d0\n0 lock 1 t20 d0\n");
		free(got);
		reader_close(r);
	}
	buf_free(&b);
}

/* A chunk half written in the middle: the reader resynchronises behind it and reports the gap. */
static void test_resynchronise(void **state)
{
	const struct trace_record t1[] = { START(0, 0, 10), rec(TRACE_MUTEX_LOCK, 1, 2),
					   extra(20, 0) };
	const struct trace_record more[] = { rec(TRACE_MUTEX_UNLOCK, 1, 0), extra(40, 0) };
	static const char lost[] = "lost_records\0003";
	struct buf b = { 0 };
	struct err err;
	struct reader *r;
	size_t cut;

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 0, 10, t1, ARRAY_SIZE(t1));
	raw_events(&b, 1, 1, 30, more, 2);
	b.size -= 3;
	cut = sizeof(struct trace_chunk);
	raw_events(&b, 1, 2, 50, more, 2);
	assert_brief(&b, "0 start 400 t10 d0\n"
			 "0 lock 1 t20 d0\n"
			 "0 lost 0 t50 d0\n"
			 "0 unlock 1 t50 d0\n");
	r = reader_open(test_path("brief"), &err);
	assert_int_equal(reader_info(r)->missing, 1);
	assert_true(reader_info(r)->torn_bytes > cut);
	reader_close(r);
	/* With an END chunk this is damage, unless it reports losses. */
	cut = b.size;
	raw_end(&b);
	assert_refused(b.data, b.size, "damaged at byte");
	b.size = cut;
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_END }, lost, sizeof(lost));
	assert_brief(&b, "0 start 400 t10 d0\n"
			 "0 lock 1 t20 d0\n"
			 "0 lost 0 t50 d0\n"
			 "0 unlock 1 t50 d0\n");
	buf_free(&b);
}

static void test_missing_chunk(void **state)
{
	const struct trace_record more[] = { rec(TRACE_MUTEX_UNLOCK, 1, 0), extra(40, 0) };
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	raw_events(&b, 1, 1, 30, more, 2);
	assert_brief(&b, "?1 lost 0 t30 d0\n?1 unlock 1 t40 d0\n");
	raw_end(&b);
	assert_refused(b.data, b.size, "1 chunks are missing");
	buf_free(&b);
}

/* Valid check sums, invalid content. */
static void test_wrong_content(void **state)
{
	static const uint8_t junk[] = { 1, 2, 3, 4 };
	struct trace_chunk c = { .type = TRACE_CHUNK_EVENTS, .thread = 1, .count = 1 };
	struct buf b = { 0 };
	size_t start;

	(void)state;
	raw_header(&b, 0);
	start = b.size;
	raw_chunk(&b, c, junk, sizeof(junk));
	raw_end(&b);
	assert_brief(&b, "damaged\n");
	b.size = start;
	c.count = 0;
	raw_chunk(&b, c, junk, sizeof(junk));
	raw_end(&b);
	assert_brief(&b, "damaged\n");
	b.size = start;
	c.flags = TRACE_CHUNK_ZSTD;
	c.size = 100;
	raw_chunk(&b, c, junk, sizeof(junk));
	raw_end(&b);
	assert_refused(b.data, b.size, "damaged at byte 64: a chunk does not decompress");
	b.size = start;
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_META }, "key", 3);
	raw_end(&b);
	assert_refused(b.data, b.size, "a key without a value");
	b.size = start;
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_MODULE }, "x", 1);
	raw_end(&b);
	assert_refused(b.data, b.size, "a module's entry is too short");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_by_time),
		cmocka_unit_test(test_header_example),
		cmocka_unit_test(test_times_are_spread),
		cmocka_unit_test(test_time_never_sinks),
		cmocka_unit_test(test_no_time_for_long),
		cmocka_unit_test(test_total_order),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_thread_names),
		cmocka_unit_test(test_modules_and_keys),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_every_damaged_byte),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_resynchronise),
		cmocka_unit_test(test_missing_chunk),
		cmocka_unit_test(test_wrong_content),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
