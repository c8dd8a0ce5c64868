#include "trace/sites/rarely_touched.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

#define GRANULE_BITS 3			/* log2: the runtime keeps an owner for each 8 bytes */
#define MAX_GRANULES (1u << 20)		/* sampled granules; others are ignored: bounds memory */

static bool is_sampled(uint64_t granule)
{
	return (hash_spread(granule) >> 32) % RARELY_SAMPLE == 0;
}

static void add_granule(struct rarely_touched *c, uint64_t pc, uint64_t granule)
{
	uint64_t *accesses = map_find(&c->touched, granule);
	bool added;

	if (!accesses) {
		if (map_count(&c->touched) >= MAX_GRANULES)
			return;
		accesses = map_put(&c->touched, granule, NULL);
	}
	++*accesses;
	map_put(&c->seen, hash_spread(hash_spread(pc) ^ granule), &added);
	if (!added)
		return;
	c->pairs = xgrow(c->pairs, c->count, &c->capacity, sizeof(*c->pairs));
	c->pairs[c->count++] = (struct rarely_touched_pair){ pc, granule };
}

void rarely_touched_add(struct rarely_touched *c, uint64_t pc, uint64_t addr, uint64_t size)
{
	c->accesses_seen++;
	for (uint64_t g = addr >> GRANULE_BITS; g <= (addr + size - 1) >> GRANULE_BITS; g++)
		if (is_sampled(g))
			add_granule(c, pc, g);
}

void rarely_touched_finish(struct rarely_touched *c, uint64_t dropped)
{
	for (size_t i = 0; i < c->count && dropped <= c->accesses_seen; i++) {
		const struct rarely_touched_pair *p = &c->pairs[i];

		++*map_put(&c->granules, p->pc, NULL);
		*map_put(&c->accesses, p->pc, NULL) += *map_find(&c->touched, p->granule);
	}
}

bool rarely_touched_has(const struct rarely_touched *c, uint64_t pc)
{
	const uint64_t *granules = map_find(&c->granules, pc);

	return granules && *granules >= RARELY_MIN_GRANULES &&
	       *map_find(&c->accesses, pc) <= *granules * RARELY_MAX_ACCESSES;
}

void rarely_touched_free(struct rarely_touched *c)
{
	map_free(&c->touched);
	map_free(&c->seen);
	map_free(&c->granules);
	map_free(&c->accesses);
	free(c->pairs);
	*c = (struct rarely_touched){ 0 };
}
