/*
 * Passing over plain accesses that nobody wants, without making events of them.
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

/* So many more of the batch may be passed over: its last one may need more than that. */
static inline uint64_t stream_skippable(const struct stream *s, uint64_t most)
{
	uint64_t room = s->count - s->taken;

	room -= room && !s->timed_records;
	return room < most ? room : most;
}

/*
 * Passes over plain accesses of the batch, the first is `head`, as long as they are unwanted and their
 * time is below `until`, and no more than `most`. Returns how many.
 */
static inline uint64_t stream_skip_batch(struct stream *s, struct reader_wanted *wanted, uint64_t until, uint64_t most)
{
	const struct trace_record *next = s->batch, *end = next + stream_skippable(s, most), *head = s->head;
	uint64_t clock = s->clock, over = s->over, time = s->time, passed;

	while (next < end && time < until && stream_is_plain(next) && stream_is_unwanted(wanted, head)) {
		head = next++;
		clock += s->step;
		over += s->rest;
		if (over >= s->parts) {
			over -= s->parts;
			clock++;
		}
		time = clock > time ? clock : time;
	}
	passed = (uint64_t)(next - s->batch);
	s->head = head;
	s->batch = next;
	s->taken += passed;
	s->clock = clock;
	s->over = over;
	s->key = s->time = time;
	return passed;
}

/* Events that are taken, and what lies between them. */
struct stream_output {
	struct event *ev;
	uint64_t *passed;	/* by event: so many were passed over right before it */
	unsigned count, room;
	uint64_t passing;	/* since the last of them */
};

/* stream_skip_batch() without a limit, and wanted ones are taken; whether it went on at all. */
static inline bool stream_filter_batch(struct stream *s, struct reader_wanted *wanted, uint64_t until, struct stream_output *to)
{
	const struct trace_record *next = s->batch, *end = next + stream_skippable(s, UINT64_MAX), *head = s->head;
	uint64_t clock = s->clock, over = s->over, time = s->time, gone, passing = to->passing;
	struct event *ev = to->ev + to->count, *full = to->ev + to->room;

	while (next < end && time < until && stream_is_plain(next)) {
		if (wanted && stream_is_unwanted(wanted, head)) {
			passing++;
		} else {
			if (ev == full)
				break;
			if (wanted)
				to->passed[ev - to->ev] = passing;
			passing = 0;
			stream_plain_event(ev, s->thread, head);
			ev->depth = s->frames.depth;
			ev++->time = time;
		}
		head = next++;
		clock += s->step;
		over += s->rest;
		if (over >= s->parts) {
			over -= s->parts;
			clock++;
		}
		time = clock > time ? clock : time;
	}
	gone = (uint64_t)(next - s->batch);
	to->count = (unsigned)(ev - to->ev);
	to->passing = passing;
	s->head = head;
	s->batch = next;
	s->taken += gone;
	s->delivered += gone;
	s->clock = clock;
	s->over = over;
	s->key = s->time = time;
	return gone > 0;
}

/* The loop has only sites that are not. */
static inline bool stream_loop_is_unwanted(const struct stream *s, const struct reader_wanted *wanted)
{
	if (!wanted->sites)
		return false;
	for (unsigned i = 0; i < s->loop.accesses + s->loop.nest.before; i++)
		if (reader_has_site(wanted->sites, s->loop.at[i].site & TRACE_ADDR_MASK))
			return false;
	return true;
}

/* stream_tick() so many times, of which there is one; false: not, the time would reach `until`. */
static inline bool stream_tick_by(struct stream *s, uint64_t count, uint64_t until)
{
	uint64_t over = s->over + count * s->rest, clock = s->clock + count * s->step + over / s->parts;

	if (clock >= until)
		return false;
	s->clock = clock;
	s->over = over % s->parts;
	s->time = clock > s->time ? clock : s->time;
	return true;
}

/* stream_skip_batch() of a loop that is under way. */
static inline uint64_t stream_skip_loop(struct stream *s, struct reader_wanted *wanted, uint64_t until, uint64_t most)
{
	uint64_t room = stream_skippable(s, most), left = trace_loop_left(&s->loop), n = 0;

	if (!left)
		return 0;
	room = left < room ? left : room;
	if (room > 1 && s->time < until && stream_loop_is_unwanted(s, wanted) && stream_tick_by(s, room, until)) {
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
