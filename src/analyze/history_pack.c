/*
 * Moments in little room. Where an access was follows from its cell's granule and bytes
 * mostly; of others, which reach beyond the granule or were made with other bytes, it is kept
 * besides, once for all that are equal.
 */
#include "analyze/history.h"

#include "base/mem.h"

#define ELSEWHERE (1ull << 63)	/* in the index: `stack` is the number of an extent */

static uint64_t address_of(const struct history *h, const struct history_cell *c)
{
	uint32_t n = (uint32_t)(c - h->cells);

	return (h->blocks[n / HISTORY_LINE].line * HISTORY_LINE + n % HISTORY_LINE) * GRANULE_BYTES +
	       (unsigned)__builtin_ctz(c->bytes);
}

/* They lie side by side. */
static unsigned size_of(const struct history_cell *c)
{
	return 32u - (unsigned)__builtin_clz(c->bytes) - (unsigned)__builtin_ctz(c->bytes);
}

static uint32_t extent_of(struct history *h, const struct moment *m)
{
	uint64_t hash = (m->addr * 0x9e3779b97f4a7c15ull ^ m->size) * 0xd6e8feb86659fd93ull ^ m->stack;
	uint64_t *number = map_put(&h->extent_at, hash, NULL);
	const struct history_extent *e = &h->extents[*number];

	/* Hashes of different ones are hardly ever equal: then the later has several numbers. */
	if (!*number || e->addr != m->addr || e->size != m->size || e->stack != m->stack) {
		h->extents = xgrow(h->extents, h->extent_count, &h->extent_capacity,
				   sizeof(*h->extents));
		h->extents[h->extent_count] = (struct history_extent){ m->addr, m->size, m->stack };
		*number = h->extent_count++;
	}
	return (uint32_t)*number;
}

struct history_mark history_pack(struct history *h, const struct history_cell *c,
				 const struct moment *m)
{
	struct history_mark mark = { m->index, m->time, m->situation, m->stack };

	if (m->addr != address_of(h, c) || m->size != size_of(c)) {
		mark.index |= ELSEWHERE;
		mark.stack = extent_of(h, m);
	}
	return mark;
}

struct moment history_unpack(const struct history *h, const struct history_cell *c,
			     const struct history_mark *mark, uint32_t tag, uint32_t epoch)
{
	struct moment m = { .index = mark->index & ~ELSEWHERE, .time = mark->time,
			    .addr = address_of(h, c), .size = size_of(c),
			    .situation = mark->situation, .epoch = epoch,
			    .stack = mark->stack, .tag = tag };

	if (mark->index & ELSEWHERE) {
		m.addr = h->extents[mark->stack].addr;
		m.size = h->extents[mark->stack].size;
		m.stack = h->extents[mark->stack].stack;
	}
	return m;
}

uint64_t history_mark_index(const struct history_mark *mark)
{
	return mark->index & ~ELSEWHERE;
}
