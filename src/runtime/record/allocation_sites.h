/*
 * Initial shadow of heap blocks, predicted from earlier blocks of the same allocation site
 * (allocation_sites.c).
 */
#ifndef RUNTIME_RECORD_ALLOCATION_SITES_H
#define RUNTIME_RECORD_ALLOCATION_SITES_H

#include "runtime/core/runtime.h"

/*
 * Records the allocation of a block of `room` bytes, of which the program asked for `size`, and
 * sets the shadow of its memory.
 */
SNARLRT_HIDDEN void birth_note(const void *start, size_t room, size_t size, const void *pc);

/* Records that a block is about to be freed, and resets the shadow of its memory. */
SNARLRT_HIDDEN void birth_note_end(const void *start, size_t room, const void *pc);

/* allocation_claim() for a thread that has made claims. */
SNARLRT_HIDDEN bool allocation_claim_page(struct snarlrt_thread *self, uint64_t addr);

/*
 * Called when the thread accesses an untouched granule. True: the granule is in a block that the
 * thread has claimed, and all untouched granules of the page are now the thread's own and cut.
 */
static inline bool allocation_claim(struct snarlrt_thread *self, uint64_t addr)
{
	return unlikely(self->claims) && allocation_claim_page(self, addr);
}

#endif
