/*
 * Races by happens-before: two conflicting accesses that no synchronisation of this
 * run orders. Vector clocks with epochs, after FastTrack (Flanagan and Freund, PLDI
 * 2009), for each byte, with all accesses of a granule that may still race kept
 * side by side: an access leaves when a later one, ordered after it, covers its
 * bytes and would race with whatever it would race with.
 *
 * Sound up to the first race on a location: the two could have met in this very
 * order of all else. Later ones may depend on the first. Atomics race with plain
 * accesses only.
 */
#include <stdlib.h>

#include "analyze/race/access_records.h"
#include "base/hash.h"
#include "base/mem.h"

#define KNOWN 4096u	/* pairs of sites found without asking findings; a power of two */

struct known_pair {
	uint64_t first, second;	/* sites with their kind of access; 0: none */
	size_t finding;
};

struct race {
	struct shadow shadow;
	struct known_pair known[KNOWN];
	uint64_t ordered;	/* conflicts that were */
};

static void *race_open(const struct analysis_context *ctx)
{
	struct race *r = xcalloc(1, sizeof(*r));

	(void)ctx;
	shadow_init(&r->shadow);
	return r;
}

static void race_close(void *state)
{
	struct race *r = state;

	shadow_free(&r->shadow);
	free(r);
}

/* The same loop may race a million times. */
static void report(struct race *r, const struct record *old, uint64_t granule,
		   const struct event *ev, const struct view *view, struct findings *out)
{
	uint64_t first = old->site & ~(0xffull << 48);
	uint64_t second = record_site(ev->pc, 0, access_of(ev->kind));
	struct known_pair *k;
	struct candidate c, *entry;

	k = &r->known[(hash_spread(first ^ second << 1) >> 40) & (KNOWN - 1)];
	if (k->first == first && k->second == second) {
		findings_at(out, k->finding)->count++;
		return;
	}
	record_candidate(&c, old, granule, ev, view);
	entry = findings_add(out, &c);
	entry->note = NULL;	/* a prediction of the same pair came true */
	entry->doubtful = false;
	*k = (struct known_pair){ first, second, (size_t)(entry - findings_at(out, 0)) };
}

/* What becomes of an earlier access when this one comes. */
enum fate { STAYS, GOES, COVERS };

struct now {
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	uint64_t base;		/* of the granule */
	unsigned mask, access;
};

static inline enum fate meet(struct race *r, const struct record *old, const struct now *n)
{
	unsigned theirs = record_access(old), same = record_mask(old) & n->mask;
	uint32_t thread = who_thread(old->who);
	bool own = thread == n->view->thread;

	if (!own && !vclock_saw(n->view->full, thread, old->epoch)) {
		if (same && shadow_conflict(n->access, theirs))
			report(r, old, n->base, n->ev, n->view, n->out);
		return STAYS;
	}
	if (!own)
		r->ordered += same && shadow_conflict(n->access, theirs);
	else if (old->epoch == (uint32_t)n->view->epoch && same == n->mask && theirs == n->access)
		return COVERS;		/* whoever came since has met that one */
	return same == record_mask(old) && shadow_dominates(n->access, theirs) ? GOES : STAYS;
}

static void granule(struct race *r, const struct now *n)
{
	struct place place = shadow_place(&r->shadow, n->base);
	enum fate fate;

	for (unsigned i = 0; i < SHADOW_HOMES; i++) {
		if (place.home[i].site == 0)
			continue;
		fate = meet(r, &place.home[i], n);
		if (fate == COVERS)
			return;
		if (fate == GOES)
			place.home[i].site = 0;
	}
	for (uint32_t i = place.more->count; i-- > 0; ) {
		fate = meet(r, &r->shadow.pool[place.more->at + i], n);
		if (fate == COVERS)
			return;
		if (fate == GOES)
			shadow_drop(&r->shadow, place.more, i);
	}
	record_set(shadow_add(&r->shadow, &place), record_site(n->ev->pc, n->mask, n->access),
		   n->view);
}

static void race_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	unsigned access = access_of(ev->kind);
	struct now n = { .ev = ev, .view = view, .out = out, .access = access };
	uint64_t end = ev->addr + ev->size;
	struct race *r = state;

	if (view->gone_size > 0)
		shadow_forget(&r->shadow, view->gone_addr, view->gone_size);
	if (!access || ev->size == 0 || view->alone || view_ignores(view, access))
		return;
	for (n.base = ev->addr & ~7ull; n.base < end; n.base += 8) {
		n.mask = shadow_mask(n.base, ev->addr, end);
		granule(r, &n);
	}
}

static void race_finish(void *state, struct findings *out)
{
	struct race *r = state;

	findings_pruned(out, PRUNE_HB, r->ordered);
	findings_dropped(out, r->shadow.dropped);
}

const struct analysis analysis_race = {
	.name = "race", .summary = "conflicting accesses that nothing orders",
	.open = race_open, .event = race_event, .finish = race_finish, .close = race_close,
	.asks_full = true,
	.asks_alone = true,
	.skips_alone = true,
};
