/*
 * The analysis atomicity2: atomicity of two locations that are used together, such as a length and
 * a pointer. A thread accesses x and then y in one block, another thread accesses both as well, and
 * each location is written by one of the two. The blocks are not serializable if the first thread
 * comes first at x and last at y:
 *
 *	a(x) before b(x)  and  b(y) before a(y)
 *
 * This is a conflict cycle of two (idioms 4 and 5 of Maple: Yu et al., OOPSLA 2012). If b accesses
 * x first, all of b runs between a(x) and a(y): a has to have a lockset in between that allows the
 * locksets of b. If b accesses y first, both threads are inside their blocks at the same time, and
 * their locksets at that time have to allow each other. The accesses themselves may all be
 * protected by locks.
 *
 * An access makes pairs with the thread's RECENT_MAX latest others (recent_accesses.h). The memory
 * for pairs is bounded (location_pairs.h). Sites that only touch unshared memory make none
 * (unshared_sites.h).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/atomicity/dedupe.h"
#include "analyze/atomicity/location_pairs.h"
#include "analyze/atomicity/recent_accesses.h"
#include "analyze/relevance/unshared_sites.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define PREFETCH_PAIRS 8192u /* prefetch if there are more pairs: the caches no longer hold them */

struct atomicity2 {
	struct locks *locks;
	struct contexts *contexts;
	struct location_pairs location_pairs;
	struct dedupe dedupe;
	struct unshared_sites unshared_sites;
	const struct unshared *unshared;
	struct recent_accesses **threads;
	size_t thread_count;
	/*
	 * By hash of two sites, of whatever thread: those of which a pair had a match, and the
	 * number of pairs without a match whose match may have been dropped.
	 */
	struct map matched, lost;
};

static void mark(void *ctx)
{
	const struct atomicity2 *a = ctx;

	location_pairs_mark(&a->location_pairs);
	for (size_t i = 0; i < a->thread_count; i++)
		for (unsigned k = 0; a->threads[i] && k <= RECENT_MAX; k++)
			contexts_mark(a->contexts, &a->threads[i]->accesses[k].side.at);
}

static void *atomicity2_open(const struct analysis_context *ctx)
{
	struct atomicity2 *a = xcalloc(1, sizeof(*a));

	a->locks = ctx->locks;
	a->contexts = contexts_new(ctx->locks);
	contexts_set_marker(a->contexts, mark, a);
	location_pairs_init(&a->location_pairs, a->contexts);
	return a;
}

static void atomicity2_prescan(void *state, struct reader *trace, const struct unshared *unshared)
{
	struct atomicity2 *a = state;

	a->unshared = unshared;
	unshared_sites_prescan(&a->unshared_sites, unshared, trace);
}

static void atomicity2_close(void *state)
{
	struct atomicity2 *a = state;

	for (size_t i = 0; i < a->thread_count; i++)
		recent_free(a->threads[i]);
	free(a->threads);
	map_free(&a->matched);
	map_free(&a->lost);
	dedupe_free(&a->dedupe);
	location_pairs_free(&a->location_pairs);
	contexts_free(a->contexts);
	free(a);
}

static __attribute__((noinline)) struct recent_accesses *recent_make(struct atomicity2 *a,
								     uint32_t id)
{
	if (id >= a->thread_count)
		a->threads = xreach(a->threads, id, &a->thread_count, sizeof(*a->threads));
	if (!a->threads[id])
		a->threads[id] = recent_new();
	return a->threads[id];
}

static inline struct recent_accesses *recent_of_thread(struct atomicity2 *a, uint32_t id)
{
	return id < a->thread_count && a->threads[id] ? a->threads[id] : recent_make(a, id);
}

/*
 * PRUNE_REASONS if the locksets of `k` between its accesses allow the pair `o`, else why not.
 * `crossing`: both pairs are between their accesses at the same time. Else `o` runs as a whole
 * between those of `k`.
 */
static enum prune_reason check_locks(const struct atomicity2 *a, const struct pair_link *k,
				     const struct pair_link *o, bool crossing)
{
	enum prune_reason why = PRUNE_LOCK, other;

	if (!crossing) {
		why = contexts_check_locks(a->contexts, k->cut, k->cuts, o->lockset[0]);
		if (why != PRUNE_REASONS || o->lockset[0] == o->lockset[1])
			return why;
		return contexts_check_locks(a->contexts, k->cut, k->cuts, o->lockset[1]);
	}
	for (unsigned i = 0; i < o->cuts; i++) {
		other = contexts_check_locks(a->contexts, k->cut, k->cuts, o->cut[i]);
		if (other == PRUNE_REASONS)
			return other;
		if (other == PRUNE_HISTORY)
			why = other;
	}
	return why;
}

static void add_hold(const struct atomicity2 *a, struct candidate *c, unsigned which,
		     const struct pair_side *held, uint64_t after, const struct pair_side *other)
{
	struct candidate_event entry;

	if (c->hold[which] >= 0 ||
	    !contexts_find_section(a->contexts, &held->at, after, &other->at, &entry))
		return;
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = entry;
}

static void set_location(const struct pair_side *a, const struct pair_side *b, uint64_t *addr,
			 uint64_t *size)
{
	uint64_t low = a->at.addr > b->at.addr ? a->at.addr : b->at.addr;
	uint64_t a_end = a->at.addr + a->at.size, b_end = b->at.addr + b->at.size;

	*addr = low;
	*size = (a_end < b_end ? a_end : b_end) - low;
}

/* Returns the pattern: the four accesses in the order that breaks the blocks. */
static enum pattern pattern_of(const struct location_pair *k, const struct location_pair *o,
			       unsigned ox)
{
	const struct pair_side *side[4] = { &k->side[0], &o->side[0], &o->side[1], &k->side[1] };
	const char locations[4] = { 'x', ox == 0 ? 'x' : 'y', ox == 0 ? 'y' : 'x', 'y' };
	char name[9] = "";

	for (unsigned i = 0; i < 4; i++) {
		name[2 * i] = side[i]->access & ACCESS_WRITE ? 'W' : 'R';
		name[2 * i + 1] = locations[i];
	}
	return pattern_find(name);
}

static void emit(struct atomicity2 *a, const struct location_pair *k, const struct location_pair *o,
		 unsigned ox, uint64_t key, const struct dedupe_access accesses[4],
		 struct findings *out)
{
	const struct pair_side *kx = &k->side[0], *ky = &k->side[1];
	const struct pair_side *bx = &o->side[ox], *by = &o->side[1 - ox];
	struct candidate c = {
		.pattern = pattern_of(k, o, ox), .events = 4, .orders = 2, .count = 1
	};

	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = contexts_candidate_event(a->contexts, &kx->at, kx->pc, kx->kind);
	c.event[1 + ox] = contexts_candidate_event(a->contexts, &bx->at, bx->pc, bx->kind);
	c.event[2 - ox] = contexts_candidate_event(a->contexts, &by->at, by->pc, by->kind);
	c.event[3] = contexts_candidate_event(a->contexts, &ky->at, ky->pc, ky->kind);
	c.order[0] = (struct candidate_order){ 0, (uint8_t)(1 + ox) };
	c.order[1] = (struct candidate_order){ (uint8_t)(2 - ox), 3 };
	add_hold(a, &c, 1 + ox, bx, CONTEXTS_ANY_SECTION, kx);
	add_hold(a, &c, 3, ky, kx->at.index, by);
	if (ox == 0)
		add_hold(a, &c, 3, ky, kx->at.index, bx);
	c.seen = kx->at.time < bx->at.time && by->at.time < ky->at.time;
	set_location(kx, bx, &c.addr, &c.size);
	set_location(ky, by, &c.addr2, &c.size2);
	dedupe_add(&a->dedupe, key, accesses, 4, &c, out);
}

/* `other`: the other thread's access to the same location. */
static struct dedupe_access make_access(const struct atomicity2 *a, const struct pair_side *s,
					const struct pair_side *other)
{
	return (struct dedupe_access){ s->pc, &s->at, contexts_lockset(a->contexts, &s->at),
				       contexts_lockset(a->contexts, &other->at) };
}

/*
 * Reports the candidate, or counts it if it is known. `ox` is the side of `o` at x, the first
 * location of `k`: 1 if the pairs cross. The events of `o` stay in program order.
 */
static void report(struct atomicity2 *a, const struct location_pair *k,
		   const struct location_pair *o, unsigned ox, struct findings *out)
{
	const struct pair_side *kx = &k->side[0], *ky = &k->side[1];
	const struct pair_side *bx = &o->side[ox], *by = &o->side[1 - ox];
	struct dedupe_access accesses[4];
	uint64_t key;

	accesses[0] = make_access(a, kx, bx);
	accesses[1 + ox] = make_access(a, bx, kx);
	accesses[2 - ox] = make_access(a, by, ky);
	accesses[3] = make_access(a, ky, by);
	key = dedupe_key(a->locks, accesses, 4) + ox;
	if (!dedupe_count_repeat(&a->dedupe, dedupe_find(&a->dedupe, key), accesses, 4,
				 kx->at.time < bx->at.time && by->at.time < ky->at.time, out))
		emit(a, k, o, ox, key, accesses, out);
}

/* `ox`: as location_pairs_overlap() returns it. */
static void match(struct atomicity2 *a, uint32_t location_pair, uint32_t other, unsigned ox,
		  struct findings *out)
{
	const struct pair_link *k = &a->location_pairs.links[location_pair],
			       *o = &a->location_pairs.links[other];
	enum prune_reason why;

	if (contexts_order_fixed(a->contexts, k->epoch[0], o->epoch[ox], o->epoch[1 - ox],
				 k->epoch[1]))
		why = PRUNE_HB;
	else
		why = check_locks(a, k, o, ox == 1);
	if (why == PRUNE_REASONS)
		report(a, &a->location_pairs.list[location_pair], &a->location_pairs.list[other],
		       ox, out);
	else
		findings_pruned(out, why, 1);
}

static void count_lost(struct atomicity2 *a, uint32_t fresh, struct pair_sites *sites, bool matches)
{
	const struct pair_side *side = a->location_pairs.list[fresh].side;
	uint64_t key;

	if (matches ? sites->matched : !location_pairs_was_lost(&a->location_pairs, fresh))
		return;
	key = hash_add(hash_add(1, side[0].pc), side[1].pc);
	sites->matched |= matches;
	++*map_put(matches ? &a->matched : &a->lost, key, NULL);
}

static void match_all(struct atomicity2 *a, uint32_t fresh, struct pair_sites *sites,
		      struct findings *out)
{
	struct location_pairs_matches others;
	uint32_t n;
	unsigned ox;

	location_pairs_matches(&a->location_pairs, fresh, &others);
	count_lost(a, fresh, sites, others.count > 0);
	while ((n = location_pairs_next_match(&a->location_pairs, &others))) {
		ox = location_pairs_overlap(&a->location_pairs, fresh, n);
		if (ox == LOCATION_PAIRS_DISJOINT)
			continue;
		match(a, fresh, n, ox, out);
		/* Crossing pairs make the same candidate from either side. */
		if (ox == 0)
			match(a, n, fresh, ox, out);
	}
}

/* Makes an attempt of slot `i` and the present access. */
static inline void pair_up(struct location_pairs *c, const struct recent_accesses *recent,
			   unsigned i, const struct pair_access *now, uint32_t thread,
			   struct pair_attempt *pair)
{
	pair->first = &recent->accesses[recent->at[i]];
	pair->cell = location_pairs_sites(c, thread, recent->site[i], now->site);
	location_pairs_complete(pair, now);
}

/* Prefetches for all attempts at once: with many threads, their pairs are in no cache. */
static __attribute__((noinline)) void prefetch_all(struct location_pairs *c,
						   const struct recent_accesses *recent,
						   unsigned partners, const struct pair_access *now,
						   uint32_t thread)
{
	struct pair_attempt pairs[RECENT_MAX];
	unsigned count = 0;

	for (; partners; partners &= partners - 1) {
		pair_up(c, recent, (unsigned)__builtin_ctz(partners), now, thread, &pairs[count]);
		location_pairs_prefetch(c, &pairs[count++]);
	}
	for (unsigned i = 0; i < count; i++)
		location_pairs_prefetch_next(c, &pairs[i]);
}

/*
 * Notes the pair of slot `i` and the present access, unless their sites walk. Returns true if they
 * walked until now and no longer do.
 */
static inline bool pair_with(struct atomicity2 *a, const struct recent_accesses *recent, unsigned i,
			     const struct pair_access *now, uint32_t thread, struct findings *out)
{
	struct pair_attempt pair;
	uint32_t fresh;
	bool walk;

	pair_up(&a->location_pairs, recent, i, now, thread, &pair);
	walk = location_pairs_walk(pair.cell);
	if (walk && !location_pairs_sampled(recent->location[i], now->location)) {
		a->location_pairs.skipped += !pair.unshared;
		return false;
	}
	fresh = location_pairs_note(&a->location_pairs, &pair);
	if (fresh)
		match_all(a, fresh,
			  &a->location_pairs.sites[pair.cell->sites & ~LOCATION_PAIRS_WALK], out);
	return walk && !location_pairs_walk(pair.cell);
}

/* Makes pairs of the present access and the recent ones. */
static inline void pair_with_recent(struct atomicity2 *a, const struct recent_accesses *recent,
				    const struct pair_access *now, const struct view *view,
				    struct findings *out)
{
	unsigned partners = recent_partners(recent, &now->side.at, view), walks, left;
	struct location_pairs *c = &a->location_pairs;

	if (!partners)
		return;
	walks = partners & recent_walking(recent, c, now);
	left = partners & ~walks;
	if (left && c->count > PREFETCH_PAIRS)
		prefetch_all(c, recent, left, now, view->thread);
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		/* Slots of the same site, left out because it walked, are pairs again. */
		if (pair_with(a, recent, i, now, view->thread, out)) {
			unsigned again =
				walks & -(2u << i) & recent_equal(recent->site, recent->site[i]);

			left |= again;
			walks &= ~again;
		}
	}
	if (!now->unshared)
		c->skipped += recent_bit_count(walks);
}

static void atomicity2_access(struct atomicity2 *a, const struct event *ev,
			      const struct view *view, struct findings *out)
{
	struct recent_accesses *recent = recent_of_thread(a, ev->thread);
	struct pair_access *now = &recent->accesses[recent->unused];
	uint8_t access = (uint8_t)access_of(ev->kind);

	if (unshared_sites_has(&a->unshared_sites, ev->pc)) {
		recent_put_unshared(recent, ev->addr, access, ev->pc, view->index);
		return;
	}
	contexts_capture(a->contexts, ev, view, &now->side.at);
	now->side.pc = ev->pc;
	now->side.kind = ev->kind;
	now->side.access = access;
	now->lockset = view->lockset;
	now->unshared =
		unshared_is_clear(a->unshared, a->unshared->shared, ev->addr / GRANULE_BYTES);
	now->site = recent_site(recent, &a->location_pairs, ev->pc);
	location_pairs_locate(&a->location_pairs, now);
	pair_with_recent(a, recent, now, view, out);
	recent_put_shared(recent);
}

static void atomicity2_event(void *state, const struct event *ev, const struct view *view,
			     struct findings *out)
{
	struct atomicity2 *a = state;
	unsigned access = access_of(ev->kind);

	if (!access)
		contexts_sync(a->contexts, ev, view);
	else if (!view_ignores(view, access) && ev->size)
		atomicity2_access(a, ev, view, out);
	if (view->gone_size)
		location_pairs_forget(&a->location_pairs, view->gone_addr, view->gone_size);
}

struct lost_count {
	const struct map *matched;
	uint64_t sum;
};

static void add_lost(void *ctx, uint64_t key, uint64_t value)
{
	struct lost_count *c = ctx;

	if (!map_find(c->matched, key))
		c->sum += value;
}

static void atomicity2_finish(void *state, struct findings *out)
{
	struct atomicity2 *a = state;
	struct lost_count lost = { &a->matched, 0 };

	/* Pairs of sites that were compared with others stand for those that were lost. */
	map_each(&a->lost, add_lost, &lost);
	findings_dropped(out, lost.sum + a->location_pairs.skipped);
}

const struct analysis analysis_atomicity2 = {
	.name = "atomicity2",
	.summary = "two locations used together in a block, and by another thread in between",
	.open = atomicity2_open,
	.prescan = atomicity2_prescan,
	.event = atomicity2_event,
	.finish = atomicity2_finish,
	.close = atomicity2_close,
};
