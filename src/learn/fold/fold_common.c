#include "learn/fold/fold_common.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

const char *learn_access_name(enum learn_access access)
{
	static const char *const names[] = { "read", "write", "function", "lock", "cancel" };

	return names[access];
}

uint32_t learn_sites_number(struct learn_sites *s, uint64_t pc, enum learn_access access)
{
	uint32_t *recent = &s->recent[(hash_spread(pc) >> 54) ^ access];
	uint64_t *at;
	bool added;

	if (*recent && s->items[*recent].pc == pc && s->items[*recent].access == access)
		return *recent;
	at = map_put(&s->at, pc << 3 | access, &added);
	if (!s->count) {
		s->items = xgrow(s->items, s->count, &s->capacity, sizeof(*s->items));
		s->items[s->count++] = (struct learn_site){ 0 };
	}
	if (added) {
		s->items = xgrow(s->items, s->count, &s->capacity, sizeof(*s->items));
		s->items[s->count] = (struct learn_site){ pc, access };
		*at = s->count++;
	}
	*recent = (uint32_t)*at;
	return *recent;
}

void learn_sites_free(struct learn_sites *s)
{
	free(s->items);
	map_free(&s->at);
	*s = (struct learn_sites){ 0 };
}

void cells_init(struct cells *c, unsigned granularity, size_t size)
{
	*c = (struct cells){ .granularity = granularity, .size = size };
	granules_init(&c->at);
}

void cells_free(struct cells *c, void (*clear)(void *item))
{
	for (size_t i = 0; clear && i < c->count; i++)
		clear(c->items + i * c->size);
	granules_free(&c->at);
	free(c->items);
}

void *cells_get(struct cells *c, uint64_t cell)
{
	uint32_t *number = granules_at(&c->at, cell);

	if (!*number) {
		c->items = xgrow(c->items, c->count, &c->capacity, c->size);
		memset(c->items + c->count * c->size, 0, c->size);
		*number = (uint32_t)++c->count;
	}
	return c->items + (*number - 1) * c->size;
}

struct forgetting {
	struct cells *cells;
	void (*clear)(void *item);
};

static void forget(void *ctx, uint32_t *number)
{
	struct forgetting *f = ctx;
	uint8_t *item = f->cells->items + (*number - 1) * f->cells->size;

	if (f->clear)
		f->clear(item);
	memset(item, 0, f->cells->size);
}

void cells_forget(struct cells *c, uint64_t addr, uint64_t size, void (*clear)(void *item))
{
	struct forgetting f = { c, clear };
	uint64_t first = cells_first(c, addr), last;

	if (!size)
		return;
	last = cells_last(c, addr, size > UINT64_MAX - addr ? UINT64_MAX - addr : size);
	granules_each(&c->at, first * GRANULE_BYTES, (last - first + 1) * GRANULE_BYTES, forget,
		      &f);
}

void learn_pairs_add(struct learn_pairs *p, uint32_t first, uint32_t second)
{
	bool added;

	map_put(&p->at, (uint64_t)first << 32 | second, &added);
	if (!added)
		return;
	p->items = xgrow(p->items, p->count, &p->capacity, sizeof(*p->items));
	p->items[p->count++] = (struct learn_pair){ first, second };
}

int learn_pairs_have(const struct learn_pairs *p, uint32_t first, uint32_t second)
{
	return map_find(&p->at, (uint64_t)first << 32 | second) != NULL;
}

void learn_pairs_free(struct learn_pairs *p)
{
	free(p->items);
	map_free(&p->at);
	*p = (struct learn_pairs){ 0 };
}
