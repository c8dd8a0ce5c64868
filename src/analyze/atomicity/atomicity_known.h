/*
 * The fast path of the atomicity analysis, for accesses to one granule that add nothing to their
 * cell, as most do, or whose cell is full. It changes nothing before that is certain, and computes
 * nothing that only the slow path (access_granule()) needs. Rare cases are left to the slow path.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_KNOWN_H
#define ANALYZE_ATOMICITY_ATOMICITY_KNOWN_H

#include "analyze/atomicity/atomicity.h"

/* per cell: times that other threads' accesses inside a known pair are compared */
#define INSIDE_CHECKS_MAX 8u

/* An access to one granule, before its context is made. */
struct known_access {
	const struct view *view;
	const struct contexts_thread *here;
	struct history_cell *cell;
	uint64_t key;		/* rep_key() */
	struct history_share *share;	/* NULL: no other thread accessed the granule */
	uint32_t block, lockset;
	bool own_read;		/* as in struct history_signature */
	bool inside_done; /* no access of another thread inside its pairs has to be compared */
};

/* contexts_same_block() without the context of the present access. */
static inline bool known_same_block(const struct known_access *k, const struct access_context *p)
{
	if (p->block && p->block == k->block)
		return true;
	if ((p->block | k->block) & CONTEXTS_USER_BLOCK)
		return false;
	return k->view->index - p->index <= CONTEXTS_BLOCK_EVENTS ||
	       contexts_function_active(p, k->view);
}

/* True if the cell has the pair of `p` and the access, in one epoch. Both must be in one block. */
static inline bool known_pair(const struct atomicity *a, const struct known_access *k,
			      const struct access_context *p, bool spans_reads)
{
	struct access_context now = { .tag = (uint32_t)k->key, .epoch = (uint32_t)(k->key >> 32) };
	struct history_probe probe = {
		.p = p, .i = &now, .cuts = 1, .bytes = k->cell->bytes, .spans_reads = spans_reads
	};

	if (!k->inside_done || p->epoch != now.epoch)
		return false;
	probe.cut[0] = k->lockset;
	if (p->sync_state != k->here->sync_state)
		probe.cuts = (uint8_t)contexts_cuts_since(a->contexts, k->here, p->index,
							  a->history.signatures[p->tag].lockset,
							  probe.cut);
	probe.key = history_probe_key(&probe);
	return history_has_pair(&a->history, k->cell, &probe);
}

/* Returns the signature predicted to come next if it is that of this access, else 0. */
static inline uint32_t known_signature(const struct history *h, const struct event *ev,
				       uint32_t lockset, bool own_read)
{
	uint32_t guess;
	const struct history_signature *w;

	if (lockset == h->last_lockset)
		guess = h->signatures[h->last_signature].next;
	else if (lockset < h->first_of_lockset_count)
		guess = h->first_of_lockset[lockset];
	else
		return 0;
	w = &h->signatures[guess];
	return w->pc == ev->pc && w->lockset == lockset && w->kind == ev->kind &&
			       w->own_read == own_read
		       ? guess
		       : 0;
}

/* True if the cell has the representative and all pairs of the access. */
static inline bool known_all(const struct atomicity *a, const struct known_access *k, bool writes)
{
	struct history_cell *c = k->cell;
	const struct access_context *older_write;
	bool unused;

	if (known_same_block(k, &c->last) ? !known_pair(a, k, &c->last, false)
					  : !history_has_key(&a->history, c, k->key, &unused))
		return false;
	if (!writes || !c->older_write || !c->older_write_noted)
		return true;
	older_write = history_older_write(&a->history, c);
	return !known_same_block(k, older_write) || known_pair(a, k, older_write, true);
}

/*
 * Returns the cell of the access, if no other cell is involved and the cell needs no memory for the
 * access; else NULL.
 */
static inline struct history_cell *known_cell(struct history *h, const struct event *ev,
					      uint32_t thread, unsigned access)
{
	uint64_t granule = ev->addr / GRANULE_BYTES, line = granule / HISTORY_LINE;
	unsigned first = ev->addr % GRANULE_BYTES, g = granule % HISTORY_LINE;
	struct history_cell *c;

	if (ev->size - 1 >= GRANULE_BYTES - first)
		return NULL;
	if (h->current.key != key_of(line, thread)) {
		if (!history_has_room(h))
			return NULL;
		history_enter_line(h, line, thread, g);
	}
	c = history_cell(h, h->current.block, g);
	if (c->bytes != (uint8_t)(((1u << ev->size) - 1) << first) || c->next)
		return NULL;
	if (c->single_pair) {		/* The slow path would expand it, too. */
		if (!history_has_room(h))
			return NULL;
		history_expand(h, c);
	}
	return (access & ACCESS_WRITE ? c->wrote
				      : c->older_write_unit || !(c->last_flags & ACCESS_WRITE))
		       ? c
		       : NULL;
}

/* Makes the access the cell's last one. */
static inline __attribute__((always_inline)) void known_set_last(struct history *h,
								 const struct known_access *k,
								 const struct event *ev,
								 unsigned access, bool noted)
{
	struct history_cell *c = k->cell;
	uint32_t tag = (uint32_t)k->key;

	if (k->share) {
		k->share->last_thread = k->view->thread;
		if (k->share->ordered_epoch)
			k->share->ordered_epoch = k->here->epoch;
	}
	h->last_lockset = k->lockset;
	h->last_signature = tag;
	if (access & ACCESS_WRITE)
		c->older_write = 0;
	else if (c->last_flags & ACCESS_WRITE)
		history_set_older_write(h, c);
	c->last_flags = (uint8_t)(access | (k->own_read ? HISTORY_OWN_READ : 0) |
				  (noted ? HISTORY_NOTED : 0));
	/* Filled in directly: copying a context just written would wait for its stores. */
	contexts_fill(k->here, ev, k->view, tag, &c->last);
}

/*
 * Drops the access if the full cell has neither its signature nor its core; then the cell has no
 * pairs with it either. Returns false if it has one of them.
 */
static __attribute__((noinline)) bool known_drop(struct history *h, const struct known_access *k,
						 const struct event *ev, unsigned access)
{
	const uint64_t *keys = rep_keys(h, k->cell);
	uint32_t tag = (uint32_t)k->key, core = h->signatures[tag].core, found = 0;

	for (unsigned n = 0; n < HISTORY_REPS; n++)
		found |= ((uint32_t)keys[n] == tag) | ((uint32_t)keys[n] == core);
	if (found)
		return false;
	history_kinds_note(h, k->cell, tag);
	h->dropped++;
	known_set_last(h, k, ev, access, false);
	return true;
}

/*
 * True if nothing about the access is new, or the cell has no room for it; the access is then done.
 */
static inline bool atomicity_access_fast(struct atomicity *a, const struct event *ev,
					 const struct view *view,
					 const struct contexts_thread *here, unsigned access)
{
	struct history *h = &a->history;
	struct history_cell *c = known_cell(h, ev, view->thread, access);
	struct known_access k = {
		.view = view, .here = here, .cell = c, .lockset = view->lockset, .inside_done = true
	};
	bool writes = access & ACCESS_WRITE, full;
	uint32_t tag;

	if (!c)
		return false;
	full = c->rep_count == HISTORY_REPS;
	if (!is_noted(c) && !full)
		return false;
	k.own_read = !writes && k.lockset && is_noted(c) &&
		     (c->last_flags & (ACCESS_WRITE | HISTORY_OWN_READ)) &&
		     contexts_same_section(here, &c->last) && h->signatures[c->last.tag].lockset;
	tag = known_signature(h, ev, k.lockset, k.own_read);
	if (!tag)
		return false;
	k.key = (uint64_t)here->epoch << 32 | tag;
	k.block = view->user_block ? view->user_block | CONTEXTS_USER_BLOCK : view->block;
	if (c->shared) {
		k.share = history_share(h, h->current.share, history_granule_of(h, c));
		k.inside_done = k.share->last_thread == view->thread ||
				c->inside_checks >= INSIDE_CHECKS_MAX;
		if (k.share->ordered_epoch && k.share->last_thread != view->thread)
			return false;
	}
	if (!is_noted(c) || h->signatures[tag].core != tag || !known_all(a, &k, writes))
		return full && known_drop(h, &k, ev, access);
	known_set_last(h, &k, ev, access, true);
	return true;
}

#endif
