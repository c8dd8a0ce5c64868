/*
 * Predicted races: conflicting accesses that critical sections happened to order in this run.
 *
 * There are two tiers. The first accepts a pair if only critical sections order the two accesses,
 * they have no lock in common, and their acquisition histories are compatible. This
 * over-approximates: values read before may forbid the other order. The second tier asks
 * sync_preserving.c for a reordering of the trace that brings the two accesses together. If the
 * trace has a total order, such a race is real. Pairs that nothing in the trace orders are left to
 * happens_before.c.
 *
 * A granule has one record for each (thread, site, bytes, lockset), of the last such access. It
 * keeps the THREAD_RECORDS newest of each thread, and GRANULE_RECORDS in all; to make room beyond
 * that, the first record of the overflow is dropped and counted.
 *
 * Most accesses of a granule that a lock protects need no comparison: see hinted_record().
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/context/sections.h"
#include "analyze/race/access_records.h"
#include "analyze/race/sync_preserving.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define GRANULE_RECORDS 32u	/* records of a granule: bounds the work of one access */
#define THREAD_RECORDS 4u	/* records of one thread in a granule */
#define HINT_POSITIONS ARRAY_SIZE(((struct hints *)0)->position)
#define HINT_MIN_RECORDS 6u	/* overflow records that make hints worth their memory */
#define MAX_TRIES 8u	/* instances of a site pair for which the second tier is asked */

static const char note_by_locks[] = "predicted: no lock or strong order keeps them apart";
static const char note_by_reordering[] =
	"predicted: a reordering that keeps all critical sections whole brings them together";

/* A pair of sites that may race: one finding, several instances. */
struct site_pair {
	size_t finding;		/* index in the findings */
	uint32_t tries;		/* instances the second tier was asked about, up to MAX_TRIES */
	/* Acquisition before which a proving run has to stop event 0's thread; thread 0: none. */
	struct candidate_event stop_before;
	uint64_t index;		/* index of that event 0 */
};

#define PREFETCH_DISTANCE 8u	/* accesses; a power of two */
#define CACHED_RECORDS 8192u	/* a pool this small is in the processor's cache anyway */

/* An upcoming access: its granule, and the hint that hinted_record() will read. */
struct prefetch {
	uint32_t page;		/* of struct access_records; 0: none */
	uint64_t granule;
	unsigned hint;		/* hint_number() */
};

/* Whether all records of a granule with many records have the same outermost lock. */
enum hint_state {
	HINTS_NONE,		/* not known */
	HINTS_GUARDED,		/* yes: struct hints is valid */
	HINTS_UNGUARDED,	/* no: do not check again */
};

struct predict {
	struct access_records shadow;
	struct reorder *reorder;
	struct sections *sections;
	struct locks *locks;
	struct map pair_at;	/* hash of both sites -> 1 + index in pairs */
	struct site_pair *pairs;
	size_t pair_count, pair_capacity;
	struct prefetch prefetch[PREFETCH_DISTANCE];	/* a ring */
	unsigned prefetch_count;
	bool any_hints;		/* some granule is HINTS_GUARDED */
	uint64_t pruned[PRUNE_REASONS], dropped;	/* pairs; records */
};

static void *predict_open(const struct analysis_context *ctx)
{
	struct predict *p = xcalloc(1, sizeof(*p));

	records_init(&p->shadow);
	p->locks = ctx->locks;
	p->reorder = reorder_new(ctx->locks);
	p->sections = sections_new();
	return p;
}

static void predict_close(void *state)
{
	struct predict *p = state;

	records_free(&p->shadow);
	reorder_free(p->reorder);
	sections_free(p->sections);
	map_free(&p->pair_at);
	free(p->pairs);
	free(p);
}

/*
 * Finds where a proving run has to stop the thread of event 0. Stopped inside a critical section
 * that the other thread passes, it would keep the other thread from coming first.
 */
static void set_stop_before(struct predict *p, struct site_pair *pair, const struct candidate *c)
{
	const struct section *s =
		sections_to_stop_before(p->sections, p->locks, &c->event[0], &c->event[1]);

	pair->stop_before = s ? section_begin(s) : (struct candidate_event){ 0 };
	pair->index = c->event[0].index;
}

/*
 * Asks the second tier about this instance of the pair. If there is a reordering, the instance
 * replaces the events of the finding.
 */
static void look_for_reordering(struct predict *p, struct site_pair *pair,
				const struct access_record *old, const struct view *view,
				const struct candidate *c, struct findings *out)
{
	struct candidate *entry = findings_at(out, pair->finding);
	enum reorder_answer answer;

	pair->tries++;
	answer = reorder_ask(p->reorder, event_id_thread(old->event_id),
			     event_id_index(old->event_id), view);
	if (entry->note == note_by_locks)
		entry->doubtful = answer == REORDER_NO && (pair->tries == 1 || entry->doubtful);
	if (answer != REORDER_YES)
		return;
	pair->tries = MAX_TRIES;
	if (entry->note != note_by_locks)
		return;		/* happens_before.c reported the pair: its events stay */
	for (unsigned i = 0; i < 2; i++)
		entry->event[i] = c->event[i];
	entry->addr = c->addr;
	entry->size = c->size;
	entry->note = note_by_reordering;
	entry->evidence = EVIDENCE_REORDERING;
	set_stop_before(p, pair, c);
}

static void report_pair(struct predict *p, const struct access_record *old, uint64_t granule,
			const struct event *ev, const struct view *view, struct findings *out)
{
	uint64_t first = old->site & ~(0xffull << 48);
	uint64_t second = record_site(ev->pc, 0, access_of(ev->kind));
	uint64_t *number = map_put(&p->pair_at, hash_spread(first) ^ second, NULL);
	struct candidate c, *entry;
	struct site_pair *pair;

	if (*number && p->pairs[*number - 1].tries == MAX_TRIES) {
		findings_at(out, p->pairs[*number - 1].finding)->count++;
		return;
	}
	record_candidate(&c, old, granule, ev, view);
	c.note = note_by_locks;
	if (!*number) {
		p->pairs = xgrow(p->pairs, p->pair_count, &p->pair_capacity, sizeof(*p->pairs));
		entry = findings_add(out, &c);
		p->pairs[p->pair_count] = (struct site_pair){
			.finding = (size_t)(entry - findings_at(out, 0)),
			/* Found before, as a race or in the other order: ask only once more. */
			.tries = entry->count > 1 ? MAX_TRIES - 1 : 0,
		};
		*number = ++p->pair_count;
		set_stop_before(p, &p->pairs[p->pair_count - 1], &c);
	} else {
		findings_at(out, p->pairs[*number - 1].finding)->count++;
	}
	pair = &p->pairs[*number - 1];
	if (findings_at(out, pair->finding)->event[0].pc == c.event[0].pc)
		look_for_reordering(p, pair, old, view, &c, out);
}

/*
 * Reports to the second tier that a read depends on the last write to the granule. A write to only
 * some of its bytes depends on it, too: writers are tracked by granule, not by byte.
 */
static void note_dependence(struct predict *p, uint64_t *last_writer, unsigned mask,
			    unsigned access, const struct view *view)
{
	if (*last_writer && event_id_thread(*last_writer) != view->thread &&
	    (access & ACCESS_READ || mask != 0xff))
		reorder_depends(p->reorder, view, event_id_thread(*last_writer),
				event_id_index(*last_writer));
	if (access & ACCESS_WRITE)
		*last_writer = event_id(view->thread, view->index);
}

/* One granule of the current access, and what comparing records with it needs. */
struct current_access {
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	const uint64_t *order, *full;	/* components of the view's clocks, by thread */
	uint32_t order_count, full_count;
	const struct locks_ends *ends;	/* locks_ends(), by lockset number */
	struct locks_ends own_ends;	/* of the access's own lockset */
	/* A record conflicts if its site has one of the bits `wanted` and none of `unwanted`. */
	uint64_t wanted, unwanted;
	uint64_t base;		/* address of the granule */
	uint64_t site;		/* record_site() of this access */
	uint64_t bytes;		/* the byte mask, where record_site() has it */
	unsigned mask, access;
	uint32_t thread;
	unsigned own;		/* records of this thread met so far */
	struct access_record *same;	/* the record of this thread, site and lockset, if met */
	struct access_record *oldest;	/* the oldest record of this thread met so far */
	uint64_t ordered, excluded;	/* conflicts that order or a common lock forbids */
};

/* Judges a conflict that `order` and the outermost and innermost locks allow. */
static __attribute__((noinline)) void check_locksets(struct predict *p,
						     const struct access_record *old,
						     struct current_access *n)
{
	const struct view *view = n->view;

	if (locks_exclude(p->locks, old->lockset, view->lockset))
		n->excluded++;
	else if (!locks_compatible(p->locks, old->lockset, view->lockset))
		p->pruned[PRUNE_HISTORY]++;
	else
		report_pair(p, old, n->base, n->ev, view, n->out);
}

static inline void compare_other(struct predict *p, const struct access_record *old,
				 uint32_t thread, struct current_access *n)
{
	if (!(old->site & n->bytes) || !(old->site & n->wanted) || old->site & n->unwanted)
		return;
	if (thread < n->order_count && old->order_epoch <= n->order[thread])
		n->ordered++;
	else if (thread >= n->full_count || old->epoch > n->full[thread])
		return;		/* unordered: happens_before.c reports it */
	else if (locks_exclude_at_once(&n->ends[old->lockset], &n->own_ends))
		n->excluded++;
	else
		check_locksets(p, old, n);
}

/*
 * Returns true if the record stands for the current access as well. The remaining records need no
 * comparison then: later accesses were compared with the record, the record with earlier ones.
 */
static inline bool compare(struct predict *p, struct access_record *old, struct current_access *n)
{
	uint32_t thread = event_id_thread(old->event_id);

	if (thread != n->thread) {
		compare_other(p, old, thread, n);
		return false;
	}
	if (old->site == n->site && old->lockset == n->view->lockset) {
		n->same = old;
		if (old->order_epoch == (uint32_t)n->view->order_epoch)
			return true;
	}
	n->own++;
	if (!n->oldest || old->event_id < n->oldest->event_id)
		n->oldest = old;
	return false;
}

/* `lock` is the outermost lock of the set, write-held: two such sets exclude each other. */
static inline bool holds_outermost(const struct locks_ends *e, uint64_t lock)
{
	return e->count && e->outer == lock && !e->outer_shared;
}

/* All records of the granule and the current access have the same outermost lock, write-held. */
static bool all_hold_outermost(const struct predict *p, const struct granule_records *g,
			       const struct current_access *n)
{
	const struct access_record *overflow = &p->shadow.pool[g->overflow->first];
	bool all = holds_outermost(&n->own_ends, n->own_ends.outer);

	for (unsigned i = 0; i < RECORDS_DIRECT && all; i++)
		all = !g->direct[i].site || holds_outermost(&n->ends[g->direct[i].lockset],
							    n->own_ends.outer);
	for (uint32_t i = 0; i < g->overflow->count && all; i++)
		all = holds_outermost(&n->ends[overflow[i].lockset], n->own_ends.outer);
	return all;
}

/* Threads share positions modulo half of the table; reads and writes have separate ones. */
static inline unsigned hint_number(uint32_t thread, unsigned access)
{
	return thread % (HINT_POSITIONS / 2) * 2 + (access & ACCESS_WRITE ? 1 : 0);
}

static inline uint8_t *hint_slot(const struct granule_records *g,
				 const struct current_access *n)
{
	return &g->hints->position[hint_number(n->thread, n->access)];
}

/*
 * The record of this thread, site and lockset, if it is at the position of the thread's last
 * record. All records of the granule then hold one outermost lock, which excludes every pair: no
 * other record has to be compared. NULL: it is not there.
 */
static inline struct access_record *hinted_record(struct predict *p,
						  const struct granule_records *g,
						  const struct current_access *n)
{
	uint32_t at = *hint_slot(g, n);
	struct access_record *r;

	if (!at || !holds_outermost(&n->own_ends, g->hints->common_lock))
		return NULL;
	if (at <= RECORDS_DIRECT)
		r = &g->direct[at - 1];
	else if (at - RECORDS_DIRECT <= g->overflow->count)
		r = &p->shadow.pool[g->overflow->first + at - RECORDS_DIRECT - 1];
	else
		return NULL;
	return r->site == n->site && event_id_thread(r->event_id) == n->thread &&
	       r->lockset == n->view->lockset &&
	       r->order_epoch == (uint32_t)n->view->order_epoch ? r : NULL;
}

/* Remembers where the record of the current access is, if the granule has or can have hints. */
static void set_hint(struct predict *p, const struct granule_records *g,
		     const struct current_access *n, const struct access_record *r)
{
	struct hints *h = g->hints;

	if (g->overflow->hint_state == HINTS_NONE && all_hold_outermost(p, g, n)) {
		*h = (struct hints){ .common_lock = n->own_ends.outer };
		g->overflow->hint_state = HINTS_GUARDED;
		p->any_hints = true;
	} else if (g->overflow->hint_state == HINTS_NONE ||
		   !holds_outermost(&n->own_ends, h->common_lock)) {
		g->overflow->hint_state = HINTS_UNGUARDED;
		return;
	}
	*hint_slot(g, n) =
		r == &g->direct[0] || r == &g->direct[1] ?
			(uint8_t)(r - g->direct + 1) :
			(uint8_t)(r - &p->shadow.pool[g->overflow->first] + RECORDS_DIRECT + 1);
}

static void access_granule(struct predict *p, struct current_access *n)
{
	struct granule_records g = records_of_granule(&p->shadow, n->base);
	struct access_record *overflow = &p->shadow.pool[g.overflow->first], *r;
	uint32_t count = g.overflow->count;
	bool met = false;

	n->site = record_site(n->ev->pc, n->mask, n->access);
	n->bytes = (uint64_t)n->mask << 48;
	n->own = 0;
	n->same = n->oldest = NULL;
	note_dependence(p, g.last_writer, n->mask, n->access, n->view);
	if (g.overflow->hint_state == HINTS_GUARDED && (r = hinted_record(p, &g, n))) {
		record_set(r, n->site, n->view);
		return;
	}
	for (unsigned i = 0; i < RECORDS_DIRECT && !met; i++)
		met = g.direct[i].site && compare(p, &g.direct[i], n);
	for (uint32_t i = count; i-- > 0 && !met; )
		met = compare(p, &overflow[i], n);
	if (!n->same && n->own >= THREAD_RECORDS)
		n->same = n->oldest;
	if (!n->same && count + RECORDS_DIRECT >= GRANULE_RECORDS) {
		records_drop(&p->shadow, g.overflow, 0);
		if (g.overflow->hint_state == HINTS_GUARDED)
			memset(g.hints->position, 0, sizeof(g.hints->position));
		p->dropped++;
	}
	r = n->same ? n->same : records_add(&p->shadow, &g);
	record_set(r, n->site, n->view);
	if (g.overflow->count >= HINT_MIN_RECORDS &&
	    g.overflow->hint_state != HINTS_UNGUARDED)
		set_hint(p, &g, n, r);
}

static void predict_access(struct predict *p, const struct event *ev, const struct view *view,
			   unsigned access, struct findings *out)
{
	const struct locks_ends *ends = locks_ends(p->locks);
	struct current_access n = {
		.ev = ev, .view = view, .out = out, .access = access, .thread = view->thread,
		.order = view->order->at, .order_count = view->order->count,
		.full = view->full->at, .full_count = view->full->count,
		.ends = ends, .own_ends = ends[view->lockset],
		.wanted = record_site(0, 0, access & ACCESS_WRITE ? ACCESS_READ | ACCESS_WRITE :
				      ACCESS_WRITE),
		.unwanted = record_site(0, 0, access & ACCESS_ATOMIC),
	};
	uint64_t end = ev->addr + ev->size;

	for (n.base = ev->addr & ~7ull; n.base < end; n.base += 8) {
		n.mask = records_byte_mask(n.base, ev->addr, end);
		access_granule(p, &n);
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
		records_forget(&p->shadow, view->gone_addr, view->gone_size);
	if (access && ev->size > 0 && !view->unshared && !view_ignores(view, access))
		predict_access(p, ev, view, access, out);
}

/*
 * Prefetches what hinted_record() reads: the array entries of the granule for this access, and the
 * hinted record for the access that was announced PREFETCH_DISTANCE calls ago.
 */
static void predict_prefetch(void *state, const struct event *ev)
{
	struct predict *p = state;
	struct access_records *s = &p->shadow;
	uint64_t number = ev->addr >> RECORDS_PAGE_SHIFT;
	const struct cached_page *recent = records_cached_page(s, number);
	struct prefetch *prefetch = &p->prefetch[p->prefetch_count++ % PREFETCH_DISTANCE];
	size_t at = records_granule_index(prefetch->page, prefetch->granule);
	uint32_t hint;

	if (!p->any_hints || s->pool_count < CACHED_RECORDS)
		return;
	/* records_page() may have forgotten all pages since. */
	if (prefetch->page && prefetch->page < s->page_count &&
	    s->overflow[at].hint_state == HINTS_GUARDED &&
	    (hint = s->hints[at].position[prefetch->hint]))
		__builtin_prefetch(hint <= RECORDS_DIRECT ? &s->direct[at].at[hint - 1] :
				   &s->pool[s->overflow[at].first + hint - RECORDS_DIRECT - 1], 1);
	*prefetch = (struct prefetch){ recent->number == number ? recent->page : 0, ev->addr >> 3,
			       hint_number(ev->thread, access_of(ev->kind)) };
	if (!prefetch->page)
		return;
	at = records_granule_index(prefetch->page, prefetch->granule);
	__builtin_prefetch(&s->overflow[at], 1);
	__builtin_prefetch(&s->hints[at], 1);
	__builtin_prefetch(&s->last_writer[at], 1);
}

static void predict_finish(void *state, struct findings *out)
{
	struct predict *p = state;

	/* Added last: until here, findings are compared by their two accesses. */
	for (size_t i = 0; i < p->pair_count; i++) {
		struct candidate *c = findings_at(out, p->pairs[i].finding);

		if (c->events != 2 || p->pairs[i].stop_before.thread != c->event[0].thread ||
		    p->pairs[i].index != c->event[0].index)
			continue;
		c->hold[0] = 2;
		c->event[2] = p->pairs[i].stop_before;
		c->events = 3;
	}
	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		findings_pruned(out, i, p->pruned[i]);
	findings_dropped(out, p->dropped + p->shadow.dropped);
}

const struct analysis analysis_race_predict = {
	.name = "race-predict",
	.summary = "races that another order of critical sections would show",
	.open = predict_open, .event = predict_event,
	.soon = predict_prefetch,
	.finish = predict_finish,
	.close = predict_close,
	.asks_full = true,
	.asks_unshared = true,
};
