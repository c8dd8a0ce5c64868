/*
 * Finishing: the live memory of a process that was killed or overwrote it is added to the trace.
 * The trace never gets worse.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "abi/live_memory.h"
#include "trace/read/index.h"
#include "trace/write/finish.h"
#include "trace_util.h"

/* Live memory laid out as by the runtime, but small: slots, two rings, the stash. */
#define SLOTS 4096u
#define RINGS (SLOTS + LIVE_SLOTS * sizeof(struct live_slot))
#define STASH (RINGS + 2 * LIVE_RING_BYTES)
#define STASH_SIZE 65536u
#define OUT (STASH + STASH_SIZE)
#define OUT_SIZE 4096u

static uint8_t *memory;

static struct live_header *header(void)
{
	return (struct live_header *)memory;
}

static struct live_slot *slot(size_t i)
{
	return (struct live_slot *)(memory + SLOTS) + i;
}

static struct trace_record *ring(size_t i)
{
	return (struct trace_record *)(memory + RINGS + i * LIVE_RING_BYTES);
}

static int fresh_memory(void **state)
{
	(void)state;
	free(memory);
	memory = calloc(1, OUT + OUT_SIZE);
	*header() = (struct live_header){
		.magic = LIVE_MAGIC, .version = LIVE_VERSION, .pid = 4242,
		.size = OUT + OUT_SIZE, .slots = SLOTS, .rings = RINGS, .stash = STASH,
		.stash_size = STASH_SIZE, .out = OUT, .out_size = OUT_SIZE,
		.ticks_per_second = 1000000000,
	};
	unlink(test_path("t.snarl"));
	return 0;
}

static void stash(uint32_t thread, uint64_t seq, uint64_t time, uint64_t addr)
{
	const struct trace_record r[] = { rec(TRACE_MALLOC, addr, 1), extra(time, 8) };
	uint64_t at = header()->stash_head % STASH_SIZE;
	struct buf b = { 0 };

	raw_events(&b, thread, seq, time, r, 2);
	if (STASH_SIZE - at < b.size + sizeof(struct trace_chunk)) {
		struct trace_chunk gap = { .magic = TRACE_CHUNK_MAGIC,
					   .stored = (uint32_t)(STASH_SIZE - at - sizeof(gap)) };

		memcpy(memory + STASH + at, &gap, sizeof(gap));
		header()->stash_head += STASH_SIZE - at;
		at = 0;
	}
	memcpy(memory + STASH + at, b.data, b.size);
	header()->stash_head += (b.size + 7) & ~7ull;
	buf_free(&b);
}

/* Appends a chunk to the outbox, where chunks are not aligned. */
static void post(uint32_t thread, uint64_t seq, uint64_t time, uint64_t addr)
{
	const struct trace_record r[] = { rec(TRACE_FREE, addr, 1), extra(time, 8) };
	struct buf b = { 0 };

	raw_events(&b, thread, seq, time, r, 2);
	memcpy(memory + OUT + header()->out_used, b.data, b.size);
	header()->out_used += b.size;
	buf_free(&b);
}

static struct finish_stats finish(const char *trace)
{
	struct finish_stats stats;
	struct err err = { "" };

	save(test_path("live"), memory, OUT + OUT_SIZE);
	if (finish_trace(test_path(trace), test_path("live"), &stats, &err) < 0)
		fail_msg("%s", err.text);
	return stats;
}

static void assert_events(const char *expected)
{
	struct err err = { "" };
	struct reader *r = reader_open(test_path("t.snarl"), &err);
	char *got;

	if (!r)
		fail_msg("%s", err.text);
	got = brief(r, &err);
	assert_string_equal(got, expected);
	assert_true(reader_info(r)->header->flags & TRACE_FINISHED);
	free(got);
	reader_close(r);
}

static void save_trace(bool ended)
{
	const struct trace_record t1[] = { rec(TRACE_THREAD_START, 0, 0), extra(10, 0), extra(1, 2),
					   rec(TRACE_MUTEX_LOCK, 1, 2), extra(20, 0) };
	struct buf b = { 0 };

	raw_header(&b, 0);
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_META }, "exe\0a", 6);
	raw_events(&b, 1, 0, 10, t1, ARRAY_SIZE(t1));
	if (ended)
		raw_end(&b);
	save(test_path("t.snarl"), b.data, b.size);
	buf_free(&b);
}

static void test_all_parts(void **state)
{
	struct finish_stats stats;
	struct reader *r;

	(void)state;
	save_trace(false);
	header()->lost_records = 3;
	header()->cut_records = 9;
	header()->stash_head = header()->stash_tail = 10 * STASH_SIZE - 256;
	stash(1, 1, 30, 0xa1);		/* the next chunk does not fit behind it: a gap */
	stash(1, 2, 40, 0xa2);
	stash(2, 0, 25, 0xb0);
	*slot(0) = (struct live_slot){ .thread = 1, .seq = 3, .time = 50, .cut_locations = 4,
				       .waiting_in = TRACE_MUTEX_LOCK, .waiting_for = 0x77,
				       .waiting_pc = 0x400 };
	ring(0)[0] = rec(TRACE_MUTEX_UNLOCK, 1, 5);
	ring(0)[1] = extra(60, 0);
	ring(0)[2] = rec(TRACE_WRITE, 0x10, 6);
	*slot(1) = (struct live_slot){ .thread = 2, .seq = 1, .time = 70, .cut_locations = 20 };
	ring(1)[0] = rec(TRACE_WRITE, 0x20, 6);
	slot(2)->cut_locations = 300;	/* the slot's thread has ended */
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 3);
	assert_int_equal(stats.rings, 2);
	assert_int_equal(stats.blocked, 1);
	assert_int_equal(stats.damaged, 0);
	assert_true(stats.rewritten);
	assert_events("0 start 0 t10 d0\n"
		      "0 lock 1 t20 d0\n"
		      "?2 malloc b0 t25 d0\n"
		      "0 malloc a1 t30 d0\n"
		      "0 malloc a2 t40 d0\n"
		      "0 unlock 1 t60 d0\n"
		      "0 write 10 t60 d0\n"
		      "0 blocked 77 t61 d0\n"
		      "?2 write 20 t71 d0\n");
	r = reader_open(test_path("t.snarl"), NULL);
	assert_true(reader_info(r)->incomplete);
	assert_string_equal(reader_meta(r, "exe", 0), "a");
	assert_string_equal(reader_meta(r, "lost_records", 0), "3");
	assert_string_equal(reader_meta(r, "cut_records", 0), "9");
	assert_string_equal(reader_meta(r, "cut_locations", 0), "324");
	assert_string_equal(reader_meta(r, "lost_threads", 0), "0");
	assert_string_equal(reader_meta(r, "ticks_per_second", 0), "1000000000");
	assert_null(reader_meta(r, INDEX_TRAILER, 0));
	reader_close(r);
	/* Finishing again changes nothing. */
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 0);
	assert_int_equal(stats.bytes_before, stats.bytes_after);
}

/* Chunks that are there twice: the process was killed after writing, before freeing them. */
static void test_copies_are_skipped(void **state)
{
	struct finish_stats stats;

	(void)state;
	save_trace(true);
	stash(1, 0, 5, 0xbad);
	stash(1, 1, 30, 0xa1);
	*slot(0) = (struct live_slot){ .thread = 1, .seq = 1, .time = 30,
				       .waiting_in = TRACE_SEM_WAIT, .waiting_for = 9 };
	ring(0)[0] = rec(TRACE_MALLOC, 0xa1, 5);
	ring(0)[1] = extra(35, 0);
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 1);
	assert_events("0 start 0 t10 d0\n"
		      "0 lock 1 t20 d0\n"
		      "0 malloc a1 t30 d0\n"
		      "0 blocked 9 t36 d0\n");
}

static void test_outbox(void **state)
{
	struct finish_stats stats;
	uint64_t first;

	(void)state;
	save_trace(false);
	post(1, 0, 5, 0xbad);	/* in the file already */
	post(1, 1, 30, 0xa1);
	first = header()->out_used;
	post(2, 0, 25, 0xb0);
	*slot(0) = (struct live_slot){ .thread = 1, .seq = 1, .time = 30 };
	ring(0)[0] = rec(TRACE_MALLOC, 0xa1, 5);	/* this chunk is in the outbox, too */
	ring(0)[1] = extra(35, 0);
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 2);
	assert_int_equal(stats.damaged, 0);
	assert_events("0 start 0 t10 d0\n"
		      "0 lock 1 t20 d0\n"
		      "?2 free b0 t25 d0\n"
		      "0 free a1 t30 d0\n");
	/* Damage ends the outbox and is counted. */
	save_trace(false);
	memory[OUT + first]++;
	slot(0)->thread = 0;
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 1);
	assert_int_equal(stats.damaged, 1);
	save_trace(false);
	header()->out = UINT64_MAX - 8;
	assert_int_equal(finish("t.snarl").damaged, 1);
}

static void test_no_trace_yet(void **state)
{
	struct err err;
	struct reader *r;

	(void)state;
	*slot(0) = (struct live_slot){ .thread = 1, .time = 3 };
	ring(0)[0] = rec(TRACE_MUTEX_LOCK, 1, 5);
	ring(0)[1] = extra(4, 0);
	finish("t.snarl");
	assert_events("?1 lock 1 t4 d0\n");
	r = reader_open(test_path("t.snarl"), &err);
	assert_int_equal(reader_info(r)->header->pid, 4242);
	reader_close(r);
	/* Half a header, and no live memory. */
	save(test_path("t.snarl"), "SNARLTRC\1", 9);
	save(test_path("live"), "", 0);
	assert_int_equal(finish_trace(test_path("t.snarl"), test_path("live"), NULL, &err), 0);
	assert_events("");
	unlink(test_path("t.snarl"));
	assert_int_equal(finish_trace(test_path("t.snarl"), test_path("live"), NULL, &err), -1);
	assert_non_null(strstr(err.text, "was the program built with snarl-cc?"));
	save(test_path("t.snarl"), "something else entirely", 23);
	assert_int_equal(finish_trace(test_path("t.snarl"), NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "is not a snarl trace"));
	assert_int_equal(finish_trace(test_path("t.snarl"), test_path("absent"), NULL, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	header()->version = 9;
	save(test_path("live"), memory, STASH);
	assert_int_equal(finish_trace(test_path("t.snarl"), test_path("live"), NULL, &err), -1);
	assert_non_null(strstr(err.text, "another version of snarl (9"));
}

static void test_torn_ring(void **state)
{
	(void)state;
	save_trace(false);
	*slot(0) = (struct live_slot){ .thread = 1, .seq = 1, .time = 30 };
	ring(0)[0] = rec(TRACE_WRITE, 5, 5);
	ring(0)[1] = rec(200, 5, 5);		/* no such kind */
	ring(0)[2] = rec(TRACE_WRITE, 6, 5);
	/* The ring is full, and the last event's extra record would be outside. */
	*slot(1) = (struct live_slot){ .thread = 2, .time = 40, .waiting_in = TRACE_MUTEX_LOCK };
	for (size_t i = 0; i < LIVE_RING_RECORDS; i++)
		ring(1)[i] = rec(TRACE_FUNC_EXIT, 6, 5);
	ring(1)[LIVE_RING_RECORDS - 1] = rec(TRACE_MUTEX_LOCK, 6, 5);
	assert_int_equal(finish("t.snarl").damaged, 2);
	struct reader *r = reader_open(test_path("t.snarl"), NULL);
	struct event ev;
	size_t n = 0, last = 0;

	while (reader_next(r, &ev, NULL) > 0) {
		n++;
		last = ev.kind;
	}
	assert_int_equal(n, 3 + LIVE_RING_RECORDS - 1 + 1);
	assert_int_equal(last, TRACE_BLOCKED);
	reader_close(r);
}

static void test_nonsense(void **state)
{
	struct live_header good = *header();
	uint64_t *words = (uint64_t *)memory;

	(void)state;
	for (size_t i = 2; i < sizeof(struct live_header) / 8; i++) {
		static const uint64_t values[] = { 0,	       1,     4096,	  1ull << 20,
						   1ull << 63, ~0ull, ~0ull - 100 };

		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			*header() = good;
			header()->stash_head = 1000;
			*slot(0) =
				(struct live_slot){ .thread = 1, .seq = ~0ull, .waiting_in = ~0u };
			words[i] = values[j];
			save_trace(false);
			finish("t.snarl");
			struct reader *r = reader_open(test_path("t.snarl"), NULL);
			assert_non_null(r);
			reader_close(r);
		}
	}
}

static void test_damaged_stash(void **state)
{
	struct finish_stats stats;
	uint64_t second;

	(void)state;
	save_trace(false);
	stash(1, 1, 30, 0xa1);
	second = header()->stash_head;
	stash(1, 2, 40, 0xa2);
	stash(1, 3, 50, 0xa3);
	memory[STASH + second + sizeof(struct trace_chunk)] ^= 1;
	stats = finish("t.snarl");
	assert_int_equal(stats.stashed, 2);
	assert_true(stats.damaged > 0);
	assert_events("0 start 0 t10 d0\n"
		      "0 lock 1 t20 d0\n"
		      "0 malloc a1 t30 d0\n"
		      "0 lost 0 t50 d0\n"
		      "0 malloc a3 t50 d0\n");
}

static struct buf big_trace(size_t chunks)
{
	static struct trace_record t[8000];
	struct buf b = { 0 };

	raw_header(&b, 0);
	for (size_t c = 0; c < chunks; c++) {
		for (size_t i = 0; i < 8000; i += 4) {
			t[i] = rec(TRACE_MUTEX_LOCK, 0x1000 + i % 5, 0x100 + i % 11);
			t[i + 1] = extra(c * 8000 + i, i);
			t[i + 2] = rec(TRACE_MALLOC, 0x5000 + 48 * (i * i % 313), 0x200 + i % 3);
			t[i + 3] = extra(c * 8000 + i + 2, i);
		}
		raw_events(&b, (uint32_t)(c % 3) + 1, c / 3, c * 8000, t, 8000);
	}
	raw_end(&b);
	return b;
}

static void test_compressed(void **state)
{
	struct buf b = big_trace(30);
	struct finish_stats stats;
	struct reader *x, *y;
	struct err err;

	(void)state;
	save(test_path("plain.snarl"), b.data, b.size);
	save(test_path("t.snarl"), b.data, b.size);
	assert_int_equal(chmod(test_path("t.snarl"), 0640), 0);
	stats = finish("t.snarl");
	assert_int_equal(stats.bytes_before, b.size);
	assert_true(stats.bytes_after < b.size * 3 / 4);
	x = reader_open(test_path("plain.snarl"), &err);
	y = reader_open(test_path("t.snarl"), &err);
	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(assert_same_events(x, y), 30 * 4000);
	assert_false(reader_info(y)->incomplete);
	reader_close(x);
	reader_close(y);
	struct stat st;
	assert_int_equal(stat(test_path("t.snarl"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	/* A finished trace that is truncated anywhere is refused. */
	struct buf done = load(test_path("t.snarl"));
	for (size_t cut = 64; cut < done.size; cut += 997) {
		if (cut == done.size)
			continue;
		save(test_path("cut"), done.data, cut);
		assert_null(reader_open(test_path("cut"), &err));
		assert_non_null(strstr(err.text, " at byte "));
	}
	buf_free(&done);
	buf_free(&b);
}

/* The limit on file sizes stands in for a full disk. */
static void with_room(rlim_t room, int (*fn)(struct err *), int expected, struct err *err)
{
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = room;
	setrlimit(RLIMIT_FSIZE, &limit);
	int got = fn(err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(got, expected);
}

static struct finish_stats limited_stats;

static int limited_finish(struct err *err)
{
	return finish_trace(test_path("t.snarl"), test_path("live"), &limited_stats, err);
}

static void test_disk_full(void **state)
{
	struct buf now, b = { 0 };
	struct err err = { "" };
	uint8_t junk[4096];

	(void)state;
	*slot(0) = (struct live_slot){ .thread = 9, .time = 3 };
	ring(0)[0] = rec(TRACE_MUTEX_LOCK, 1, 5);
	ring(0)[1] = extra(4, 0);
	save(test_path("live"), memory, OUT + OUT_SIZE);
	/* Incompressible, so that the copy is as large as the original. */
	raw_header(&b, 0);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)(i * i * 2654435761u >> 13);
	for (uint64_t i = 0; i < 4; i++)
		raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_META }, "k\0v", 4);
	for (uint64_t i = 0; i < 20; i++)
		raw_chunk(&b,
			  (struct trace_chunk){ .type = TRACE_CHUNK_EVENTS, .thread = 1, .seq = i },
			  junk, sizeof(junk));
	save(test_path("t.snarl"), b.data, b.size);
	/* Not even the ring fits: the trace is unchanged. */
	with_room(b.size, limited_finish, -1, &err);
	assert_non_null(strstr(err.text, "File too large"));
	now = load(test_path("t.snarl"));
	assert_int_equal(now.size, b.size);
	assert_memory_equal(now.data, b.data, b.size);
	buf_free(&now);
	buf_free(&b);
}

/* The temporary file cannot be created (its name is too long): completed in place. */
static void test_in_place(void **state)
{
	char name[251];
	struct err err = { "" };
	struct reader *r;
	char *got;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	save_trace(true);
	assert_int_equal(rename(test_path("t.snarl"), test_path(name)), 0);
	*slot(0) = (struct live_slot){ .thread = 1, .seq = 1, .time = 30 };
	ring(0)[0] = rec(TRACE_MUTEX_LOCK, 5, 5);
	ring(0)[1] = extra(40, 0);
	save(test_path("live"), memory, OUT + OUT_SIZE);
	assert_int_equal(finish_trace(test_path(name), test_path("live"), &limited_stats, &err), 0);
	assert_false(limited_stats.rewritten);
	r = reader_open(test_path(name), &err);
	assert_non_null(r);
	got = brief(r, &err);
	assert_string_equal(got, "0 start 0 t10 d0\n0 lock 1 t20 d0\n0 lock 5 t40 d0\n");
	free(got);
	reader_close(r);
}

static int clean_up(void **state)
{
	free(memory);
	return test_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_parts, fresh_memory),
		cmocka_unit_test_setup(test_copies_are_skipped, fresh_memory),
		cmocka_unit_test_setup(test_outbox, fresh_memory),
		cmocka_unit_test_setup(test_no_trace_yet, fresh_memory),
		cmocka_unit_test_setup(test_torn_ring, fresh_memory),
		cmocka_unit_test_setup(test_nonsense, fresh_memory),
		cmocka_unit_test_setup(test_damaged_stash, fresh_memory),
		cmocka_unit_test_setup(test_compressed, fresh_memory),
		cmocka_unit_test_setup(test_disk_full, fresh_memory),
		cmocka_unit_test_setup(test_in_place, fresh_memory),
	};

	return cmocka_run_group_tests(tests, test_setup, clean_up);
}
