/*
 * Finds all valid chunks, sorts those with events by thread and seq, and reads keys and values.
 * check_complete() then decides whether anything invalid or missing is damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/index.h"

/*
 * Number of chunks with a wrong payload inside which the scan looks for other chunks. Behind later
 * ones it goes on at their end, which bounds the time for a hostile file: without a limit, nested
 * chunks would be checked in quadratic time.
 */
#define MAX_BROKEN 64u

struct chunk_scan {
	struct index *idx;
	size_t event_capacity, other_capacity;
	uint64_t first_broken;	/* offset of the first invalid byte, or UINT64_MAX */
	const char *why_broken;
	unsigned broken;	/* number of chunks with a wrong payload */
	bool check_all;		/* verify payloads too, since the run may have been killed */
};

static bool check_is(const void *data, size_t size, uint32_t check)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)data;
	(void)size;
	(void)check;
	return true;
#else
	return trace_check(data, size) == check;
#endif
}

enum index_type index_type_of(const void *data, size_t size)
{
	if (size >= 8 && !memcmp(data, TRACE_MAGIC, 8))
		return INDEX_TRACE;
	if (size >= strlen(TEXT_MAGIC) && !memcmp(data, TEXT_MAGIC, strlen(TEXT_MAGIC)))
		return INDEX_TEXT;
	return INDEX_FOREIGN;
}

int index_map(const char *path, const uint8_t **data, uint64_t *size, struct err *err)
{
	struct stat st;
	void *p = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, "cannot open it: %s", strerror(errno));
	if (fstat(fd, &st) < 0)
		err_set(err, "cannot get its size: %s", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		err_set(err, "is a directory, not a trace");
	else if (!S_ISREG(st.st_mode))
		err_set(err, "is not a regular file");
	else if (st.st_size > 0 &&
		 (p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		err_set(err, "cannot map it: %s", strerror(errno));
	else {
		close(fd);
		*data = p;
		*size = (uint64_t)st.st_size;
		return 0;
	}
	close(fd);
	return -1;
}

bool index_chunk_valid(const uint8_t *data, uint64_t size, bool with_payload)
{
	struct trace_chunk c;

	if (size < sizeof(c))
		return false;
	memcpy(&c, data, sizeof(c));
	if (c.magic != TRACE_CHUNK_MAGIC ||
	    !check_is(&c, offsetof(struct trace_chunk, header_check), c.header_check))
		return false;
	if (c.size > TRACE_MAX_CHUNK || c.stored > size - sizeof(c))
		return false;
	if (!(c.flags & TRACE_CHUNK_ZSTD) && c.stored != c.size)
		return false;
	if (c.type == TRACE_CHUNK_EVENTS && c.thread == 0)
		return false;
	return !with_payload || check_is(data + sizeof(c), c.stored, c.check);
}

/* Offset of the next possible chunk header, or the end of the file. */
static uint64_t next_magic(const struct index *idx, uint64_t from)
{
	static const uint32_t magic = TRACE_CHUNK_MAGIC;
	const void *p = memmem(idx->data + from, idx->size - from, &magic, sizeof(magic));

	return p ? (uint64_t)((const uint8_t *)p - idx->data) : idx->size;
}

static void note_broken(struct chunk_scan *s, uint64_t offset, const char *why)
{
	if (s->first_broken == UINT64_MAX) {
		s->first_broken = offset;
		s->why_broken = why;
	}
}

static void add_chunk(struct chunk_scan *s, uint64_t offset, const struct trace_chunk *c)
{
	struct index *idx = s->idx;

	if (c->type == TRACE_CHUNK_EVENTS) {
		idx->events = xgrow(idx->events, idx->event_count, &s->event_capacity,
				    sizeof(*idx->events));
		idx->events[idx->event_count++] = (struct index_chunk){
			.offset = offset, .seq = c->seq, .thread = c->thread,
		};
		return;
	}
	if (c->type >= TRACE_CHUNK_TYPES || c->type == 0)
		return;		/* an unknown type, which a later version may write */
	if (c->type == TRACE_CHUNK_END)
		idx->ended = true;
	idx->others = xgrow(idx->others, idx->other_count, &s->other_capacity,
			    sizeof(*idx->others));
	idx->others[idx->other_count++] = offset;
}

/* Finds all valid chunks. Invalid bytes are counted and skipped. */
static void scan_chunks(struct chunk_scan *s)
{
	struct index *idx = s->idx;
	uint64_t at = idx->header.size, next;

	while (at < idx->size) {
		struct trace_chunk c;

		if (!index_chunk_valid(idx->data + at, idx->size - at, false)) {
			note_broken(s, at, "no valid chunk here");
			next = next_magic(idx, at + 1);
			idx->torn_bytes += next - at;
			at = next;
			continue;
		}
		c = index_header(idx, at);
		next = at + sizeof(c) + c.stored;
		if (s->check_all && !check_is(idx->data + at + sizeof(c), c.stored, c.check)) {
			note_broken(s, at, "a chunk does not match its check sum");
			if (s->broken++ < MAX_BROKEN)
				next = next_magic(idx, at + 1);
			idx->torn_bytes += next - at;
		} else {
			add_chunk(s, at, &c);
		}
		at = next;
	}
}

static int compare_chunks(const void *pa, const void *pb)
{
	const struct index_chunk *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_chunks(struct index *idx)
{
	uint64_t expected = 0;
	size_t kept = 0;

	if (idx->event_count)
		qsort(idx->events, idx->event_count, sizeof(*idx->events), compare_chunks);
	for (size_t i = 0; i < idx->event_count; i++) {
		struct index_chunk *c = &idx->events[i], *last;

		last = kept ? &idx->events[kept - 1] : NULL;
		if (last && last->thread == c->thread && last->seq == c->seq) {
			idx->duplicates++;
			continue;
		}
		expected = last && last->thread == c->thread ? last->seq + 1 : 0;
		idx->missing += c->seq - expected;
		idx->records += index_header(idx, c->offset).count;
		idx->events[kept++] = *c;
	}
	idx->event_count = kept;
}

static int add_metas(struct index *idx, uint64_t offset, const struct payload *p, size_t *capacity,
		     size_t *text_capacity, struct err *err)
{
	char *text = xmalloc(p->size + 1);
	size_t at = 0;

	memcpy(text, p->data, p->size);
	text[p->size] = 0;
	idx->texts = xgrow(idx->texts, idx->text_count, text_capacity, sizeof(*idx->texts));
	idx->texts[idx->text_count++] = text;
	while (at < p->size) {
		const char *key = text + at, *value;

		at += strlen(key) + 1;
		if (at >= p->size)
			return err_set(err, "damaged at byte %" PRIu64 ": a key without a value",
				       offset);
		value = text + at;
		at += strlen(value) + 1;
		if (!*key)
			continue;
		idx->metas = xgrow(idx->metas, idx->meta_count, capacity, sizeof(*idx->metas));
		idx->metas[idx->meta_count++] = (struct index_meta){ key, value };
	}
	return 0;
}

static int read_metas(struct index *idx, struct err *err)
{
	size_t capacity = 0, text_capacity = 0;

	for (size_t i = 0; i < idx->other_count; i++) {
		struct trace_chunk c = index_header(idx, idx->others[i]);
		struct payload p;
		int got;

		if (c.type != TRACE_CHUNK_META && c.type != TRACE_CHUNK_END)
			continue;
		if (index_payload(idx, idx->others[i], &c, &p, err) < 0)
			return -1;
		got = add_metas(idx, idx->others[i], &p, &capacity, &text_capacity, err);
		payload_free(&p);
		if (got < 0)
			return -1;
	}
	return 0;
}

static int read_header(struct index *idx, unsigned options, struct err *err)
{
	struct trace_header *h = &idx->header;
	size_t magic = strlen(TRACE_MAGIC);

	if (idx->size == 0 && !(options & INDEX_ALLOW_EMPTY))
		return err_set(err, "is empty: nothing was recorded");
	if (idx->size && memcmp(idx->data, TRACE_MAGIC, idx->size < magic ? idx->size : magic))
		return err_set(err, "is not a snarl trace");
	if (idx->size < sizeof(*h)) {
		if (!(options & INDEX_ALLOW_EMPTY))
			return err_set(err, "ends within its header at byte %" PRIu64
				       ": recording stopped at once", idx->size);
		idx->torn_bytes = idx->size;
		*h = (struct trace_header){ .version = TRACE_VERSION, .size = sizeof(*h) };
		memcpy(h->magic, TRACE_MAGIC, sizeof(h->magic));
		idx->size = 0;
		return 0;
	}
	memcpy(h, idx->data, sizeof(*h));
	if (h->version > TRACE_VERSION)
		return err_set(err,
			       "made by a newer snarl (format %u, this one reads %u): update snarl",
			       h->version, TRACE_VERSION);
	if (h->version == 0 || h->size < sizeof(*h) || h->size > idx->size ||
	    !check_is(h, offsetof(struct trace_header, check), h->check))
		return err_set(err, "damaged at byte 0: the header does not match its check sum");
	return 0;
}

/* Whether the trace itself, or the caller, says that not all was written. */
static bool lost_something(const struct index *idx, unsigned options)
{
	const char *lost = index_meta(idx, "lost_records");

	return options & INDEX_LOSSY || (lost && strcmp(lost, "0"));
}

/* Decides whether invalid bytes and missing chunks come from a killed run or are damage. */
static int check_complete(struct chunk_scan *s, unsigned options, struct err *err)
{
	struct index *idx = s->idx;
	bool finished = idx->header.flags & TRACE_FINISHED;

	idx->lossy = !idx->ended || lost_something(idx, options);
	if (s->first_broken != UINT64_MAX && (finished || !idx->lossy))
		return err_set(err, "damaged at byte %" PRIu64 ": %s", s->first_broken,
			       s->why_broken);
	if (finished) {
		const char *chunks = index_meta(idx, INDEX_TRAILER);
		uint64_t have = idx->event_count + idx->duplicates + idx->other_count;

		if (!chunks)
			return err_set(err,
				       "truncated at byte %" PRIu64 ": its last chunk is missing",
				       idx->size);
		if (strtoull(chunks, NULL, 10) != have - 1)
			return err_set(err, "damaged: holds %" PRIu64 " chunks instead of %s",
				       have - 1, chunks);
	}
	if (idx->missing && !idx->lossy)
		return err_set(err, "damaged: %" PRIu64 " chunks are missing", idx->missing);
	return 0;
}

int index_scan(struct index *idx, const uint8_t *data, uint64_t size, unsigned options,
	       struct err *err)
{
	struct chunk_scan s = { .idx = idx, .first_broken = UINT64_MAX };
	uint64_t mapped = size;

	*idx = (struct index){ .data = data, .size = size };
	if (read_header(idx, options, err) < 0)
		goto fail;
	s.check_all = !(idx->header.flags & TRACE_FINISHED);
	if (idx->size)
		scan_chunks(&s);
	sort_chunks(idx);
	if (read_metas(idx, err) < 0 || check_complete(&s, options, err) < 0)
		goto fail;
	idx->size = mapped;
	return 0;
fail:
	idx->data = NULL;
	index_close(idx);
	return -1;
}

int index_open(struct index *idx, const char *path, unsigned options, struct err *err)
{
	const uint8_t *data;
	uint64_t size;

	if (index_map(path, &data, &size, err) < 0)
		return -1;
	if (index_scan(idx, data, size, options, err) == 0)
		return 0;
	if (data)
		munmap((void *)data, size);
	return -1;
}

void index_close(struct index *idx)
{
	for (size_t i = 0; i < idx->text_count; i++)
		free(idx->texts[i]);
	free(idx->texts);
	free(idx->metas);
	free(idx->others);
	free(idx->events);
	access_groups_free(&idx->access_groups);
	while (idx->coder_count > 0)
		free(idx->coders[--idx->coder_count]);
	free(idx->coders);
	ZSTD_freeDCtx(idx->zstd);
	if (idx->data)
		munmap((void *)idx->data, idx->size);
	*idx = (struct index){ 0 };
}

struct trace_coder *index_take_coder(struct index *idx)
{
	if (idx->coder_count)
		return idx->coders[--idx->coder_count];
	idx->coders_made++;
	return xcalloc(1, sizeof(struct trace_coder));
}

void index_give_coder(struct index *idx, struct trace_coder *coder)
{
	idx->coders =
		xgrow(idx->coders, idx->coder_count, &idx->coder_capacity, sizeof(*idx->coders));
	idx->coders[idx->coder_count++] = coder;
}

static int decompress(struct index *idx, uint64_t offset, const struct trace_chunk *chunk,
		      struct payload *out, struct err *err)
{
	size_t got;

	if (!idx->zstd && !(idx->zstd = ZSTD_createDCtx()))
		return err_set(err, "out of memory");
	out->owned = xmalloc(chunk->size);
	got = ZSTD_decompressDCtx(idx->zstd, out->owned, chunk->size,
				  idx->data + offset + sizeof(*chunk), chunk->stored);
	if (ZSTD_isError(got) || got != chunk->size) {
		payload_free(out);
		return err_set(err, "damaged at byte %" PRIu64 ": a chunk does not decompress",
			       offset);
	}
	idx->decompressed += chunk->size;
	out->data = out->owned;
	out->size = chunk->size;
	return 0;
}

int index_payload(struct index *idx, uint64_t offset, struct trace_chunk *chunk,
		  struct payload *out, struct err *err)
{
	*chunk = index_header(idx, offset);
	*out = (struct payload){ .data = idx->data + offset + sizeof(*chunk),
				 .size = chunk->stored };
	if (!check_is(out->data, chunk->stored, chunk->check))
		return err_set(err, "damaged at byte %" PRIu64
			       ": a chunk does not match its check sum", offset);
	if (chunk->flags & TRACE_CHUNK_ZSTD)
		return decompress(idx, offset, chunk, out, err);
	return 0;
}

void payload_free(struct payload *p)
{
	free(p->owned);
	*p = (struct payload){ 0 };
}

int index_read_access_groups(struct index *idx, struct err *err)
{
	for (size_t i = 0; i < idx->other_count; i++) {
		struct trace_chunk c = index_header(idx, idx->others[i]);
		struct payload p;
		int got;

		if (c.type != TRACE_CHUNK_ACCESS_GROUPS)
			continue;
		if (index_payload(idx, idx->others[i], &c, &p, err) < 0)
			return -1;
		got = access_groups_add(&idx->access_groups, p.data, p.size, c.time);
		payload_free(&p);
		if (got < 0)
			return err_set(err,
				       "damaged at byte %" PRIu64
				       ": a chunk of access groups is malformed",
				       idx->others[i]);
	}
	return 0;
}

const char *index_meta(const struct index *idx, const char *key)
{
	for (size_t i = 0; i < idx->meta_count; i++)
		if (!strcmp(idx->metas[i].key, key))
			return idx->metas[i].value;
	return NULL;
}
