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

void iroot_pair_add(struct iroot_profile *p, uint32_t first, uint32_t second, uint32_t kind)
{
	uint64_t key = (uint64_t)first << 32 | second;
	uint32_t ref = iroot_table_get(p, &p->pairs, key), *slot;
	struct iroot_pair *pair;
	bool added;

	if (!ref) {
		if (!is_wanted(p, first, second))
			return;
		ref = iroot_alloc(p, sizeof(*pair));
		slot = ref ? iroot_table_put(p, &p->pairs, key, &added) : NULL;
		if (!slot)
			return;
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
	((struct iroot_pair *)iroot_at(p, ref))->kinds |= kind;
}

static void pair_with(struct iroot_profile *p, const struct iroot_instance *before,
		      const struct iroot_touch *t, uint64_t var, uint32_t node)
{
	if (before->var && before->first < t->index && t->index - before->first <= p->window)
		iroot_pair_add(p, before->node, node,
			       before->var == var ? IROOT_PAIR_SAME : IROOT_PAIR_OTHER);
}

void iroot_pairs_see(struct iroot_profile *p, const struct iroot_touch *t, uint32_t node)
{
	uint64_t var = ((const struct iroot_node *)iroot_at(p, node))->var;
	struct iroot_instance now = { .var = var, .first = t->index, .node = node };
	struct iroot_recents *list = &t->thread->recents;
	struct iroot_recent *r;

	for (uint32_t ref = list->first; ref;) {
		const struct iroot_recent *e = iroot_at(p, ref);

		pair_with(p, &e->instance[0], t, var, node);
		pair_with(p, &e->instance[1], t, var, node);
		ref = e->next;
	}
	r = iroot_recent_touch(p, list, t->event, 0, 0);
	if (r)
		iroot_recent_set(r, &now);
}
