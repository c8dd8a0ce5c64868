/*
 * Times. A kind with extra records has its own; STAMP and the beginning of a
 * chunk are times too. The n events between two times a < b get a + (b - a) *
 * i / (n + 1). Behind the thread's last time all get one more than it. In a trace
 * with total order each event is one later than the one before, and STAMP says
 * where to go on counting.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/kinds.h"
#include "trace/stream.h"

static const struct trace_record lost_chunks[2] = { { 0, TRACE_SITE(TRACE_LOST, 0, 0) } };

static void release(struct stream *s)
{
	payload_free(&s->payload);
	free(s->coder);
	s->coder = NULL;
}

void stream_rewind(struct stream *s, const struct index *idx)
{
	release(s);
	s->next = s->first;
	s->left = 0;
	s->at = 0;
	s->count = s->taken = 0;
	s->timed_records = 0;
	s->head = NULL;
	s->delivered = 0;
	frames_reset(&s->frames);
	s->state = STREAM_CLOSED;
	s->time = 0;
	s->clock = s->key = index_header(idx, idx->events[s->first].offset).time;
	if (s->total_order)
		s->key++;
}

void stream_init(struct stream *s, const struct index *idx, size_t first, size_t end)
{
	*s = (struct stream){
		.thread = idx->events[first].thread,
		.total_order = idx->header.flags & TRACE_TOTAL_ORDER,
		.first = first,
		.end = end,
	};
	stream_rewind(s, idx);
}

void stream_free(struct stream *s)
{
	release(s);
	free(s->batch);
	frames_free(&s->frames);
}

void stream_put_aside(struct stream *s)
{
	if (s->payload.owned)
		payload_free(&s->payload);
}

static int damaged(const struct stream *s, struct err *err)
{
	return err_set(err, "damaged at byte %" PRIu64 ": a chunk of thread %u holds no valid event at %zu",
		       s->offset, s->thread, s->at);
}

/* Spreads the batch between the clock and s->limit, or keeps it at one time. */
static void spread(struct stream *s, bool limited)
{
	s->step = s->rest = s->over = 0;
	s->parts = 1;
	if (s->total_order) {
		s->step = 1;
	} else if (limited && s->count && s->limit > s->clock) {
		s->parts = s->count + 1;
		s->step = (s->limit - s->clock) / s->parts;
		s->rest = (s->limit - s->clock) % s->parts;
	}
}

/* The chunk's last events have no time behind them in it: the next chunk may. */
static void spread_to_next(struct stream *s, const struct index *idx)
{
	if (s->next < s->end) {
		s->limit = index_header(idx, idx->events[s->next].offset).time;
		spread(s, true);
	} else {
		spread(s, false);
		if (!s->total_order && s->count && s->clock < UINT64_MAX)
			s->clock++;
	}
}

static bool at_end(const struct stream *s)
{
	return s->at == s->payload.size && trace_decode_done(s->coder);
}

/* Decodes up to the next time. Needs s->left > 0. */
static int fill(struct stream *s, struct index *idx, struct err *err)
{
	const uint8_t *p, *end;
	struct trace_chunk chunk;
	unsigned n, kind;

	if (!s->payload.data && index_payload(idx, s->offset, &chunk, &s->payload, err) < 0)
		return -1;
	p = s->payload.data + s->at;
	end = s->payload.data + s->payload.size;
	s->count = s->taken = 0;
	while (s->left) {
		p = trace_decode(s->coder, p, end, s->timed, &n);
		if (!p || n > s->left)
			return damaged(s, err);
		s->left -= n;
		s->at = (size_t)(p - s->payload.data);
		kind = trace_site_kind(s->timed->site);
		if (kind == TRACE_STAMP || n > 1) {
			if (!s->left && !at_end(s))
				return damaged(s, err);
			s->timed_records = n > 1 ? n : 0;
			s->limit = n > 1 ? s->timed[1].addr : s->timed->addr;
			spread(s, true);
			return 0;
		}
		s->batch = xgrow(s->batch, s->count, &s->capacity, sizeof(*s->batch));
		s->batch[s->count++] = *s->timed;
		if (s->count == STREAM_LOOKAHEAD && s->left) {
			s->limit = s->total_order ? s->clock + s->count : s->clock;
			spread(s, false);
			return 0;
		}
	}
	if (!at_end(s))
		return damaged(s, err);
	s->limit = s->total_order ? s->clock + s->count : s->clock;
	spread_to_next(s, idx);
	return 0;
}

static void tick(struct stream *s)
{
	s->clock += s->step;
	s->over += s->rest;
	if (s->over >= s->parts) {
		s->over -= s->parts;
		s->clock++;
	}
	if (s->clock > s->time)
		s->time = s->clock;
}

static void reach_limit(struct stream *s)
{
	if (s->total_order || s->limit > s->clock)
		s->clock = s->limit;
}

/* Looks for the next event to deliver. */
static int advance(struct stream *s, struct index *idx, struct err *err)
{
	for (;;) {
		if (s->taken < s->count) {
			const struct trace_record *r = &s->batch[s->taken++];

			tick(s);
			if (s->taken == s->count && !s->timed_records)
				reach_limit(s);
			if (frames_hold(&s->frames, r))
				continue;
			s->head = r;
		} else if (s->timed_records) {
			reach_limit(s);
			if (s->limit > s->time)
				s->time = s->limit;
			s->head = s->timed;
		} else if (s->left) {
			if (fill(s, idx, err) < 0)
				return -1;
			if (!s->count && !s->timed_records)
				reach_limit(s);
			continue;
		} else if (s->next < s->end) {
			uint64_t begin = index_header(idx, idx->events[s->next].offset).time +
					 s->total_order;

			release(s);
			s->state = STREAM_CLOSED;
			s->key = begin > s->time ? begin : s->time;
			return 0;
		} else {
			release(s);
			s->state = STREAM_END;
			return 0;
		}
		s->state = STREAM_READY;
		s->key = s->time;
		return 0;
	}
}

int stream_open(struct stream *s, struct index *idx, struct err *err)
{
	uint64_t expected = s->next > s->first ? idx->events[s->next - 1].seq + 1 : 0;
	const struct index_chunk *c = &idx->events[s->next];
	struct trace_chunk chunk;

	s->offset = c->offset;
	s->at = 0;
	s->count = s->taken = 0;
	if (index_payload(idx, c->offset, &chunk, &s->payload, err) < 0)
		return -1;
	s->next++;
	s->left = chunk.count;
	if (!s->left && s->payload.size)
		return damaged(s, err);
	s->coder = xcalloc(1, sizeof(*s->coder));
	trace_coder_init(s->coder, chunk.time);
	s->limit = chunk.time;
	reach_limit(s);
	s->time = s->key;	/* the merge has come that far, whatever the chunk says */
	if (!s->left)
		spread_to_next(s, idx);
	if (c->seq == expected)
		return advance(s, idx, err);
	/* Told as an event of its own; frames told before may be wrong from here on. */
	s->timed[0] = lost_chunks[0];
	s->timed[1] = (struct trace_record){ s->clock, 0 };
	s->timed_records = 2;
	return advance(s, idx, err);
}

void stream_event(struct event *ev, uint32_t thread, const struct trace_record *r, unsigned records)
{
	unsigned kind = trace_site_kind(r->site);

	ev->addr = r->addr & TRACE_ADDR_MASK;
	ev->result = (uint16_t)(r->addr >> 48);
	ev->pc = r->site & TRACE_ADDR_MASK;
	ev->detail = (uint8_t)(r->site >> 56);
	ev->kind = (uint16_t)kind;
	ev->thread = thread;
	ev->arg = records > 1 ? r[1].site : 0;
	ev->extra[0] = records > 2 ? r[2].addr : 0;
	ev->extra[1] = records > 2 ? r[2].site : 0;
	if (kind_has_size(kind))
		ev->size = 1ull << (ev->detail & TRACE_SIZE_MASK);
	else if (kind == TRACE_READ_RANGE || kind == TRACE_WRITE_RANGE)
		ev->size = ev->arg;
	else
		ev->size = 0;
}

int stream_take(struct stream *s, struct index *idx, struct event *ev, struct err *err)
{
	const struct trace_record *r = frames_tell(&s->frames, &ev->depth);

	ev->time = s->key;
	s->delivered++;
	if (r) {
		stream_event(ev, s->thread, r, 1);
		return 0;
	}
	stream_event(ev, s->thread, s->head, s->head == s->timed ? s->timed_records : 1);
	ev->depth = frames_pass(&s->frames, ev->kind, ev->arg);
	if (s->head == s->timed)
		s->timed_records = 0;
	return advance(s, idx, err);
}
