#include "explore/search/search_memory.h"

#include <stdlib.h>

void search_memory_free(struct search_memory *m)
{
	free(m->granules);
	map_free(&m->identities);
	coverage_free(&m->coverage);
	*m = (struct search_memory){ 0 };
}

bool search_memory_wants(const struct search_memory *m, uint64_t identity)
{
	const uint64_t *doubts = map_find(&m->identities, identity);

	return !doubts || (*doubts > 0 && *doubts < SEARCH_DOUBTS);
}

void search_memory_answer(struct search_memory *m, uint64_t identity, enum search_answer answer)
{
	uint64_t *doubts = map_put(&m->identities, identity, NULL);

	*doubts = answer == SEARCH_DOUBT ? *doubts + 1 : 0;
}
