/*
 * A map from granules of memory (8 bytes) to numbers; 0 until set. Pages of 64 granules, found by
 * hash, so that neighbours are close together and a range costs no more than its used pages.
 */
#ifndef ANALYZE_CONTEXT_GRANULES_H
#define ANALYZE_CONTEXT_GRANULES_H

#include <stddef.h>
#include <stdint.h>

#define GRANULE_BYTES 8u

struct granules {
	struct granules_page *pages;
	size_t page_count, page_capacity;
	struct granules_slot *slots;	/* hash table: address of a page to its index in `pages` */
	size_t slot_count;		/* a power of two */
};

void granules_init(struct granules *g);
void granules_free(struct granules *g);

/* The number of a granule (address / GRANULE_BYTES), to read or set; valid until the next call. */
uint32_t *granules_at(struct granules *g, uint64_t granule);

/* Calls `fn` for every granule with a number that overlaps the `size` bytes at `addr`. */
void granules_each(struct granules *g, uint64_t addr, uint64_t size,
		   void (*fn)(void *ctx, uint32_t *number), void *ctx);

#endif
