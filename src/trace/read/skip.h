/*
 * Skipping unwanted plain accesses of a stream without making events of them.
 */
#ifndef TRACE_READ_SKIP_H
#define TRACE_READ_SKIP_H

#include "trace/read/stream.h"

static inline bool stream_is_unwanted(struct reader_wanted *w, const struct trace_record *r)
{
	if (w->sites)
		return !reader_has_site(w->sites, r->site & TRACE_ADDR_MASK);
	return reader_is_unwanted(w, r->addr & TRACE_ADDR_MASK, trace_site_size(r->site));
}

/*
 * Number of events of the batch that may be skipped here, at most `most`. If no record with a time
 * ended the batch, its last event is left to stream_step(), which then sets the clock.
 */
static inline uint64_t stream_skippable(const struct stream *s, uint64_t most)
{
	uint64_t room = s->count - s->taken;

	room -= room && !s->timed_records;
	return room < most ? room : most;
}

/*
 * Skips `head` and the plain accesses behind it in the batch while they are unwanted and earlier
 * than `until`, at most `most`. Returns their number. `head` is then the first one not skipped.
 */
static inline uint64_t stream_skip_batch(struct stream *s, struct reader_wanted *wanted,
					 uint64_t until, uint64_t most)
{
	const struct trace_record *next = s->batch, *end = next + stream_skippable(s, most),
				  *head = s->head;
	uint64_t clock = s->clock, carry = s->carry, time = s->time, skipped;

	while (next < end && time < until && stream_is_plain(next) &&
	       stream_is_unwanted(wanted, head)) {
		head = next++;
		clock += s->step;
		carry += s->rest;
		if (carry >= s->parts) {
			carry -= s->parts;
			clock++;
		}
		time = clock > time ? clock : time;
	}
	skipped = (uint64_t)(next - s->batch);
	s->head = head;
	s->batch = next;
	s->taken += skipped;
	s->clock = clock;
	s->carry = carry;
	s->key = s->time = time;
	return skipped;
}

/* Output of stream_filter_batch(): wanted events, and numbers of skipped ones between them. */
struct stream_output {
	struct event *ev;
	uint64_t *skipped;	/* for each event: number of accesses skipped right before it */
	unsigned count, room;
	uint64_t skipping;	/* number of accesses skipped since the last event */
};

/*
 * Like stream_skip_batch() without a maximum, but takes wanted accesses as events. Returns whether
 * it took or skipped any.
 */
static inline bool stream_filter_batch(struct stream *s, struct reader_wanted *wanted,
				       uint64_t until, struct stream_output *to)
{
	const struct trace_record *next = s->batch, *end = next + stream_skippable(s, UINT64_MAX),
				  *head = s->head;
	uint64_t clock = s->clock, carry = s->carry, time = s->time, advanced,
		 skipping = to->skipping;
	struct event *ev = to->ev + to->count, *full = to->ev + to->room;

	while (next < end && time < until && stream_is_plain(next)) {
		if (wanted && stream_is_unwanted(wanted, head)) {
			skipping++;
		} else {
			if (ev == full)
				break;
			if (wanted)
				to->skipped[ev - to->ev] = skipping;
			skipping = 0;
			stream_plain_event(ev, s->thread, head);
			ev->depth = s->frames.depth;
			ev++->time = time;
		}
		head = next++;
		clock += s->step;
		carry += s->rest;
		if (carry >= s->parts) {
			carry -= s->parts;
			clock++;
		}
		time = clock > time ? clock : time;
	}
	advanced = (uint64_t)(next - s->batch);
	to->count = (unsigned)(ev - to->ev);
	to->skipping = skipping;
	s->head = head;
	s->batch = next;
	s->taken += advanced;
	s->delivered += advanced;
	s->clock = clock;
	s->carry = carry;
	s->key = s->time = time;
	return advanced > 0;
}

/* Whether all sites of the loop that is being expanded are unwanted. */
static inline bool stream_loop_is_unwanted(const struct stream *s,
					   const struct reader_wanted *wanted)
{
	if (!wanted->sites)
		return false;
	for (unsigned i = 0; i < s->loop.accesses + s->loop.nest.before; i++)
		if (reader_has_site(wanted->sites, s->loop.at[i].site & TRACE_ADDR_MASK))
			return false;
	return true;
}

/* stream_tick() `count` times. Returns false and does nothing if the time would reach `until`. */
static inline bool stream_tick_by(struct stream *s, uint64_t count, uint64_t until)
{
	uint64_t carry = s->carry + count * s->rest,
		 clock = s->clock + count * s->step + carry / s->parts;

	if (clock >= until)
		return false;
	s->clock = clock;
	s->carry = carry % s->parts;
	s->time = clock > s->time ? clock : s->time;
	return true;
}

/* stream_skip_batch() for the loop that is being expanded. */
static inline uint64_t stream_skip_loop(struct stream *s, struct reader_wanted *wanted,
					uint64_t until, uint64_t most)
{
	uint64_t room = stream_skippable(s, most), left = trace_loop_left(&s->loop), n = 0;

	if (!left)
		return 0;
	room = left < room ? left : room;
	if (room > 1 && s->time < until && stream_loop_is_unwanted(s, wanted) &&
	    stream_tick_by(s, room, until)) {
		trace_loop_skip(&s->loop, room - 1);
		s->head = stream_next_loop_access(s);
		n = room;
	}
	while (n < room && s->time < until && stream_is_unwanted(wanted, s->head)) {
		s->head = stream_next_loop_access(s);
		stream_tick(s);
		n++;
	}
	s->taken += n;
	s->key = s->time;
	return n;
}

#endif
