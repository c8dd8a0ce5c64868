/*
 * Lists of recent dependencies between two threads, or of recent accesses of one thread: the last
 * IROOT_RECENT different ones, each with its last instances.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

#define FIRST_CAPACITY 8u	/* entries of a list */

static uint64_t key_of(const struct iroot_recent_list *list, uint32_t first, uint32_t second,
		       uint32_t direction)
{
	return mix_add_small(mix_add_small(list->id, (uint64_t)first << 32 | second), direction);
}

static uint64_t hash_instances(const struct iroot_recent *r, uint64_t since)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < 2; i++)
		if (r->instance[i].var && r->instance[i].first > since)
			hash += r->instance[i].second;
	return hash;
}

/* Removes the entry from the list's hashes, before it changes. add_hash() adds it again. */
static void subtract_hash(struct iroot_recent_list *list, const struct iroot_recent *r)
{
	list->hash -= hash_instances(r, 0);
	for (uint32_t i = 0; i < list->sections; i++)
		list->section[i].hash -= hash_instances(r, list->section[i].since);
}

static void add_hash(struct iroot_recent_list *list, const struct iroot_recent *r)
{
	list->hash += hash_instances(r, 0);
	for (uint32_t i = 0; i < list->sections; i++)
		list->section[i].hash += hash_instances(r, list->section[i].since);
}

void iroot_recent_section(struct iroot_recent_list *list, uint64_t since)
{
	list->section[list->sections++] = (struct iroot_section){ .since = since };
}

void iroot_recent_end(struct iroot_recent_list *list, uint32_t section)
{
	list->sections--;
	for (; section < list->sections; section++)
		list->section[section] = list->section[section + 1];
}

static bool grow(struct iroot_profile *p, struct iroot_recent_list *list)
{
	uint32_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
	uint32_t ref = iroot_alloc(p, capacity * sizeof(struct iroot_recent));
	const uint64_t *from = iroot_at(p, list->entries);
	uint64_t *to = iroot_at(p, ref);

	if (!ref)
		return false;
	for (size_t i = 0; i < list->count * sizeof(struct iroot_recent) / sizeof(*to); i++)
		to[i] = from[i];
	list->entries = ref;
	list->capacity = capacity;
	return true;
}

/* Forgets the oldest entry; returns its position, which is free then. */
static uint32_t replace_oldest(struct iroot_profile *p, struct iroot_recent_list *list)
{
	struct iroot_recent *at = iroot_at(p, list->entries);
	uint32_t oldest = 0;
	uint32_t *position;
	bool unused;

	for (uint32_t i = 1; i < list->count; i++)
		if (at[i].stamp < at[oldest].stamp)
			oldest = i;
	position = iroot_table_put(p, &p->recents,
				   key_of(list, at[oldest].event[0], at[oldest].event[1],
					  at[oldest].direction), &unused);
	if (position)
		*position = 0;
	subtract_hash(list, &at[oldest]);
	for (unsigned i = 0; i < 3; i++)
		at[oldest].instance[i].var = 0;
	for (uint32_t i = 0; i < list->count; i++)
		at[i].joined[oldest] = at[oldest].joined[i] = 0;
	return oldest;
}

/* 1 + position of the entry, added if it is new; 0: no memory is left. */
static uint32_t index_of(struct iroot_profile *p, struct iroot_recent_list *list, uint32_t first,
			 uint32_t second, uint32_t direction, bool *added)
{
	struct iroot_recent *r;
	uint32_t *position, at;
	bool unused;

	if (!list->id)
		list->id = ++p->recents_count;
	position = iroot_table_put(p, &p->recents, key_of(list, first, second, direction), &unused);
	if (!position || *position)
		return position ? *position : 0;
	if (list->count == list->capacity && list->capacity < IROOT_RECENT && !grow(p, list))
		return 0;
	at = list->count < list->capacity ? list->count++ : replace_oldest(p, list);
	*position = at + 1;
	r = (struct iroot_recent *)iroot_at(p, list->entries) + at;
	r->event[0] = first;
	r->event[1] = second;
	r->direction = direction;
	*added = true;
	return *position;
}

struct iroot_recent *iroot_recent_put(struct iroot_profile *p, struct iroot_recent_list *list,
				      uint32_t first, uint32_t second, uint32_t direction,
				      bool *added)
{
	uint8_t *where = &list->position[(first * 5 + second * 3 + direction) / 2 % IROOT_RECENT];
	struct iroot_recent *r;

	*added = false;
	if (*where && *where <= list->count) {
		r = (struct iroot_recent *)iroot_at(p, list->entries) + (*where - 1u);
		if (r->event[0] == first && r->event[1] == second && r->direction == direction) {
			r->stamp = ++list->stamp;
			return r;
		}
	}
	*where = (uint8_t)index_of(p, list, first, second, direction, added);
	if (!*where)
		return NULL;
	r = (struct iroot_recent *)iroot_at(p, list->entries) + (*where - 1u);
	r->stamp = ++list->stamp;
	return r;
}

void iroot_recent_set(struct iroot_recent_list *list, struct iroot_recent *r,
		      const struct iroot_instance *instance)
{
	subtract_hash(list, r);
	r->instance[2] = r->instance[0];
	if (r->instance[0].var && r->instance[0].var != instance->var)
		r->instance[1] = r->instance[0];
	r->instance[0] = *instance;
	add_hash(list, r);
}
