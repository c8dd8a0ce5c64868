/*
 * One thread's events, chunk by chunk, with times given to those that have none.
 *
 * Holds one open chunk at a time, STREAM_DECODE records of it decoded, and looks
 * ahead only to the next time stamp (at most STREAM_LOOKAHEAD records). Loops are expanded one
 * access at a time, bunches when they are decoded.
 */
#ifndef TRACE_READ_STREAM_H
#define TRACE_READ_STREAM_H

#include "abi/loop_group.h"
#include "trace/codec/codec.h"
#include "trace/read/frames.h"
#include "trace/read/index.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"

#define STREAM_LOOKAHEAD 4096u
#define STREAM_DECODE 2048u	/* records at once, all if a chunk has no more */
#define STREAM_DECODE_FIRST 256u	/* … the first time: who reads again mostly wants little */
#define STREAM_MANY_CODERS 32u	/* … if there are so many, the limit of "all" is */
#define STREAM_DECODE_WHOLE 6144u

enum stream_state {
	STREAM_CLOSED,	/* `key` is where the next chunk begins; open it to know more */
	STREAM_READY,	/* `key` is the next event's time */
	STREAM_END,
};

struct stream {
	enum stream_state state;
	uint64_t key;
	uint32_t thread;
	bool total_order;
	size_t first, end;	/* its chunks in the index */
	size_t next;		/* the one to open next */
	uint64_t offset;	/* the open one's place in the file, for messages */
	struct payload payload;	/* data is NULL when none is open, or it was put aside */
	size_t at;		/* where the next event starts in it */
	uint32_t left;		/* records not decoded yet */
	struct trace_coder *coder;	/* while records are left to decode */
	size_t portion;		/* so many to decode next */
	struct trace_record *records;	/* decoded, whole events */
	uint64_t told;		/* the last time that was decoded */
	size_t capacity;
	size_t pending, decoded;	/* those from `pending` on are in no batch yet */

	/* Events up to the next time stamp, and the one that has it: of `records`. */
	const struct trace_record *batch;	/* what is not taken yet */
	uint64_t count, taken;
	const struct trace_record *timed;
	unsigned timed_records;	/* 0: a STAMP or nothing ended the batch */
	struct trace_record lost[2];	/* or `timed` is this: chunks are missing */
	uint64_t limit;		/* the time that ended it */
	struct trace_loop loop;	/* of the batch, under way if it has turns */
	const struct trace_record *behind_loop;
	struct trace_record turn;	/* the access of it that is `head` */
	uint64_t expanded;	/* events that loops of the open chunk stand for */

	uint64_t time;		/* of the last event looked at; never sinks */
	uint64_t clock;		/* as the trace has it: total order may step back to a time */
	uint64_t step, rest, over, parts;	/* how the batch is spread */

	const struct trace_record *head;	/* the event to deliver next */
	struct frames frames;
	uint64_t delivered;
};

/* Chunks [first, end) of the index are one thread's. */
void stream_init(struct stream *s, struct index *idx, size_t first, size_t end);
void stream_free(struct stream *s, struct index *idx);
void stream_rewind(struct stream *s, struct index *idx);

/* CLOSED to READY, CLOSED again (an empty chunk) or END; -1 if damaged. */
int stream_open(struct stream *s, struct index *idx, struct err *err);

/* Moves on to the next event, once that at `key` was delivered. */
int stream_advance(struct stream *s, struct index *idx, struct err *err);

/* Gives back the decompressed chunk; it is made again when needed. */
void stream_drop_payload(struct stream *s);

/* Fills ev from raw records; time and depth are the caller's. */
static inline void stream_event(struct event *ev, uint32_t thread, const struct trace_record *r, unsigned records)
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
	else if (trace_roles(kind) & ROLE_RANGE)
		ev->size = ev->arg;
	else
		ev->size = 0;
}

static inline void stream_tick(struct stream *s)
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

_Static_assert(TRACE_WRITE == TRACE_READ + 1, "stream_is_plain() relies on it");

static inline bool stream_is_plain(const struct trace_record *r)
{
	return trace_site_kind(r->site) - TRACE_READ <= 1u;
}

static inline bool stream_is_call(unsigned kind)
{
	return kind == TRACE_FUNC_ENTRY || kind == TRACE_FUNC_EXIT;
}

static inline void stream_reach_limit(struct stream *s)
{
	if (s->total_order || s->limit > s->clock)
		s->clock = s->limit;
}

/* Spreads the batch between the clock and s->limit, or keeps it at one time. */
static inline void stream_spread(struct stream *s, bool limited)
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

/* The next access of the loop that the batch begins with. */
static inline const struct trace_record *stream_next_loop_access(struct stream *s)
{
	if (!s->loop.turns)
		s->behind_loop = trace_loop_begin(&s->loop, s->batch);
	s->turn = trace_loop_next(&s->loop);
	if (!s->loop.turns)
		s->batch = s->behind_loop;
	return &s->turn;
}

/*
 * Looks for the next event to deliver, within the batch or the one that ends it. Calls may be held back on the
 * way. False: there is none, and stream_advance() has to go on.
 */
static inline bool stream_step(struct stream *s)
{
	while (s->taken < s->count) {
		const struct trace_record *r = s->batch;
		unsigned kind = trace_site_kind(r->site);

		if (kind == TRACE_LOOP)
			r = stream_next_loop_access(s);
		else
			s->batch++;
		s->taken++;
		stream_tick(s);
		if (s->taken == s->count && !s->timed_records)
			stream_reach_limit(s);
		if (!stream_is_call(kind) || !frames_hold(&s->frames, r)) {
			s->head = r;
			s->key = s->time;
			return true;
		}
	}
	if (!s->timed_records)
		return false;
	stream_reach_limit(s);
	if (s->limit > s->time)
		s->time = s->limit;
	s->head = s->timed;
	s->key = s->time;
	return true;
}

/* The records from `pending` on are plain accesses and calls and then one that has a time: that; else NULL. */
static inline const struct trace_record *stream_next_timed(const struct stream *s)
{
	const struct trace_record *first, *r, *end;
	unsigned kind;

	if (s->pending == s->decoded)
		return NULL;
	first = r = s->records + s->pending;
	end = s->records + s->decoded;
	while (r < end && (stream_is_plain(r) || stream_is_call(trace_site_kind(r->site))))
		r++;
	if (r == end || r - first >= STREAM_LOOKAHEAD)
		return NULL;
	kind = trace_site_kind(r->site);
	return kind < TRACE_LOOP && trace_extra(kind) ? r : NULL;
}

/* Begins the batch that such a record ends. */
static inline void stream_next_batch(struct stream *s, const struct trace_record *timed)
{
	s->batch = s->records + s->pending;
	s->count = (uint64_t)(timed - s->batch);
	s->taken = 0;
	s->timed = timed;
	s->timed_records = 1 + trace_extra(trace_site_kind(timed->site));
	s->pending += s->count + s->timed_records;
	s->limit = timed[1].addr;
	stream_spread(s, true);
	stream_step(s);
}

static inline void stream_plain_event(struct event *ev, uint32_t thread, const struct trace_record *r)
{
	ev->addr = r->addr & TRACE_ADDR_MASK;
	ev->result = (uint16_t)(r->addr >> 48);
	ev->pc = r->site & TRACE_ADDR_MASK;
	ev->detail = (uint8_t)(r->site >> 56);
	ev->kind = (uint16_t)trace_site_kind(r->site);
	ev->size = 1ull << (ev->detail & TRACE_SIZE_MASK);
	ev->arg = ev->extra[0] = ev->extra[1] = 0;
	ev->thread = thread;
}

/* READY only: the event at `key`, and moves on unless that takes long: then false, and stream_advance() must follow. */
static inline bool stream_take(struct stream *s, struct event *ev)
{
	const struct trace_record *r = s->head;
	bool timed = r == s->timed && s->timed_records;

	ev->time = s->key;
	s->delivered++;
	if (s->frames.count) {
		stream_event(ev, s->thread, frames_deliver(&s->frames, &ev->depth), 1);
		return true;
	}
	if (stream_is_plain(r)) {
		stream_plain_event(ev, s->thread, r);
		ev->depth = s->frames.depth;
		return stream_step(s);
	}
	stream_event(ev, s->thread, r, timed ? s->timed_records : 1);
	ev->depth = frames_apply(&s->frames, ev->kind, ev->arg);
	if (!timed)
		return stream_step(s);
	s->timed_records = 0;
	r = stream_next_timed(s);
	if (r)
		stream_next_batch(s, r);
	return r != NULL;
}

#endif
