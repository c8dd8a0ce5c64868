/*
 * Reference of memory that is handed off (analyze/relevance/ordered.h).
 *
 * It keeps all accesses to each granule of 8 bytes and compares each new one with all earlier ones
 * of the same life of the memory. A granule is not handed off if two conflicting accesses are not
 * ordered by strong happens-before, and one thread accessed it twice. It takes the vector clocks
 * from the tool (analyze/context/track.h).
 */
#ifndef REFERENCE_HANDED_OFF_H
#define REFERENCE_HANDED_OFF_H

#include "analyze_util.h"

#include "analyze/context/track.h"

#define GRANULES 1100u
#define BASE 0x40000u

struct use {
	unsigned granule;
	uint32_t thread;
	uint64_t epoch;
	bool write;
};

/* All accesses so far; for each granule: conflicting accesses unordered, accessed, accessed twice by a thread. */
struct uses {
	struct use *at;
	size_t count, capacity;
	bool loose[GRANULES], used[GRANULES], twice[GRANULES];
};

/* Compares the access with all earlier ones to the granule in this life of the memory, and adds it. */
static void use(struct uses *u, unsigned granule, const struct view *view, bool write)
{
	for (size_t i = 0; i < u->count; i++) {
		const struct use *o = &u->at[i];

		if (o->granule == granule && (write || o->write) &&
		    !vclock_saw(view->strong, o->thread, o->epoch))
			u->loose[granule] = true;
		u->twice[granule] |= o->granule == granule && o->thread == view->thread;
	}
	u->used[granule] = true;
	u->at = xgrow(u->at, u->count, &u->capacity, sizeof(*u->at));
	u->at[u->count++] = (struct use){ granule, view->thread, view->strong_epoch, write };
}

/* Takes in an event: its accesses, then the memory that it gives back. */
static void see_slowly(struct uses *u, const struct event *ev, const struct view *view)
{
	size_t kept = 0;

	for (unsigned g = 0; access_of(ev->kind) && g < GRANULES; g++)
		if (BASE + g * 8 < ev->addr + ev->size && BASE + g * 8 + 8 > ev->addr)
			use(u, g, view, access_of(ev->kind) & ACCESS_WRITE);
	for (size_t i = 0; view->gone_size && i < u->count; i++) {
		uint64_t at = BASE + u->at[i].granule * 8;

		if (at + 8 <= view->gone_addr || at >= view->gone_addr + view->gone_size)
			u->at[kept++] = u->at[i];
	}
	if (view->gone_size)
		u->count = kept;
}

#endif
