/*
 * Merges the threads' streams with a heap. A stream's next chunk is opened only
 * when the merge has come to the time at which it begins, so that what is held
 * is the chunks of threads running then, not of all threads there ever were.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "trace/read/reader_internal.h"
#include "trace/read/scan.h"
#include "trace/read/skip.h"

#define MAX_DECOMPRESSED (256u << 20)	/* bytes of open chunks; beyond, some are made twice */
#define WORTH 4u	/* events, or to take them one by one is faster */

static void heap_second(struct reader *r)
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
	heap_second(r);
}

static __attribute__((noinline)) void heap_sort(struct reader *r, bool gone)
{
	if (gone)
		r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		heap_sift(r->heap, r->heap_count, 0);
	heap_second(r);
}

/* The top's stream has moved: put it where it belongs. */
static inline void heap_moved(struct reader *r)
{
	const struct stream *s = r->top;

	r->heap->key = s->key;
	if (s->state == STREAM_END || !heap_before(r->heap, &r->second))
		heap_sort(r, s->state == STREAM_END);
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

static void bound_memory(struct reader *r)
{
	if (r->idx.decompressed <= MAX_DECOMPRESSED)
		return;
	for (size_t i = 0; i < r->stream_count; i++)
		stream_drop_payload(&r->streams[i]);
	r->idx.decompressed = 0;
}

/* Damage stays: asking again gives the same answer. */
static int fail(struct reader *r, struct err *err)
{
	if (!r->failed)
		err_prefix(&r->why, "'%s'", r->path);
	r->failed = true;
	return err_set(err, "%s", r->why.text);
}

/* The stream to take the next event of; NULL: *got says why. */
static __attribute__((noinline)) struct stream *open_next(struct reader *r, int *got, struct err *err)
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
		heap_moved(r);
	}
	return r->top;
}

static inline bool is_ready(const struct reader *r)
{
	return r->top && r->top->state == STREAM_READY && !r->failed;
}

/* The stream at the top gave an event and has more to do to find its next. */
static __attribute__((noinline)) bool go_on(struct reader *r)
{
	struct stream *s = r->top;

	if (stream_advance(s, &r->idx, &r->why) < 0) {
		s->delivered--;		/* damaged: that was the one before the last */
		fail(r, NULL);
		return false;
	}
	if (s->state == STREAM_END)
		catalog_find(&r->catalog, s->thread)->events = s->delivered;
	heap_moved(r);
	return true;
}

/* A plain access is next, which is not. */
static inline bool is_unwanted(const struct stream *s, struct reader_wanted *wanted)
{
	return wanted && stream_is_plain(s->head) && !s->frames.count && stream_is_unwanted(wanted, s->head);
}

/* With equal times, the lower number is first. */
static inline uint64_t until_of(const struct reader *r)
{
	return r->second.key + (r->heap->stream < r->second.stream && r->second.key < UINT64_MAX);
}

/* A plain access is next, and another one behind it. There must be one. */
static inline bool is_plain_run(const struct stream *s)
{
	return stream_is_plain(s->batch) && stream_is_plain(s->head) && !s->frames.count;
}

/* … and so on, before it is the turn of another thread; maybe. */
static inline bool is_long_run(const struct reader *r, const struct stream *s)
{
	return s->count - s->taken >= WORTH && is_plain_run(s) && s->time + WORTH * s->step < r->second.key;
}

/* Plain accesses that the batch of the top has next; false: none. */
static inline bool take_batch(struct reader *r, struct reader_wanted *wanted, struct stream_output *to)
{
	uint64_t until = until_of(r);

	if (!stream_filter_batch(r->top, wanted, until, to))
		return false;
	r->heap->key = r->top->key;
	if (r->heap->key >= until)
		heap_sort(r, false);
	return true;
}

/* Apart, so that what is done for other events has the registers. */
static __attribute__((noinline)) bool take_plain(struct reader *r, struct event *ev, unsigned *n, unsigned room)
{
	struct stream_output to = { .ev = ev, .count = *n, .room = room };
	bool any = take_batch(r, NULL, &to);

	*n = to.count;
	return any;
}

/* Until a stream has to be opened, there are `room`, or one that is unwanted comes behind others. */
static inline unsigned take_ready(struct reader *r, struct event *ev, unsigned n, unsigned room,
				  struct reader_wanted *wanted)
{
	struct stream *s = r->top;

	while (n < room && s->state == STREAM_READY && !(n && is_unwanted(s, wanted))) {
		bool gone;

		if (!wanted && is_long_run(r, s) && take_plain(r, ev, &n, room)) {
			s = r->top;
			continue;
		}
		gone = !stream_take(s, &ev[n]);
		if (gone && !go_on(r))
			break;
		n += ev[n].kind != TRACE_VALUE || !r->no_values;
		if (!gone) {
			r->heap->key = s->key;
			if (heap_before(r->heap, &r->second))
				continue;
			heap_sort(r, false);
		}
		s = r->top;
		if (!s)
			break;
	}
	return n;
}

int reader_some(struct reader *r, struct event *ev, unsigned room, struct reader_wanted *wanted,
		struct err *err)
{
	unsigned n = 0;
	int got = 1;

	if (r->text) {
		n = reader_text_some(r, ev, room, &got);
		return n ? (int)n : got;
	}
	while (n < room && (is_ready(r) || open_next(r, &got, err)) && !(n && is_unwanted(r->top, wanted)))
		n = take_ready(r, ev, n, room, wanted);
	return n ? (int)n : got;
}

/* What cannot be done by the batch. */
static void sift_one(struct reader *r, struct reader_wanted *wanted, struct stream_output *to)
{
	struct stream *s = r->top;
	struct event *ev = &to->ev[to->count];
	bool unwanted = is_unwanted(s, wanted), gone;
	uint64_t count = 0;

	if (unwanted) {
		gone = !stream_step(s);
		count = 1 + (gone ? 0 : stream_skip_loop(s, wanted, until_of(r), UINT64_MAX));
		s->delivered += count;
	} else {
		gone = !stream_take(s, ev);
	}
	if (gone && !go_on(r)) {
		to->passing += count - (count > 0);
		return;
	}
	to->passing += count;
	if (!unwanted && (ev->kind != TRACE_VALUE || !r->no_values)) {
		to->passed[to->count++] = to->passing;
		to->passing = 0;
	}
	if (gone)
		return;
	r->heap->key = s->key;
	if (!heap_before(r->heap, &r->second))
		heap_sort(r, false);
}

int reader_sift(struct reader *r, struct event *ev, uint64_t *passed, unsigned room, struct reader_wanted *wanted,
		uint64_t *more, uint32_t *whose, struct err *err)
{
	struct stream_output to = { .ev = ev, .passed = passed, .room = room };
	const struct stream *s = r->top;
	int got = 1;

	*more = 0;
	if (r->text) {
		memset(passed, 0, room * sizeof(*passed));
		return reader_some(r, ev, room, NULL, err);
	}
	while (to.count < room && (is_ready(r) || (!to.passing && open_next(r, &got, err)))) {
		if (to.passing && r->top != s)
			break;
		s = r->top;
		if (s->taken == s->count || !is_plain_run(s) || !take_batch(r, wanted, &to))
			sift_one(r, wanted, &to);
	}
	*more = to.passing;
	*whose = s ? s->thread : 0;
	return to.count || to.passing ? (int)to.count : got;
}

uint32_t reader_whose(const struct reader *r)
{
	return is_ready(r) ? r->top->thread : 0;
}

uint64_t reader_pass(struct reader *r, struct reader_wanted *wanted, uint64_t most, uint32_t *thread)
{
	struct stream *s = r->top;
	uint64_t count, until;
	bool gone = false;

	if (!is_ready(r) || !is_unwanted(s, wanted) || !most)
		return 0;
	until = until_of(r);
	count = stream_skip_batch(s, wanted, until, most);
	while (!gone && count < most && s->key < until && is_unwanted(s, wanted)) {
		gone = !stream_step(s);
		count++;
		count += stream_skip_loop(s, wanted, until, most - count);
	}
	*thread = s->thread;
	s->delivered += count;
	if (gone)
		return count - !go_on(r);
	r->heap->key = s->key;
	if (s->key >= until)
		heap_sort(r, false);
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
	got = r->text ? reader_text_accesses(r, fn, ctx, err) : scan_accesses(&r->idx, fn, ctx, err);
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
