/*
 * Fills batches and gives times to their events.
 *
 * Recorded times are those of kinds with extra records, of STAMP records and of chunk headers.
 * The n events between two recorded times a < b get a + (b - a) * i / (n + 1). Events behind the
 * thread's last recorded time all get one more than it. In a trace with total order each event is
 * one later than the event before it, and a STAMP sets the position from which to count on.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/stream.h"

#define EVENT_RECORDS 3u	/* most records of one event */

static void give_coder(struct stream *s, struct index *idx)
{
	if (s->coder)
		index_give_coder(idx, s->coder);
	s->coder = NULL;
}

static void release(struct stream *s, struct index *idx)
{
	payload_free(&s->payload);
	give_coder(s, idx);
	free(s->records);
	s->records = NULL;
	s->capacity = s->pending = s->decoded = 0;
}

void stream_rewind(struct stream *s, struct index *idx)
{
	release(s, idx);
	s->next = s->first;
	s->decode_next = STREAM_DECODE_FIRST;
	s->left = 0;
	s->at = 0;
	s->count = s->taken = 0;
	s->timed_records = 0;
	s->loop.iterations = 0;
	s->head = NULL;
	s->delivered = 0;
	frames_reset(&s->frames);
	s->state = STREAM_CLOSED;
	s->time = 0;
	s->clock = s->key = index_header(idx, idx->events[s->first].offset).time;
	if (s->total_order)
		s->key++;
}

void stream_init(struct stream *s, struct index *idx, size_t first, size_t end)
{
	*s = (struct stream){
		.thread = idx->events[first].thread,
		.total_order = idx->header.flags & TRACE_TOTAL_ORDER,
		.first = first,
		.end = end,
	};
	stream_rewind(s, idx);
}

void stream_free(struct stream *s, struct index *idx)
{
	release(s, idx);
	frames_free(&s->frames);
}

void stream_drop_payload(struct stream *s)
{
	if (s->payload.owned)
		payload_free(&s->payload);
}

static int damaged(const struct stream *s, struct err *err)
{
	return err_set(err,
		       "damaged at byte %" PRIu64
		       ": a chunk of thread %u holds no valid events from %zu on",
		       s->offset, s->thread, s->at);
}

/* Spreads a chunk's last events, behind which it has no time, up to the next chunk's time. */
static void spread_to_next(struct stream *s, const struct index *idx)
{
	if (s->next < s->end) {
		s->limit = index_header(idx, idx->events[s->next].offset).time;
		stream_spread(s, true);
	} else {
		stream_spread(s, false);
		if (!s->total_order && s->count && s->clock < UINT64_MAX)
			s->clock++;
	}
}

static bool at_end(const struct stream *s)
{
	return s->at == s->payload.size && trace_decode_done(s->coder);
}

static void make_room(struct stream *s, size_t count)
{
	if (s->capacity < s->decoded + count) {
		s->capacity = 2 * s->decoded + count;
		s->records = xrealloc(s->records, s->capacity * sizeof(*s->records));
	}
}

/*
 * Appends records to s->records, access groups as their accesses. A group that the trace does not
 * describe is appended as it is.
 */
static void expand(struct stream *s, const struct access_groups *groups,
		   const struct trace_record *r, size_t count)
{
	const struct trace_record *end = r + count;
	struct trace_record *to;

	make_room(s, count + ACCESS_GROUP_MAX);
	to = s->records + s->decoded;
	while (r < end) {
		unsigned kind = trace_site_kind(r->site), extra = trace_extra(kind);
		int got;

		*to++ = *r++;
		if (extra) {
			s->last_time = r->addr;
			for (; extra > 0; extra--)
				*to++ = *r++;
		} else if (kind == TRACE_STAMP) {
			s->last_time = r[-1].addr;
		} else if (kind == TRACE_BUNCH) {
			got = access_groups_expand(groups, r - 1, s->last_time, to - 1);
			if (got < 0)
				continue;
			s->decoded = (size_t)(to - s->records) + (size_t)got - 1;
			make_room(s, (size_t)(end - r) + ACCESS_GROUP_MAX);
			to = s->records + s->decoded;
		}
	}
	s->decoded = (size_t)(to - s->records);
}

/*
 * Number of records to decode at once. A coder is as large as 4,400 records. If many coders were
 * made, decoding chunks of moderate length whole gives their coders back and takes less memory.
 */
static size_t room_of(struct stream *s, const struct index *idx)
{
	size_t room = s->decode_next, all = (size_t)s->left + EVENT_RECORDS, whole;

	if (s->decode_next < STREAM_DECODE)
		s->decode_next *= 2;
	whole = idx->coders_made < STREAM_MANY_CODERS || s->at ? STREAM_DECODE
							       : STREAM_DECODE_WHOLE;
	return all <= whole ? all : room;
}

static const uint8_t *decode_more(struct stream *s, const struct index *idx, size_t *count)
{
	const uint8_t *from = s->payload.data + s->at, *end = s->payload.data + s->payload.size;
	struct trace_record raw[STREAM_DECODE];
	size_t room;

	if (!idx->access_groups.count) {
		room = room_of(s, idx);
		make_room(s, room);
		from = trace_decode_many(s->coder, from, end, s->records + s->decoded, room, count);
		s->decoded += from ? *count : 0;
		return from;
	}
	from = trace_decode_many(s->coder, from, end, raw, STREAM_DECODE, count);
	if (from)
		expand(s, &idx->access_groups, raw, *count);
	return from;
}

/*
 * Appends decoded records to those pending; s->left is not 0. Decodes many at once, because the
 * coder has left the CPU cache by the time the merge comes back to this thread.
 */
static int decode(struct stream *s, struct index *idx, struct err *err)
{
	struct trace_chunk chunk;
	const uint8_t *p;
	size_t n;

	if (!s->payload.data && index_payload(idx, s->offset, &chunk, &s->payload, err) < 0)
		return -1;
	s->decoded -= s->pending;
	if (s->decoded)
		memmove(s->records, s->records + s->pending, s->decoded * sizeof(*s->records));
	s->pending = 0;
	p = decode_more(s, idx, &n);
	if (!p || n == 0 || n > s->left)
		return damaged(s, err);
	s->at = (size_t)(p - s->payload.data);
	s->left -= (uint32_t)n;
	if (s->left)
		return 0;
	if (!at_end(s))
		return damaged(s, err);
	give_coder(s, idx);	/* another stream can use its 70 KB while cached */
	return 0;
}

/*
 * The number of records of the loop that begins with the n-th pending record; 0 if it is damaged.
 * Adds the number of its events to *events.
 */
static size_t measure_loop(struct stream *s, struct index *idx, size_t n, uint64_t *events,
			   struct err *err)
{
	const struct trace_record *head;
	uint64_t stands_for;
	size_t size;

	for (;;) {
		size_t here = s->decoded - s->pending - n;

		head = s->records + s->pending + n;
		size = trace_loop_size(head, here);
		if (size)
			break;
		if (!s->left || here >= TRACE_NEST_RECORDS) {
			damaged(s, err);
			return 0;
		}
		if (decode(s, idx, err) < 0)
			return 0;
	}
	stands_for = trace_loop_events(head);
	s->loop_events += stands_for;
	if (s->loop_events > TRACE_LOOP_EVENTS) {
		err_set(err,
			"damaged at byte %" PRIu64
			": the loops of a chunk of thread %u have too many iterations",
			s->offset, s->thread);
		return 0;
	}
	*events += stands_for;
	return size;
}

/*
 * The n-th pending record is an access group that the trace does not describe. In a lossy trace it
 * becomes a LOST event, else the trace is damaged. Returns its number of records, or 0.
 */
static size_t lose_group(struct stream *s, const struct index *idx, size_t n, struct err *err)
{
	struct trace_record *r = s->records + s->pending + n;

	if (!idx->lossy) {
		err_set(err, "damaged at byte %" PRIu64 ": thread %u has an access group of %u "
			"accesses at 0x%" PRIx64 " that the trace does not describe",
			s->offset, s->thread, trace_access_group_count(r->site),
			(uint64_t)(r->site & TRACE_ADDR_MASK));
		return 0;
	}
	*r = (struct trace_record){ 0, TRACE_SITE(TRACE_LOST, 0, r->site) };
	s->count++;
	return 1;
}

/*
 * Begins a batch: the pending records up to the next one with a time, which becomes `timed`. A
 * function of its own, so that the code for each event stays small.
 */
static __attribute__((noinline)) int fill(struct stream *s, struct index *idx, struct err *err)
{
	unsigned kind, records = 0;
	size_t n = 0, size;

	s->count = s->taken = 0;
	for (;;) {
		if (s->pending + n == s->decoded) {
			/* In total order, times do not depend on the next recorded time. */
			if (!s->left || (n && s->total_order))
				break;
			if (decode(s, idx, err) < 0)
				return -1;
			continue;	/* an access group may expand to no access */
		}
		if (n >= STREAM_LOOKAHEAD)
			break;
		kind = trace_site_kind(s->records[s->pending + n].site);
		if (kind >= TRACE_LOOP) {
			size = kind == TRACE_LOOP ? measure_loop(s, idx, n, &s->count, err) :
						    lose_group(s, idx, n, err);
			if (!size)
				return -1;
			n += size;
			continue;
		}
		records = trace_extra(kind) ? 1 + trace_extra(kind) : kind == TRACE_STAMP;
		if (records)
			break;
		do {
			n++;
			s->count++;
		} while (n < STREAM_LOOKAHEAD && s->pending + n < s->decoded &&
			 stream_is_plain(&s->records[s->pending + n]));
	}
	s->batch = s->records + s->pending;
	s->pending += n + records;
	if (records) {
		s->timed = s->batch + n;
		s->timed_records = records > 1 ? records : 0;
		s->limit = s->timed[records > 1].addr;
		stream_spread(s, true);
		return 0;
	}
	s->limit = s->total_order ? s->clock + s->count : s->clock;
	if (s->pending < s->decoded || s->left)
		stream_spread(s, false);
	else
		spread_to_next(s, idx);
	return 0;
}

int stream_advance(struct stream *s, struct index *idx, struct err *err)
{
	while (!stream_step(s)) {
		if (s->pending < s->decoded || s->left) {
			if (fill(s, idx, err) < 0)
				return -1;
			if (!s->count && !s->timed_records)
				stream_reach_limit(s);
		} else if (s->next < s->end) {
			uint64_t begin = index_header(idx, idx->events[s->next].offset).time +
					 s->total_order;

			payload_free(&s->payload);
			s->state = STREAM_CLOSED;
			s->key = begin > s->time ? begin : s->time;
			return 0;
		} else {
			release(s, idx);
			s->state = STREAM_END;
			return 0;
		}
	}
	s->state = STREAM_READY;
	return 0;
}

int stream_open(struct stream *s, struct index *idx, struct err *err)
{
	uint64_t expected = s->next > s->first ? idx->events[s->next - 1].seq + 1 : 0;
	const struct index_chunk *c = &idx->events[s->next];
	struct trace_chunk chunk;

	s->offset = c->offset;
	s->at = 0;
	s->count = s->taken = 0;
	s->loop_events = 0;
	if (index_payload(idx, c->offset, &chunk, &s->payload, err) < 0)
		return -1;
	s->next++;
	s->left = chunk.count;
	if (!s->left && s->payload.size)
		return damaged(s, err);
	if (!s->coder)
		s->coder = index_take_coder(idx);
	trace_coder_init(s->coder, chunk.time);
	s->last_time = chunk.time;
	s->limit = chunk.time;
	stream_reach_limit(s);
	s->time = s->key;	/* the merge is at that time, even if the chunk says less */
	if (!s->left)
		spread_to_next(s, idx);
	if (c->seq == expected)
		return stream_advance(s, idx, err);
	/* Chunks are missing here. The call depth may be wrong from here on. */
	s->lost[0] = (struct trace_record){ 0, TRACE_SITE(TRACE_LOST, 0, 0) };
	s->lost[1] = (struct trace_record){ s->clock, 0 };
	s->timed = s->lost;
	s->timed_records = 2;
	return stream_advance(s, idx, err);
}
