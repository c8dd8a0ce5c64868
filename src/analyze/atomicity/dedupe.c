#include "analyze/atomicity/dedupe.h"

#include <stdlib.h>

#include "base/mem.h"

/*
 * So many instances are compared for the nearest. More would find little, and the
 * driver's second pass ends with the last event that a candidate names.
 */
#define TOLD_COMPARED 256u

struct told_entry {
	uint64_t sites;		/* hash */
	uint64_t span;		/* from its first to its last event */
	uint32_t number;	/* of the candidate */
	bool seen;
};

void told_free(struct told *t)
{
	map_free(&t->by_units);
	free(t->list);
	*t = (struct told){ 0 };
}

static uint64_t span_of(const struct told_part *parts, unsigned count)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned i = 0; i < count; i++) {
		low = parts[i].at->time < low ? parts[i].at->time : low;
		high = parts[i].at->time > high ? parts[i].at->time : high;
	}
	return high - low;
}

uint32_t told_find(const struct told *t, uint64_t key)
{
	const uint64_t *number = map_find(&t->by_units, key);

	return number ? (uint32_t)*number : 0;
}

bool told_same(const struct told *t, uint32_t number, const struct told_part *parts, unsigned count)
{
	return number && t->list[number - 1].sites == told_sites(parts, count);
}

static bool count_one(struct candidate *known, bool same, struct findings *out)
{
	known->count++;
	if (!same)
		findings_pruned(out, PRUNE_SAME, 1);
	return true;
}

void told_more(struct told *t, uint32_t number, bool same, uint64_t count, struct findings *out)
{
	findings_at(out, t->list[number - 1].number)->count += count;
	if (!same)
		findings_pruned(out, PRUNE_SAME, count);
}

bool told_always(struct told *t, uint32_t number, bool same, struct findings *out)
{
	const struct told_entry *e = &t->list[number - 1];
	struct candidate *known;

	if (!e->seen)
		return false;
	known = findings_at(out, e->number);
	return (!same || known->count >= TOLD_COMPARED) && count_one(known, same, out);
}

bool told_often(struct told *t, uint32_t number, bool same, bool seen, struct findings *out)
{
	const struct told_entry *e = &t->list[number - 1];
	struct candidate *known = findings_at(out, e->number);

	if ((seen && !e->seen) ||
	    (same && e->seen == seen && known->count < TOLD_COMPARED))
		return false;
	return count_one(known, same, out);
}

bool told_again(struct told *t, uint32_t number, const struct told_part *parts, unsigned count,
		bool seen, struct findings *out)
{
	const struct told_entry *e;
	struct candidate *known;
	bool same;

	if (!number)
		return false;
	e = &t->list[number - 1];
	if (seen && !e->seen)
		return false;
	known = findings_at(out, e->number);
	same = e->sites == told_sites(parts, count);
	if (same && e->seen == seen && known->count < TOLD_COMPARED &&
	    span_of(parts, count) < e->span)
		return false;
	return count_one(known, same, out);
}

bool told_enough(const struct told *t, uint32_t number, bool shown, struct findings *out)
{
	const struct told_entry *e = number ? &t->list[number - 1] : NULL;

	return e && (e->seen || !shown) &&
	       findings_at(out, e->number)->count >= TOLD_COMPARED;
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
static void take_nearer(struct told_entry *e, const struct told_part *parts, unsigned count,
			const struct candidate *c, struct candidate *known)
{
	uint64_t span = span_of(parts, count);

	if (e->seen != c->seen ? !c->seen : span >= e->span)
		return;
	e->span = span;
	for (unsigned i = 0; i < c->events; i++)
		known->event[i] = c->event[i];
	known->addr = c->addr;
	known->size = c->size;
	known->addr2 = c->addr2;
	known->size2 = c->size2;
}

void told_add(struct told *t, uint64_t key, const struct told_part *parts, unsigned count,
	      const struct candidate *c, struct findings *out)
{
	uint64_t *number = map_put(&t->by_units, key, NULL);
	struct candidate *known;
	struct told_entry *e;

	if (!*number) {
		known = findings_add(out, c);
		t->list = xgrow(t->list, t->count, &t->capacity, sizeof(*t->list));
		t->list[t->count++] = (struct told_entry){
			.sites = told_sites(parts, count), .span = span_of(parts, count),
			.number = (uint32_t)(known - findings_at(out, 0)), .seen = c->seen,
		};
		*number = t->count;
		return;
	}
	e = &t->list[*number - 1];
	known = findings_at(out, e->number);
	known->count++;
	if (same_sites(known, c))
		take_nearer(e, parts, count, c, known);
	else
		findings_pruned(out, PRUNE_SAME, 1);
	known->seen |= c->seen;
	e->seen = known->seen;
}
