#include "trace/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/codec.h"
#include "trace/kinds.h"
#include "trace/loop.h"

#define ROOM 2048u	/* records decoded at once, more than a loop has */

struct scan {
	struct trace_coder coder;
	struct trace_record records[ROOM];
	struct trace_loop loop;
	reader_access *fn;
	void *ctx;
	uint32_t thread;
	uint64_t expanded;	/* accesses that loops of the chunk stand for */
};

static inline void tell_sized(const struct scan *s, const struct trace_record *r)
{
	s->fn(s->ctx, s->thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
	      1ull << (r->site >> 56 & TRACE_SIZE_MASK));
}

/* A record with its extra ones. */
static inline void tell(const struct scan *s, const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site);

	if (kind_has_size(kind))
		tell_sized(s, r);
	else if (kind == TRACE_READ_RANGE || kind == TRACE_WRITE_RANGE)
		s->fn(s->ctx, s->thread, kind, r->addr & TRACE_ADDR_MASK, r[1].site);
}

static void tell_loop(struct scan *s, const struct trace_record *head)
{
	struct trace_record turn;

	trace_loop_begin(&s->loop, head);
	while (s->loop.turns) {
		turn = trace_loop_next(&s->loop);
		tell_sized(s, &turn);
	}
}

/* Returns how many of the records were told of: all, or those before a loop that is not all here. */
static size_t tell_all(struct scan *s, size_t count)
{
	const struct trace_record *r = s->records, *end = r + count;
	size_t size;

	while (r < end) {
		unsigned kind = trace_site_kind(r->site);

		if (kind == TRACE_LOOP) {
			size = trace_loop_size(r, (size_t)(end - r));
			s->expanded += r->addr * trace_loop_accesses(r);
			if (!size || s->expanded > TRACE_LOOP_EVENTS)
				break;
			tell_loop(s, r);
			r += size;
		} else {
			tell(s, r);
			r += 1 + trace_extra(kind);
		}
	}
	return (size_t)(r - s->records);
}

static int scan_payload(struct scan *s, const struct payload *p)
{
	const uint8_t *in = p->data, *end = in + p->size;
	size_t kept = 0, got, told;

	s->expanded = 0;
	while (in < end || !trace_decode_done(&s->coder)) {
		in = trace_decode_many(&s->coder, in, end, s->records + kept, ROOM - kept, &got);
		if (!in || got == 0)
			return -1;
		kept += got;
		told = tell_all(s, kept);
		kept -= told;
		memmove(s->records, s->records + told, kept * sizeof(*s->records));
	}
	return kept ? -1 : 0;
}

int scan_accesses(struct index *idx, reader_access *fn, void *ctx, struct err *err)
{
	struct scan *s = xcalloc(1, sizeof(*s));
	uint64_t decompressed = idx->decompressed;
	struct trace_chunk chunk;
	struct payload payload;
	int got = 0;

	s->fn = fn;
	s->ctx = ctx;
	for (size_t i = 0; i < idx->event_count && got == 0; i++) {
		s->thread = idx->events[i].thread;
		got = index_payload(idx, idx->events[i].offset, &chunk, &payload, err);
		if (got < 0)
			break;
		trace_coder_init(&s->coder, chunk.time);
		if (scan_payload(s, &payload) < 0)
			got = err_set(err, "damaged at byte %" PRIu64 ": a chunk of thread %u holds no valid events",
				      idx->events[i].offset, s->thread);
		payload_free(&payload);
	}
	idx->decompressed = decompressed;	/* nothing of it is left */
	free(s);
	return got;
}
