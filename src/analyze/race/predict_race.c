/*
 * Races that this run did not show: conflicting accesses that locks kept in order
 * by chance.
 *
 * Two tiers. What is possible by locks alone: no order between the two but that of
 * critical sections, no lock in common, acquisition histories compatible. That
 * over-approximates: what was read on the way may forbid it. Of these, those are
 * marked for which reorder.c finds a sync-preserving reordering; with a trace of
 * total order they are real: an execution of the same program brings the two
 * together. Pairs that are unordered even so are analysis_race's.
 *
 * Remembered is, for each granule, the last access of each (thread, site, bytes,
 * lockset): the last OWN_RECORDS of each thread, at most CELL_RECORDS; beyond, the oldest
 * leaves and is counted as dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/context/sections.h"
#include "analyze/race/access_records.h"
#include "analyze/race/sync_preserving.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define CELL_RECORDS 32u
#define OWN_RECORDS 4u	/* of one thread */
#define HINTED ARRAY_SIZE(((struct hints *)0)->at)
#define HINT_FROM 6u	/* records in the pool from which on a granule may have hints */
#define TRIES 8u	/* instances of a pair of sites for which a reordering is looked for */

static const char by_locks[] = "predicted: no lock or strong order keeps them apart";
static const char by_reordering[] =
	"predicted: a reordering that keeps all critical sections whole brings them together";

struct pair {
	size_t finding;
	uint32_t tries;		/* TRIES: enough */
	struct candidate_event entry;	/* of the section before which event 0 is to be held; thread 0: none */
	uint64_t index;		/* of that event 0 */
};

#define AHEAD 8u	/* accesses; a power of two */
#define NEAR 8192u	/* records of the pool are in the cache anyway */

/* An access to come: where its granule is, and the hint that it will ask. */
struct soon {
	uint32_t page;		/* of the shadow; 0: none */
	uint64_t granule;
	unsigned hint;
};

enum { HINTS_NONE, HINTS_GUARDED, HINTS_UNGUARDED };	/* struct more says it: not known, there are some, none */

struct predict {
	struct shadow shadow;
	struct reorder *reorder;
	struct sections *sections;
	struct locks *locks;
	struct map pair_at;	/* hash of the sites to number, plus 1 */
	struct pair *pairs;
	size_t pair_count, pair_capacity;
	struct soon soon[AHEAD];	/* a ring */
	unsigned soon_count;
	bool guarded;		/* some granule has hints */
	uint64_t pruned[PRUNE_REASONS], dropped;
};

static void *predict_open(const struct analysis_context *ctx)
{
	struct predict *p = xcalloc(1, sizeof(*p));

	shadow_init(&p->shadow);
	p->locks = ctx->locks;
	p->reorder = reorder_new(ctx->locks);
	p->sections = sections_new();
	return p;
}

static void predict_close(void *state)
{
	struct predict *p = state;

	shadow_free(&p->shadow);
	reorder_free(p->reorder);
	sections_free(p->sections);
	map_free(&p->pair_at);
	free(p->pairs);
	free(p);
}

/* Stopped in a section that the other one passes, it would keep that one from coming first. */
static void note_entry(struct predict *p, struct pair *pair, const struct candidate *c)
{
	const struct section *s = sections_entry(p->sections, p->locks, &c->event[0], &c->event[1]);

	pair->entry = s ? section_begin(s) : (struct candidate_event){ 0 };
	pair->index = c->event[0].index;
}

/* The instance with a reordering takes the place of the first one seen. */
static void look_for_order(struct predict *p, struct pair *pair, const struct record *old,
			   const struct view *view, const struct candidate *c,
			   struct findings *out)
{
	struct candidate *entry = findings_at(out, pair->finding);
	enum reorder_answer answer;

	pair->tries++;
	answer = reorder_ask(p->reorder, who_thread(old->who), who_index(old->who), view);
	if (entry->note == by_locks)
		entry->doubtful = answer == REORDER_NO && (pair->tries == 1 || entry->doubtful);
	if (answer != REORDER_YES)
		return;
	pair->tries = TRIES;
	if (entry->note != by_locks)
		return;		/* it was seen to race */
	for (unsigned i = 0; i < 2; i++)
		entry->event[i] = c->event[i];
	entry->addr = c->addr;
	entry->size = c->size;
	entry->note = by_reordering;
	note_entry(p, pair, c);
}

static void report(struct predict *p, const struct record *old, uint64_t granule,
		   const struct event *ev, const struct view *view, struct findings *out)
{
	uint64_t first = old->site & ~(0xffull << 48);
	uint64_t second = record_site(ev->pc, 0, access_of(ev->kind));
	uint64_t *number = map_put(&p->pair_at, hash_spread(first) ^ second, NULL);
	struct candidate c, *entry;
	struct pair *pair;

	if (*number && p->pairs[*number - 1].tries == TRIES) {
		findings_at(out, p->pairs[*number - 1].finding)->count++;
		return;
	}
	record_candidate(&c, old, granule, ev, view);
	c.note = by_locks;
	if (!*number) {
		p->pairs = xgrow(p->pairs, p->pair_count, &p->pair_capacity, sizeof(*p->pairs));
		entry = findings_add(out, &c);
		p->pairs[p->pair_count] = (struct pair){
			.finding = (size_t)(entry - findings_at(out, 0)),
			/* Known the other way round, or as a race: its events stay. */
			.tries = entry->count > 1 ? TRIES - 1 : 0,
		};
		*number = ++p->pair_count;
		note_entry(p, &p->pairs[p->pair_count - 1], &c);
	} else {
		findings_at(out, p->pairs[*number - 1].finding)->count++;
	}
	pair = &p->pairs[*number - 1];
	if (findings_at(out, pair->finding)->event[0].pc == c.event[0].pc)
		look_for_order(p, pair, old, view, &c, out);
}

/* Also a write to some of the bytes depends on who wrote the others: they are one to us. */
static void flow(struct predict *p, uint64_t *written, unsigned mask, unsigned access,
		 const struct view *view)
{
	if (*written && who_thread(*written) != view->thread &&
	    (access & ACCESS_READ || mask != 0xff))
		reorder_depends(p->reorder, view, who_thread(*written), who_index(*written));
	if (access & ACCESS_WRITE)
		*written = record_who(view->thread, view->index);
}

/* What is the same for all records that the access meets, at hand. */
struct now {
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	const uint64_t *order, *full;	/* the clocks of the view, … */
	uint32_t order_count, full_count;
	const struct locks_ends *ends;	/* … and the ends of all locksets and of its own */
	struct locks_ends mine;
	uint64_t wanted, unwanted;	/* a conflict: bits of the other's site, one of these, none of those */
	uint64_t base;		/* of the granule */
	uint64_t site, bytes;	/* this access there, and the mask alone */
	unsigned mask, access;
	uint32_t thread;
	unsigned own;		/* records of the thread … */
	struct record *same, *oldest;	/* … that of this access, and the first of all */
	uint64_t ordered, excluded;	/* others that these keep apart */
};

/* Neither order nor the ends of the locksets say no. */
static __attribute__((noinline)) void judge(struct predict *p, const struct record *old, struct now *n)
{
	const struct view *view = n->view;

	if (locks_exclude(p->locks, old->lockset, view->lockset))
		n->excluded++;
	else if (!locks_compatible(p->locks, old->lockset, view->lockset))
		p->pruned[PRUNE_HISTORY]++;
	else
		report(p, old, n->base, n->ev, view, n->out);
}

static inline void meet_other(struct predict *p, const struct record *old, uint32_t thread, struct now *n)
{
	if (!(old->site & n->bytes) || !(old->site & n->wanted) || old->site & n->unwanted)
		return;
	if (thread < n->order_count && old->order_epoch <= n->order[thread])
		n->ordered++;
	else if (thread >= n->full_count || old->epoch > n->full[thread])
		return;		/* analysis_race's */
	else if (locks_exclude_at_once(&n->ends[old->lockset], &n->mine))
		n->excluded++;
	else
		judge(p, old, n);
}

/* True: it stands for this access too, and whoever came since has met it. */
static inline bool meet(struct predict *p, struct record *old, struct now *n)
{
	uint32_t thread = who_thread(old->who);

	if (thread != n->thread) {
		meet_other(p, old, thread, n);
		return false;
	}
	if (old->site == n->site && old->lockset == n->view->lockset) {
		n->same = old;
		if (old->order_epoch == (uint32_t)n->view->order_epoch)
			return true;
	}
	n->own++;
	if (!n->oldest || old->who < n->oldest->who)
		n->oldest = old;
	return false;
}

/* The set has the lock outermost, and not to read: two such sets exclude each other. */
static inline bool is_guarded(const struct locks_ends *e, uint64_t lock)
{
	return e->count && e->outer == lock && !e->outer_shared;
}

/* So is all that is known of the granule. */
static bool all_guarded(const struct predict *p, const struct place *place, const struct now *n)
{
	const struct record *more = &p->shadow.pool[place->more->at];
	bool all = is_guarded(&n->mine, n->mine.outer);

	for (unsigned i = 0; i < SHADOW_HOMES && all; i++)
		all = !place->home[i].site || is_guarded(&n->ends[place->home[i].lockset], n->mine.outer);
	for (uint32_t i = 0; i < place->more->count && all; i++)
		all = is_guarded(&n->ends[more[i].lockset], n->mine.outer);
	return all;
}

/* Of the thread's reads, or writes. */
static inline unsigned hint_number(uint32_t thread, unsigned access)
{
	return thread % (HINTED / 2) * 2 + (access & ACCESS_WRITE ? 1 : 0);
}

static inline uint8_t *hint_of(const struct place *place, const struct now *n)
{
	return &place->hints->at[hint_number(n->thread, n->access)];
}

/*
 * The record that meet() would find, if it is where the last one was and all that others have there is excluded:
 * then nothing comes of looking at it. NULL: not known.
 */
static inline struct record *known(struct predict *p, const struct place *place, const struct now *n)
{
	uint32_t at = *hint_of(place, n);
	struct record *r;

	if (!at || !is_guarded(&n->mine, place->hints->guard))
		return NULL;
	if (at <= SHADOW_HOMES)
		r = &place->home[at - 1];
	else if (at - SHADOW_HOMES <= place->more->count)
		r = &p->shadow.pool[place->more->at + at - SHADOW_HOMES - 1];
	else
		return NULL;
	return r->site == n->site && who_thread(r->who) == n->thread && r->lockset == n->view->lockset &&
	       r->order_epoch == (uint32_t)n->view->order_epoch ? r : NULL;
}

/* The record is the access' now. */
static void note_hint(struct predict *p, const struct place *place, const struct now *n, const struct record *r)
{
	struct hints *h = place->hints;

	if (place->more->hinted == HINTS_NONE && all_guarded(p, place, n)) {
		*h = (struct hints){ .guard = n->mine.outer };
		place->more->hinted = HINTS_GUARDED;
		p->guarded = true;
	} else if (place->more->hinted == HINTS_NONE || !is_guarded(&n->mine, h->guard)) {
		place->more->hinted = HINTS_UNGUARDED;
		return;
	}
	*hint_of(place, n) = r == &place->home[0] || r == &place->home[1] ? (uint8_t)(r - place->home + 1) :
		(uint8_t)(r - &p->shadow.pool[place->more->at] + SHADOW_HOMES + 1);
}

static void granule(struct predict *p, struct now *n)
{
	struct place place = shadow_place(&p->shadow, n->base);
	struct record *more = &p->shadow.pool[place.more->at], *r;
	uint32_t count = place.more->count;
	bool met = false;

	n->site = record_site(n->ev->pc, n->mask, n->access);
	n->bytes = (uint64_t)n->mask << 48;
	n->own = 0;
	n->same = n->oldest = NULL;
	flow(p, place.written, n->mask, n->access, n->view);
	if (place.more->hinted == HINTS_GUARDED && (r = known(p, &place, n))) {
		record_set(r, n->site, n->view);
		return;
	}
	for (unsigned i = 0; i < SHADOW_HOMES && !met; i++)
		met = place.home[i].site && meet(p, &place.home[i], n);
	for (uint32_t i = count; i-- > 0 && !met; )
		met = meet(p, &more[i], n);
	if (!n->same && n->own >= OWN_RECORDS)
		n->same = n->oldest;
	if (!n->same && count + SHADOW_HOMES >= CELL_RECORDS) {
		shadow_drop(&p->shadow, place.more, 0);
		if (place.more->hinted == HINTS_GUARDED)
			memset(place.hints->at, 0, sizeof(place.hints->at));
		p->dropped++;
	}
	r = n->same ? n->same : shadow_add(&p->shadow, &place);
	record_set(r, n->site, n->view);
	if (place.more->count >= HINT_FROM && place.more->hinted != HINTS_UNGUARDED)
		note_hint(p, &place, n, r);
}

static void predict_access(struct predict *p, const struct event *ev, const struct view *view,
			   unsigned access, struct findings *out)
{
	const struct locks_ends *ends = locks_ends(p->locks);
	struct now n = {
		.ev = ev, .view = view, .out = out, .access = access, .thread = view->thread,
		.order = view->order->at, .order_count = view->order->count,
		.full = view->full->at, .full_count = view->full->count,
		.ends = ends, .mine = ends[view->lockset],
		.wanted = record_site(0, 0, access & ACCESS_WRITE ? ACCESS_READ | ACCESS_WRITE : ACCESS_WRITE),
		.unwanted = record_site(0, 0, access & ACCESS_ATOMIC),
	};
	uint64_t end = ev->addr + ev->size;

	for (n.base = ev->addr & ~7ull; n.base < end; n.base += 8) {
		n.mask = shadow_mask(n.base, ev->addr, end);
		granule(p, &n);
	}
	p->pruned[PRUNE_HB] += n.ordered;
	p->pruned[PRUNE_LOCK] += n.excluded;
}

static void predict_event(void *state, const struct event *ev, const struct view *view,
			  struct findings *out)
{
	unsigned access = access_of(ev->kind);
	struct predict *p = state;

	reorder_event(p->reorder, ev, view);
	if (!access)
		sections_event(p->sections, ev, view);
	if (view->gone_size > 0)
		shadow_forget(&p->shadow, view->gone_addr, view->gone_size);
	if (access && ev->size > 0 && !view->alone && !view_ignores(view, access))
		predict_access(p, ev, view, access, out);
}

/*
 * What known() asks for, one thing after the other: the granule's now, and of the one AHEAD accesses before the
 * record that its hint says.
 */
static void predict_soon(void *state, const struct event *ev)
{
	struct predict *p = state;
	struct shadow *s = &p->shadow;
	uint64_t number = ev->addr >> SHADOW_PAGE_SHIFT;
	const struct recent *recent = shadow_recent(s, number);
	struct soon *soon = &p->soon[p->soon_count++ % AHEAD];
	size_t at = shadow_index(soon->page, soon->granule);
	uint32_t hint;

	if (!p->guarded || s->pool_count < NEAR)
		return;
	/* All pages may have been given up since. */
	if (soon->page && soon->page < s->page_count && s->more[at].hinted == HINTS_GUARDED &&
	    (hint = s->hints[at].at[soon->hint]))
		__builtin_prefetch(hint <= SHADOW_HOMES ? &s->cells[at].home[hint - 1] :
				   &s->pool[s->more[at].at + hint - SHADOW_HOMES - 1], 1);
	*soon = (struct soon){ recent->number == number ? recent->page : 0, ev->addr >> 3,
			       hint_number(ev->thread, access_of(ev->kind)) };
	if (!soon->page)
		return;
	at = shadow_index(soon->page, soon->granule);
	__builtin_prefetch(&s->more[at], 1);
	__builtin_prefetch(&s->hints[at], 1);
	__builtin_prefetch(&s->written[at], 1);
}

static void predict_finish(void *state, struct findings *out)
{
	struct predict *p = state;

	/* Only now: until here, a race is known by its two accesses. */
	for (size_t i = 0; i < p->pair_count; i++) {
		struct candidate *c = findings_at(out, p->pairs[i].finding);

		if (c->events != 2 || p->pairs[i].entry.thread != c->event[0].thread ||
		    p->pairs[i].index != c->event[0].index)
			continue;
		c->hold[0] = 2;
		c->event[2] = p->pairs[i].entry;
		c->events = 3;
	}
	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		findings_pruned(out, i, p->pruned[i]);
	findings_dropped(out, p->dropped + p->shadow.dropped);
}

const struct analysis analysis_race_predict = {
	.name = "race-predict", .summary = "races that another order of critical sections would show",
	.open = predict_open, .event = predict_event,
	.soon = predict_soon,
	.finish = predict_finish,
	.close = predict_close,
	.asks_full = true,
	.asks_alone = true,
};
