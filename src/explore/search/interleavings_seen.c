#include "explore/search/interleavings_seen.h"

#include "abi/mix.h"
#include "abi/turn_log.h"

void interleavings_seen_free(struct interleavings_seen *c)
{
	map_free(&c->seen);
}

uint64_t interleavings_seen_hash(const struct ctl_block *b)
{
	const uint32_t *words = (const void *)((const char *)b + b->turns);
	uint64_t most = b->turns_size / sizeof(*words);
	uint64_t count = b->report.turns < most ? b->report.turns : most;
	/* A killed run does not log its last turn: the running thread stands for it. */
	uint64_t hash = mix_add(0, b->report.thread);
	struct turn turn;

	for (uint64_t at = 0; turn_get(words, count, &at, &turn);)
		hash = mix_add(mix_add(hash, turn.thread << TURN_KIND_BITS | turn.kind),
			       turn.steps);
	return hash;
}

uint64_t interleavings_seen_add(struct interleavings_seen *c, const struct ctl_block *b)
{
	if (map_count(&c->seen) >= COVERAGE_MAX)
		return COVERAGE_MAX;
	map_put(&c->seen, interleavings_seen_hash(b), NULL);
	return map_count(&c->seen);
}
