#include "analyze/relevance/lookahead.h"

#include <stdlib.h>

#include "analyze/context/track.h"
#include "base/mem.h"

_Static_assert(AHEAD_RING >= ANALYSIS_AHEAD + AHEAD_BATCH, "the ring has room");

bool ahead_is_total(const struct reader *trace)
{
	return reader_info(trace)->header->flags & TRACE_TOTAL_ORDER;
}

/* All threads can be followed. */
static bool has_room(const struct reader *trace)
{
	const struct reader_info *info = reader_info(trace);

	for (size_t i = 0; i < info->thread_count; i++)
		if (info->threads[i].id >= TRACK_MAX_THREADS)
			return false;
	return true;
}

/* For reader_pass(). */
static const uint64_t *turn_to(void *ctx, uint64_t page)
{
	struct ahead *a = ctx;
	const struct alone_slot *s = alone_slot(a->alone, page + 1);

	a->page = s->key ? s->page : ALONE_NONE;
	return s->key && a->skip ? a->skip[s->page].granule : NULL;
}

void ahead_open(struct ahead *a, const struct reader *trace, const struct alone *alone,
		const struct analysis *const *which, void **states)
{
	bool skip_settled = true, skip_alone = true;
	size_t count = 0, wanting = 0;

	while (which[count])
		count++;
	*a = (struct ahead){ .got = 1,
			     .alone = alone && alone->page_count ? alone : NULL,
			     .handed = alone && alone->loose != alone->shared,
			     .total = ahead_is_total(trace), .end = UINT64_MAX };
	a->soon = xcalloc(count + 1, sizeof(*a->soon));
	a->soon_states = xcalloc(count + 1, sizeof(*a->soon_states));
	for (size_t i = 0; i < count; i++) {
		skip_settled &= which[i]->skips_settled;
		skip_alone &= which[i]->skips_settled || which[i]->skips_alone;
		a->asks_alone |= which[i]->asks_alone;
		if (!which[i]->soon)
			continue;
		a->soon[wanting] = which[i];
		a->soon_states[wanting++] = states[i];
	}
	if (a->alone && has_room(trace) && (skip_settled || (skip_alone && a->asks_alone)))
		a->skip = skip_settled ? alone->loose : alone->shared;
	if (a->skip && skip_settled && a->handed)
		a->end = alone->last;
	a->wanted = (struct reader_wanted){ .page = UINT64_MAX, .turn = turn_to, .ctx = a };
	a->distance = wanting ? ANALYSIS_AHEAD : 0;
	spins_init(&a->spins, reader_info(trace)->path);
}

void ahead_close(struct ahead *a)
{
	spins_free(&a->spins);
	free(a->soon);
	free(a->soon_states);
	free(a->passed);
}

void ahead_count(const struct ahead *a, struct analysis_stats *stats)
{
	bool ended = a->end < UINT64_MAX;

	/* Behind the end are no atomics that could be told as something else. */
	stats->events = ended ? a->alone->events : a->events;
	stats->accesses = ended ? a->alone->accesses - a->locks : a->accesses;
}

/* Nothing but the number of the thread's next event comes of so many plain accesses. */
static void pass_over(struct ahead *a, uint32_t thread, uint64_t count)
{
	if (thread >= a->threads)
		a->passed = xreach(a->passed, thread, &a->threads, sizeof(*a->passed));
	a->passed[thread] += count;
}

/* One that reader_pass() left. */
static bool is_unwanted(const struct ahead *a, const struct event *ev, const struct ahead_mark *mark)
{
	return a->skip && (a->skip == a->alone->loose ? mark->settled : mark->alone) &&
	       (ev->kind == TRACE_READ || ev->kind == TRACE_WRITE) && ev->thread < TRACK_MAX_THREADS;
}

/* alone_all(). Most accesses go where the one before went. */
static inline bool is_all(struct ahead *a, const struct alone_bits *bits, const struct event *ev)
{
	uint64_t first = ev->addr / 8;

	if (a->wanted.page != first / READER_PAGE)
		reader_turn(&a->wanted, first / READER_PAGE);
	if (a->page == ALONE_NONE || alone_bit(&bits[a->page], first))
		return false;
	if (ev->size && (ev->addr + ev->size - 1) / 8 == first)
		return true;
	return alone_all(a->alone, bits, ev);
}

/* What is known of an access; false if nobody wants it. */
static inline bool look_at(struct ahead *a, const struct event *ev, struct ahead_mark *mark)
{
	a->accesses++;
	if (a->alone) {
		mark->settled = is_all(a, a->alone->loose, ev);
		mark->alone = mark->settled && a->asks_alone &&
			      (!a->handed || is_all(a, a->alone->shared, ev));
		if (is_unwanted(a, ev, mark)) {
			pass_over(a, ev->thread, 1);
			return false;
		}
	}
	for (size_t i = 0; a->soon[i]; i++)
		if (!mark->settled ||
		    !(a->soon[i]->skips_settled || (mark->alone && a->soon[i]->asks_alone)))
			a->soon[i]->soon(a->soon_states[i], ev);
	return true;
}

static inline void pass_all(struct ahead *a, uint32_t thread, uint64_t count)
{
	a->events += count;
	a->accesses += count;
	pass_over(a, thread, count);
}

/* Those of `count` events that are wanted stay, side by side. */
static inline void keep(struct ahead *a, struct event *from, unsigned count, const uint64_t *passed)
{
	struct event *to = from;

	for (struct event *ev = from; ev < from + count; ev++) {
		struct ahead_mark *mark = &a->marks[a->read % AHEAD_RING];

		if (passed && passed[ev - from])
			pass_all(a, ev->thread, passed[ev - from]);
		if (spins_translate(&a->spins, ev))
			a->locks += !access_of(ev->kind);
		a->events++;
		if (a->total)
			ev->time = a->events;
		mark->alone = mark->settled = false;
		if (access_of(ev->kind) && !look_at(a, ev, mark))
			continue;
		mark->passed = 0;
		if (ev->thread < a->threads) {
			mark->passed = a->passed[ev->thread];
			a->passed[ev->thread] = 0;
		}
		if (to != ev)
			*to = *ev;
		to++;
		a->read++;
	}
}

static void fill_sifted(struct ahead *a, struct reader *trace, unsigned at, unsigned room)
{
	uint64_t passed[AHEAD_RING], more;
	uint32_t whose;

	a->got = reader_sift(trace, &a->ring[at], passed, room, &a->wanted, &more, &whose, &a->err);
	if (a->got > 0)
		keep(a, &a->ring[at], (unsigned)a->got, passed);
	if (more) {
		pass_all(a, whose, more);
		a->got = 1;
	}
}

void ahead_fill(struct ahead *a, struct reader *trace)
{
	size_t end = a->done + a->distance + AHEAD_BATCH;

	while (a->read < end) {
		size_t at = a->read % AHEAD_RING, room = end - a->read;

		if (room > AHEAD_RING - at)
			room = AHEAD_RING - at;
		if (a->events >= a->end)
			a->got = 0;
		if (a->got <= 0)
			return;
		if (a->skip) {
			fill_sifted(a, trace, (unsigned)at, (unsigned)room);
			continue;
		}
		a->got = reader_some(trace, &a->ring[at], (unsigned)room, NULL, &a->err);
		if (a->got > 0)
			keep(a, &a->ring[at], (unsigned)a->got, NULL);
	}
}
