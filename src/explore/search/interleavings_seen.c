#include "explore/search/interleavings_seen.h"

#include "abi/turn_log.h"

void coverage_free(struct coverage *c)
{
	map_free(&c->seen);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

uint64_t coverage_hash(const struct ctl_block *b)
{
	const uint32_t *words = (const void *)((const char *)b + b->turns);
	uint64_t most = b->turns_size / sizeof(*words);
	uint64_t count = b->report.turns < most ? b->report.turns : most;
	uint64_t hash = mix(0, b->report.thread);	/* the last turn may be missing */
	struct turn turn;

	for (uint64_t at = 0; turn_get(words, count, &at, &turn);)
		hash = mix(mix(hash, turn.thread << TURN_KIND_BITS | turn.kind), turn.steps);
	return hash;
}

uint64_t coverage_add(struct coverage *c, const struct ctl_block *b)
{
	if (map_count(&c->seen) >= COVERAGE_MAX)
		return COVERAGE_MAX;
	map_put(&c->seen, coverage_hash(b), NULL);
	return map_count(&c->seen);
}
