#include "analyze/relevance/lookahead.h"

#include <stdlib.h>

#include "analyze/context/track.h"
#include "base/mem.h"

_Static_assert(LOOKAHEAD_RING >= ANALYSIS_AHEAD + LOOKAHEAD_BATCH,
	       "the ring holds a batch and what is read ahead");

bool lookahead_is_total(const struct reader *trace)
{
	return reader_info(trace)->header->flags & TRACE_TOTAL_ORDER;
}

/* Whether all thread ids are in reach of track.h. */
static bool has_room(const struct reader *trace)
{
	const struct reader_info *info = reader_info(trace);

	for (size_t i = 0; i < info->thread_count; i++)
		if (info->threads[i].id >= TRACK_MAX_THREADS)
			return false;
	return true;
}

/* Callback of struct reader_wanted: the relevant granules of a page. */
static const uint64_t *select_page(void *ctx, uint64_t page)
{
	struct lookahead *a = ctx;
	const struct unshared_slot *s = unshared_slot(a->unshared, page + 1);

	a->page = s->key ? s->page : UNSHARED_NO_PAGE;
	return s->key && a->relevant ? a->relevant[s->page].granule : NULL;
}

void lookahead_open(struct lookahead *a, const struct reader *trace,
		    const struct unshared *unshared, const struct analysis *const *which,
		    void **states)
{
	bool skip_ordered = true, skip_unshared = true;
	size_t count = 0, prefetch_count = 0;

	while (which[count])
		count++;
	*a = (struct lookahead){
		.got = 1, .unshared = unshared && unshared->page_count ? unshared : NULL,
		.has_ordered = unshared && unshared->unordered != unshared->shared,
		.total = lookahead_is_total(trace), .stop_after = UINT64_MAX,
	};
	a->prefetching = xcalloc(count + 1, sizeof(*a->prefetching));
	a->prefetch_states = xcalloc(count + 1, sizeof(*a->prefetch_states));
	for (size_t i = 0; i < count; i++) {
		skip_ordered &= which[i]->skips_ordered;
		skip_unshared &= which[i]->skips_ordered || which[i]->skips_unshared;
		a->asks_unshared |= which[i]->asks_unshared;
		if (!which[i]->soon)
			continue;
		a->prefetching[prefetch_count] = which[i];
		a->prefetch_states[prefetch_count++] = states[i];
	}
	if (a->unshared && has_room(trace) && (skip_ordered || (skip_unshared && a->asks_unshared)))
		a->relevant = skip_ordered ? unshared->unordered : unshared->shared;
	if (a->relevant && skip_ordered && a->has_ordered)
		a->stop_after = unshared->last_relevant;
	a->wanted = (struct reader_wanted){ .page = UINT64_MAX, .select = select_page, .ctx = a };
	a->distance = prefetch_count ? ANALYSIS_AHEAD : 0;
	spin_locks_init(&a->spins, reader_info(trace)->path);
}

void lookahead_close(struct lookahead *a)
{
	spin_locks_free(&a->spins);
	free(a->prefetching);
	free(a->prefetch_states);
	free(a->skipped);
}

void lookahead_count(const struct lookahead *a, struct analysis_stats *stats)
{
	bool ended = a->stop_after < UINT64_MAX;

	/* No atomics follow `stop_after`: `spin_ops` has all that became operations of a lock. */
	stats->events = ended ? a->unshared->events : a->events;
	stats->accesses = ended ? a->unshared->accesses - a->spin_ops : a->accesses;
}

/* Skipped accesses only advance the number of the thread's next event. */
static void count_skipped(struct lookahead *a, uint32_t thread, uint64_t count)
{
	if (thread >= a->threads)
		a->skipped = xreach(a->skipped, thread, &a->threads, sizeof(*a->skipped));
	a->skipped[thread] += count;
}

/* Whether this is a skippable access that the filter of the reader let through. */
static bool is_skippable(const struct lookahead *a, const struct event *ev,
			 const struct lookahead_mark *mark)
{
	return a->relevant &&
	       (a->relevant == a->unshared->unordered ? mark->ordered : mark->unshared) &&
	       (ev->kind == TRACE_READ || ev->kind == TRACE_WRITE) &&
	       ev->thread < TRACK_MAX_THREADS;
}

/* unshared_all_clear(), fast for an access to the same page as the one before. */
static inline bool all_clear(struct lookahead *a, const struct granule_bits *bits,
			     const struct event *ev)
{
	uint64_t first = ev->addr / 8;

	if (a->wanted.page != first / READER_PAGE)
		reader_turn(&a->wanted, first / READER_PAGE);
	if (a->page == UNSHARED_NO_PAGE || granule_bit(&bits[a->page], first))
		return false;
	if (ev->size && (ev->addr + ev->size - 1) / 8 == first)
		return true;
	return unshared_all_clear(a->unshared, bits, ev);
}

/* Fills the mark of an access and has it prefetched; false if the access is to be skipped. */
static inline bool examine(struct lookahead *a, const struct event *ev, struct lookahead_mark *mark)
{
	a->accesses++;
	if (a->unshared) {
		mark->ordered = all_clear(a, a->unshared->unordered, ev);
		mark->unshared = mark->ordered && a->asks_unshared &&
				 (!a->has_ordered || all_clear(a, a->unshared->shared, ev));
		if (is_skippable(a, ev, mark)) {
			count_skipped(a, ev->thread, 1);
			return false;
		}
	}
	for (size_t i = 0; a->prefetching[i]; i++)
		if (!mark->ordered ||
		    !(a->prefetching[i]->skips_ordered ||
		      (mark->unshared && a->prefetching[i]->asks_unshared)))
			a->prefetching[i]->soon(a->prefetch_states[i], ev);
	return true;
}

static inline void skip_accesses(struct lookahead *a, uint32_t thread, uint64_t count)
{
	a->events += count;
	a->accesses += count;
	count_skipped(a, thread, count);
}

/*
 * Examines `count` events that the reader put at `from`, and closes the gaps of those that are not
 * delivered. `passed`: the number of accesses that the reader skipped before each event, or NULL.
 */
static inline void accept(struct lookahead *a, struct event *from, unsigned count,
			  const uint64_t *passed)
{
	struct event *to = from;

	for (struct event *ev = from; ev < from + count; ev++) {
		struct lookahead_mark *mark = &a->marks[a->read % LOOKAHEAD_RING];

		if (passed && passed[ev - from])
			skip_accesses(a, ev->thread, passed[ev - from]);
		if (spin_locks_translate(&a->spins, ev))
			a->spin_ops += !access_of(ev->kind);
		a->events++;
		if (a->total)
			ev->time = a->events;
		mark->unshared = mark->ordered = false;
		if (access_of(ev->kind) && !examine(a, ev, mark))
			continue;
		mark->skipped = 0;
		if (ev->thread < a->threads) {
			mark->skipped = a->skipped[ev->thread];
			a->skipped[ev->thread] = 0;
		}
		if (to != ev)
			*to = *ev;
		to++;
		a->read++;
	}
}

static void fill_filtered(struct lookahead *a, struct reader *trace, unsigned at, unsigned room)
{
	uint64_t passed[LOOKAHEAD_RING], more;
	uint32_t thread;

	a->got = reader_sift(trace, &a->ring[at], passed, room, &a->wanted, &more, &thread,
			     &a->err);
	if (a->got > 0)
		accept(a, &a->ring[at], (unsigned)a->got, passed);
	if (more) {
		skip_accesses(a, thread, more);
		a->got = 1;
	}
}

void lookahead_fill(struct lookahead *a, struct reader *trace)
{
	size_t end = a->done + a->distance + LOOKAHEAD_BATCH;

	while (a->read < end) {
		size_t at = a->read % LOOKAHEAD_RING, room = end - a->read;

		if (room > LOOKAHEAD_RING - at)
			room = LOOKAHEAD_RING - at;
		if (a->events >= a->stop_after)
			a->got = 0;
		if (a->got <= 0)
			return;
		if (a->relevant) {
			fill_filtered(a, trace, (unsigned)at, (unsigned)room);
			continue;
		}
		a->got = reader_some(trace, &a->ring[at], (unsigned)room, NULL, &a->err);
		if (a->got > 0)
			accept(a, &a->ring[at], (unsigned)a->got, NULL);
	}
}
