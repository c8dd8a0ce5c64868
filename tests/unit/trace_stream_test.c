/*
 * Streams hold a coder, which is large, only while records of their chunk are left to decode; and
 * give the events that were written wherever decoding pauses.
 */
#include "trace/stream.h"
#include "trace/writer.h"
#include "trace_util.h"

#define THREADS 50u

struct streams {
	struct index idx;
	struct stream at[THREADS];
	size_t count;
};

/* Every thread has `events` accesses, at random places, and a lock now and then. */
static void make(const char *path, unsigned events)
{
	struct err err;
	struct writer *w = writer_open(path, TRACE_TOTAL_ORDER, &err);
	uint64_t time = 0;

	assert_non_null(w);
	for (unsigned i = 0; i < events; i++)
		for (uint32_t t = 1; t <= THREADS; t++) {
			struct event ev = { .time = ++time, .thread = t, .kind = TRACE_WRITE, .detail = 3,
					    .pc = 0x4000 + i % 7,
					    .addr = 0x10000 + 8 * (i * t * 2654435761u % 4096) };

			if (i % 5 == 4) {
				ev.kind = TRACE_MUTEX_LOCK;
				ev.detail = 0;
			}
			writer_event(w, &ev);
		}
	assert_int_equal(writer_close(w, &err), 0);
}

static void open_all(struct streams *s, const char *path)
{
	struct err err;
	size_t first = 0;

	s->count = 0;
	assert_int_equal(index_open(&s->idx, path, 0, &err), 0);
	for (size_t i = 1; i <= s->idx.event_count; i++) {
		if (i < s->idx.event_count && s->idx.events[i].thread == s->idx.events[first].thread)
			continue;
		stream_init(&s->at[s->count], &s->idx, first, i);
		assert_int_equal(stream_open(&s->at[s->count++], &s->idx, &err), 0);
		first = i;
	}
	assert_int_equal(s->count, THREADS);
}

static void close_all(struct streams *s)
{
	for (size_t i = 0; i < s->count; i++)
		stream_free(&s->at[i], &s->idx);
	index_close(&s->idx);
}

/* The n-th event of the stream is the n-th that was written. */
static void check(struct streams *s, struct stream *at, unsigned events)
{
	struct event ev;
	struct err err;

	for (unsigned i = 0; i < events; i++) {
		while (at->state == STREAM_CLOSED)
			assert_int_equal(stream_open(at, &s->idx, &err), 0);
		assert_int_equal(at->state, STREAM_READY);
		assert_int_equal(at->coder != NULL, at->left > 0);
		assert_int_equal(stream_take(at, &s->idx, &ev, &err), 0);
		assert_int_equal(ev.time, (uint64_t)i * THREADS + at->thread);
		assert_int_equal(ev.addr, 0x10000 + 8 * (i * at->thread * 2654435761u % 4096));
		assert_int_equal(ev.kind, i % 5 == 4 ? TRACE_MUTEX_LOCK : TRACE_WRITE);
	}
	assert_int_equal(at->state, STREAM_END);
}

static void test_short_chunks_share_a_coder(void **state)
{
	struct streams s;

	(void)state;
	make(test_path("short.snarl"), 40);
	open_all(&s, test_path("short.snarl"));
	assert_int_equal(s.idx.coder_count, 1);		/* at rest, of all that were made */
	for (size_t i = 0; i < s.count; i++) {
		assert_null(s.at[i].coder);
		assert_true(s.at[i].capacity < STREAM_DECODE);
	}
	for (size_t i = 0; i < s.count; i++)
		check(&s, &s.at[i], 40);
	assert_int_equal(s.idx.coder_count, 1);
	close_all(&s);
}

static void test_long_chunks_keep_theirs(void **state)
{
	static const unsigned sizes[] = { 1, 2, 5, 1700, 1705, 1706, 1707, 1708, 1710, 5000, 9000 };
	struct streams s;

	(void)state;
	for (unsigned n = 0; n < ARRAY_SIZE(sizes); n++) {
		make(test_path("long.snarl"), sizes[n]);
		open_all(&s, test_path("long.snarl"));
		for (size_t i = 0; i < s.count; i++)
			check(&s, &s.at[i], sizes[n]);
		close_all(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_chunks_share_a_coder),
		cmocka_unit_test(test_long_chunks_keep_theirs),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
