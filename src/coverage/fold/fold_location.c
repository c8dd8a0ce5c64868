/*
 * Locations: granules (8 aligned bytes), found by blocks of 64, and locks.
 */
#include "coverage/fold/fold_internal.h"

#define BLOCK 64u	/* granules */

static uint32_t location_new(struct iroot_profile *p, uint64_t addr, bool is_lock)
{
	uint32_t ref = iroot_alloc(p, sizeof(struct iroot_location));
	struct iroot_location *loc = iroot_at(p, ref);

	if (!ref)
		return 0;
	loc->addr = addr;
	loc->is_lock = is_lock;
	loc->number = (uint32_t)++p->location_count;
	loc->next = p->all_locations;
	p->all_locations = ref;
	return ref;
}

static uint32_t granule_by_table(struct iroot_profile *p, uint64_t granule)
{
	bool added;
	uint32_t *block = iroot_table_put(p, &p->granule_blocks, granule / BLOCK, &added), *number;

	if (!block)
		return 0;
	if (!*block)
		*block = iroot_alloc(p, BLOCK * sizeof(*number));
	if (!*block)
		return 0;
	number = (uint32_t *)iroot_at(p, *block) + granule % BLOCK;
	if (!*number)
		*number = location_new(p, granule * 8, false);
	return *number;
}

static uint32_t lock_by_table(struct iroot_profile *p, uint64_t addr)
{
	bool added;
	uint32_t *number = iroot_table_put(p, &p->locks, addr, &added);

	if (number && !*number)
		*number = location_new(p, addr, true);
	return number ? *number : 0;
}

/* The ref of a location never changes, so it may be cached. */
uint32_t iroot_location_granule(struct iroot_profile *p, uint64_t granule)
{
	uint64_t key = granule << 1 | 1;
	struct iroot_cache_slot *cached = iroot_cache_slot(p->location_cache, key);
	uint32_t ref = cached->key == key ? cached->ref : granule_by_table(p, granule);

	if (ref)
		*cached = (struct iroot_cache_slot){ key, ref, 0 };
	return ref;
}

uint32_t iroot_location_lock(struct iroot_profile *p, uint64_t addr)
{
	uint64_t key = (addr + 1) << 1;
	struct iroot_cache_slot *cached = iroot_cache_slot(p->location_cache, key);
	uint32_t ref = cached->key == key ? cached->ref : lock_by_table(p, addr);

	if (ref)
		*cached = (struct iroot_cache_slot){ key, ref, 0 };
	return ref;
}

/* Ends the history of the location, and gives it a new number: it is another variable now. */
static void location_renew(struct iroot_profile *p, struct iroot_location *loc)
{
	if (!loc->used)
		return;
	loc->used = 0;
	while (loc->last) {
		struct iroot_last *m = iroot_at(p, loc->last);
		uint32_t next = m->next;

		m->next = p->free_last;
		p->free_last = loc->last;
		loc->last = next;
	}
	iroot_predicted_forget(p, loc);
	loc->number = (uint32_t)++p->location_count;
}

/* Granules that lie only partly in the range keep their history. */
void iroot_location_forget(struct iroot_profile *p, uint64_t addr, uint64_t size)
{
	uint64_t first = (addr + 7) / 8, end = (addr + size) / 8;

	if (end <= first)
		return;
	if ((end - first) / BLOCK > p->granule_blocks.count) {
		for (uint32_t ref = p->all_locations; ref;) {
			struct iroot_location *loc = iroot_at(p, ref);

			if (!loc->is_lock && loc->addr / 8 - first < end - first)
				location_renew(p, loc);
			ref = loc->next;
		}
		return;
	}
	for (uint64_t block = first / BLOCK; block <= (end - 1) / BLOCK; block++) {
		uint32_t ref = iroot_table_get(p, &p->granule_blocks, block);
		const uint32_t *numbers = iroot_at(p, ref);

		for (uint32_t i = 0; ref && i < BLOCK; i++)
			if (numbers[i] && block * BLOCK + i - first < end - first)
				location_renew(p, iroot_at(p, numbers[i]));
	}
}
