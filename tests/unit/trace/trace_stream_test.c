/*
 * Streams hold a coder, which is large, only while records of their chunk are left to decode. They
 * deliver the events that were written, wherever decoding pauses.
 */
#include "trace/read/stream.h"
#include "trace/write/writer.h"
#include "trace_util.h"

#define THREADS 50u

struct streams {
	struct index idx;
	struct stream at[THREADS];
	size_t count;
};

/* Takes the event of a READY stream and finds the next one. */
static int take(struct stream *s, struct index *idx, struct event *ev, struct err *err)
{
	return stream_take(s, ev) ? 0 : stream_advance(s, idx, err);
}

/* Every thread has `events` accesses, at random places, and a lock now and then. */
static void make(const char *path, unsigned events)
{
	struct err err;
	struct writer *w = writer_open(path, TRACE_TOTAL_ORDER, &err);
	uint64_t time = 0;

	assert_non_null(w);
	for (unsigned i = 0; i < events; i++)
		for (uint32_t t = 1; t <= THREADS; t++) {
			struct event ev = { .time = ++time,
					    .thread = t,
					    .kind = TRACE_WRITE,
					    .detail = 3,
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
		if (i < s->idx.event_count &&
		    s->idx.events[i].thread == s->idx.events[first].thread)
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
		assert_int_equal(take(at, &s->idx, &ev, &err), 0);
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
	assert_int_equal(s.idx.coder_count, 1);		/* free, of all coders made */
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
	static const unsigned sizes[] = { 1,	2,    5,    1700, 1705, 1706,
					  1707, 1708, 1710, 2500, 5000, 9000 };
	struct streams s;

	(void)state;
	for (unsigned n = 0; n < ARRAY_SIZE(sizes); n++) {
		make(test_path("long.snarl"), sizes[n]);
		open_all(&s, test_path("long.snarl"));
		if (sizes[n] == 2500)	/* with stamps fewer than STREAM_DECODE_WHOLE */
			assert_int_equal(s.idx.coders_made, STREAM_MANY_CODERS);
		for (size_t i = 0; i < s.count; i++)
			check(&s, &s.at[i], sizes[n]);
		assert_true(sizes[n] < 9000 || s.idx.coders_made == THREADS);
		close_all(&s);
	}
}

static uint64_t seed = 3;

static unsigned next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33);
}

#define ANY 9000u

static struct event written[ANY], expected[ANY];

/* Writes one thread: accesses and locks, some calls, times that may repeat. */
static void make_any(const char *path, unsigned flags, unsigned events)
{
	static const uint16_t kinds[] = { TRACE_READ,	     TRACE_WRITE,      TRACE_READ,
					  TRACE_WRITE,	     TRACE_MUTEX_LOCK, TRACE_MUTEX_UNLOCK,
					  TRACE_FUNC_ENTRY,  TRACE_FUNC_EXIT,  TRACE_ATOMIC_ADD,
					  TRACE_WRITE_RANGE, TRACE_VALUE,      TRACE_JUMP };
	unsigned common = next_random() % 3 ? 8 : ARRAY_SIZE(kinds), calls = next_random() % 2;
	struct err err;
	struct writer *w = writer_open(path, flags, &err);
	uint64_t time = 100;

	assert_non_null(w);
	for (unsigned i = 0; i < events; i++) {
		struct event ev = { .time = time += next_random() % 9,
				    .thread = 1,
				    .pc = 0x4000 + next_random() % 9,
				    .kind = kinds[next_random() % common],
				    .addr = 0x1000 + next_random() % 99,
				    .detail = 3,
				    .arg = next_random() % 5 };

		if (calls && next_random() % 2)
			ev.kind = next_random() % 2 ? TRACE_FUNC_ENTRY : TRACE_FUNC_EXIT;
		written[i] = ev;
		writer_event(w, &ev);
	}
	assert_int_equal(writer_close(w, &err), 0);
}

/* The events of `written` that a reader delivers: no activations without events (frames.h). */
static unsigned expect(unsigned events)
{
	unsigned n = 0, open = 0, depth = 0, from;

	for (unsigned i = 0; i < events; i++) {
		struct event ev = written[i];

		if (ev.kind == TRACE_FUNC_EXIT && open) {
			open--;
			n--;
			continue;
		}
		expected[n++] = ev;
		if (ev.kind == TRACE_FUNC_ENTRY) {
			open++;
			continue;
		}
		/* Entries of open activations are delivered with the event inside. */
		for (from = n - 1 - open; from < n - 1; from++) {
			expected[from].time = ev.time;
			expected[from].depth = depth++;
		}
		open = 0;
		depth -= ev.kind == TRACE_FUNC_EXIT && depth > 0;
		expected[n - 1].depth = depth;
		if (ev.kind == TRACE_JUMP && ev.arg < depth)
			depth = (unsigned)ev.arg;
	}
	return n - open;
}

static bool has_time(unsigned kind)
{
	return trace_extra(kind) > 0;
}

/* Events come as written; those without a recorded time get one between their neighbours'. */
static void check_any(const char *path, unsigned count, bool total)
{
	uint64_t before = 0;
	struct index idx;
	struct stream s;
	struct event ev;
	struct err err;

	assert_int_equal(index_open(&idx, path, 0, &err), 0);
	stream_init(&s, &idx, 0, idx.event_count);
	for (unsigned i = 0; i < count; i++) {
		const struct event *e = &expected[i];

		while (s.state == STREAM_CLOSED)
			assert_int_equal(stream_open(&s, &idx, &err), 0);
		assert_int_equal(s.state, STREAM_READY);
		before = s.key > before ? s.key : before;
		assert_int_equal(s.key, before);
		assert_int_equal(take(&s, &idx, &ev, &err), 0);
		assert_int_equal(ev.time, before);
		if (has_time(ev.kind) && !total)
			assert_int_equal(ev.time, e->time);
		assert_int_equal(ev.kind, e->kind);
		assert_int_equal(ev.pc, e->pc);
		assert_int_equal(ev.addr, e->addr);
		assert_int_equal(ev.depth, e->depth);
		assert_int_equal(ev.arg, has_time(ev.kind) ? e->arg : 0);
		assert_int_equal(s.delivered, i + 1);
	}
	while (s.state == STREAM_CLOSED)
		assert_int_equal(stream_open(&s, &idx, &err), 0);
	assert_int_equal(s.state, STREAM_END);
	stream_free(&s, &idx);
	index_close(&idx);
}

static void test_random_streams_come_as_written(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		unsigned events = 1 + next_random() % (round % 8 ? 100 : ANY);

		make_any(test_path("any.snarl"), round % 2 ? TRACE_TOTAL_ORDER : 0, events);
		check_any(test_path("any.snarl"), expect(events), round % 2);
	}
}

/* Threads run in bursts of random length; each accesses a few pages, sometimes two granules. */
static void make_threads(const char *path, unsigned flags, unsigned events)
{
	static const uint16_t kinds[] = { TRACE_READ,	    TRACE_WRITE,      TRACE_READ,
					  TRACE_WRITE,	    TRACE_READ,	      TRACE_WRITE,
					  TRACE_MUTEX_LOCK, TRACE_FUNC_ENTRY, TRACE_FUNC_EXIT,
					  TRACE_ATOMIC_ADD, TRACE_VALUE };
	unsigned common = next_random() % 2 ? 6 : ARRAY_SIZE(kinds);
	struct err err;
	struct writer *w = writer_open(path, flags, &err);
	uint64_t time = 100;
	uint32_t thread = 1;

	assert_non_null(w);
	for (unsigned i = 0; i < events; i++) {
		struct event ev = { .pc = 0x4000 + next_random() % 9,
				    .kind = kinds[next_random() % common],
				    .addr = 0x10000 + next_random() % 3 * 4096 +
					    next_random() % 64 * 8,
				    .detail = 3 };

		ev.addr += next_random() % 8 ? 0 : 4;
		thread = next_random() % 8 ? thread : 1 + next_random() % 4;
		ev.thread = thread;
		ev.time = time += flags ? 1 : next_random() % 3;
		writer_event(w, &ev);
	}
	assert_int_equal(writer_close(w, &err), 0);
}

/* The order of events does not depend on how many are read at once. */
static void check_some(void)
{
	struct event one, some[40];
	struct reader *a, *b;
	struct err err;
	int got;

	a = reader_open(test_path("some.snarl"), &err);
	b = reader_open(test_path("some.snarl"), &err);
	assert_true(a && b);
	while ((got = reader_some(b, some, 1 + next_random() % ARRAY_SIZE(some), NULL, &err)) > 0)
		for (int i = 0; i < got; i++) {
			assert_int_equal(reader_next(a, &one, &err), 1);
			assert_same_event(&one, &some[i]);
			assert_int_equal(one.time, some[i].time);
		}
	assert_int_equal(got, 0);
	assert_int_equal(reader_next(a, &one, &err), 0);
	assert_int_equal(reader_some(b, some, 3, NULL, &err), 0);
	reader_close(a);
	reader_close(b);
}

static void test_batches_do_not_change_the_order(void **state)
{
	(void)state;
	make(test_path("some.snarl"), 900);
	check_some();
	for (unsigned round = 0; round < 100; round++) {
		make_threads(test_path("some.snarl"), round % 2 ? TRACE_TOTAL_ORDER : 0,
			     1 + next_random() % 900);
		check_some();
	}
}

static uint64_t pages[3][READER_PAGE / 64];	/* bits of wanted granules */

static const uint64_t *page_of(void *ctx, uint64_t page)
{
	(void)ctx;
	return page % 16 == 2 ? NULL : pages[page % 16 % 3];
}

/* Events and numbers of skipped accesses agree with reader_next(). */
static void check_wanted(const char *path, uint64_t *all, uint64_t *over, uint64_t *left)
{
	struct reader_wanted w = { .page = UINT64_MAX, .select = page_of };
	uint64_t done[5] = { 0 }, index[5] = { 0 }, events = 0, position = 0, count;
	struct event one, some[16];
	struct err err;
	struct reader *a = reader_open(path, &err), *b = reader_open(path, &err);
	uint32_t thread;
	int got = 1;

	assert_true(a && b);
	while (got > 0) {
		while (next_random() % 4 && (count = reader_pass(b, &w, UINT64_MAX, &thread)) > 0) {
			done[thread] += count;
			events += count;
			*over += count;
		}
		got = reader_some(b, some, 1 + next_random() % ARRAY_SIZE(some), &w, &err);
		for (int i = 0; i < got; i++) {
			*left += i > 0 && is_unwanted(&w, &some[i]);
			done[some[i].thread]++;
			events++;
			do {
				assert_int_equal(reader_next(a, &one, &err), 1);
				index[one.thread]++;
				position++;
			} while (position < events && is_unwanted(&w, &one));
			assert_same_event(&one, &some[i]);
			assert_int_equal(position, events);
			assert_int_equal(index[one.thread], done[one.thread]);
		}
	}
	assert_int_equal(got, 0);
	while (reader_next(a, &one, &err) > 0) {
		assert_true(is_unwanted(&w, &one));
		position++;
	}
	assert_int_equal(position, events);
	*all += events;
	reader_close(a);
	reader_close(b);
}

static void test_only_wanted_events_are_read(void **state)
{
	uint64_t all = 0, over = 0, left = 0, by_site = 0, sifted = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct reader_wanted w = { .page = UINT64_MAX, .select = page_of };

		for (unsigned i = 0; i < READER_PAGE / 64; i++)
			for (unsigned k = 0; k < 3; k++)
				pages[k][i] = (uint64_t)(next_random() & next_random()) << 32 |
					      next_random();
		make_threads(test_path("wanted.snarl"), round % 2 ? TRACE_TOTAL_ORDER : 0,
			     1 + next_random() % (round % 8 ? 100 : 9000));
		check_wanted(test_path("wanted.snarl"), &all, &over, &left);
		by_site += assert_passes(test_path("wanted.snarl"), round);
		sifted += assert_sifts(test_path("wanted.snarl"), &w, round);
	}
	assert_true(sifted > over);
	assert_true(over > all / 8 && left < over / 8);
	assert_true(by_site > all / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_chunks_share_a_coder),
		cmocka_unit_test(test_long_chunks_keep_theirs),
		cmocka_unit_test(test_random_streams_come_as_written),
		cmocka_unit_test(test_batches_do_not_change_the_order),
		cmocka_unit_test(test_only_wanted_events_are_read),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
