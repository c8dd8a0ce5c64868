/*
 * Merges the streams of all threads with a heap.
 *
 * A stream's next chunk is opened only when the merge reaches the time at which it begins. Memory
 * therefore holds chunks of the threads that run at that time, not of all threads of the trace.
 * The top stream keeps its place until its key passes that of `second`, the next in the heap.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "trace/read/reader_internal.h"
#include "trace/read/scan.h"
#include "trace/read/skip.h"

#define MAX_DECOMPRESSED (256u << 20)	/* bytes; beyond, chunks are decompressed again later */
#define BATCH_MIN 4u	/* plain accesses from which a batch is faster than single events */

/* Sets r->top and r->second, which caches the entry that follows the top. */
static void find_top(struct reader *r)
{
	const struct heap_entry *h = r->heap;

	r->top = r->heap_count ? &r->streams[h->stream] : NULL;
	if (r->heap_count > 2)
		r->second = heap_before(&h[2], &h[1]) ? h[2] : h[1];
	else
		r->second = r->heap_count > 1 ? h[1] : (struct heap_entry){ UINT64_MAX, SIZE_MAX };
}

static void heap_build(struct reader *r)
{
	r->heap_count = r->stream_count;
	for (size_t i = 0; i < r->stream_count; i++)
		r->heap[i] = (struct heap_entry){ r->streams[i].key, i };
	for (size_t i = r->heap_count / 2; i-- > 0;)
		heap_sift(r->heap, r->heap_count, i);
	find_top(r);
}

/* Restores the heap after the top's key grew or, if `ended`, its stream ended. */
static __attribute__((noinline)) void reorder_heap(struct reader *r, bool ended)
{
	if (ended)
		r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		heap_sift(r->heap, r->heap_count, 0);
	find_top(r);
}

/* Updates the heap after the top's stream moved on. */
static inline void update_heap(struct reader *r)
{
	const struct stream *s = r->top;

	r->heap->key = s->key;
	if (s->state == STREAM_END || !heap_before(r->heap, &r->second))
		reorder_heap(r, s->state == STREAM_END);
}

static void open_streams(struct reader *r)
{
	struct index *idx = &r->idx;
	size_t count = 0, first = 0;

	r->streams = xcalloc(r->catalog.thread_count, sizeof(*r->streams));
	r->heap = xcalloc(r->catalog.thread_count, sizeof(*r->heap));
	for (size_t i = 1; i <= idx->event_count; i++) {
		if (i < idx->event_count && idx->events[i].thread == idx->events[first].thread)
			continue;
		stream_init(&r->streams[count++], idx, first, i);
		first = i;
	}
	r->stream_count = count;
	heap_build(r);
}

static int open_trace(struct reader *r, const uint8_t *data, uint64_t size, struct err *err)
{
	struct index *idx = &r->idx;

	if (index_scan(idx, data, size, 0, err) < 0) {
		if (data)
			munmap((void *)data, size);
		return -1;
	}
	if (catalog_read(&r->catalog, idx, err) < 0 || index_read_access_groups(idx, err) < 0)
		return -1;
	r->header = idx->header;
	r->info.incomplete = !idx->ended;
	r->info.torn_bytes = idx->torn_bytes;
	r->info.missing = idx->missing;
	r->info.records = idx->records;
	r->info.chunks = idx->event_count + idx->other_count;
	open_streams(r);
	return 0;
}

#define ASK_EVERY 64u	/* calls that read events between two looks at the clock */

struct reader *reader_open(const char *path, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	const uint8_t *data;
	uint64_t size;
	int got;

	r->info.path = r->path = xstrdup(path);
	if (index_map(path, &data, &size, err) < 0)
		goto fail;
	if (index_type_of(data, size) == INDEX_TEXT) {
		got = reader_text_open(r, data, size, err);
	} else {
		got = open_trace(r, data, size, err);
	}
	if (got < 0)
		goto fail;
	r->info.header = &r->header;
	r->info.file_size = size;
	r->info.threads = r->catalog.threads;
	r->info.thread_count = r->catalog.thread_count;
	r->info.modules = r->catalog.modules;
	r->info.module_count = r->catalog.module_count;
	return r;
fail:
	err_prefix(err, "'%s'", path);
	reader_close(r);
	return NULL;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->stream_count; i++)
		stream_free(&r->streams[i], &r->idx);
	free(r->streams);
	free(r->heap);
	catalog_free(&r->catalog);
	index_close(&r->idx);
	reader_text_free(r);
	free(r->path);
	free(r);
}

/* Frees decompressed chunks when they exceed the limit. */
static void bound_memory(struct reader *r)
{
	if (r->idx.decompressed <= MAX_DECOMPRESSED)
		return;
	for (size_t i = 0; i < r->stream_count; i++)
		stream_drop_payload(&r->streams[i]);
	r->idx.decompressed = 0;
}

/* Once a trace is found damaged, every later call returns the same error. */
static int fail(struct reader *r, struct err *err)
{
	if (!r->failed)
		err_prefix(&r->why, "'%s'", r->path);
	r->failed = true;
	return err_set(err, "%s", r->why.text);
}

/* Opens chunks until the top stream has an event. If not, NULL; *got as reader_next(). */
static __attribute__((noinline)) struct stream *open_next(struct reader *r, int *got,
							  struct err *err)
{
	if (r->failed) {
		*got = fail(r, err);
		return NULL;
	}
	*got = 0;
	while (r->top && r->top->state != STREAM_READY) {
		bound_memory(r);
		if (stream_open(r->top, &r->idx, &r->why) < 0) {
			*got = fail(r, err);
			return NULL;
		}
		update_heap(r);
	}
	return r->top;
}

static inline bool is_ready(const struct reader *r)
{
	return r->top && r->top->state == STREAM_READY && !r->failed;
}

/*
 * Advances the top stream if stream_take() or stream_step() returned false. False: the trace is
 * damaged behind the event just taken, which is then not delivered.
 */
static __attribute__((noinline)) bool advance_top(struct reader *r)
{
	struct stream *s = r->top;

	if (stream_advance(s, &r->idx, &r->why) < 0) {
		s->delivered--;
		fail(r, NULL);
		return false;
	}
	if (s->state == STREAM_END)
		catalog_find(&r->catalog, s->thread)->events = s->delivered;
	update_heap(r);
	return true;
}

/* Whether the stream's next event is an unwanted plain access. */
static inline bool is_unwanted(const struct stream *s, struct reader_wanted *wanted)
{
	return wanted && stream_is_plain(s->head) && !s->frames.count &&
	       stream_is_unwanted(wanted, s->head);
}

/* The top stream's events before this time come next. At equal times the lower thread is first. */
static inline uint64_t until_of(const struct reader *r)
{
	return r->second.key + (r->heap->stream < r->second.stream && r->second.key < UINT64_MAX);
}

/* Whether `head` and the record behind it, which must exist, are plain accesses. */
static inline bool is_plain_run(const struct stream *s)
{
	return stream_is_plain(s->batch) && stream_is_plain(s->head) && !s->frames.count;
}

/* Whether BATCH_MIN plain accesses probably come next before another thread's event. */
static inline bool is_long_run(const struct reader *r, const struct stream *s)
{
	return s->count - s->taken >= BATCH_MIN && is_plain_run(s) &&
	       s->time + BATCH_MIN * s->step < r->second.key;
}

/* Takes or skips the plain accesses at the beginning of the top's batch. False: there are none. */
static inline bool take_batch(struct reader *r, struct reader_wanted *wanted,
			      struct stream_output *to)
{
	uint64_t until = until_of(r);

	if (!stream_filter_batch(r->top, wanted, until, to))
		return false;
	r->heap->key = r->top->key;
	if (r->heap->key >= until)
		reorder_heap(r, false);
	return true;
}

/* Not inlined, so that the loop for other events has more registers. */
static __attribute__((noinline)) bool take_plain(struct reader *r, struct event *ev, unsigned *n,
						 unsigned room)
{
	struct stream_output to = { .ev = ev, .count = *n, .room = room };
	bool any = take_batch(r, NULL, &to);

	*n = to.count;
	return any;
}

/*
 * Takes events until a chunk has to be opened, `room` are there, or an unwanted one comes that is
 * not the first. Returns their number.
 */
static inline unsigned take_ready(struct reader *r, struct event *ev, unsigned n, unsigned room,
				  struct reader_wanted *wanted)
{
	struct stream *s = r->top;

	while (n < room && s->state == STREAM_READY && !(n && is_unwanted(s, wanted))) {
		bool must_advance;

		if (!wanted && is_long_run(r, s) && take_plain(r, ev, &n, room)) {
			s = r->top;
			continue;
		}
		must_advance = !stream_take(s, &ev[n]);
		if (must_advance && !advance_top(r))
			break;
		n += ev[n].kind != TRACE_VALUE || !r->no_values;
		if (!must_advance) {
			r->heap->key = s->key;
			if (heap_before(r->heap, &r->second))
				continue;
			reorder_heap(r, false);
		}
		s = r->top;
		if (!s)
			break;
	}
	return n;
}

void reader_until(struct reader *r, const struct deadline *d)
{
	r->deadline = d;
	r->asked = 0;
	r->late = false;
}

bool reader_is_late(const struct reader *r)
{
	return r->late;
}

/* Asks the deadline at every ASK_EVERYth call. True if it is over. */
static bool ask_deadline(struct reader *r)
{
	if (r->deadline && r->asked++ % ASK_EVERY == 0)
		r->late |= deadline_over(r->deadline);
	return r->late;
}

int reader_some(struct reader *r, struct event *ev, unsigned room, struct reader_wanted *wanted,
		struct err *err)
{
	unsigned n = 0;
	int got = 1;

	if (ask_deadline(r))
		return err_set(err, "%s", deadline_why(r->deadline));
	if (r->text) {
		n = reader_text_some(r, ev, room, &got);
		return n ? (int)n : got;
	}
	while (n < room && (is_ready(r) || open_next(r, &got, err)) &&
	       !(n && is_unwanted(r->top, wanted)))
		n = take_ready(r, ev, n, room, wanted);
	return n ? (int)n : got;
}

/* Takes or skips an event that take_batch() cannot handle, or a loop. */
static void sift_one(struct reader *r, struct reader_wanted *wanted, struct stream_output *to)
{
	struct stream *s = r->top;
	struct event *ev = &to->ev[to->count];
	bool unwanted = is_unwanted(s, wanted), must_advance;
	uint64_t count = 0;

	if (unwanted) {
		must_advance = !stream_step(s);
		count = 1 +
			(must_advance ? 0 : stream_skip_loop(s, wanted, until_of(r), UINT64_MAX));
		s->delivered += count;
	} else {
		must_advance = !stream_take(s, ev);
	}
	if (must_advance && !advance_top(r)) {
		to->skipping += count - (count > 0);
		return;
	}
	to->skipping += count;
	if (!unwanted && (ev->kind != TRACE_VALUE || !r->no_values)) {
		to->skipped[to->count++] = to->skipping;
		to->skipping = 0;
	}
	if (must_advance)
		return;
	r->heap->key = s->key;
	if (!heap_before(r->heap, &r->second))
		reorder_heap(r, false);
}

int reader_sift(struct reader *r, struct event *ev, uint64_t *skipped, unsigned room,
		struct reader_wanted *wanted, uint64_t *trailing, uint32_t *trailing_thread,
		struct err *err)
{
	struct stream_output to = { .ev = ev, .skipped = skipped, .room = room };
	const struct stream *s = r->top;
	int got = 1;

	*trailing = 0;
	if (r->text) {
		memset(skipped, 0, room * sizeof(*skipped));
		return reader_some(r, ev, room, NULL, err);
	}
	while (to.count < room && (is_ready(r) || (!to.skipping && open_next(r, &got, err)))) {
		if (to.skipping && r->top != s)
			break;
		s = r->top;
		if (s->taken == s->count || !is_plain_run(s) || !take_batch(r, wanted, &to))
			sift_one(r, wanted, &to);
	}
	*trailing = to.skipping;
	*trailing_thread = s ? s->thread : 0;
	return to.count || to.skipping ? (int)to.count : got;
}

uint32_t reader_whose(const struct reader *r)
{
	return is_ready(r) ? r->top->thread : 0;
}

uint64_t reader_pass(struct reader *r, struct reader_wanted *wanted, uint64_t most,
		     uint32_t *thread)
{
	struct stream *s = r->top;
	uint64_t count, until;
	bool must_advance = false;

	if (!is_ready(r) || !is_unwanted(s, wanted) || !most || ask_deadline(r))
		return 0;
	until = until_of(r);
	count = stream_skip_batch(s, wanted, until, most);
	while (!must_advance && count < most && s->key < until && is_unwanted(s, wanted)) {
		must_advance = !stream_step(s);
		count++;
		count += stream_skip_loop(s, wanted, until, most - count);
	}
	*thread = s->thread;
	s->delivered += count;
	if (must_advance)
		return count - !advance_top(r);
	r->heap->key = s->key;
	if (s->key >= until)
		reorder_heap(r, false);
	return count;
}

int reader_next(struct reader *r, struct event *ev, struct err *err)
{
	return reader_some(r, ev, 1, NULL, err);
}

void reader_leave_out_values(struct reader *r)
{
	r->no_values = true;
}

int reader_rewind(struct reader *r, struct err *err)
{
	(void)err;
	if (r->text) {
		reader_text_rewind(r);
		return 0;
	}
	for (size_t i = 0; i < r->stream_count; i++)
		stream_rewind(&r->streams[i], &r->idx);
	r->failed = false;
	heap_build(r);
	return 0;
}

int reader_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err)
{
	int got;

	if (reader_rewind(r, err) < 0)
		return -1;
	got = r->text ? reader_text_accesses(r, fn, ctx, err)
		      : scan_accesses(&r->idx, fn, ctx, err);
	return reader_rewind(r, err) < 0 ? -1 : got;
}

const struct reader_info *reader_info(const struct reader *r)
{
	return &r->info;
}

const struct reader_thread *reader_thread(const struct reader *r, uint32_t id)
{
	return catalog_find(&r->catalog, id);
}

const char *reader_meta(const struct reader *r, const char *key, size_t nth)
{
	return catalog_meta(&r->catalog, key, nth);
}

bool reader_meta_at(const struct reader *r, size_t n, const char **key, const char **value)
{
	if (n >= r->catalog.meta_count)
		return false;
	*key = r->catalog.metas[n].key;
	*value = r->catalog.metas[n].value;
	return true;
}
