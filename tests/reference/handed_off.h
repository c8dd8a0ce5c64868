/*
 * Reference of memory that is handed off (analyze/relevance/ordered.h).
 *
 * It keeps all accesses to each granule of 8 bytes and compares each new one with all earlier ones
 * since the memory was allocated. A granule is not handed off if two conflicting accesses are not
 * ordered by strong happens-before, and one thread accessed it twice. It takes the vector clocks
 * from the tool (analyze/context/track.h).
 */
#ifndef REFERENCE_HANDED_OFF_H
#define REFERENCE_HANDED_OFF_H

#include "analyze_util.h"

#include "analyze/context/track.h"

#define GRANULES 1100u
#define BASE 0x40000u

struct past_access {
	unsigned granule;
	uint32_t thread;
	uint64_t epoch;
	bool write;
};

/* All accesses so far; per granule: unordered conflict, accessed, accessed twice by one thread. */
struct past_accesses {
	struct past_access *at;
	size_t count, capacity;
	bool unordered[GRANULES], used[GRANULES], twice[GRANULES];
};

/* Compares the access with all earlier ones to the granule since it was allocated, and adds it. */
static void add_access(struct past_accesses *u, unsigned granule, const struct view *view,
		       bool write)
{
	for (size_t i = 0; i < u->count; i++) {
		const struct past_access *o = &u->at[i];

		if (o->granule == granule && (write || o->write) &&
		    !vclock_saw(view->strong, o->thread, o->epoch))
			u->unordered[granule] = true;
		u->twice[granule] |= o->granule == granule && o->thread == view->thread;
	}
	u->used[granule] = true;
	u->at = xgrow(u->at, u->count, &u->capacity, sizeof(*u->at));
	u->at[u->count++] =
		(struct past_access){ granule, view->thread, view->strong_epoch, write };
}

/* Takes in an event: its accesses, then the memory that it frees. */
static void see_slowly(struct past_accesses *u, const struct event *ev, const struct view *view)
{
	size_t kept = 0;

	for (unsigned g = 0; access_of(ev->kind) && g < GRANULES; g++)
		if (BASE + g * 8 < ev->addr + ev->size && BASE + g * 8 + 8 > ev->addr)
			add_access(u, g, view, access_of(ev->kind) & ACCESS_WRITE);
	for (size_t i = 0; view->gone_size && i < u->count; i++) {
		uint64_t at = BASE + u->at[i].granule * 8;

		if (at + 8 <= view->gone_addr || at >= view->gone_addr + view->gone_size)
			u->at[kept++] = u->at[i];
	}
	if (view->gone_size)
		u->count = kept;
}

#endif
