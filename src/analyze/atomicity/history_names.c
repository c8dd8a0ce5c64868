/*
 * Numbers for what tells accesses and pairs apart: equal ones have equal numbers, and those
 * that differ in acquisition histories alone have a core in common.
 */
#include "analyze/atomicity/history.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* True if one more than `count` needs more room: then all are to be put again. */
static bool is_full(struct history_numbers *n, size_t count)
{
	if (count * 2 <= n->size)
		return false;
	free(n->at);
	n->size = n->size ? n->size * 2 : 512;
	n->at = xcalloc(n->size, sizeof(*n->at));
	return true;
}

static void put(struct history_numbers *n, uint64_t hash, uint32_t number)
{
	size_t i = hash & (n->size - 1);

	while (n->at[i])
		i = (i + 1) & (n->size - 1);
	n->at[i] = number;
}

static bool same_what(const struct history_what *a, const struct history_what *b)
{
	return a->pc == b->pc && a->lockset == b->lockset && a->kind == b->kind && a->own == b->own;
}

/* Hashes of different ones are hardly ever equal: then the later has none. */
static uint32_t within_of(struct history *h, const struct history_what *what, uint32_t number)
{
	const struct locks_ends *ends = locks_ends(h->moments->locks), *e = &ends[what->lockset], *known;
	uint64_t hash = hash_add(hash_add(hash_add(what->pc, what->access), e->inner), e->inner_pc);
	const struct history_what *first;
	uint64_t *at;

	if (e->count != 2 || e->inner_shared)
		return 0;
	at = map_put(&h->within_at, hash, NULL);
	if (!*at)
		*at = number;
	first = &h->whats[*at];
	known = &ends[first->lockset];
	return first->pc == what->pc && first->access == what->access && known->inner == e->inner &&
	       known->inner_pc == e->inner_pc ? (uint32_t)*at : 0;
}

/* Locksets do not change. */
static struct history_alike alike_of(const struct history *h, const struct history_what *what)
{
	const struct locks_ends *e = &locks_ends(h->moments->locks)[what->lockset];

	if (!what->within || what->own)
		return (struct history_alike){ 0 };
	return (struct history_alike){ e->taken, what->within, (uint32_t)__builtin_ctzll(locks_bit(e->outer)) };
}

static struct history_alikes alikes_of(const struct history *h, const struct history_shape *s)
{
	const struct history_what *p = &h->whats[s->p], *i = &h->whats[s->i];
	const struct locks_ends *ends = locks_ends(h->moments->locks), *x, *z;

	if (!p->within || !i->within || s->cut[0])
		return (struct history_alikes){ 0 };
	x = &ends[p->lockset];
	z = &ends[i->lockset];
	return (struct history_alikes){ x->taken | z->taken, locks_bit(x->outer) | locks_bit(z->outer),
					p->within, i->within | (s->wide ? HISTORY_WIDE : 0) };
}

static uint32_t what_number(struct history *h, const struct history_what *what, bool *added)
{
	uint64_t hash = history_what_hash(what);
	struct history_numbers *at = &h->what_at;
	uint32_t number;

	*added = false;
	if (is_full(at, h->what_count))
		for (uint32_t n = 1; n < h->what_count; n++)
			put(at, history_what_hash(&h->whats[n]), n);
	for (size_t i = hash & (at->size - 1); at->at[i]; i = (i + 1) & (at->size - 1))
		if (same_what(&h->whats[at->at[i]], what))
			return at->at[i];
	*added = true;
	h->whats = xgrow(h->whats, h->what_count, &h->what_capacity, sizeof(*h->whats));
	number = (uint32_t)h->what_count++;
	h->whats[number] = *what;
	h->whats[number].core = number;
	h->whats[number].within = within_of(h, what, number);
	h->alike = xgrow(h->alike, number, &h->alike_capacity, sizeof(*h->alike));
	h->alike[number] = alike_of(h, &h->whats[number]);
	put(at, hash, number);
	return number;
}

uint32_t history_name(struct history *h, const struct history_what *what)
{
	bool added;
	uint32_t number = what_number(h, what, &added), core;
	struct history_what other = *what;

	if (!added)
		return number;
	other.lockset = moments_core(h->moments, what->lockset);
	core = what_number(h, &other, &added);
	h->whats[number].core = core;
	return number;
}

static bool same_shape(const struct history_shape *a, const struct history_shape *b)
{
	uint64_t x[3], y[3];

	_Static_assert(offsetof(struct history_shape, core) == sizeof(x), "all that tells them apart");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]));
}

static uint64_t shape_hash(const struct history_shape *s)
{
	uint64_t hash = hash_add(hash_add(0, (uint64_t)s->p << 32 | s->i),
			    (uint64_t)s->bytes << 8 | (uint64_t)s->cuts << 1 | s->wide);

	for (unsigned i = 0; i < s->cuts; i++)
		hash = hash_add(hash, s->cut[i]);
	return hash;
}

static uint32_t shape_number(struct history *h, const struct history_shape *s, bool *added)
{
	uint64_t hash = shape_hash(s);
	struct history_numbers *at = &h->shape_at;
	uint32_t number;

	*added = false;
	if (is_full(at, h->shape_count))
		for (uint32_t n = 1; n < h->shape_count; n++)
			put(at, shape_hash(&h->shapes[n]), n);
	for (size_t i = hash & (at->size - 1); at->at[i]; i = (i + 1) & (at->size - 1))
		if (same_shape(&h->shapes[at->at[i]], s))
			return at->at[i];
	*added = true;
	h->shapes = xgrow(h->shapes, h->shape_count, &h->shape_capacity, sizeof(*h->shapes));
	number = (uint32_t)h->shape_count++;
	h->shapes[number] = *s;
	h->shapes[number].core = number;
	h->alikes = xgrow(h->alikes, number, &h->alikes_capacity, sizeof(*h->alikes));
	h->alikes[number] = alikes_of(h, s);
	put(at, hash, number);
	return number;
}

/* Code mostly comes to an access by the same way. */
uint32_t history_shape(struct history *h, const struct history_like *like)
{
	struct history_shape s = { .p = like->p->tag, .i = like->i->tag, .cuts = like->cuts,
				   .bytes = like->bytes, .wide = like->wide };
	uint32_t *last = &h->whats[s.i].shape, number, core;
	bool added;

	for (unsigned i = 0; i < s.cuts; i++)
		s.cut[i] = like->cut[i];
	if (same_shape(&h->shapes[*last], &s))
		return *last;
	number = *last = shape_number(h, &s, &added);
	if (!added)
		return number;
	s.p = h->whats[s.p].core;
	s.i = h->whats[s.i].core;
	for (unsigned i = 0; i < s.cuts; i++)
		s.cut[i] = moments_core(h->moments, s.cut[i]);
	core = shape_number(h, &s, &added);
	h->shapes[number].core = core;
	return number;
}
