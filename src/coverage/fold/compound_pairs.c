/*
 * Two accesses of a thread within the window: what compound idioms are made of.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

uint32_t iroot_node(struct iroot_profile *p, const struct iroot_name *name)
{
	bool added;
	uint32_t *ref = iroot_table_put(p, &p->nodes, name->key, &added);

	if (!ref)
		return 0;
	if (!*ref) {
		*ref = iroot_alloc(p, sizeof(struct iroot_node));
		if (!*ref)
			return 0;
		((struct iroot_node *)iroot_at(p, *ref))->name = *name;
	}
	return *ref;
}

/* Two sites that walk through memory are worth a few of their variables. */
static bool is_wanted(struct iroot_profile *p, const struct iroot_name *first, const struct iroot_name *second)
{
	bool added;
	uint32_t *count = iroot_table_put(p, &p->pair_sites,
					  mix_add_small(first->thread, (uint64_t)first->event << 32 | second->event),
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

static uint32_t pair_new(struct iroot_profile *p, uint64_t key, const struct iroot_name *first,
			 const struct iroot_name *second)
{
	uint32_t a = iroot_node(p, first), b = iroot_node(p, second);
	uint32_t ref = a && b ? iroot_alloc(p, sizeof(struct iroot_pair)) : 0, *slot;
	struct iroot_pair *pair;
	bool added;

	slot = ref ? iroot_table_put(p, &p->pairs, key, &added) : NULL;
	if (!slot)
		return 0;
	*slot = ref;
	pair = iroot_at(p, ref);
	pair->first = a;
	pair->second = b;
	if (p->last_pair)
		((struct iroot_pair *)iroot_at(p, p->last_pair))->next = ref;
	else
		p->all_pairs = ref;
	p->last_pair = ref;
	p->pair_count++;
	return ref;
}

bool iroot_pair_add(struct iroot_profile *p, const struct iroot_name *first, const struct iroot_name *second,
		    uint32_t kind, const struct iroot_over *over)
{
	uint64_t key = iroot_pair_key(first->key, second->key);
	uint32_t ref = iroot_table_get(p, &p->pairs, key);
	struct iroot_pair *pair;

	if (!ref && !is_wanted(p, first, second))
		return false;
	if (!ref)
		ref = pair_new(p, key, first, second);
	if (!ref)
		return true;
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

static enum paired pair_with(struct iroot_profile *p, uint32_t event, const struct iroot_instance *before,
			     const struct iroot_touch *t, const struct iroot_name *name)
{
	const struct iroot_name first = { before->second, before->var, name->thread, event };
	uint32_t kind = before->var == name->var ? IROOT_PAIR_SAME : IROOT_PAIR_OTHER;
	struct iroot_over over;

	if (!before->var)
		return PAIRED;
	if (before->first == t->index || t->index - before->first > p->window)
		return PAIRED_NOT_NOW;
	if (kind == IROOT_PAIR_OTHER)
		locks_over(t->thread, before->first, &over);
	return iroot_pair_add(p, &first, name, kind, &over) ? PAIRED : PAIRED_ENOUGH;
}

/* With all that the thread did lately; true if the same again would add nothing. */
static bool pair_all(struct iroot_profile *p, const struct iroot_touch *t, struct iroot_recent *r,
		     const struct iroot_name *name)
{
	const struct iroot_recents *list = &t->thread->recents;
	const struct iroot_recent *e = iroot_at(p, list->entries);
	bool all = true;

	for (uint32_t i = 0; i < list->count; i++) {
		enum paired a, b;

		if (r->joined[i])
			continue;
		a = pair_with(p, e[i].event[0], &e[i].instance[0], t, name);
		b = pair_with(p, e[i].event[0], &e[i].instance[1], t, name);
		r->joined[i] = a == PAIRED_ENOUGH || b == PAIRED_ENOUGH;
		all &= a != PAIRED_NOT_NOW && b != PAIRED_NOT_NOW;
	}
	return all;
}

void iroot_pairs_see(struct iroot_profile *p, const struct iroot_touch *t, const struct iroot_name *name)
{
	struct iroot_instance now = { .var = name->var, .first = t->index, .second = name->key };
	struct iroot_recents *list = &t->thread->recents;
	struct iroot_recent *r;
	uint64_t key, *done;
	bool made;

	r = iroot_recent_meet(p, list, t->event, 0, 0, &made);
	if (!r)
		return;
	key = mix_add_small(list->state, name->key);
	for (uint32_t i = 0; i < list->sections; i++)
		key = mix_add_small(key ^ list->section[i].state, t->thread->held[i].lock);
	done = &p->done[(key ^ key >> 32) % IROOT_DONE];
	/* Loops come here again and again with the same accesses before. */
	if (*done != key && pair_all(p, t, r, name))
		*done = key;
	iroot_recent_set(list, r, &now);
}
