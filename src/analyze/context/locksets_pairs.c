/*
 * Comparisons of two locksets. The summaries (struct locks_ends) decide most of them: the sets have
 * no lock in common, or the same lock at an end. The others are kept in a direct-mapped cache.
 */
#include "analyze/context/locksets_internal.h"
#include "base/hash.h"

#define SMALL 4u	/* product of two sets' counts up to which comparing beats the cache */

/* Whether the lock was acquired while `e` was held. */
static bool has_taken(const struct locks *l, const struct locks_member *e, uint64_t lock)
{
	const struct locks_span *h = &l->histories[e->history];

	for (uint32_t i = 0; i < h->count; i++)
		if (l->elements[h->first + i] == lock)
			return true;
	return false;
}

static void compare(const struct locks *l, struct locks_pair *p)
{
	const struct locks_span *a = &l->sets[p->a], *b = &l->sets[p->b];

	p->exclude = false;
	p->compatible = true;
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t j = 0; j < b->count; j++) {
			const struct locks_member *x = &l->members[a->first + i];
			const struct locks_member *y = &l->members[b->first + j];

			if (x->lock == y->lock)
				p->exclude |= !(x->shared && y->shared);
			else if (!x->shared && !y->shared && has_taken(l, x, y->lock) &&
				 has_taken(l, y, x->lock))
				p->compatible = false;
		}
}

bool locks_takes(const struct locks *l, uint32_t set, uint64_t lock, bool shared)
{
	const struct locks_span *s = &l->sets[set];

	for (uint32_t i = 0; i < s->count; i++) {
		const struct locks_member *x = &l->members[s->first + i];

		if (x->lock == lock)
			return !(x->shared && shared);
		if (has_taken(l, x, lock))
			return true;
	}
	return false;
}

static int8_t find_conflict(const struct locks *l, uint32_t a, uint32_t b)
{
	const struct locks_span *s = &l->sets[a];
	const struct locks_member *e = &l->members[s->first];
	uint64_t taken = l->ends[b].taken;

	for (uint32_t i = 0; i < s->count && i < LOCKS_OUTER; i++)
		if ((locks_bit(e[i].lock) & taken) && locks_takes(l, b, e[i].lock, e[i].shared))
			return (int8_t)i;
	return -1;
}

/* The entry of the cache for this pair. If it is new, `conflict` is LOCKS_UNKNOWN. */
static struct locks_pair *compared(struct locks *l, uint32_t a, uint32_t b)
{
	struct locks_pair *p;

	if (a > b) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	p = &l->cache[hash_add(a, b) & (LOCKS_CACHE - 1)];
	if (p->a != a || p->b != b) {
		p->a = a;
		p->b = b;
		compare(l, p);
		p->conflict[0] = p->conflict[1] = LOCKS_UNKNOWN;
	}
	return p;
}

const struct locks_ends *locks_ends(const struct locks *l)
{
	return l->ends;
}

bool locks_never_nested(const struct locks *l, uint64_t lock)
{
	unsigned bit = locks_nested_bit(lock);

	return !(l->nested[bit / 64] >> bit % 64 & 1);
}

/* Whether the outermost lock of one set is the innermost of the other, and excludes it. */
static bool exclude_crosswise(const struct locks_ends *a, const struct locks_ends *b)
{
	return (a->outer == b->inner && !(a->outer_shared && b->inner_shared)) ||
	       (a->inner == b->outer && !(a->inner_shared && b->outer_shared));
}

/* The ends decide most cases without a cache, which programs with many sets would overflow. */
bool locks_exclude(struct locks *l, uint32_t a, uint32_t b)
{
	const struct locks_ends *x = &l->ends[a], *y = &l->ends[b];

	if (!a || !b)
		return false;
	if (locks_exclude_at_once(x, y) || exclude_crosswise(x, y))
		return true;
	return (x->count > 2 || y->count > 2) && x->held & y->held && compared(l, a, b)->exclude;
}

bool locks_compatible(struct locks *l, uint32_t a, uint32_t b)
{
	return !a || !b || compared(l, a, b)->compatible;
}

/* locks_needed() if the ends decide it, else LOCKS_UNKNOWN. */
static int8_t conflict_by_ends(const struct locks *l, uint32_t a, uint32_t b)
{
	const struct locks_ends *x = &l->ends[a], *y = &l->ends[b];

	if (x->outer == y->outer && !(x->outer_shared && y->outer_shared))
		return 0;
	if (l->sets[a].count == 2 && !(locks_bit(x->outer) & y->taken) &&
	    x->inner == y->inner && !(x->inner_shared && y->inner_shared))
		return 1;
	return LOCKS_UNKNOWN;
}

/* locks_needed(), -1 in place of LOCKS_ABSENT. */
static inline int8_t first_conflict(struct locks *l, uint32_t a, uint32_t b)
{
	int8_t index, *known;

	if (!(l->ends[a].held & l->ends[b].taken))
		return -1;
	index = conflict_by_ends(l, a, b);
	if (index != LOCKS_UNKNOWN)
		return index;
	if (l->sets[a].count * l->sets[b].count <= SMALL)
		return find_conflict(l, a, b);
	known = &compared(l, a, b)->conflict[a > b];
	if (*known == LOCKS_UNKNOWN)
		*known = find_conflict(l, a, b);
	return *known;
}

size_t locks_needed(struct locks *l, uint32_t a, uint32_t b)
{
	int8_t index = first_conflict(l, a, b);

	return index < 0 ? LOCKS_ABSENT : (size_t)index;
}

uint64_t locks_entry_between(struct locks *l, uint32_t a, uint32_t b, uint64_t pc)
{
	int8_t index = first_conflict(l, a, b);

	return index < 0 ? pc : l->members[l->sets[a].first + (size_t)index].pc;
}
