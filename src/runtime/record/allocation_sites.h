/*
 * What becomes of blocks of the heap, learnt from those of the same place (birth.c).
 */
#ifndef RUNTIME_RECORD_ALLOCATION_SITES_H
#define RUNTIME_RECORD_ALLOCATION_SITES_H

#include "runtime/core/runtime.h"

/* A block of so much memory that the program owns now, of which it asked for `size`: notes that and settles whose it is. */
SNARLRT_HIDDEN void birth_note(const void *start, size_t room, size_t size, const void *pc);

/* Of one that it is about to give back: the owners of its memory are forgotten. */
SNARLRT_HIDDEN void birth_note_end(const void *start, size_t room, const void *pc);

SNARLRT_HIDDEN bool allocation_claim_page(struct snarlrt_thread *self, uint64_t addr);

/*
 * The thread touches memory that is nobody's. True if it is in a block that was
 * born as its own: the rest of the page is made so, unless others were faster.
 */
static inline bool allocation_claim(struct snarlrt_thread *self, uint64_t addr)
{
	return unlikely(self->claims) && allocation_claim_page(self, addr);
}

#endif
