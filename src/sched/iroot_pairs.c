/*
 * Two accesses of a thread within the window: what compound idioms are made of.
 */
#include "sched/iroot_internal.h"

uint32_t iroot_node(struct iroot_profile *p, uint64_t var, uint32_t thread, uint32_t event)
{
	bool added;
	uint32_t *ref = iroot_table_put(p, &p->nodes, iroot_mix(var, (uint64_t)thread << 32 | event),
					&added);
	struct iroot_node *n;

	if (!ref)
		return 0;
	if (!*ref) {
		*ref = iroot_alloc(p, sizeof(*n));
		if (!*ref)
			return 0;
		n = iroot_at(p, *ref);
		n->var = var;
		n->thread = thread;
		n->event = event;
	}
	return *ref;
}

/* Two sites that walk through memory are worth a few of their variables. */
static bool is_wanted(struct iroot_profile *p, uint32_t first, uint32_t second)
{
	const struct iroot_node *a = iroot_at(p, first), *b = iroot_at(p, second);
	bool added;
	uint32_t *count = iroot_table_put(p, &p->pair_sites,
					  iroot_mix(a->thread, (uint64_t)a->event << 32 | b->event),
					  &added);

	if (!count || *count >= IROOT_PAIR_PLACES)
		return false;
	(*count)++;
	return true;
}

/* What is kept in this instance, too. */
static void keep_common(struct iroot_profile *p, struct iroot_pair *pair, const struct iroot_over *over)
{
	struct iroot_over *all;
	uint32_t kept = 0;

	if (!(pair->kinds & IROOT_PAIR_OTHER)) {
		pair->over = over->count ? iroot_alloc(p, sizeof(*all)) : 0;
		if (pair->over)
			*(struct iroot_over *)iroot_at(p, pair->over) = *over;
		return;
	}
	all = pair->over ? iroot_at(p, pair->over) : NULL;
	for (uint32_t i = 0; all && i < all->count; i++)
		for (uint32_t k = 0; k < over->count; k++)
			if (over->at[k].lock == all->at[i].lock) {
				all->at[kept].lock = all->at[i].lock;
				all->at[kept++].shared = all->at[i].shared | over->at[k].shared;
				break;
			}
	if (all)
		all->count = kept;
}

bool iroot_pair_add(struct iroot_profile *p, uint32_t first, uint32_t second, uint32_t kind,
		    const struct iroot_over *over)
{
	uint64_t key = (uint64_t)first << 32 | second;
	uint32_t ref = iroot_table_get(p, &p->pairs, key), *slot;
	struct iroot_pair *pair;
	bool added;

	if (!ref) {
		if (!is_wanted(p, first, second))
			return false;
		ref = iroot_alloc(p, sizeof(*pair));
		slot = ref ? iroot_table_put(p, &p->pairs, key, &added) : NULL;
		if (!slot)
			return true;
		*slot = ref;
		pair = iroot_at(p, ref);
		pair->first = first;
		pair->second = second;
		if (p->last_pair)
			((struct iroot_pair *)iroot_at(p, p->last_pair))->next = ref;
		else
			p->all_pairs = ref;
		p->last_pair = ref;
		p->pair_count++;
	}
	pair = iroot_at(p, ref);
	if (kind == IROOT_PAIR_OTHER)
		keep_common(p, pair, over);
	pair->kinds |= kind;
	return true;
}

enum paired { PAIRED, PAIRED_ENOUGH, PAIRED_NOT_NOW };

/* The locks that the thread holds since before the event of this number. */
static void locks_over(const struct iroot_thread *t, uint64_t index, struct iroot_over *out)
{
	out->count = 0;
	for (uint32_t i = 0; i < t->held_count; i++)
		if (t->recents.section[i].since < index) {
			out->at[out->count].lock = t->held[i].lock;
			out->at[out->count++].shared = t->held[i].shared;
		}
}

static enum paired pair_with(struct iroot_profile *p, const struct iroot_instance *before,
			     const struct iroot_touch *t, uint64_t var, uint32_t node)
{
	struct iroot_over over;

	if (!before->var)
		return PAIRED;
	if (before->first == t->index || t->index - before->first > p->window)
		return PAIRED_NOT_NOW;
	locks_over(t->thread, before->first, &over);
	return iroot_pair_add(p, before->node, node, before->var == var ? IROOT_PAIR_SAME :
									   IROOT_PAIR_OTHER, &over) ?
	       PAIRED : PAIRED_ENOUGH;
}

/* With all that the thread did lately; true if the same again would add nothing. */
static bool pair_all(struct iroot_profile *p, const struct iroot_touch *t, struct iroot_recent *r,
		     uint32_t node)
{
	const struct iroot_recents *list = &t->thread->recents;
	const struct iroot_recent *e = iroot_at(p, list->entries);
	uint64_t var = ((const struct iroot_node *)iroot_at(p, node))->var;
	bool all = true;

	for (uint32_t i = 0; i < list->count; i++) {
		enum paired a, b;

		if (r->joined[i])
			continue;
		a = pair_with(p, &e[i].instance[0], t, var, node);
		b = pair_with(p, &e[i].instance[1], t, var, node);
		r->joined[i] = a == PAIRED_ENOUGH || b == PAIRED_ENOUGH;
		all &= a != PAIRED_NOT_NOW && b != PAIRED_NOT_NOW;
	}
	return all;
}

void iroot_pairs_see(struct iroot_profile *p, const struct iroot_touch *t, uint32_t node)
{
	uint64_t var = ((const struct iroot_node *)iroot_at(p, node))->var;
	struct iroot_instance now = { .var = var, .first = t->index, .node = node };
	struct iroot_recents *list = &t->thread->recents;
	struct iroot_recent *r = iroot_recent_meet(p, list, t->event, 0, 0);
	uint64_t key, *done;

	if (!r)
		return;
	key = iroot_mix(list->state, node);
	for (uint32_t i = 0; i < list->sections; i++)
		key = iroot_mix(iroot_mix(key, t->thread->held[i].lock), list->section[i].state);
	done = (uint64_t *)iroot_at(p, p->done) + key % IROOT_DONE;
	/* Loops come here again and again with the same accesses before. */
	if (*done != key && pair_all(p, t, r, node))
		*done = key;
	iroot_recent_set(list, r, &now);
}
