/*
 * Compound iRoots that other schedules may have: pairs of accesses of one thread, joined by
 * predicted dependencies with pairs of another one.
 */
#include "coverage/fold/fold_internal.h"

#define WORK_MOST (64u << 20)	/* pairs looked up; beyond, some iRoots are missing */

static const struct iroot_pair *pair_of(const struct iroot_profile *p, uint32_t first, uint32_t second)
{
	const struct iroot_node *a = iroot_at(p, first), *b = iroot_at(p, second);
	uint32_t ref = iroot_table_get(p, &p->pairs, iroot_pair_key(a->name.key, b->name.key));

	return ref ? iroot_at(p, ref) : NULL;
}

/*
 * Are both always whole to each other? Then one of them is over before the other begins, and neither of
 * idioms 4 and 5 comes about.
 */
static bool is_exclusive(const struct iroot_profile *p, const struct iroot_pair *x, const struct iroot_pair *y)
{
	const struct iroot_over *a = iroot_at(p, x->over), *b = iroot_at(p, y->over);

	if (!x->over || !y->over)
		return false;
	for (uint32_t i = 0; i < a->count && i < IROOT_HELD; i++)
		for (uint32_t k = 0; k < b->count && k < IROOT_HELD; k++)
			if (a->at[i].lock == b->at[k].lock && !(a->at[i].shared && b->at[k].shared))
				return true;
	return false;
}

/* Of two variables, both these and those of the other thread's `pair`. */
static bool may_mix(const struct iroot_profile *p, const struct iroot_pair *pair, uint32_t first, uint32_t second)
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

static void join_add(struct iroot_profile *p, uint32_t idiom, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	iroot_found_add(p, IROOT_PREDICTED, idiom, node_at(p, a)->name.event, node_at(p, b)->name.event,
			node_at(p, c)->name.event, d ? node_at(p, d)->name.event : 0);
}

/* A … D, with A → b and c → D. */
static void join_around(struct joining *j, const struct iroot_pair *pair, uint32_t b, uint32_t c)
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
		if (may_mix(p, pair, b, c))
			join_add(p, 4, a, b, c, d);
		if (may_mix(p, pair, c, b))
			join_add(p, 5, a, b, c, d);
	}
}

/* A … C, with A → b and C → d. */
static void join_along(struct joining *j, const struct iroot_pair *pair, uint32_t b, uint32_t d)
{
	if (node_at(j->p, b)->name.thread != node_at(j->p, d)->name.thread)
		return;
	j->work++;
	if (kinds_of(j->p, b, d) & IROOT_PAIR_OTHER)
		join_add(j->p, 6, pair->first, b, pair->second, d);
}

static void join_pair(struct joining *j, const struct iroot_pair *pair)
{
	const struct iroot_node *first = node_at(j->p, pair->first), *second = node_at(j->p, pair->second);

	for (uint32_t i = first->after; i;) {
		const struct iroot_edge *out = iroot_at(j->p, i);

		for (uint32_t k = second->before; k;) {
			const struct iroot_edge *in = iroot_at(j->p, k);

			join_around(j, pair, out->node, in->node);
			k = iroot_older(j->p, k, in->next);
		}
		for (uint32_t k = pair->kinds & IROOT_PAIR_OTHER ? second->after : 0; k;) {
			const struct iroot_edge *other = iroot_at(j->p, k);

			join_along(j, pair, out->node, other->node);
			k = iroot_older(j->p, k, other->next);
		}
		i = iroot_older(j->p, i, out->next);
	}
}

void iroot_join(struct iroot_profile *p)
{
	struct joining j = { .p = p };

	for (uint32_t ref = p->all_places; ref;) {
		struct iroot_place *place = iroot_at(p, ref);

		iroot_predict_forget(p, place);
		ref = iroot_older(p, ref, place->next);
	}
	for (uint32_t ref = p->all_pairs; ref;) {
		const struct iroot_pair *pair = iroot_at(p, ref);

		ref = pair->next > ref ? pair->next : 0;	/* new ones are behind */
		if (j.work > WORK_MOST)
			p->lost++;
		else
			join_pair(&j, pair);
	}
}
