/*
 * For atomicity.c: most accesses are to one granule and add nothing to what is known of it, or there is no room
 * for it. They are told here from the others, which touch() sees to: nothing is changed before it is sure, nothing
 * is made that is only needed otherwise, and what is rare is left to the others.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_KNOWN_H
#define ANALYZE_ATOMICITY_ATOMICITY_KNOWN_H

#include "analyze/atomicity/atomicity.h"

#define SEEN_MAX 8u		/* times that something is looked for inside a pair */

/* An access to one granule, as far as it is known without its moment. */
struct known {
	const struct view *view;
	const struct moments_thread *here;
	struct history_cell *cell;
	uint64_t key;		/* rep_key() */
	struct history_share *share;	/* NULL: nobody else was there */
	uint32_t block, lockset;
	bool own;		/* reads what the thread wrote since it took its locks */
	bool settled;		/* nobody has to be looked for inside its pairs */
};

/* moments_together() */
static inline bool known_together(const struct known *k, const struct moment *p)
{
	if (p->block && p->block == k->block)
		return true;
	if ((p->block | k->block) & MOMENTS_USER_BLOCK)
		return false;
	return k->view->index - p->index <= MOMENTS_WINDOW || moments_within(p, k->view);
}

/* The pair of `p`, which is together with the access, and the access is known, under one clock. */
static inline bool known_pair(const struct atomicity *a, const struct known *k, const struct moment *p, bool wide)
{
	struct moment now = { .tag = (uint32_t)k->key, .epoch = (uint32_t)(k->key >> 32) };
	struct history_like like = { .p = p, .i = &now, .cuts = 1, .bytes = k->cell->bytes, .wide = wide };

	if (!k->settled || p->epoch != now.epoch)
		return false;
	like.cut[0] = k->lockset;
	if (p->situation != k->here->situation)
		like.cuts = (uint8_t)moments_cuts_since(a->moments, k->here, p->index,
							a->history.whats[p->tag].lockset, like.cut);
	like.key = history_like_key(&like);
	return history_has_pair(&a->history, k->cell, &like);
}

/* The number that comes next is that of this access; 0: another. */
static inline uint32_t known_what(const struct history *h, const struct event *ev, uint32_t lockset, bool own)
{
	uint32_t guess;
	const struct history_what *w;

	if (lockset == h->what_lockset)
		guess = h->whats[h->what_last].next;
	else if (lockset < h->what_first_count)
		guess = h->what_first[lockset];
	else
		return 0;
	w = &h->whats[guess];
	return w->pc == ev->pc && w->lockset == lockset && w->kind == ev->kind && w->own == own ? guess : 0;
}

/* Its representative and pairs are there. */
static inline bool known_all(const struct atomicity *a, const struct known *k, bool writes)
{
	struct history_cell *c = k->cell;
	const struct moment *older;
	bool unused;

	if (known_together(k, &c->last) ? !known_pair(a, k, &c->last, false) :
					  !history_has_key(&a->history, c, k->key, &unused))
		return false;
	if (!writes || !c->older || !c->older_noted)
		return true;
	older = history_older(&a->history, c);
	return !known_together(k, older) || known_pair(a, k, older, true);
}

/* The cell of the access, if it has but that of its granule, and room for all that may become of it; else NULL. */
static inline struct history_cell *known_cell(struct history *h, const struct event *ev, uint32_t thread,
					      unsigned access)
{
	uint64_t granule = ev->addr / GRANULE_BYTES, line = granule / HISTORY_LINE;
	unsigned first = ev->addr % GRANULE_BYTES, g = granule % HISTORY_LINE;
	struct history_cell *c;

	if (ev->size - 1 >= GRANULE_BYTES - first)
		return NULL;
	if (h->here.key != key_of(line, thread)) {
		if (!history_has_room(h))
			return NULL;
		history_go(h, line, thread, g);
	}
	c = history_cell(h, h->here.block, g);
	if (c->bytes != (uint8_t)(((1u << ev->size) - 1) << first) || c->next)
		return NULL;
	if (c->young) {		/* whatever comes of this access */
		if (!history_has_room(h))
			return NULL;
		history_grow_up(h, c);
	}
	return (access & ACCESS_WRITE ? c->wrote : c->roomy || !(c->how & ACCESS_WRITE)) ? c : NULL;
}

/* It is the last one at its cell now. */
static inline __attribute__((always_inline)) void known_settle(struct history *h, const struct known *k, const struct event *ev,
							       unsigned access, bool noted)
{
	struct history_cell *c = k->cell;
	uint32_t tag = (uint32_t)k->key;

	if (k->share) {
		k->share->toucher = k->view->thread;
		if (k->share->front)
			k->share->front = k->here->epoch;
	}
	h->what_lockset = k->lockset;
	h->what_last = tag;
	if (access & ACCESS_WRITE)
		c->older = 0;
	else if (c->how & ACCESS_WRITE)
		history_set_older(h, c);
	c->how = (uint8_t)(access | (k->own ? HISTORY_OWN : 0) | (noted ? HISTORY_NOTED : 0));
	/* Copying what was just written would wait for it. */
	moments_make(k->here, ev, k->view, tag, &c->last);
}

/*
 * The cell is full, and has neither this nor what differs from it in acquisition histories alone; nor has it
 * pairs with it, then. It is dropped.
 */
static __attribute__((noinline)) bool known_stranger(struct history *h, const struct known *k, const struct event *ev,
						     unsigned access)
{
	const uint64_t *keys = rep_keys(h, k->cell);
	uint32_t tag = (uint32_t)k->key, core = h->whats[tag].core, found = 0;

	for (unsigned n = 0; n < HISTORY_REPS; n++)
		found |= ((uint32_t)keys[n] == tag) | ((uint32_t)keys[n] == core);
	if (found)
		return false;
	history_kinds_note(h, k->cell, tag);
	h->dropped++;
	known_settle(h, k, ev, access, false);
	return true;
}

/* Nothing about the access is new, or can be kept: then it is settled. */
static inline bool atomicity_knows(struct atomicity *a, const struct event *ev, const struct view *view,
				   const struct moments_thread *here, unsigned access)
{
	struct history *h = &a->history;
	struct history_cell *c = known_cell(h, ev, view->thread, access);
	struct known k = { .view = view, .here = here, .cell = c, .lockset = view->lockset, .settled = true };
	bool writes = access & ACCESS_WRITE, full;
	uint32_t tag;

	if (!c)
		return false;
	full = c->rep_count == HISTORY_REPS;
	if (!is_noted(c) && !full)
		return false;
	k.own = !writes && k.lockset && is_noted(c) && (c->how & (ACCESS_WRITE | HISTORY_OWN)) &&
		moments_same_section(here, &c->last) && h->whats[c->last.tag].lockset;
	tag = known_what(h, ev, k.lockset, k.own);
	if (!tag)
		return false;
	k.key = (uint64_t)here->epoch << 32 | tag;
	k.block = view->user_block ? view->user_block | MOMENTS_USER_BLOCK : view->block;
	if (c->shared) {
		k.share = history_share(h, h->here.share, history_granule_of(h, c));
		k.settled = k.share->toucher == view->thread || c->seen >= SEEN_MAX;
		if (k.share->front && k.share->toucher != view->thread)
			return false;
	}
	if (!is_noted(c) || h->whats[tag].core != tag || !known_all(a, &k, writes))
		return full && known_stranger(h, &k, ev, access);
	known_settle(h, &k, ev, access, true);
	return true;
}

#endif
