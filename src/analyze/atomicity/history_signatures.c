/*
 * Interns access signatures and pair shapes: equal ones have equal numbers. Each number also has
 * its core, the number without acquisition histories: signatures that differ only in these have one
 * core.
 */
#include "analyze/atomicity/history.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/*
 * True if the table has no room for one more than `count`. Then it is replaced by a larger, empty
 * one, and the caller has to add all numbers again.
 */
static bool is_full(struct history_number_table *n, size_t count)
{
	if (count * 2 <= n->size)
		return false;
	free(n->at);
	n->size = n->size ? n->size * 2 : 512;
	n->at = xcalloc(n->size, sizeof(*n->at));
	return true;
}

static void put(struct history_number_table *n, uint64_t hash, uint32_t number)
{
	size_t i = hash & (n->size - 1);

	while (n->at[i])
		i = (i + 1) & (n->size - 1);
	n->at[i] = number;
}

static bool same_signature(const struct history_signature *a, const struct history_signature *b)
{
	return a->pc == b->pc && a->lockset == b->lockset && a->kind == b->kind &&
	       a->own_read == b->own_read;
}

/*
 * Returns the inner_class of the signature with this number. If the hashes of two classes collide,
 * which is rare, the signature that comes later has none.
 */
static uint32_t inner_class_of(struct history *h, const struct history_signature *signature,
			       uint32_t number)
{
	const struct locks_ends *ends = locks_ends(h->contexts->locks),
				*e = &ends[signature->lockset], *known;
	uint64_t hash = hash_add(hash_add(hash_add(signature->pc, signature->access), e->inner),
				 e->inner_pc);
	const struct history_signature *first;
	uint64_t *at;

	if (e->count != 2 || e->inner_shared)
		return 0;
	at = map_put(&h->inner_class_at, hash, NULL);
	if (!*at)
		*at = number;
	first = &h->signatures[*at];
	known = &ends[first->lockset];
	return first->pc == signature->pc && first->access == signature->access &&
			       known->inner == e->inner && known->inner_pc == e->inner_pc
		       ? (uint32_t)*at
		       : 0;
}

/* Computed once per signature: a lockset with a number never changes. */
static struct history_nesting nesting_of(const struct history *h,
					 const struct history_signature *signature)
{
	const struct locks_ends *e = &locks_ends(h->contexts->locks)[signature->lockset];

	if (!signature->inner_class || signature->own_read)
		return (struct history_nesting){ 0 };
	return (struct history_nesting){ e->taken, signature->inner_class,
					 (uint32_t)__builtin_ctzll(locks_bit(e->outer)) };
}

static struct history_pair_nesting pair_nesting_of(const struct history *h,
						   const struct history_shape *s)
{
	const struct history_signature *p = &h->signatures[s->p], *i = &h->signatures[s->i];
	const struct locks_ends *ends = locks_ends(h->contexts->locks), *x, *z;

	if (!p->inner_class || !i->inner_class || s->cut[0])
		return (struct history_pair_nesting){ 0 };
	x = &ends[p->lockset];
	z = &ends[i->lockset];
	return (struct history_pair_nesting){
		x->taken | z->taken, locks_bit(x->outer) | locks_bit(z->outer), p->inner_class,
		i->inner_class | (s->spans_reads ? HISTORY_SPANS_READS : 0)
	};
}

static uint32_t signature_number(struct history *h, const struct history_signature *signature,
				 bool *added)
{
	uint64_t hash = history_signature_hash(signature);
	struct history_number_table *at = &h->signature_table;
	uint32_t number;

	*added = false;
	if (is_full(at, h->signature_count))
		for (uint32_t n = 1; n < h->signature_count; n++)
			put(at, history_signature_hash(&h->signatures[n]), n);
	for (size_t i = hash & (at->size - 1); at->at[i]; i = (i + 1) & (at->size - 1))
		if (same_signature(&h->signatures[at->at[i]], signature))
			return at->at[i];
	*added = true;
	h->signatures = xgrow(h->signatures, h->signature_count, &h->signature_capacity,
			      sizeof(*h->signatures));
	number = (uint32_t)h->signature_count++;
	h->signatures[number] = *signature;
	h->signatures[number].core = number;
	h->signatures[number].inner_class = inner_class_of(h, signature, number);
	h->nesting = xgrow(h->nesting, number, &h->nesting_capacity, sizeof(*h->nesting));
	h->nesting[number] = nesting_of(h, &h->signatures[number]);
	put(at, hash, number);
	return number;
}

uint32_t history_signature_intern(struct history *h, const struct history_signature *signature)
{
	bool added;
	uint32_t number = signature_number(h, signature, &added), core;
	struct history_signature other = *signature;

	if (!added)
		return number;
	other.lockset = contexts_core(h->contexts, signature->lockset);
	core = signature_number(h, &other, &added);
	h->signatures[number].core = core;
	return number;
}

static bool same_shape(const struct history_shape *a, const struct history_shape *b)
{
	uint64_t x[3], y[3];

	_Static_assert(offsetof(struct history_shape, core) == sizeof(x),
		       "all members that distinguish shapes");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]));
}

static uint64_t shape_hash(const struct history_shape *s)
{
	uint64_t hash = hash_add(hash_add(0, (uint64_t)s->p << 32 | s->i),
				 (uint64_t)s->bytes << 8 | (uint64_t)s->cuts << 1 | s->spans_reads);

	for (unsigned i = 0; i < s->cuts; i++)
		hash = hash_add(hash, s->cut[i]);
	return hash;
}

static uint32_t shape_number(struct history *h, const struct history_shape *s, bool *added)
{
	uint64_t hash = shape_hash(s);
	struct history_number_table *at = &h->shape_table;
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
	h->pair_nesting =
		xgrow(h->pair_nesting, number, &h->pair_nesting_capacity, sizeof(*h->pair_nesting));
	h->pair_nesting[number] = pair_nesting_of(h, s);
	put(at, hash, number);
	return number;
}

/* Tries the last shape of signature i first: code mostly comes to an access the same way. */
uint32_t history_shape(struct history *h, const struct history_probe *probe)
{
	struct history_shape s = { .p = probe->p->tag,
				   .i = probe->i->tag,
				   .cuts = probe->cuts,
				   .bytes = probe->bytes,
				   .spans_reads = probe->spans_reads };
	uint32_t *last = &h->signatures[s.i].shape, number, core;
	bool added;

	for (unsigned i = 0; i < s.cuts; i++)
		s.cut[i] = probe->cut[i];
	if (same_shape(&h->shapes[*last], &s))
		return *last;
	number = *last = shape_number(h, &s, &added);
	if (!added)
		return number;
	s.p = h->signatures[s.p].core;
	s.i = h->signatures[s.i].core;
	for (unsigned i = 0; i < s.cuts; i++)
		s.cut[i] = contexts_core(h->contexts, s.cut[i]);
	core = shape_number(h, &s, &added);
	h->shapes[number].core = core;
	return number;
}
