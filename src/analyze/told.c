#include "analyze/told.h"

/* Where the section begins that has to be moved with the access, or the access itself. */
static uint64_t unit(const struct moments *m, const struct moment *at, const struct moment *meets,
		     uint64_t pc)
{
	struct candidate_event entry;

	return moments_hold(m, at, MOMENTS_ANY, meets, &entry) ? entry.pc : pc;
}

static uint64_t span(const struct candidate *c, unsigned count)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned i = 0; i < count; i++) {
		low = c->event[i].time < low ? c->event[i].time : low;
		high = c->event[i].time > high ? c->event[i].time : high;
	}
	return high - low;
}

static bool same_sites(const struct candidate *a, const struct candidate *b)
{
	if (a->events != b->events)
		return false;
	for (unsigned i = 0; i < a->events; i++)
		if (a->event[i].pc != b->event[i].pc || a->hold[i] != b->hold[i])
			return false;
	return true;
}

/* Another instance of the same sites: the one that needs less reordering, seen before unseen. */
static void take_nearer(struct candidate *known, const struct candidate *c, unsigned count)
{
	if (known->seen != c->seen ? !c->seen : span(c, count) >= span(known, count))
		return;
	for (unsigned i = 0; i < c->events; i++)
		known->event[i] = c->event[i];
	known->addr = c->addr;
	known->size = c->size;
	known->addr2 = c->addr2;
	known->size2 = c->size2;
}

uint32_t told_add(struct told *t, const struct moments *m, const struct candidate *c,
	      const struct moment *const at[], const struct moment *const meets[], unsigned count,
	      struct findings *out)
{
	uint64_t hash = count, *number;
	struct candidate *known;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ unit(m, at[i], meets[i], c->event[i].pc)) * 0xd6e8feb86659fd93ull;
		hash ^= hash >> 32;
	}
	for (unsigned i = 0; i < c->orders; i++)
		hash = hash * 31 + c->order[i].first * 8u + c->order[i].second;
	number = map_put(&t->by_units, hash, NULL);
	if (!*number) {
		known = findings_add(out, c);
		*number = (uint64_t)(known - findings_at(out, 0)) + 1;
		return (uint32_t)*number;
	}
	known = findings_at(out, *number - 1);
	known->count++;
	if (same_sites(known, c))
		take_nearer(known, c, count);
	else
		findings_pruned(out, PRUNE_SAME, 1);
	known->seen |= c->seen;
	return (uint32_t)*number;
}
