#include "trace/sites/rarely_touched.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

#define GRANULE 3		/* log2: the runtime tells owners apart by 8 bytes */
#define MOST (1u << 20)		/* granules: more of them teach nothing new */

static bool is_sampled(uint64_t granule)
{
	return (hash_spread(granule) >> 32) % COLD_SAMPLE == 0;
}

static void add_granule(struct cold *c, uint64_t pc, uint64_t granule)
{
	uint64_t *accesses = map_find(&c->touched, granule);
	bool added;

	if (!accesses) {
		if (map_count(&c->touched) >= MOST)
			return;
		accesses = map_put(&c->touched, granule, NULL);
	}
	++*accesses;
	map_put(&c->seen, hash_spread(hash_spread(pc) ^ granule), &added);
	if (!added)
		return;
	c->pairs = xgrow(c->pairs, c->count, &c->capacity, sizeof(*c->pairs));
	c->pairs[c->count++] = (struct cold_pair){ pc, granule };
}

void cold_add(struct cold *c, uint64_t pc, uint64_t addr, uint64_t size)
{
	c->told++;
	for (uint64_t g = addr >> GRANULE; g <= (addr + size - 1) >> GRANULE; g++)
		if (is_sampled(g))
			add_granule(c, pc, g);
}

void cold_end(struct cold *c, uint64_t dropped)
{
	for (size_t i = 0; i < c->count && dropped <= c->told; i++) {
		const struct cold_pair *p = &c->pairs[i];

		++*map_put(&c->granules, p->pc, NULL);
		*map_put(&c->accesses, p->pc, NULL) += *map_find(&c->touched, p->granule);
	}
}

bool cold_is(const struct cold *c, uint64_t pc)
{
	const uint64_t *granules = map_find(&c->granules, pc);

	return granules && *granules >= COLD_MANY && *map_find(&c->accesses, pc) <= *granules * COLD_ACCESSES;
}

void cold_free(struct cold *c)
{
	map_free(&c->touched);
	map_free(&c->seen);
	map_free(&c->granules);
	map_free(&c->accesses);
	free(c->pairs);
	*c = (struct cold){ 0 };
}
