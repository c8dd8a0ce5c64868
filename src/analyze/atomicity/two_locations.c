/*
 * Atomicity of two locations that are used together, such as a length and a
 * pointer: a thread uses x and then y in one block, another thread both as well, and
 * each place is written by one of the two. The blocks are not as if one came after
 * the other when the first comes first at x and last at y:
 *
 *	a(x) before b(x)  and  b(y) before a(y)
 *
 * (conflict cycle of two; Maple's idioms 4 and 5). If the other uses x first too, it
 * runs as a whole between a(x) and a(y): the first thread has to pass a lockset that
 * lets it. If it uses y first, both are amid their blocks at one moment, and the
 * locksets there have to go with each other. Every access may be locked all the same.
 *
 * Couples are made of an access and the last NEAR others of the thread, each place and
 * direction once, and NEAR_SITE of a site. What is remembered of them is bounded (couples.h).
 * Where nothing conflicts, accesses only take the room of others among the last ones (idle.h).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/atomicity/dedupe.h"
#include "analyze/atomicity/location_pairs.h"
#include "analyze/atomicity/recent_accesses.h"
#include "analyze/relevance/unshared_sites.h"
#include "base/mem.h"

#define FAR 8192u	/* so many couples are more than a processor has at hand */

struct atomicity2 {
	struct locks *locks;
	struct moments *moments;
	struct couples couples;
	struct told told;
	struct idle idle;
	const struct alone *alone;
	struct near **threads;
	size_t thread_count;
};

static void mark(void *ctx)
{
	const struct atomicity2 *a = ctx;

	couples_mark(&a->couples);
	for (size_t i = 0; i < a->thread_count; i++)
		for (unsigned k = 0; a->threads[i] && k <= NEAR; k++)
			moments_mark(a->moments, &a->threads[i]->accesses[k].side.at);
}

static void *atomicity2_open(const struct analysis_context *ctx)
{
	struct atomicity2 *a = xcalloc(1, sizeof(*a));

	a->locks = ctx->locks;
	a->moments = moments_new(ctx->locks);
	moments_marker(a->moments, mark, a);
	couples_init(&a->couples, a->moments);
	return a;
}

static void atomicity2_look(void *state, struct reader *trace, const struct alone *alone)
{
	struct atomicity2 *a = state;

	a->alone = alone;
	idle_look(&a->idle, alone, trace);
}

static void atomicity2_close(void *state)
{
	struct atomicity2 *a = state;

	for (size_t i = 0; i < a->thread_count; i++)
		near_free(a->threads[i]);
	free(a->threads);
	told_free(&a->told);
	couples_free(&a->couples);
	moments_free(a->moments);
	free(a);
}

static __attribute__((noinline)) struct near *near_make(struct atomicity2 *a, uint32_t id)
{
	if (id >= a->thread_count)
		a->threads = xreach(a->threads, id, &a->thread_count, sizeof(*a->threads));
	if (!a->threads[id])
		a->threads[id] = near_new();
	return a->threads[id];
}

static inline struct near *near_of(struct atomicity2 *a, uint32_t id)
{
	return id < a->thread_count && a->threads[id] ? a->threads[id] : near_make(a, id);
}

/* What the thread between two accesses lets another do, and the other way round. */
static enum prune_reason meet(const struct atomicity2 *a, const struct couple_link *k,
			      const struct couple_link *o, bool crossing)
{
	enum prune_reason why = PRUNE_LOCK, other;

	if (!crossing) {
		why = moments_meet(a->moments, k->cut, k->cuts, o->lockset[0]);
		if (why != PRUNE_REASONS || o->lockset[0] == o->lockset[1])
			return why;
		return moments_meet(a->moments, k->cut, k->cuts, o->lockset[1]);
	}
	for (unsigned i = 0; i < o->cuts; i++) {
		other = moments_meet(a->moments, k->cut, k->cuts, o->cut[i]);
		if (other == PRUNE_REASONS)
			return other;
		if (other == PRUNE_HISTORY)
			why = other;
	}
	return why;
}

static void add_hold(const struct atomicity2 *a, struct candidate *c, unsigned which,
		     const struct couple_side *held, uint64_t after, const struct couple_side *other)
{
	struct candidate_event entry;

	if (c->hold[which] >= 0 ||
	    !moments_hold(a->moments, &held->at, after, &other->at, &entry))
		return;
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = entry;
}

static void set_location(const struct couple_side *a, const struct couple_side *b, uint64_t *addr,
			 uint64_t *size)
{
	uint64_t low = a->at.addr > b->at.addr ? a->at.addr : b->at.addr;
	uint64_t a_end = a->at.addr + a->at.size, b_end = b->at.addr + b->at.size;

	*addr = low;
	*size = (a_end < b_end ? a_end : b_end) - low;
}

/* The accesses in an order that breaks the blocks. */
static enum pattern pattern_of(const struct couple *k, const struct couple *o, unsigned ox)
{
	const struct couple_side *side[4] = { &k->side[0], &o->side[0], &o->side[1], &k->side[1] };
	const char places[4] = { 'x', ox == 0 ? 'x' : 'y', ox == 0 ? 'y' : 'x', 'y' };
	char name[9] = "";

	for (unsigned i = 0; i < 4; i++) {
		name[2 * i] = side[i]->access & ACCESS_WRITE ? 'W' : 'R';
		name[2 * i + 1] = places[i];
	}
	return pattern_find(name);
}

static void emit(struct atomicity2 *a, const struct couple *k, const struct couple *o, unsigned ox,
		 uint64_t key, const struct told_part parts[4], struct findings *out)
{
	const struct couple_side *kx = &k->side[0], *ky = &k->side[1];
	const struct couple_side *bx = &o->side[ox], *by = &o->side[1 - ox];
	struct candidate c = { .pattern = pattern_of(k, o, ox), .events = 4, .orders = 2, .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = moments_event(a->moments, &kx->at, kx->pc, kx->kind);
	c.event[1 + ox] = moments_event(a->moments, &bx->at, bx->pc, bx->kind);
	c.event[2 - ox] = moments_event(a->moments, &by->at, by->pc, by->kind);
	c.event[3] = moments_event(a->moments, &ky->at, ky->pc, ky->kind);
	c.order[0] = (struct candidate_order){ 0, (uint8_t)(1 + ox) };
	c.order[1] = (struct candidate_order){ (uint8_t)(2 - ox), 3 };
	add_hold(a, &c, 1 + ox, bx, MOMENTS_ANY, kx);
	add_hold(a, &c, 3, ky, kx->at.index, by);
	if (ox == 0)
		add_hold(a, &c, 3, ky, kx->at.index, bx);
	c.seen = kx->at.time < bx->at.time && by->at.time < ky->at.time;
	set_location(kx, bx, &c.addr, &c.size);
	set_location(ky, by, &c.addr2, &c.size2);
	told_add(&a->told, key, parts, 4, &c, out);
}

static struct told_part part(const struct atomicity2 *a, const struct couple_side *s,
			     const struct couple_side *meets)
{
	return (struct told_part){ s->pc, &s->at, moments_lockset(a->moments, &s->at),
				   moments_lockset(a->moments, &meets->at) };
}

/*
 * The other's events are in its own order; `ox` is its side at x, the first place of
 * `k`, so `ox` 1 means that the two cross.
 */
static void tell(struct atomicity2 *a, const struct couple *k, const struct couple *o, unsigned ox,
		 struct findings *out)
{
	const struct couple_side *kx = &k->side[0], *ky = &k->side[1];
	const struct couple_side *bx = &o->side[ox], *by = &o->side[1 - ox];
	struct told_part parts[4];
	uint64_t key;

	parts[0] = part(a, kx, bx);
	parts[1 + ox] = part(a, bx, kx);
	parts[2 - ox] = part(a, by, ky);
	parts[3] = part(a, ky, by);
	key = told_key(a->locks, parts, 4) + ox;
	if (!told_again(&a->told, told_find(&a->told, key), parts, 4,
			kx->at.time < bx->at.time && by->at.time < ky->at.time, out))
		emit(a, k, o, ox, key, parts, out);
}

/* `ox`: as couples_cross() says. */
static void match(struct atomicity2 *a, uint32_t couple, uint32_t other, unsigned ox,
		  struct findings *out)
{
	const struct couple_link *k = &a->couples.links[couple], *o = &a->couples.links[other];
	enum prune_reason why;

	if (moments_fixed(a->moments, k->epoch[0], o->epoch[ox], o->epoch[1 - ox], k->epoch[1]))
		why = PRUNE_HB;
	else
		why = meet(a, k, o, ox == 1);
	if (why == PRUNE_REASONS)
		tell(a, &a->couples.list[couple], &a->couples.list[other], ox, out);
	else
		findings_pruned(out, why, 1);
}

static void match_all(struct atomicity2 *a, uint32_t fresh, struct findings *out)
{
	struct couples_others others;
	uint32_t n;
	unsigned ox;

	couples_others(&a->couples, fresh, &others);
	while ((n = couples_other(&a->couples, &others))) {
		ox = couples_cross(&a->couples, fresh, n);
		if (ox == COUPLES_APART)
			continue;
		match(a, fresh, n, ox, out);
		/* Crossing is the same seen from either side. */
		if (ox == 0)
			match(a, n, fresh, ox, out);
	}
}

/* The access with one of those near. */
static inline void pair_up(struct couples *c, const struct near *near, unsigned i,
			   const struct couple_access *now, uint32_t thread, struct couple_pair *pair)
{
	pair->first = &near->accesses[near->at[i]];
	pair->cell = couples_sites(c, thread, near->site[i], now->site);
	couples_pair(pair, now);
}

/* With many threads, what will be needed is far: it is asked for all of them at once. */
static __attribute__((noinline)) void ask_ahead(struct couples *c, const struct near *near, unsigned some,
						const struct couple_access *now, uint32_t thread)
{
	struct couple_pair pairs[NEAR];
	unsigned count = 0;

	for (; some; some &= some - 1) {
		pair_up(c, near, (unsigned)__builtin_ctz(some), now, thread, &pairs[count]);
		couples_soon(c, &pairs[count++]);
	}
	for (unsigned i = 0; i < count; i++)
		couples_sooner(c, &pairs[i]);
}

/* … unless the two sites walk by now. Whether they do so no longer. */
static inline bool couple_with(struct atomicity2 *a, const struct near *near, unsigned i,
			       const struct couple_access *now, uint32_t thread, struct findings *out)
{
	struct couple_pair pair;
	uint32_t fresh;
	bool walk;

	pair_up(&a->couples, near, i, now, thread, &pair);
	walk = couples_walk(pair.cell);
	if (walk && !couples_watched(near->place[i], now->place)) {
		a->couples.skipped++;
		return false;
	}
	fresh = couples_note(&a->couples, &pair);
	if (fresh)
		match_all(a, fresh, out);
	return walk && !couples_walk(pair.cell);
}

/* The access with those near. */
static inline void couple_up(struct atomicity2 *a, const struct near *near, const struct couple_access *now,
			     const struct view *view, struct findings *out)
{
	unsigned some = near_couples(near, &now->side.at, view), walks, left;
	struct couples *c = &a->couples;

	if (!some)
		return;
	walks = some & near_walks(near, c, now);
	left = some & ~walks;
	if (left && c->count > FAR)
		ask_ahead(c, near, left, now, view->thread);
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		/* Others of the site may be left out no longer. */
		if (couple_with(a, near, i, now, view->thread, out)) {
			unsigned again = walks & -(2u << i) & near_equal(near->site, near->site[i]);

			left |= again;
			walks &= ~again;
		}
	}
	c->skipped += near_count(walks);
}

static void atomicity2_access(struct atomicity2 *a, const struct event *ev,
			      const struct view *view, struct findings *out)
{
	struct near *near = near_of(a, ev->thread);
	struct couple_access *now = &near->accesses[near->spare];
	uint8_t access = (uint8_t)access_of(ev->kind);

	if (idle_has(&a->idle, ev->pc)) {
		near_put_idle(near, ev->addr, access, ev->pc, view->index);
		return;
	}
	moments_now(a->moments, ev, view, &now->side.at);
	now->side.pc = ev->pc;
	now->side.kind = ev->kind;
	now->side.access = access;
	now->lockset = view->lockset;
	now->moot = alone_granule(a->alone, a->alone->shared, ev->addr / GRANULE_BYTES);
	now->site = near_site(near, &a->couples, ev->pc);
	couples_place(&a->couples, now);
	couple_up(a, near, now, view, out);
	near_put_live(near);
}

static void atomicity2_event(void *state, const struct event *ev, const struct view *view,
			     struct findings *out)
{
	struct atomicity2 *a = state;
	unsigned access = access_of(ev->kind);

	if (!access)
		moments_sync(a->moments, ev, view);
	else if (!view_ignores(view, access) && ev->size)
		atomicity2_access(a, ev, view, out);
	if (view->gone_size)
		couples_forget(&a->couples, view->gone_addr, view->gone_size);
}

static void atomicity2_finish(void *state, struct findings *out)
{
	struct atomicity2 *a = state;

	findings_dropped(out, a->couples.replaced + a->couples.skipped);
}

const struct analysis analysis_atomicity2 = {
	.name = "atomicity2",
	.summary = "two locations used together in a block, and by another thread in between",
	.open = atomicity2_open,
	.look = atomicity2_look,
	.event = atomicity2_event,
	.finish = atomicity2_finish,
	.close = atomicity2_close,
};
