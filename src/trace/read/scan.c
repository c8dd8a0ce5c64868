#include "trace/read/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/loop_group.h"
#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/kinds.h"

#define ROOM 2048u	/* records decoded at once; the largest loop group has fewer */

struct access_scan {
	struct trace_coder *coder;
	struct trace_record records[ROOM];
	struct trace_loop loop;
	reader_access *fn;
	void *ctx;
	uint32_t thread;
	const struct index *idx;
	uint64_t loop_events;	/* number of accesses that loops of the chunk stand for */
	uint64_t last_time;	/* last recorded time in the chunk */
	struct trace_record group[ACCESS_GROUP_MAX];
	bool stopped;		/* fn returned false */
};

static inline bool report(const struct access_scan *s, const struct trace_record *list,
			  size_t count)
{
	return s->fn(s->ctx, s->thread, list, count, 0);
}

/* Reports an event that is no plain access, if it is an access. False: fn wants no more. */
static inline bool report_other(const struct access_scan *s, const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site);

	if (kind_has_size(kind))
		return report(s, r, 1);
	if (trace_roles(kind) & ROLE_RANGE)
		return !r[1].site || s->fn(s->ctx, s->thread, r, 1, r[1].site);
	return true;
}

_Static_assert(TRACE_WRITE == TRACE_READ + 1, "is_plain() relies on it");

static inline bool is_plain(const struct trace_record *r)
{
	return trace_site_kind(r->site) - TRACE_READ <= 1u;
}

/* Number of consecutive plain accesses from r on. */
static inline size_t run_of(const struct trace_record *r, const struct trace_record *end)
{
	const struct trace_record *first = r;

	while (r < end && is_plain(r))
		r++;
	return (size_t)(r - first);
}

static bool report_loop(struct access_scan *s, const struct trace_record *head)
{
	struct trace_record access;

	trace_loop_begin(&s->loop, head);
	while (s->loop.iterations) {
		access = trace_loop_next(&s->loop);
		if (!report(s, &access, 1))
			return false;
	}
	return true;
}

/*
 * Reports the accesses of an access group. False: fn wants no more, or *known is false, because
 * the trace does not describe the group and is not lossy.
 */
static bool report_group(struct access_scan *s, const struct trace_record *r, bool *known)
{
	int count = access_groups_expand(&s->idx->access_groups, r, s->last_time, s->group);

	*known = count >= 0 || s->idx->lossy;
	return (count <= 0 || report(s, s->group, (size_t)count)) && *known;
}

/* Reports records and returns their number: all, or those before an incomplete loop group. */
static size_t report_records(struct access_scan *s, size_t count)
{
	const struct trace_record *r = s->records, *end = r + count;
	bool known = true;
	size_t size;

	while (r < end && !s->stopped && known) {
		unsigned kind = trace_site_kind(r->site), records = 1 + trace_extra(kind);

		size = run_of(r, end);
		if (size) {
			s->stopped = !report(s, r, size);
			r += size;
		} else if (kind == TRACE_LOOP) {
			size = trace_loop_size(r, (size_t)(end - r));
			if (!size)
				break;
			s->loop_events += trace_loop_events(r);
			if (s->loop_events > TRACE_LOOP_EVENTS)
				break;
			s->stopped = !report_loop(s, r);
			r += size;
		} else if (kind == TRACE_BUNCH) {
			s->stopped = !report_group(s, r, &known) && known;
			r += known;
		} else {
			if (records > 1 || kind == TRACE_STAMP)
				s->last_time = r[records > 1].addr;
			s->stopped = !report_other(s, r);
			r += records;
		}
	}
	return (size_t)(r - s->records);
}

static int scan_payload(struct access_scan *s, const struct payload *p)
{
	const uint8_t *in = p->data, *end = in + p->size;
	size_t kept = 0, got, reported;

	s->loop_events = 0;
	while (in < end || !trace_decode_done(s->coder)) {
		in = trace_decode_many(s->coder, in, end, s->records + kept, ROOM - kept, &got);
		if (!in || got == 0)
			return -1;
		kept += got;
		reported = report_records(s, kept);
		if (s->stopped)
			return 0;
		kept -= reported;
		memmove(s->records, s->records + reported, kept * sizeof(*s->records));
	}
	return kept ? -1 : 0;
}

static int scan_chunk(struct access_scan *s, struct index *idx, const struct index_chunk *c,
		      struct err *err)
{
	struct trace_chunk chunk;
	struct payload payload;
	int got;

	s->thread = c->thread;
	if (index_payload(idx, c->offset, &chunk, &payload, err) < 0)
		return -1;
	trace_coder_init(s->coder, chunk.time);
	s->last_time = chunk.time;
	got = scan_payload(s, &payload);
	payload_free(&payload);
	if (got < 0)
		return err_set(err,
			       "damaged at byte %" PRIu64
			       ": a chunk of thread %u holds no valid events",
			       c->offset, c->thread);
	return 0;
}

static int by_seq(const void *a, const void *b)
{
	const struct index_chunk *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

int scan_accesses(struct index *idx, reader_access *fn, void *ctx, struct err *err)
{
	struct index_chunk *order = xcalloc(idx->event_count + 1, sizeof(*order));
	struct access_scan *s = xcalloc(1, sizeof(*s));
	uint64_t decompressed = idx->decompressed;
	int got = 0;

	s->coder = index_take_coder(idx);
	s->fn = fn;
	s->ctx = ctx;
	s->idx = idx;
	for (size_t i = 0; i < idx->event_count; i++)
		order[i] = idx->events[i];
	qsort(order, idx->event_count, sizeof(*order), by_seq);
	for (size_t i = 0; i < idx->event_count && got == 0 && !s->stopped; i++)
		got = scan_chunk(s, idx, &order[i], err);
	idx->decompressed = decompressed;	/* all payloads are freed */
	index_give_coder(idx, s->coder);
	free(order);
	free(s);
	return got;
}
