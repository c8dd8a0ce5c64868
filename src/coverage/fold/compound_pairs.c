/*
 * Pairs: two accesses of one thread within the window, which compound.c joins to compound iRoots.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

uint32_t iroot_node(struct iroot_profile *p, const struct iroot_node_id *name)
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

/* Counts a new pair of these two sites. False: IROOT_PAIR_VARIABLES are kept already. */
static bool count_pair_variable(struct iroot_profile *p, const struct iroot_node_id *first,
				const struct iroot_node_id *second)
{
	uint64_t sites = (uint64_t)first->event << 32 | second->event;
	bool added;
	uint32_t *count = iroot_table_put(p, &p->pair_sites, mix_add_small(first->thread, sites),
					  &added);

	if (!count || *count >= IROOT_PAIR_VARIABLES)
		return false;
	(*count)++;
	return true;
}

/* Reduces the common locks of the pair to those that this instance holds as well. */
static void intersect_locks(struct iroot_profile *p, struct iroot_pair *pair,
			    const struct iroot_common_locks *common)
{
	struct iroot_common_locks *all;
	uint32_t kept = 0;

	if (!(pair->kinds & IROOT_PAIR_OTHER)) {
		pair->common_locks = common->count ? iroot_alloc(p, sizeof(*all)) : 0;
		if (pair->common_locks)
			*(struct iroot_common_locks *)iroot_at(p, pair->common_locks) = *common;
		return;
	}
	all = pair->common_locks ? iroot_at(p, pair->common_locks) : NULL;
	for (uint32_t i = 0; all && i < all->count; i++)
		for (uint32_t k = 0; k < common->count; k++)
			if (common->at[k].lock == all->at[i].lock) {
				all->at[kept].lock = all->at[i].lock;
				all->at[kept++].shared = all->at[i].shared | common->at[k].shared;
				break;
			}
	if (all)
		all->count = kept;
}

static uint32_t pair_new(struct iroot_profile *p, uint64_t key, const struct iroot_node_id *first,
			 const struct iroot_node_id *second)
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

bool iroot_pair_add(struct iroot_profile *p, const struct iroot_node_id *first,
		    const struct iroot_node_id *second, uint32_t kind,
		    const struct iroot_common_locks *common)
{
	uint64_t key = iroot_pair_key(first->key, second->key);
	uint32_t ref = iroot_table_get(p, &p->pairs, key);
	struct iroot_pair *pair;

	if (!ref && !count_pair_variable(p, first, second))
		return false;
	if (!ref)
		ref = pair_new(p, key, first, second);
	if (!ref)
		return true;
	pair = iroot_at(p, ref);
	if (kind == IROOT_PAIR_OTHER)
		intersect_locks(p, pair, common);
	pair->kinds |= kind;
	return true;
}

enum paired {
	PAIRED,
	PAIRED_ENOUGH,		/* the two sites have enough pairs */
	PAIRED_NOT_NOW,		/* too far apart, or of one event: may be paired another time */
};

/* The locks that the thread holds since before its event `index`. */
static void locks_kept(const struct iroot_thread *t, uint64_t index, struct iroot_common_locks *out)
{
	out->count = 0;
	for (uint32_t i = 0; i < t->held_count; i++)
		if (t->recents.section[i].since < index) {
			out->at[out->count].lock = t->held[i].lock;
			out->at[out->count++].shared = t->held[i].shared;
		}
}

static enum paired pair_with(struct iroot_profile *p, uint32_t event,
			     const struct iroot_instance *before,
			     const struct iroot_location_step *t, const struct iroot_node_id *name)
{
	const struct iroot_node_id first = { before->second, before->var, name->thread, event };
	uint32_t kind = before->var == name->var ? IROOT_PAIR_SAME : IROOT_PAIR_OTHER;
	struct iroot_common_locks common;

	if (!before->var)
		return PAIRED;
	if (before->first == t->index || t->index - before->first > p->window)
		return PAIRED_NOT_NOW;
	if (kind == IROOT_PAIR_OTHER)
		locks_kept(t->thread, before->first, &common);
	return iroot_pair_add(p, &first, name, kind, &common) ? PAIRED : PAIRED_ENOUGH;
}

/* Pairs the step with the thread's recent accesses. True: an equal step would add nothing. */
static bool pair_with_recent(struct iroot_profile *p, const struct iroot_location_step *t,
			     struct iroot_recent *r, const struct iroot_node_id *name)
{
	const struct iroot_recent_list *list = &t->thread->recents;
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

void iroot_pairs_step(struct iroot_profile *p, const struct iroot_location_step *t,
		      const struct iroot_node_id *name)
{
	struct iroot_instance now = { .var = name->var, .first = t->index, .second = name->key };
	struct iroot_recent_list *list = &t->thread->recents;
	struct iroot_recent *r;
	uint64_t key, *done;
	bool added;

	r = iroot_recent_put(p, list, t->event, 0, 0, &added);
	if (!r)
		return;
	key = mix_add_small(list->hash, name->key);
	for (uint32_t i = 0; i < list->sections; i++)
		key = mix_add_small(key ^ list->section[i].hash, t->thread->held[i].lock);
	done = &p->done[(key ^ key >> 32) % IROOT_DONE];
	/* Iterations of a loop repeat a step with equal recent accesses. */
	if (*done != key && pair_with_recent(p, t, r, name))
		*done = key;
	iroot_recent_set(list, r, &now);
}
