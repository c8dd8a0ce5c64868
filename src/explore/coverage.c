#include "explore/coverage.h"

#include "sched/plan.h"

void coverage_free(struct coverage *c)
{
	map_free(&c->seen);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

uint64_t coverage_add(struct coverage *c, const struct ctl_block *b)
{
	const struct sched_turn *turns = (const void *)((const char *)b + b->turns);
	uint64_t most = b->turns_size / sizeof(*turns);
	uint64_t count = b->report.turns < most ? b->report.turns : most;
	uint64_t hash = mix(count, b->report.thread);	/* the last turn may be missing */

	if (map_count(&c->seen) >= COVERAGE_MAX)
		return COVERAGE_MAX;
	for (uint64_t i = 0; i < count; i++)
		hash = mix(mix(hash, turns[i].name + turns[i].kind), turns[i].steps);
	map_put(&c->seen, hash, NULL);
	return map_count(&c->seen);
}
