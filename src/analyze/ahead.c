#include "analyze/ahead.h"

#include <stdlib.h>

#include "analyze/track.h"
#include "base/mem.h"

_Static_assert(AHEAD_RING >= ANALYSIS_AHEAD + AHEAD_BATCH, "the ring has room");

bool ahead_is_total(const struct reader *trace)
{
	return reader_info(trace)->header->flags & TRACE_TOTAL_ORDER;
}

void ahead_open(struct ahead *a, const struct reader *trace, const struct alone *alone,
		const struct analysis *const *which, void **states)
{
	size_t count = 0, wanting = 0;

	while (which[count])
		count++;
	*a = (struct ahead){ .got = 1, .alone = alone, .skip_alone = true, .skip_settled = true,
			     .handed = alone && alone->loose != alone->shared,
			     .total = ahead_is_total(trace) };
	a->soon = xcalloc(count + 1, sizeof(*a->soon));
	a->soon_states = xcalloc(count + 1, sizeof(*a->soon_states));
	for (size_t i = 0; i < count; i++) {
		a->skip_settled &= which[i]->skips_settled;
		a->skip_alone &= which[i]->skips_settled || which[i]->skips_alone;
		a->asks_alone |= which[i]->asks_alone;
		if (!which[i]->soon)
			continue;
		a->soon[wanting] = which[i];
		a->soon_states[wanting++] = states[i];
	}
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

/* Nothing but the number of the thread's next event comes of it. */
static bool pass_over(struct ahead *a, const struct event *ev)
{
	if ((ev->kind != TRACE_READ && ev->kind != TRACE_WRITE) || ev->thread >= TRACK_MAX_THREADS)
		return false;
	if (ev->thread >= a->threads)
		a->passed = xreach(a->passed, ev->thread, &a->threads, sizeof(*a->passed));
	a->passed[ev->thread]++;
	return true;
}

/* The event is to be delivered. */
static inline void keep(struct ahead *a, struct ahead_event *e)
{
	a->read++;
	e->passed = 0;
	if (e->ev.thread < a->threads) {
		e->passed = a->passed[e->ev.thread];
		a->passed[e->ev.thread] = 0;
	}
}

static __attribute__((noinline)) void turn_to(struct ahead *a, uint64_t key)
{
	const struct alone_slot *s = alone_slot(a->alone, key);

	a->key = key;
	a->page = s->key ? s->page : ALONE_NONE;
}

/* alone_all(). Most accesses go where the one before went. */
static inline bool is_all(struct ahead *a, const struct alone_bits *bits, const struct event *ev)
{
	uint64_t first = ev->addr / 8;

	if (a->key != alone_key(first))
		turn_to(a, alone_key(first));
	if (a->page == ALONE_NONE || alone_bit(&bits[a->page], first))
		return false;
	if (ev->size && (ev->addr + ev->size - 1) / 8 == first)
		return true;
	return alone_all(a->alone, bits, ev);
}

void ahead_fill(struct ahead *a, struct reader *trace)
{
	size_t end = a->done + a->distance + AHEAD_BATCH;

	while (a->read < end) {
		struct ahead_event *e = &a->ring[a->read % AHEAD_RING];

		if (a->got <= 0 || (a->got = reader_next(trace, &e->ev, &a->err)) <= 0)
			return;
		spins_translate(&a->spins, &e->ev);
		a->events++;
		if (a->total)
			e->ev.time = a->events;
		e->alone = e->settled = false;
		if (access_of(e->ev.kind)) {
			a->accesses++;
			e->settled = a->alone && is_all(a, a->alone->loose, &e->ev);
			e->alone = e->settled && a->asks_alone &&
				   (!a->handed || is_all(a, a->alone->shared, &e->ev));
			if (((e->settled && a->skip_settled) || (e->alone && a->skip_alone)) &&
			    pass_over(a, &e->ev))
				continue;
			for (size_t i = 0; a->soon[i]; i++)
				if (!e->settled || !a->soon[i]->skips_settled)
					a->soon[i]->soon(a->soon_states[i], &e->ev);
		}
		keep(a, e);
	}
}
