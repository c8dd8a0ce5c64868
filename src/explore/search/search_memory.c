#include "explore/search/search_memory.h"

#include <stdlib.h>

void search_memory_free(struct search_memory *m)
{
	free(m->granules);
	map_free(&m->identities);
	interleavings_seen_free(&m->interleavings);
	*m = (struct search_memory){ 0 };
}

bool search_memory_wants(const struct search_memory *m, uint64_t identity)
{
	const uint64_t *unproved = map_find(&m->identities, identity);

	return !unproved || (*unproved > 0 && *unproved < SEARCH_DOUBTS);
}

void search_memory_answer(struct search_memory *m, uint64_t identity, enum search_answer answer)
{
	uint64_t *unproved = map_put(&m->identities, identity, NULL);

	*unproved = answer == SEARCH_DOUBT ? *unproved + 1 : 0;
}
