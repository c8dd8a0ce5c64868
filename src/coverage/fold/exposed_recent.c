/*
 * The different things that happened last.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

#define FIRST 8u	/* places at first */

static uint64_t key_of(const struct iroot_recents *list, uint32_t first, uint32_t second,
		       uint32_t direction)
{
	return mix_add_small(mix_add_small(list->id, (uint64_t)first << 32 | second), direction);
}

static uint64_t state_of(const struct iroot_recent *r, uint64_t since)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < 2; i++)
		if (r->instance[i].var && r->instance[i].first > since)
			state += r->instance[i].second;
	return state;
}

/* Before it changes, and after that. */
static void count_out(struct iroot_recents *list, const struct iroot_recent *r)
{
	list->state -= state_of(r, 0);
	for (uint32_t i = 0; i < list->sections; i++)
		list->section[i].state -= state_of(r, list->section[i].since);
}

static void count_in(struct iroot_recents *list, const struct iroot_recent *r)
{
	list->state += state_of(r, 0);
	for (uint32_t i = 0; i < list->sections; i++)
		list->section[i].state += state_of(r, list->section[i].since);
}

void iroot_recent_section(struct iroot_recents *list, uint64_t since)
{
	list->section[list->sections++] = (struct iroot_section){ .since = since };
}

void iroot_recent_end(struct iroot_recents *list, uint32_t section)
{
	list->sections--;
	for (; section < list->sections; section++)
		list->section[section] = list->section[section + 1];
}

static bool grow(struct iroot_profile *p, struct iroot_recents *list)
{
	uint32_t capacity = list->capacity ? list->capacity * 2 : FIRST;
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

/* Whose place it takes is met anew some day. */
static uint32_t give_way(struct iroot_profile *p, struct iroot_recents *list)
{
	struct iroot_recent *at = iroot_at(p, list->entries);
	uint32_t oldest = 0;
	uint32_t *place;
	bool added;

	for (uint32_t i = 1; i < list->count; i++)
		if (at[i].stamp < at[oldest].stamp)
			oldest = i;
	place = iroot_table_put(p, &p->recents, key_of(list, at[oldest].event[0], at[oldest].event[1],
						       at[oldest].direction), &added);
	if (place)
		*place = 0;
	count_out(list, &at[oldest]);
	for (unsigned i = 0; i < 3; i++)
		at[oldest].instance[i].var = 0;
	for (uint32_t i = 0; i < list->count; i++)
		at[i].joined[oldest] = at[oldest].joined[i] = 0;
	return oldest;
}

/* By the table; 0 if nothing is left. */
static uint32_t place_of(struct iroot_profile *p, struct iroot_recents *list, uint32_t first, uint32_t second,
			 uint32_t direction, bool *made)
{
	struct iroot_recent *r;
	uint32_t *place, at;
	bool added;

	if (!list->id)
		list->id = ++p->recents_count;
	place = iroot_table_put(p, &p->recents, key_of(list, first, second, direction), &added);
	if (!place || *place)
		return place ? *place : 0;
	if (list->count == list->capacity && list->capacity < IROOT_RECENT && !grow(p, list))
		return 0;
	at = list->count < list->capacity ? list->count++ : give_way(p, list);
	*place = at + 1;
	r = (struct iroot_recent *)iroot_at(p, list->entries) + at;
	r->event[0] = first;
	r->event[1] = second;
	r->direction = direction;
	*made = true;
	return *place;
}

struct iroot_recent *iroot_recent_meet(struct iroot_profile *p, struct iroot_recents *list,
				       uint32_t first, uint32_t second, uint32_t direction, bool *made)
{
	uint8_t *where = &list->where[(first * 5 + second * 3 + direction) / 2 % IROOT_RECENT];
	struct iroot_recent *r;

	*made = false;
	if (*where && *where <= list->count) {
		r = (struct iroot_recent *)iroot_at(p, list->entries) + (*where - 1u);
		if (r->event[0] == first && r->event[1] == second && r->direction == direction) {
			r->stamp = ++list->stamp;
			return r;
		}
	}
	*where = (uint8_t)place_of(p, list, first, second, direction, made);
	if (!*where)
		return NULL;
	r = (struct iroot_recent *)iroot_at(p, list->entries) + (*where - 1u);
	r->stamp = ++list->stamp;
	return r;
}

void iroot_recent_set(struct iroot_recents *list, struct iroot_recent *r,
		      const struct iroot_instance *instance)
{
	count_out(list, r);
	r->instance[2] = r->instance[0];
	if (r->instance[0].var && r->instance[0].var != instance->var)
		r->instance[1] = r->instance[0];
	r->instance[0] = *instance;
	count_in(list, r);
}
