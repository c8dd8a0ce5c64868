/*
 * A number for each 8-byte granule of memory, 0 until set. Tables of 64, found by
 * hashing, so that a range costs what was used of it.
 */
#ifndef ANALYZE_CONTEXT_GRANULES_H
#define ANALYZE_CONTEXT_GRANULES_H

#include <stddef.h>
#include <stdint.h>

#define GRANULE_BYTES 8u

struct granules {
	struct granules_page *pages;
	size_t page_count, page_capacity;
	struct granules_slot *slots;	/* address of a page to its number */
	size_t slot_count;		/* a power of two */
};

void granules_init(struct granules *g);
void granules_free(struct granules *g);

/* The number of granule `addr / GRANULE_BYTES`; good until the next call. */
uint32_t *granules_at(struct granules *g, uint64_t granule);

/* Calls back for every granule with a number that has a byte of the memory. */
void granules_each(struct granules *g, uint64_t addr, uint64_t size,
		   void (*fn)(void *ctx, uint32_t *number), void *ctx);

#endif
