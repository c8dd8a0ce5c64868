/* The recent accesses of a thread: memory, and the numbers of its sites. */
#include "analyze/atomicity/recent_accesses.h"

#include <stdlib.h>

#include "base/mem.h"

_Static_assert(RECENT_MAX == 8 && RECENT_PER_SITE == 2,
	       "recent_equal() compares 8, recent_slot() keeps 2 per site");

struct recent_accesses *recent_new(void)
{
	struct recent_accesses *recent = xcalloc(1, sizeof(*recent));

	for (uint8_t i = 0; i < RECENT_MAX; i++)
		recent->at[i] = i;
	recent->unused = RECENT_MAX;
	return recent;
}

void recent_free(struct recent_accesses *recent)
{
	if (!recent)
		return;
	map_free(&recent->sites);
	free(recent);
}

uint32_t recent_site_find(struct recent_accesses *recent, struct location_pairs *c, uint64_t pc)
{
	uint64_t *number = map_put(&recent->sites, pc, NULL);

	if (!*number)
		*number = location_pairs_new_site(c);
	recent->known[(pc ^ pc >> 5) % RECENT_SITES] =
		(struct recent_site){ pc, (uint32_t)*number };
	return (uint32_t)*number;
}
