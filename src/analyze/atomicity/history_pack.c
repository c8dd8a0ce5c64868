/*
 * Packs access contexts into 24 bytes. The address and size mostly follow from the cell: its
 * granule and bytes. For an access with other bytes, unused bits of `index` hold its first byte and
 * size relative to the granule. If these do not fit, an extent in a table holds them, shared by
 * equal ones.
 */
#include "analyze/atomicity/history.h"

#include "base/hash.h"
#include "base/mem.h"

/* bits of `index` for the index itself: threads have less than 2^44 events */
#define INDEX ((1ull << 44) - 1)
/* 8 bits: address of the first byte, from PACKED_BEFORE below the granule on */
#define PACKED_FIRST_SHIFT 44
#define PACKED_BEFORE 128u
#define SIZE_SHIFT 52		/* 8 bits: size in bytes; 0: address and size are the cell's */
#define ELSEWHERE (1ull << 63)	/* address, size and stack are in extent number `stack` */

static uint64_t granule_of(const struct history *h, const struct history_cell *c)
{
	uint64_t line = h->blocks[history_block_of(h, c)].line;

	return (line * HISTORY_LINE + history_granule_of(h, c)) * GRANULE_BYTES;
}

static unsigned first_of(const struct history_cell *c)
{
	return (unsigned)__builtin_ctz(c->bytes);
}

/* The bytes of a cell are contiguous. */
static unsigned size_of(const struct history_cell *c)
{
	return 32u - (unsigned)__builtin_clz(c->bytes) - (unsigned)__builtin_ctz(c->bytes);
}

static uint32_t extent_of(struct history *h, const struct access_context *m)
{
	uint64_t hash = hash_add(hash_spread(m->addr), m->size) ^ m->stack;
	uint64_t *number = map_put(&h->extent_at, hash, NULL);
	const struct history_extent *e = &h->extents[*number];

	/*
	 * If the hashes of two extents collide, which is rare, the later one gets several numbers.
	 */
	if (!*number || e->addr != m->addr || e->size != m->size || e->stack != m->stack) {
		h->extents = xgrow(h->extents, h->extent_count, &h->extent_capacity,
				   sizeof(*h->extents));
		h->extents[h->extent_count] = (struct history_extent){ m->addr, m->size, m->stack };
		*number = h->extent_count++;
	}
	return (uint32_t)*number;
}

struct history_packed history_pack_inexact(struct history *h, const struct history_cell *c,
					   const struct access_context *m)
{
	struct history_packed packed = { m->index, m->time, m->sync_state, m->stack };
	uint64_t first_byte;

	first_byte = m->addr + PACKED_BEFORE - granule_of(h, c);
	if (first_byte < 256 && m->size < 256) {
		packed.index |= first_byte << PACKED_FIRST_SHIFT | (uint64_t)m->size << SIZE_SHIFT;
	} else {
		packed.index |= ELSEWHERE;
		packed.stack = extent_of(h, m);
	}
	return packed;
}

struct access_context history_unpack(const struct history *h, const struct history_cell *c,
				     const struct history_packed *packed, uint32_t tag,
				     uint32_t epoch)
{
	unsigned size = packed->index >> SIZE_SHIFT & 255;
	struct access_context m = { .index = packed->index & INDEX,
				    .time = packed->time,
				    .addr = granule_of(h, c) + first_of(c),
				    .size = size_of(c),
				    .sync_state = packed->sync_state,
				    .epoch = epoch,
				    .stack = packed->stack,
				    .tag = tag };

	if (size) {
		m.addr = granule_of(h, c) + (packed->index >> PACKED_FIRST_SHIFT & 255) -
			 PACKED_BEFORE;
		m.size = size;
	} else if (packed->index & ELSEWHERE) {
		m.addr = h->extents[packed->stack].addr;
		m.size = h->extents[packed->stack].size;
		m.stack = h->extents[packed->stack].stack;
	}
	return m;
}

uint64_t history_packed_index(const struct history_packed *packed)
{
	return packed->index & INDEX;
}
