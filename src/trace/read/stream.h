/*
 * One thread's events, decoded chunk by chunk. Events without a recorded time get one here.
 *
 * Events are handled in batches. A batch is the plain accesses and calls up to the next record
 * that has a time, at most STREAM_LOOKAHEAD records; their times are spread evenly up to that
 * time. One chunk is open at a time, and STREAM_DECODE of its records are decoded at once. Loops
 * are expanded one access at a time, access groups when they are decoded.
 */
#ifndef TRACE_READ_STREAM_H
#define TRACE_READ_STREAM_H

#include "abi/loop_group.h"
#include "trace/codec/codec.h"
#include "trace/read/frames.h"
#include "trace/read/index.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"

#define STREAM_LOOKAHEAD 4096u	/* most records of a batch */
#define STREAM_DECODE 2048u	/* records decoded at once; a shorter chunk is decoded whole */
#define STREAM_DECODE_FIRST 256u	/* records decoded first: often few are read */
/* Once MANY_CODERS coders were made, chunks of at most DECODE_WHOLE records are decoded whole. */
#define STREAM_MANY_CODERS 32u
#define STREAM_DECODE_WHOLE 6144u

enum stream_state {
	STREAM_CLOSED,	/* `key` is the time of the next chunk, which has to be opened */
	STREAM_READY,	/* `key` is the next event's time */
	STREAM_END,
};

/* The events of one thread. */
struct stream {
	enum stream_state state;
	uint64_t key;		/* see enum stream_state; the merge sorts by it */
	uint32_t thread;
	bool total_order;
	size_t first, end;	/* the thread's chunks in the index */
	size_t next;		/* chunk to open next */
	uint64_t offset;	/* of the open chunk in the file, for messages */
	struct payload payload;	/* of the open chunk; data may be NULL, see stream_drop_payload() */
	size_t at;		/* offset of the next event in the payload */
	uint32_t left;		/* number of records of the chunk not decoded yet */
	struct trace_coder *coder;	/* NULL when no records are left to decode */
	size_t decode_next;	/* number of records to decode next */
	struct trace_record *records;	/* decoded records, whole events */
	uint64_t last_time;	/* last recorded time among the decoded records */
	size_t capacity;
	size_t pending, decoded;	/* index of the first in no batch yet; number of records */

	const struct trace_record *batch;	/* rest of the batch, in `records` */
	uint64_t count, taken;	/* events of the batch, without `timed`; those up to `head` */
	const struct trace_record *timed;	/* record with a time that ended the batch */
	unsigned timed_records;	/* with its extra ones; 0: a STAMP or nothing ended the batch */
	struct trace_record lost[2];	/* `timed` points here where chunks are missing */
	uint64_t limit;		/* time that ended the batch */
	struct trace_loop loop;	/* being expanded unless loop.iterations is 0 */
	const struct trace_record *after_loop;	/* record behind the loop's group */
	struct trace_record loop_access;	/* access of the loop that is `head` */
	uint64_t loop_events;	/* number of events that loops of the open chunk stand for */

	uint64_t time;		/* of `head`; never decreases */
	uint64_t clock;		/* time before it is made monotonic: total order may step back */
	/* The clock advances by step + rest / parts per event; carry / parts is its fraction. */
	uint64_t step, rest, carry, parts;

	const struct trace_record *head;	/* event to deliver next */
	struct frames frames;	/* pending function entries come before `head` */
	uint64_t delivered;	/* number of events */
};

/* Chunks [first, end) of the index are one thread's. */
void stream_init(struct stream *s, struct index *idx, size_t first, size_t end);
void stream_free(struct stream *s, struct index *idx);
void stream_rewind(struct stream *s, struct index *idx);

/*
 * Opens the next chunk of a CLOSED stream, which is then READY, or CLOSED (the chunk was empty), or
 * at its END. Returns -1 if the chunk is damaged.
 */
int stream_open(struct stream *s, struct index *idx, struct err *err);

/* Finds the next event after the one at `key` was delivered, decoding more if needed. */
int stream_advance(struct stream *s, struct index *idx, struct err *err);

/* Frees the decompressed chunk, which is decompressed again when it is needed. */
void stream_drop_payload(struct stream *s);

/* Fills *ev from an event's raw records; the caller sets time and depth. */
static inline void stream_event(struct event *ev, uint32_t thread, const struct trace_record *r,
				unsigned records)
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

/* Advances the clock by one event of the batch. */
static inline void stream_tick(struct stream *s)
{
	s->clock += s->step;
	s->carry += s->rest;
	if (s->carry >= s->parts) {
		s->carry -= s->parts;
		s->clock++;
	}
	if (s->clock > s->time)
		s->time = s->clock;
}

_Static_assert(TRACE_WRITE == TRACE_READ + 1, "stream_is_plain() relies on it");

/* Whether it is a READ or WRITE record. */
static inline bool stream_is_plain(const struct trace_record *r)
{
	return trace_site_kind(r->site) - TRACE_READ <= 1u;
}

static inline bool stream_is_call(unsigned kind)
{
	return kind == TRACE_FUNC_ENTRY || kind == TRACE_FUNC_EXIT;
}

/* Sets the clock to the time that ended the batch. */
static inline void stream_reach_limit(struct stream *s)
{
	if (s->total_order || s->limit > s->clock)
		s->clock = s->limit;
}

/* Spreads the batch between the clock and s->limit; unless `limited`, keeps it at one time. */
static inline void stream_spread(struct stream *s, bool limited)
{
	s->step = s->rest = s->carry = 0;
	s->parts = 1;
	if (s->total_order) {
		s->step = 1;
	} else if (limited && s->count && s->limit > s->clock) {
		s->parts = s->count + 1;
		s->step = (s->limit - s->clock) / s->parts;
		s->rest = (s->limit - s->clock) % s->parts;
	}
}

/* Expands the next access of the loop at the beginning of the batch. */
static inline const struct trace_record *stream_next_loop_access(struct stream *s)
{
	if (!s->loop.iterations)
		s->after_loop = trace_loop_begin(&s->loop, s->batch);
	s->loop_access = trace_loop_next(&s->loop);
	if (!s->loop.iterations)
		s->batch = s->after_loop;
	return &s->loop_access;
}

/*
 * Makes the next event of the batch, or the one that ends it, `head`. Function entries on the way
 * are held back. Returns false if the batch has no more events; then call stream_advance().
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

/*
 * The record with a time, if the decoded records from `pending` on are plain accesses and calls
 * followed by such a record; else NULL.
 */
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

/* Begins the batch that ends with `timed`, a record found by stream_next_timed(). */
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

/* stream_event() for a plain access. */
static inline void stream_plain_event(struct event *ev, uint32_t thread,
				      const struct trace_record *r)
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

/*
 * Takes the event at `key` from a READY stream and finds the next one. Returns false if that needs
 * stream_advance(), which the caller must call.
 */
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
