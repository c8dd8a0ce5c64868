/*
 * Predicted compound iRoots (idioms 2 to 6): pairs of accesses of one thread, joined by predicted
 * dependencies with accesses or pairs of another thread. Runs once, at the end.
 */
#include "coverage/fold/fold_internal.h"

#define MAX_WORK (64u << 20)	/* combinations tried: bounds time; then iRoots are missing */

static const struct iroot_pair *pair_of(const struct iroot_profile *p, uint32_t first,
					uint32_t second)
{
	const struct iroot_node *a = iroot_at(p, first), *b = iroot_at(p, second);
	uint32_t ref = iroot_table_get(p, &p->pairs, iroot_pair_key(a->name.key, b->name.key));

	return ref ? iroot_at(p, ref) : NULL;
}

/*
 * True if both threads always hold one lock from the first to the second event of their pair. Then
 * one pair ends before the other begins: neither idiom 4 nor 5 is possible.
 */
static bool is_exclusive(const struct iroot_profile *p, const struct iroot_pair *x,
			 const struct iroot_pair *y)
{
	const struct iroot_common_locks *a = iroot_at(p, x->common_locks),
					     *b = iroot_at(p, y->common_locks);

	if (!x->common_locks || !y->common_locks)
		return false;
	for (uint32_t i = 0; i < a->count && i < IROOT_HELD; i++)
		for (uint32_t k = 0; k < b->count && k < IROOT_HELD; k++)
			if (a->at[i].lock == b->at[k].lock && !(a->at[i].shared && b->at[k].shared))
				return true;
	return false;
}

/* The other thread has a pair (first, second) of two variables that can overlap with `pair`. */
static bool may_interleave(const struct iroot_profile *p, const struct iroot_pair *pair,
			   uint32_t first, uint32_t second)
{
	const struct iroot_pair *other = pair_of(p, first, second);

	return other && other->kinds & IROOT_PAIR_OTHER && !is_exclusive(p, pair, other);
}

static uint32_t kinds_of(const struct iroot_profile *p, uint32_t first, uint32_t second)
{
	const struct iroot_pair *pair = pair_of(p, first, second);

	return pair ? pair->kinds : 0;
}

static const struct iroot_node *node_at(const struct iroot_profile *p, uint32_t node)
{
	return iroot_at(p, node);
}

struct joining {
	struct iroot_profile *p;
	uint64_t work;
};

static void join_add(struct iroot_profile *p, uint32_t idiom, uint32_t a, uint32_t b, uint32_t c,
		     uint32_t d)
{
	iroot_found_add(p, IROOT_PREDICTED, idiom, node_at(p, a)->name.event,
			node_at(p, b)->name.event,
			node_at(p, c)->name.event, d ? node_at(p, d)->name.event : 0);
}

/* Idioms 2 to 5 of the pair (A, D), with A -> b and c -> D. */
static void join_idioms_2_to_5(struct joining *j, const struct iroot_pair *pair, uint32_t b,
			       uint32_t c)
{
	struct iroot_profile *p = j->p;
	uint32_t a = pair->first, d = pair->second;

	if (node_at(p, b)->name.thread != node_at(p, c)->name.thread)
		return;
	j->work++;
	if (pair->kinds & IROOT_PAIR_NEXT) {
		if (b == c)
			join_add(p, 2, a, b, d, 0);
		if (kinds_of(p, b, c) & (IROOT_PAIR_SAME | IROOT_PAIR_NEXT))
			join_add(p, 3, a, b, c, d);
	}
	if (pair->kinds & IROOT_PAIR_OTHER) {
		if (may_interleave(p, pair, b, c))
			join_add(p, 4, a, b, c, d);
		if (may_interleave(p, pair, c, b))
			join_add(p, 5, a, b, c, d);
	}
}

/* Idiom 6 of the pair (A, C), with A -> b and C -> d. */
static void join_idiom_6(struct joining *j, const struct iroot_pair *pair, uint32_t b, uint32_t d)
{
	if (node_at(j->p, b)->name.thread != node_at(j->p, d)->name.thread)
		return;
	j->work++;
	if (kinds_of(j->p, b, d) & IROOT_PAIR_OTHER)
		join_add(j->p, 6, pair->first, b, pair->second, d);
}

static void join_pair(struct joining *j, const struct iroot_pair *pair)
{
	const struct iroot_node *first = node_at(j->p, pair->first),
					 *second = node_at(j->p, pair->second);

	for (uint32_t i = first->successors; i;) {
		const struct iroot_edge *out = iroot_at(j->p, i);

		for (uint32_t k = second->predecessors; k;) {
			const struct iroot_edge *in = iroot_at(j->p, k);

			join_idioms_2_to_5(j, pair, out->node, in->node);
			k = iroot_next_older(j->p, k, in->next);
		}
		for (uint32_t k = pair->kinds & IROOT_PAIR_OTHER ? second->successors : 0; k;) {
			const struct iroot_edge *other = iroot_at(j->p, k);

			join_idiom_6(j, pair, out->node, other->node);
			k = iroot_next_older(j->p, k, other->next);
		}
		i = iroot_next_older(j->p, i, out->next);
	}
}

void iroot_compound_finish(struct iroot_profile *p)
{
	struct joining j = { .p = p };

	for (uint32_t ref = p->all_locations; ref;) {
		struct iroot_location *loc = iroot_at(p, ref);

		iroot_predicted_forget(p, loc);
		ref = iroot_next_older(p, ref, loc->next);
	}
	for (uint32_t ref = p->all_pairs; ref;) {
		const struct iroot_pair *pair = iroot_at(p, ref);

		ref = pair->next > ref ? pair->next : 0;	/* new pairs are added at the end */
		if (j.work > MAX_WORK)
			p->lost++;
		else
			join_pair(&j, pair);
	}
}
