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
#include "trace/catalog.h"
#include "trace/index.h"
#include "trace/pass.h"
#include "trace/reader.h"
#include "trace/scan.h"
#include "trace/text.h"

#define MAX_DECOMPRESSED (256u << 20)	/* bytes of open chunks; beyond, some are made twice */

struct heap_entry {
	uint64_t key;
	size_t stream;
};

struct reader {
	char *path;
	struct reader_info info;
	struct catalog catalog;
	struct trace_header header;

	struct index idx;
	struct stream *streams;		/* by thread id */
	size_t stream_count;
	struct heap_entry *heap;
	size_t heap_count;
	struct heap_entry second;	/* comes next but for the top: mostly that one goes on */
	struct stream *top;		/* NULL at the end */
	bool failed, no_values;
	struct err why;

	struct text *text;		/* or this, and the rest of these */
	const uint8_t *text_data;
	uint64_t text_size;
	struct map frames_of;		/* thread to index in frames, plus 1 */
	struct frames *frames;
	size_t frame_count, frame_capacity;
	struct event held;		/* waits until the calls around it are told */
	bool holding;
};

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

static void sift_down(struct reader *r, size_t at)
{
	struct heap_entry e = r->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= r->heap_count)
			break;
		if (child + 1 < r->heap_count && before(&r->heap[child + 1], &r->heap[child]))
			child++;
		if (!before(&r->heap[child], &e))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = e;
}

static void heap_second(struct reader *r)
{
	const struct heap_entry *h = r->heap;

	r->top = r->heap_count ? &r->streams[h->stream] : NULL;
	if (r->heap_count > 2)
		r->second = before(&h[2], &h[1]) ? h[2] : h[1];
	else
		r->second = r->heap_count > 1 ? h[1] : (struct heap_entry){ UINT64_MAX, SIZE_MAX };
}

static void heap_build(struct reader *r)
{
	r->heap_count = r->stream_count;
	for (size_t i = 0; i < r->stream_count; i++)
		r->heap[i] = (struct heap_entry){ r->streams[i].key, i };
	for (size_t i = r->heap_count / 2; i-- > 0;)
		sift_down(r, i);
	heap_second(r);
}

static __attribute__((noinline)) void heap_sort(struct reader *r, bool gone)
{
	if (gone)
		r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		sift_down(r, 0);
	heap_second(r);
}

/* The top's stream has moved: put it where it belongs. */
static inline void heap_moved(struct reader *r)
{
	const struct stream *s = r->top;

	r->heap->key = s->key;
	if (s->state == STREAM_END || !before(r->heap, &r->second))
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
	if (catalog_read(&r->catalog, idx, err) < 0 || index_bunches(idx, err) < 0)
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
		r->text_data = data;
		r->text_size = size;
		r->text = text_open((const char *)data, size, &r->catalog, &r->header, err);
		got = r->text ? 0 : -1;
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
	text_close(r->text);
	if (r->text_data)
		munmap((void *)r->text_data, r->text_size);
	for (size_t i = 0; i < r->frame_count; i++)
		frames_free(&r->frames[i]);
	free(r->frames);
	map_free(&r->frames_of);
	free(r->path);
	free(r);
}

static struct frames *text_frames(struct reader *r, uint32_t thread)
{
	uint64_t *at = map_put(&r->frames_of, thread, NULL);

	if (!*at) {
		r->frames = xgrow(r->frames, r->frame_count, &r->frame_capacity,
				  sizeof(*r->frames));
		r->frames[r->frame_count++] = (struct frames){ 0 };
		*at = r->frame_count;
	}
	return &r->frames[*at - 1];
}

static void count_event(struct reader *r, uint32_t thread)
{
	struct reader_thread *t = catalog_find(&r->catalog, thread);

	if (t)
		t->events++;
}

static __attribute__((noinline)) int next_of_text(struct reader *r, struct event *ev)
{
	const struct trace_record *told;
	struct frames *f;

	while (!r->holding) {
		struct trace_record call;
		int got = text_next(r->text, &r->held);

		if (got <= 0)
			return got;
		call.addr = r->held.addr | (uint64_t)r->held.result << 48;
		call.site = TRACE_SITE(r->held.kind, r->held.detail, r->held.pc);
		r->holding = !frames_hold(text_frames(r, r->held.thread), &call);
	}
	f = text_frames(r, r->held.thread);
	count_event(r, r->held.thread);
	told = frames_tell(f, &ev->depth);
	if (told) {
		stream_event(ev, r->held.thread, told, 1);
		ev->time = r->held.time;
		return 1;
	}
	*ev = r->held;
	ev->depth = frames_pass(f, ev->kind, ev->arg);
	r->holding = false;
	return 1;
}

static void bound_memory(struct reader *r)
{
	if (r->idx.decompressed <= MAX_DECOMPRESSED)
		return;
	for (size_t i = 0; i < r->stream_count; i++)
		stream_put_aside(&r->streams[i]);
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
	return wanted && stream_plain(s->head) && !s->frames.count && stream_is_unwanted(wanted, s->head);
}

/* Until a stream has to be opened, there are `room`, or one that is unwanted comes behind others. */
static inline unsigned take_ready(struct reader *r, struct event *ev, unsigned n, unsigned room,
				  struct reader_wanted *wanted)
{
	struct stream *s = r->top;

	while (n < room && s->state == STREAM_READY && !(n && is_unwanted(s, wanted))) {
		bool gone = !stream_take_only(s, &ev[n]);

		if (gone && !go_on(r))
			break;
		n += ev[n].kind != TRACE_VALUE || !r->no_values;
		if (!gone) {
			r->heap->key = s->key;
			if (before(r->heap, &r->second))
				continue;
			heap_sort(r, false);
		}
		s = r->top;
		if (!s)
			break;
	}
	return n;
}

static unsigned some_of_text(struct reader *r, struct event *ev, unsigned room, int *got)
{
	unsigned n = 0;

	while (n < room && (*got = next_of_text(r, &ev[n])) > 0)
		n += ev[n].kind != TRACE_VALUE || !r->no_values;
	return n;
}

int reader_some(struct reader *r, struct event *ev, unsigned room, struct reader_wanted *wanted,
		struct err *err)
{
	unsigned n = 0;
	int got = 1;

	if (r->text) {
		n = some_of_text(r, ev, room, &got);
		return n ? (int)n : got;
	}
	while (n < room && (is_ready(r) || open_next(r, &got, err)) && !(n && is_unwanted(r->top, wanted)))
		n = take_ready(r, ev, n, room, wanted);
	return n ? (int)n : got;
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
	/* With equal times, the lower number is first. */
	until = r->second.key + (r->heap->stream < r->second.stream && r->second.key < UINT64_MAX);
	count = stream_pass_batch(s, wanted, until, most);
	while (!gone && count < most && s->key < until && is_unwanted(s, wanted)) {
		gone = !stream_step(s);
		count++;
		count += stream_pass_loop(s, wanted, until, most - count);
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
		text_rewind(r->text);
		r->holding = false;
		for (size_t i = 0; i < r->frame_count; i++)
			frames_reset(&r->frames[i]);
		for (size_t i = 0; i < r->catalog.thread_count; i++)
			r->catalog.threads[i].events = 0;
		return 0;
	}
	for (size_t i = 0; i < r->stream_count; i++)
		stream_rewind(&r->streams[i], &r->idx);
	r->failed = false;
	heap_build(r);
	return 0;
}

static int accesses_of_text(struct reader *r, reader_access *fn, void *ctx, struct err *err)
{
	struct trace_record one;
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0) {
		one = (struct trace_record){ ev.addr, TRACE_SITE(ev.kind, ev.detail, ev.pc) };
		if (ev.size && !fn(ctx, ev.thread, &one, 1, ev.size))
			return 0;
	}
	return got;
}

int reader_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err)
{
	int got;

	if (reader_rewind(r, err) < 0)
		return -1;
	got = r->text ? accesses_of_text(r, fn, ctx, err) : scan_accesses(&r->idx, fn, ctx, err);
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
