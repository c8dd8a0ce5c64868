#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/index.h"
#include "trace/write/outfile.h"
#include "trace/write/writer.h"
#include "trace/write/compress.h"

#define CHUNK_RECORDS 8192u	/* most records of a chunk, as the runtime's rings have */
#define STAMP_EVERY 256u	/* without total order: records without a time before a STAMP */

struct writer_thread {
	uint32_t id;
	uint64_t seq;
	uint64_t chunk_time;	/* of the open chunk's header */
	uint64_t time;		/* of the last event or stamp */
	uint32_t count;		/* records in the open chunk */
	uint32_t since_stamp;	/* records since the last recorded time */
	struct buf payload;
	struct trace_coder *coder;
};

struct writer {
	struct outfile out;
	struct trace_header header;
	struct buf metas;
	struct compressor compressor;
	bool zstd;
	struct map by_id;	/* thread id to index plus 1 */
	struct writer_thread *threads;
	size_t count, capacity;
};

struct writer *writer_open(const char *path, unsigned flags, struct err *err)
{
	struct writer *w = xcalloc(1, sizeof(*w));

	if (outfile_open(&w->out, path, err) < 0) {
		free(w);
		return NULL;
	}
	w->zstd = flags & WRITER_ZSTD;
	w->header = (struct trace_header){
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.size = sizeof(w->header),
		.flags = flags & ~WRITER_ZSTD & ~(unsigned)TRACE_FINISHED,
	};
	outfile_write(&w->out, &w->header, sizeof(w->header));
	return w;
}

void writer_begin(struct writer *w, uint64_t start_time, uint64_t start_unix_ns, uint32_t pid)
{
	w->header.start_time = start_time;
	w->header.start_unix_ns = start_unix_ns;
	w->header.pid = pid;
}

void writer_meta(struct writer *w, const char *key, const char *value)
{
	size_t size = strlen(key) + strlen(value) + 2;

	if (size > TRACE_MAX_CHUNK)
		return;
	if (w->metas.size + size > TRACE_MAX_CHUNK) {
		struct trace_chunk chunk = { .type = TRACE_CHUNK_META };

		outfile_chunk(&w->out, &chunk, w->metas.data, w->metas.size);
		buf_clear(&w->metas);
	}
	buf_add(&w->metas, key, strlen(key) + 1);
	buf_add(&w->metas, value, strlen(value) + 1);
}

void writer_thread(struct writer *w, uint32_t id, const char *name)
{
	char *key = xasprintf("thread:%u", id);

	writer_meta(w, key, name);
	free(key);
}

void writer_module(struct writer *w, const struct reader_module *m)
{
	struct trace_chunk chunk = { .type = TRACE_CHUNK_MODULE, .time = m->time };
	struct trace_module raw = {
		.time = m->time, .base = m->base, .start = m->start, .end = m->end,
		.build_id_size = (uint32_t)m->build_id_size, .path_size = (uint32_t)strlen(m->path),
	};
	struct buf payload = { 0 };

	buf_add(&payload, &raw, sizeof(raw));
	buf_add(&payload, m->build_id, m->build_id_size);
	buf_add(&payload, m->path, raw.path_size);
	outfile_chunk(&w->out, &chunk, payload.data, payload.size);
	buf_free(&payload);
}

static struct writer_thread *find_thread(struct writer *w, uint32_t id)
{
	uint64_t *at = map_put(&w->by_id, id, NULL);

	if (!*at) {
		w->threads = xgrow(w->threads, w->count, &w->capacity, sizeof(*w->threads));
		w->threads[w->count++] = (struct writer_thread){ .id = id };
		*at = w->count;
	}
	return &w->threads[*at - 1];
}

static void flush(struct writer *w, struct writer_thread *t)
{
	struct trace_chunk chunk = {
		.type = TRACE_CHUNK_EVENTS, .thread = t->id, .count = t->count,
		.seq = t->seq, .time = t->chunk_time,
	};
	const void *payload;
	size_t stored;

	if (!t->count)
		return;
	buf_reserve(&t->payload, 2 * TRACE_RECORD_MAX);
	stored = (size_t)(trace_encode_end(t->coder, t->payload.data + t->payload.size) -
			  t->payload.data);
	payload = t->payload.data;
	if (w->zstd)
		payload = compressor_chunk(&w->compressor, &chunk, payload, &stored);
	outfile_chunk(&w->out, &chunk, payload, stored);
	t->seq++;
	t->count = 0;
	buf_clear(&t->payload);
}

static void put(struct writer_thread *t, const struct trace_record *records, unsigned count)
{
	uint8_t *out = buf_reserve(&t->payload, count * TRACE_RECORD_MAX + TRACE_SLACK);

	out = trace_encode(t->coder, out, records, records + count);
	t->payload.size = (size_t)(out - t->payload.data);
	t->count += count;
}

/*
 * Writes a STAMP before an event without a recorded time: in total order, unless the event is one
 * later than the event before it, which readers assume; otherwise after STAMP_EVERY such events.
 */
static void put_stamp(struct writer *w, struct writer_thread *t, const struct event *ev)
{
	struct trace_record stamp = { ev->time, TRACE_SITE(TRACE_STAMP, 0, 0) };
	bool total = w->header.flags & TRACE_TOTAL_ORDER;

	if (total && ev->time == t->time + 1)
		return;
	if (!total && (t->since_stamp < STAMP_EVERY || ev->time <= t->time))
		return;
	if (total)
		stamp.addr--;
	put(t, &stamp, 1);
	t->since_stamp = 0;
}

void writer_event(struct writer *w, const struct event *ev)
{
	struct writer_thread *t = find_thread(w, ev->thread);
	unsigned extra = trace_extra(ev->kind);
	struct trace_record r[3] = {
		{ (ev->addr & TRACE_ADDR_MASK) | (uint64_t)ev->result << 48,
		  TRACE_SITE(ev->kind, ev->detail, ev->pc) },
		{ ev->time, ev->arg },
		{ ev->extra[0], ev->extra[1] },
	};

	if (t->count + 4 > CHUNK_RECORDS)
		flush(w, t);
	if (!t->count) {
		if (!t->coder)
			t->coder = xcalloc(1, sizeof(*t->coder));
		t->chunk_time = ev->time - (ev->time || w->header.flags & TRACE_TOTAL_ORDER);
		t->time = t->chunk_time;
		t->since_stamp = 0;
		trace_coder_init(t->coder, t->chunk_time);
	}
	if (!extra)
		put_stamp(w, t, ev);
	put(t, r, 1 + extra);
	t->since_stamp = extra ? 0 : t->since_stamp + 1;
	t->time = ev->time;
}

static void free_writer(struct writer *w)
{
	for (size_t i = 0; i < w->count; i++) {
		buf_free(&w->threads[i].payload);
		free(w->threads[i].coder);
	}
	free(w->threads);
	map_free(&w->by_id);
	buf_free(&w->metas);
	compressor_free(&w->compressor);
	free(w);
}

int writer_close(struct writer *w, struct err *err)
{
	struct trace_chunk end = { .type = TRACE_CHUNK_END };
	int got;

	for (size_t i = 0; i < w->count; i++)
		flush(w, &w->threads[i]);
	outfile_chunk(&w->out, &end, w->metas.data, w->metas.size);
	w->header.check = trace_check(&w->header, offsetof(struct trace_header, check));
	outfile_patch(&w->out, 0, &w->header, sizeof(w->header));
	got = outfile_commit(&w->out, err);
	free_writer(w);
	return got;
}

void writer_abort(struct writer *w)
{
	if (!w)
		return;
	outfile_abort(&w->out);
	free_writer(w);
}

int writer_copy(struct reader *r, const char *path, unsigned flags, struct err *err)
{
	const struct reader_info *info = reader_info(r);
	unsigned keep = info->header->flags & TRACE_UNFILTERED;
	const char *key, *value;
	struct writer *w;
	struct event ev;
	int got;

	if (reader_rewind(r, err) < 0)
		return -1;
	w = writer_open(path, flags | TRACE_TOTAL_ORDER | keep, err);
	if (!w)
		return -1;
	writer_begin(w, info->header->start_time, info->header->start_unix_ns, info->header->pid);
	for (size_t i = 0; i < info->thread_count; i++)
		writer_thread(w, info->threads[i].id, info->threads[i].name);
	for (size_t i = 0; i < info->module_count; i++)
		writer_module(w, &info->modules[i]);
	for (size_t i = 0; reader_meta_at(r, i, &key, &value); i++)
		if (strncmp(key, "thread:", 7) && strcmp(key, INDEX_TRAILER))
			writer_meta(w, key, value);
	while ((got = reader_next(r, &ev, err)) > 0)
		writer_event(w, &ev);
	if (got < 0) {
		writer_abort(w);
		return -1;
	}
	return writer_close(w, err);
}
