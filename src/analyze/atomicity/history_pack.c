/*
 * Moments in little room. Where an access was follows from its cell's granule and bytes
 * mostly; others, which reach beyond the granule or were made with other bytes, say how
 * they lie to it; of large ones it is kept besides, once for all that are equal.
 */
#include "analyze/atomicity/history.h"

#include "base/hash.h"
#include "base/mem.h"

/* In the index; threads have less than 2^44 events. */
#define INDEX ((1ull << 44) - 1)
#define NEAR_SHIFT 44		/* a byte: where it begins, from NEAR before the granule on */
#define NEAR 128u
#define SIZE_SHIFT 52		/* a byte: its size; 0: it is as the cell says */
#define ELSEWHERE (1ull << 63)	/* `stack` is the number of an extent */

static uint64_t granule_of(const struct history *h, const struct history_cell *c)
{
	uint64_t line = h->blocks[history_block_of(h, c)].line;

	return (line * HISTORY_LINE + history_granule_of(h, c)) * GRANULE_BYTES;
}

static unsigned first_of(const struct history_cell *c)
{
	return (unsigned)__builtin_ctz(c->bytes);
}

/* They lie side by side. */
static unsigned size_of(const struct history_cell *c)
{
	return 32u - (unsigned)__builtin_clz(c->bytes) - (unsigned)__builtin_ctz(c->bytes);
}

static uint32_t extent_of(struct history *h, const struct moment *m)
{
	uint64_t hash = hash_add(hash_spread(m->addr), m->size) ^ m->stack;
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

/* Not just the bytes of the cell. */
struct history_mark history_pack_odd(struct history *h, const struct history_cell *c,
				     const struct moment *m)
{
	struct history_mark mark = { m->index, m->time, m->situation, m->stack };
	uint64_t near;

	near = m->addr + NEAR - granule_of(h, c);
	if (near < 256 && m->size < 256) {
		mark.index |= near << NEAR_SHIFT | (uint64_t)m->size << SIZE_SHIFT;
	} else {
		mark.index |= ELSEWHERE;
		mark.stack = extent_of(h, m);
	}
	return mark;
}

struct moment history_unpack(const struct history *h, const struct history_cell *c,
			     const struct history_mark *mark, uint32_t tag, uint32_t epoch)
{
	unsigned size = mark->index >> SIZE_SHIFT & 255;
	struct moment m = { .index = mark->index & INDEX, .time = mark->time,
			    .addr = granule_of(h, c) + first_of(c), .size = size_of(c),
			    .situation = mark->situation, .epoch = epoch,
			    .stack = mark->stack, .tag = tag };

	if (size) {
		m.addr = granule_of(h, c) + (mark->index >> NEAR_SHIFT & 255) - NEAR;
		m.size = size;
	} else if (mark->index & ELSEWHERE) {
		m.addr = h->extents[mark->stack].addr;
		m.size = h->extents[mark->stack].size;
		m.stack = h->extents[mark->stack].stack;
	}
	return m;
}

uint64_t history_mark_index(const struct history_mark *mark)
{
	return mark->index & INDEX;
}
