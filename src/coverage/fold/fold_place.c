/*
 * Where accesses happen: granules of 8 bytes, found by blocks of 64, and locks.
 */
#include "coverage/fold/fold_internal.h"

#define BLOCK 64u	/* granules */

static uint32_t place_new(struct iroot_profile *p, uint64_t addr, bool is_lock)
{
	uint32_t ref = iroot_alloc(p, sizeof(struct iroot_place));
	struct iroot_place *place = iroot_at(p, ref);

	if (!ref)
		return 0;
	place->addr = addr;
	place->is_lock = is_lock;
	place->number = (uint32_t)++p->place_count;
	place->next = p->all_places;
	p->all_places = ref;
	return ref;
}

static uint32_t granule_far(struct iroot_profile *p, uint64_t granule)
{
	bool added;
	uint32_t *block = iroot_table_put(p, &p->places, granule / BLOCK, &added), *number;

	if (!block)
		return 0;
	if (!*block)
		*block = iroot_alloc(p, BLOCK * sizeof(*number));
	if (!*block)
		return 0;
	number = (uint32_t *)iroot_at(p, *block) + granule % BLOCK;
	if (!*number)
		*number = place_new(p, granule * 8, false);
	return *number;
}

static uint32_t lock_far(struct iroot_profile *p, uint64_t addr)
{
	bool added;
	uint32_t *number = iroot_table_put(p, &p->locks, addr, &added);

	if (number && !*number)
		*number = place_new(p, addr, true);
	return number ? *number : 0;
}

/* A place stays where it is. */
uint32_t iroot_place_granule(struct iroot_profile *p, uint64_t granule)
{
	uint64_t key = granule << 1 | 1;
	struct iroot_near *near = iroot_near(p->places_near, key);
	uint32_t ref = near->key == key ? near->ref : granule_far(p, granule);

	if (ref)
		*near = (struct iroot_near){ key, ref, 0 };
	return ref;
}

uint32_t iroot_place_lock(struct iroot_profile *p, uint64_t addr)
{
	uint64_t key = (addr + 1) << 1;
	struct iroot_near *near = iroot_near(p->places_near, key);
	uint32_t ref = near->key == key ? near->ref : lock_far(p, addr);

	if (ref)
		*near = (struct iroot_near){ key, ref, 0 };
	return ref;
}

/* It is another one from now on. */
static void renew(struct iroot_profile *p, struct iroot_place *place)
{
	if (!place->used)
		return;
	place->used = 0;
	while (place->marks) {
		struct iroot_mark *m = iroot_at(p, place->marks);
		uint32_t next = m->next;

		m->next = p->free_marks;
		p->free_marks = place->marks;
		place->marks = next;
	}
	iroot_predict_forget(p, place);
	place->number = (uint32_t)++p->place_count;
}

/* A granule that is new only in part keeps its history. */
void iroot_place_forget(struct iroot_profile *p, uint64_t addr, uint64_t size)
{
	uint64_t first = (addr + 7) / 8, end = (addr + size) / 8;

	if (end <= first)
		return;
	if ((end - first) / BLOCK > p->places.count) {
		for (uint32_t ref = p->all_places; ref;) {
			struct iroot_place *place = iroot_at(p, ref);

			if (!place->is_lock && place->addr / 8 - first < end - first)
				renew(p, place);
			ref = place->next;
		}
		return;
	}
	for (uint64_t block = first / BLOCK; block <= (end - 1) / BLOCK; block++) {
		uint32_t ref = iroot_table_get(p, &p->places, block);
		const uint32_t *numbers = iroot_at(p, ref);

		for (uint32_t i = 0; ref && i < BLOCK; i++)
			if (numbers[i] && block * BLOCK + i - first < end - first)
				renew(p, iroot_at(p, numbers[i]));
	}
}
