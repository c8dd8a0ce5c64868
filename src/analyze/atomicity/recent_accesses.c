#include "analyze/atomicity/recent_accesses.h"

#include <stdlib.h>

#include "base/mem.h"

_Static_assert(NEAR == 8 && NEAR_SITE == 2, "near_equal() and near_slot() say so");

struct near *near_new(void)
{
	struct near *near = xcalloc(1, sizeof(*near));

	for (uint8_t i = 0; i < NEAR; i++)
		near->at[i] = i;
	near->spare = NEAR;
	return near;
}

void near_free(struct near *near)
{
	if (!near)
		return;
	map_free(&near->sites);
	free(near);
}

uint32_t near_site_find(struct near *near, struct couples *c, uint64_t pc)
{
	uint64_t *number = map_put(&near->sites, pc, NULL);

	if (!*number)
		*number = couples_site(c);
	near->known[(pc ^ pc >> 5) % NEAR_KNOWN] = (struct near_site){ pc, (uint32_t)*number };
	return (uint32_t)*number;
}
