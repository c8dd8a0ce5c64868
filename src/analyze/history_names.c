/*
 * Numbers for what tells accesses and pairs apart: equal ones have equal numbers, and those
 * that differ in acquisition histories alone have a core in common.
 */
#include "analyze/history.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct history_named *what_place(const struct history *h, uint64_t key, uint32_t lockset)
{
	size_t i = history_what_hash(key, lockset) & (h->what_size - 1);

	while (h->what_table[i].number &&
	       (h->what_table[i].key != key || h->what_table[i].lockset != lockset))
		i = (i + 1) & (h->what_size - 1);
	return &h->what_table[i];
}

static void more_places(struct history *h)
{
	struct history_named *old = h->what_table;
	size_t size = h->what_size;

	h->what_size *= 2;
	h->what_table = xcalloc(h->what_size, sizeof(*h->what_table));
	for (size_t i = 0; i < size; i++)
		if (old[i].number)
			*what_place(h, old[i].key, old[i].lockset) = old[i];
	free(old);
}

static uint32_t what_number(struct history *h, const struct history_what *what, bool *added)
{
	uint64_t key = history_what_key(what);
	struct history_named *at = what_place(h, key, what->lockset);
	uint32_t number = at->number;

	*added = !number;
	if (number)
		return number;
	number = (uint32_t)h->what_count;
	h->whats = xgrow(h->whats, h->what_count, &h->what_capacity, sizeof(*h->whats));
	h->whats[number] = *what;
	h->whats[number].core = number;
	*at = (struct history_named){ key, what->lockset, number };
	if (++h->what_count * 4 > h->what_size)	/* most are found at the first look */
		more_places(h);
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

/* Hashes of different ones are hardly ever equal: then the later has several numbers. */
static uint32_t shape_number(struct history *h, const struct history_shape *s, bool *added)
{
	uint64_t hash = history_mix(history_mix(0, (uint64_t)s->p << 32 | s->i),
			    (uint64_t)s->bytes << 8 | (uint64_t)s->cuts << 1 | s->wide);
	uint64_t *number;

	for (unsigned i = 0; i < s->cuts; i++)
		hash = history_mix(hash, s->cut[i]);
	number = map_put(&h->shape_at, hash, NULL);
	*added = !*number || !same_shape(&h->shapes[*number], s);
	if (*added) {
		h->shapes = xgrow(h->shapes, h->shape_count, &h->shape_capacity, sizeof(*h->shapes));
		h->shapes[h->shape_count] = *s;
		h->shapes[h->shape_count].core = (uint32_t)h->shape_count;
		*number = h->shape_count++;
	}
	return (uint32_t)*number;
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
