/*
 * Races by happens-before: two conflicting accesses that no synchronisation of this run orders.
 *
 * Vector clocks with epochs, after FastTrack (Flanagan and Freund, PLDI 2009), for each byte. A
 * granule keeps records of all accesses that may still race. An access replaces a record that it is
 * ordered after if it covers the record's bytes and races with everything the record races with.
 *
 * Sound up to the first race on a location; later races there may be consequences of the first.
 * Two atomics never race. Races that only another order of critical sections shows are found by
 * predict_race.c.
 */
#include <stdlib.h>

#include "analyze/race/access_records.h"
#include "base/hash.h"
#include "base/mem.h"

#define KNOWN_PAIRS 4096u	/* slots of the cache of reported pairs; a power of two */

/* A pair of sites that is among the findings. */
struct known_pair {
	uint64_t first, second;	/* record_site() without the byte mask; 0: empty slot */
	size_t finding;		/* index in the findings */
};

struct race {
	struct access_records shadow;
	struct known_pair known[KNOWN_PAIRS];	/* direct-mapped, by hash of both sites */
	uint64_t ordered;	/* conflicting pairs that happens-before orders */
};

static void *race_open(const struct analysis_context *ctx)
{
	struct race *r = xcalloc(1, sizeof(*r));

	(void)ctx;
	records_init(&r->shadow);
	return r;
}

static void race_close(void *state)
{
	struct race *r = state;

	records_free(&r->shadow);
	free(r);
}

/* Adds the pair to the findings. The cache serves loops that race a million times. */
static void report_pair(struct race *r, const struct access_record *old, uint64_t granule,
			const struct event *ev, const struct view *view, struct findings *out)
{
	uint64_t first = old->site & ~(0xffull << 48);
	uint64_t second = record_site(ev->pc, 0, access_of(ev->kind));
	struct known_pair *k;
	struct candidate c, *entry;

	k = &r->known[(hash_spread(first ^ second << 1) >> 40) & (KNOWN_PAIRS - 1)];
	if (k->first == first && k->second == second) {
		findings_at(out, k->finding)->count++;
		return;
	}
	record_candidate(&c, old, granule, ev, view);
	entry = findings_add(out, &c);
	entry->note = NULL;	/* if predict_race.c predicted the pair: now it was observed */
	entry->doubtful = false;
	entry->evidence = EVIDENCE_UNORDERED;
	*k = (struct known_pair){ first, second, (size_t)(entry - findings_at(out, 0)) };
}

/* What to do with the record of an earlier access. */
enum record_action {
	RECORD_KEEP,
	RECORD_DROP,		/* the current access replaces it */
	RECORD_SUFFICES,	/* it stands for the current access, which needs no record */
};

/* One granule of the access that the analysis looks at. */
struct current_access {
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	uint64_t base;		/* of the granule */
	unsigned mask;		/* bytes of the granule */
	unsigned access;	/* enum access */
};

/* Reports a race of the recorded and the current access, if they make one. */
static inline enum record_action compare(struct race *r, const struct access_record *old,
					 const struct current_access *n)
{
	unsigned recorded = record_access_bits(old), same = record_mask(old) & n->mask;
	uint32_t thread = event_id_thread(old->event_id);
	bool own = thread == n->view->thread;

	if (!own && !vclock_saw(n->view->full, thread, old->epoch)) {
		if (same && accesses_conflict(n->access, recorded))
			report_pair(r, old, n->base, n->ev, n->view, n->out);
		return RECORD_KEEP;
	}
	if (!own)
		r->ordered += same && accesses_conflict(n->access, recorded);
	else if (old->epoch == (uint32_t)n->view->epoch && same == n->mask && recorded == n->access)
		return RECORD_SUFFICES;	/* accesses since then were compared with the record */
	return same == record_mask(old) && access_dominates(n->access, recorded) ? RECORD_DROP :
	       RECORD_KEEP;
}

static void access_granule(struct race *r, const struct current_access *n)
{
	struct granule_records g = records_of_granule(&r->shadow, n->base);
	enum record_action action;

	for (unsigned i = 0; i < RECORDS_DIRECT; i++) {
		if (g.direct[i].site == 0)
			continue;
		action = compare(r, &g.direct[i], n);
		if (action == RECORD_SUFFICES)
			return;
		if (action == RECORD_DROP)
			g.direct[i].site = 0;
	}
	for (uint32_t i = g.overflow->count; i-- > 0; ) {
		action = compare(r, &r->shadow.pool[g.overflow->first + i], n);
		if (action == RECORD_SUFFICES)
			return;
		if (action == RECORD_DROP)
			records_drop(&r->shadow, g.overflow, i);
	}
	record_set(records_add(&r->shadow, &g), record_site(n->ev->pc, n->mask, n->access),
		   n->view);
}

static void race_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	unsigned access = access_of(ev->kind);
	struct current_access n = { .ev = ev, .view = view, .out = out, .access = access };
	uint64_t end = ev->addr + ev->size;
	struct race *r = state;

	if (view->gone_size > 0)
		records_forget(&r->shadow, view->gone_addr, view->gone_size);
	if (!access || ev->size == 0 || view->unshared || view_ignores(view, access))
		return;
	for (n.base = ev->addr & ~7ull; n.base < end; n.base += 8) {
		n.mask = records_byte_mask(n.base, ev->addr, end);
		access_granule(r, &n);
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
	.asks_unshared = true,
	.skips_unshared = true,
};
