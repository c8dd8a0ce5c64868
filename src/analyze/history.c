#include "analyze/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A new element of a pool: a freed one, or one more. */
#define TAKE(h, name, pool, count, capacity)						\
	static uint32_t name(struct history *h)						\
	{										\
		uint32_t n = h->free_##pool;						\
											\
		if (n) {								\
			h->free_##pool = h->pool##s[n].next;				\
		} else {								\
			h->pool##s = xgrow(h->pool##s, h->count, &h->capacity,		\
					   sizeof(*h->pool##s));			\
			n = (uint32_t)h->count++;					\
		}									\
		memset(&h->pool##s[n], 0, sizeof(h->pool##s[n]));			\
		return n;								\
	}

TAKE(h, take_rep, rep, rep_count, rep_capacity)
TAKE(h, take_pair, pair, pair_count, pair_capacity)
TAKE(h, take_cell, cell, cell_count, cell_capacity)

void history_init(struct history *h, struct moments *moments)
{
	*h = (struct history){ .moments = moments };
	/* Number 0 of each is none. */
	take_rep(h);
	take_pair(h);
	take_cell(h);
	granules_init(&h->granules);
}

void history_free(struct history *h)
{
	free(h->reps);
	free(h->pairs);
	free(h->cells);
	granules_free(&h->granules);
	*h = (struct history){ 0 };
}

uint32_t history_cell(struct history *h, uint32_t *granule, uint32_t thread, uint8_t bytes,
		      uint32_t *recent, uint32_t inside[HISTORY_INSIDE], unsigned *insiders)
{
	uint32_t n = *granule, *from = granule;
	struct history_cell *c;

	*recent = 0;
	*insiders = 0;
	for (; n; from = &c->next, n = c->next) {
		c = &h->cells[n];
		if (c->thread != thread) {
			if (!*recent && (c->bytes & bytes) && *insiders < HISTORY_INSIDE)
				inside[(*insiders)++] = n;
			continue;
		}
		if (!*recent && (c->bytes & bytes))
			*recent = n;
		if (c->bytes == bytes)
			break;
	}
	if (n) {
		*from = h->cells[n].next;
	} else {
		n = take_cell(h);
		h->cells[n].thread = thread;
		h->cells[n].bytes = bytes;
	}
	h->cells[n].next = *granule;
	*granule = n;
	return n;
}

static inline bool rep_alike(const struct history_rep *a, const struct history_rep *b)
{
	return a->pc == b->pc && a->lockset == b->lockset && a->kind == b->kind && a->own == b->own;
}

uint32_t history_note(struct history *h, uint32_t cell, const struct history_rep *like,
		      const struct moment *now, bool *fresh)
{
	struct history_cell *c = &h->cells[cell];
	uint32_t newest = 0, epochs = 0, n;
	struct history_rep *r;

	*fresh = false;
	for (n = c->reps; n; n = r->next) {
		r = &h->reps[n];
		if (!rep_alike(r, like))
			continue;
		if (r->at.epoch == now->epoch)
			return n;
		if (!newest || r->at.index > h->reps[newest].at.index)
			newest = n;
		epochs++;
	}
	if (epochs >= HISTORY_EPOCHS) {
		n = newest;
	} else if (c->rep_count == HISTORY_REPS) {
		h->dropped++;
		return 0;
	} else {
		n = take_rep(h);
		h->reps[n] = *like;
		h->reps[n].next = c->reps;
		c->reps = n;
		c->rep_count++;
	}
	moments_keep(h->moments, &h->reps[n].at, now);
	*fresh = true;
	return n;
}

static inline void settle(struct history *h, struct history_last *last,
			  const struct history_last *now)
{
	moments_keep(h->moments, &last->at, &now->at);
	last->rep = now->rep;
	last->tag = now->tag;
	last->access = now->access;
	last->own = now->own;
}

void history_settle(struct history *h, struct history_cell *c, const struct history_last *now)
{
	settle(h, &c->last, now);
	if (now->access & ACCESS_WRITE)
		settle(h, &c->last_write, now);
}

static inline bool pair_alike(const struct history *h, const struct history_pair *a,
			      const struct history_pair *b)
{
	const struct history_rep *r = h->reps;

	if (a->wide != b->wide || a->bytes != b->bytes || a->cuts != b->cuts)
		return false;
	for (unsigned i = 0; i < a->cuts; i++)
		if (a->cut[i] != b->cut[i])
			return false;
	return (a->p_rep == b->p_rep || rep_alike(&r[a->p_rep], &r[b->p_rep])) &&
	       (a->i_rep == b->i_rep || rep_alike(&r[a->i_rep], &r[b->i_rep]));
}

uint32_t history_note_pair(struct history *h, uint32_t cell, const struct history_pair *like,
			   const struct moment *p, const struct moment *i, bool *fresh)
{
	struct history_cell *c = &h->cells[cell];
	uint32_t newest = 0, epochs = 0, n;
	struct history_pair *old;

	*fresh = true;
	for (n = c->pairs; n; n = old->next) {
		old = &h->pairs[n];
		if (!pair_alike(h, old, like))
			continue;
		if (old->p.epoch == p->epoch && old->i.epoch == i->epoch) {
			*fresh = false;
			break;
		}
		if (!newest || old->i.index > h->pairs[newest].i.index)
			newest = n;
		epochs++;
	}
	if (!n && epochs >= HISTORY_EPOCHS) {
		n = newest;
	} else if (!n && c->pair_count == HISTORY_PAIRS) {
		h->dropped++;
		return 0;
	} else if (!n) {
		n = take_pair(h);
		h->pairs[n] = *like;
		h->pairs[n].next = c->pairs;
		c->pairs = n;
		c->pair_count++;
	}
	moments_keep(h->moments, &h->pairs[n].p, p);
	moments_keep(h->moments, &h->pairs[n].i, i);
	return n;
}

static void forget_cell(struct history *h, uint32_t cell)
{
	struct history_cell *c = &h->cells[cell];
	uint32_t n, next;

	for (n = c->reps; n; n = next) {
		next = h->reps[n].next;
		moments_drop(h->moments, &h->reps[n].at);
		h->reps[n].next = h->free_rep;
		h->free_rep = n;
	}
	for (n = c->pairs; n; n = next) {
		next = h->pairs[n].next;
		moments_drop(h->moments, &h->pairs[n].p);
		moments_drop(h->moments, &h->pairs[n].i);
		h->pairs[n].next = h->free_pair;
		h->free_pair = n;
	}
	moments_drop(h->moments, &c->last.at);
	moments_drop(h->moments, &c->last_write.at);
	c->next = h->free_cell;
	h->free_cell = cell;
}

static void forget_granule(void *ctx, uint32_t *cells)
{
	struct history *h = ctx;
	uint32_t n, next;

	for (n = *cells; n; n = next) {
		next = h->cells[n].next;
		forget_cell(h, n);
	}
	*cells = 0;
}

void history_forget(struct history *h, uint64_t addr, uint64_t size)
{
	granules_each(&h->granules, addr, size, forget_granule, h);
}
