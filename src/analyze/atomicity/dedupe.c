/* Candidates by the schedule that they ask for, and which instance of each is reported. */
#include "analyze/atomicity/dedupe.h"

#include <stdlib.h>

#include "base/mem.h"

/*
 * Instances of a candidate that are compared to find the nearest in time. More would find little,
 * and the second pass of analysis_run() ends at the last event that a candidate names.
 */
#define DEDUPE_COMPARED 256u

struct dedupe_entry {
	uint64_t sites;		/* dedupe_sites_hash() */
	uint64_t span;		/* time from the first to the last event of the reported instance */
	uint32_t number;	/* in the findings */
	bool seen;
};

void dedupe_free(struct dedupe *d)
{
	map_free(&d->by_schedule);
	free(d->list);
	*d = (struct dedupe){ 0 };
}

static uint64_t span_of(const struct dedupe_access *accesses, unsigned count)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned i = 0; i < count; i++) {
		low = accesses[i].at->time < low ? accesses[i].at->time : low;
		high = accesses[i].at->time > high ? accesses[i].at->time : high;
	}
	return high - low;
}

uint32_t dedupe_find(const struct dedupe *d, uint64_t key)
{
	const uint64_t *number = map_find(&d->by_schedule, key);

	return number ? (uint32_t)*number : 0;
}

bool dedupe_same_sites(const struct dedupe *d, uint32_t number,
		       const struct dedupe_access *accesses, unsigned count)
{
	return number && d->list[number - 1].sites == dedupe_sites_hash(accesses, count);
}

static bool count_one(struct candidate *known, bool same_sites, struct findings *out)
{
	known->count++;
	if (!same_sites)
		findings_pruned(out, PRUNE_SAME, 1);
	return true;
}

void dedupe_add_count(struct dedupe *d, uint32_t number, bool same_sites, uint64_t count,
		      struct findings *out)
{
	findings_at(out, d->list[number - 1].number)->count += count;
	if (!same_sites)
		findings_pruned(out, PRUNE_SAME, count);
}

bool dedupe_count_always(struct dedupe *d, uint32_t number, bool same_sites, struct findings *out)
{
	const struct dedupe_entry *e = &d->list[number - 1];
	struct candidate *known;

	if (!e->seen)
		return false;
	known = findings_at(out, e->number);
	return (!same_sites || known->count >= DEDUPE_COMPARED) &&
	       count_one(known, same_sites, out);
}

bool dedupe_count_early(struct dedupe *d, uint32_t number, bool same_sites, bool seen,
			struct findings *out)
{
	const struct dedupe_entry *e = &d->list[number - 1];
	struct candidate *known = findings_at(out, e->number);

	if ((seen && !e->seen) || (same_sites && e->seen == seen && known->count < DEDUPE_COMPARED))
		return false;
	return count_one(known, same_sites, out);
}

bool dedupe_count_repeat(struct dedupe *d, uint32_t number, const struct dedupe_access *accesses,
			 unsigned count, bool seen, struct findings *out)
{
	const struct dedupe_entry *e;
	struct candidate *known;
	bool same_sites;

	if (!number)
		return false;
	e = &d->list[number - 1];
	if (seen && !e->seen)
		return false;
	known = findings_at(out, e->number);
	same_sites = e->sites == dedupe_sites_hash(accesses, count);
	if (same_sites && e->seen == seen && known->count < DEDUPE_COMPARED &&
	    span_of(accesses, count) < e->span)
		return false;
	return count_one(known, same_sites, out);
}

bool dedupe_is_saturated(const struct dedupe *d, uint32_t number, bool maybe_seen,
			 struct findings *out)
{
	const struct dedupe_entry *e = number ? &d->list[number - 1] : NULL;

	return e && (e->seen || !maybe_seen) &&
	       findings_at(out, e->number)->count >= DEDUPE_COMPARED;
}

static bool equal_sites(const struct candidate *a, const struct candidate *b)
{
	if (a->events != b->events)
		return false;
	for (unsigned i = 0; i < a->events; i++)
		if (a->event[i].pc != b->event[i].pc || a->hold[i] != b->hold[i])
			return false;
	return true;
}

/*
 * Replaces the reported instance by `c` if that needs less reordering: if only `c` is seen in the
 * trace, or if its events are nearer in time.
 */
static void take_nearer(struct dedupe_entry *e, const struct dedupe_access *accesses,
			unsigned count, const struct candidate *c, struct candidate *known)
{
	uint64_t span = span_of(accesses, count);

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

void dedupe_add(struct dedupe *d, uint64_t key, const struct dedupe_access *accesses,
		unsigned count, const struct candidate *c, struct findings *out)
{
	uint64_t *number = map_put(&d->by_schedule, key, NULL);
	struct candidate *known;
	struct dedupe_entry *e;

	if (!*number) {
		known = findings_add(out, c);
		d->list = xgrow(d->list, d->count, &d->capacity, sizeof(*d->list));
		d->list[d->count++] = (struct dedupe_entry){
			.sites = dedupe_sites_hash(accesses, count),
			.span = span_of(accesses, count),
			.number = (uint32_t)(known - findings_at(out, 0)),
			.seen = c->seen,
		};
		*number = d->count;
		return;
	}
	e = &d->list[*number - 1];
	known = findings_at(out, e->number);
	known->count++;
	if (equal_sites(known, c))
		take_nearer(e, accesses, count, c, known);
	else
		findings_pruned(out, PRUNE_SAME, 1);
	known->seen |= c->seen;
	e->seen = known->seen;
}
