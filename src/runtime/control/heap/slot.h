/*
 * Slots of the heap of control mode; internal to heap/.
 *
 * An area is carved into slots, one after another: a header of 48 bytes, then room of a size
 * class. Classes grow by 16 bytes up to 512, then there are four to each doubling. A slot keeps
 * its class for ever, so all slots of an area can be walked. The header lies right before the
 * block that the program gets. An aligned block may begin later in its slot; the slot's start then
 * holds a copy of `class` and `shift`.
 *
 *	malloc(100)		class 6: 112 bytes, slot of 160
 *	header at 0, block at 48..147, red zone from 152, next slot at 160
 */
#ifndef RUNTIME_CONTROL_HEAP_SLOT_H
#define RUNTIME_CONTROL_HEAP_SLOT_H

#include "runtime/control/heap/heap.h"

#define SLOT_HEADER 48ull
#define SLOT_ALIGN 16ull
#define SLOT_RETAINED (1ull << 20)	/* bytes of a freed block that stay mapped */

enum slot_state { SLOT_LIVE = 0x6c697665, SLOT_FREED = 0x66726565 };

struct slot_block {
	uint32_t class;
	uint32_t shift;		/* from the slot's start to this header, in units of SLOT_ALIGN */
	uint64_t size;		/* as the program asked for */
	uint64_t malloc_by;	/* pc << 16 | thread */
	uint64_t free_by;
	uint32_t order;
	uint32_t magic;		/* enum slot_state, mixed with the header's address */
	struct slot_block *next;	/* next in the quarantine, or in the free list */
};

_Static_assert(sizeof(struct slot_block) == SLOT_HEADER && SLOT_HEADER % SLOT_ALIGN == 0,
	       "what follows is aligned");

static inline uint64_t slot_round(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static inline uint64_t slot_class_bytes(uint32_t class)
{
	uint32_t step = class - 32;

	if (class < 32)
		return (class + 1) * SLOT_ALIGN;
	return (uint64_t)(step % 4 + 5) << (step / 4 + 7);
}

/* The block, the slot's first byte, and the byte behind its last. */
static inline uint64_t slot_user(const struct slot_block *b)
{
	return (uint64_t)b + SLOT_HEADER;
}

static inline uint64_t slot_start(const struct slot_block *b)
{
	return (uint64_t)b - b->shift * SLOT_ALIGN;
}

static inline uint64_t slot_end(const struct slot_block *b)
{
	return slot_start(b) + SLOT_HEADER + slot_class_bytes(b->class);
}

static inline uint32_t slot_magic(const struct slot_block *b, enum slot_state state)
{
	return (uint32_t)state ^ (uint32_t)((uint64_t)b >> 4);
}

static inline bool slot_has_state(const struct slot_block *b, enum slot_state state)
{
	return b->magic == slot_magic(b, state);
}

static inline uint64_t slot_origin(const void *pc, uint32_t thread)
{
	return (uint64_t)pc << 16 | thread;
}

/* The pages [*low, *high) of a freed block go back to the kernel. False: there are none. */
static inline bool slot_unmapped_range(const struct slot_block *b, uint64_t *low, uint64_t *high)
{
	*low = slot_round(slot_user(b) + SLOT_RETAINED, 4096);
	*high = slot_end(b) & ~4095ull;
	return b->size > SLOT_RETAINED && *low < *high && *low < slot_user(b) + b->size;
}

/*
 * Allocates a slot with room for `bytes` for thread `number`; *order: this is the thread's n-th
 * allocation. *used: the slot held a block before, which the returned header describes. Otherwise
 * the header is zero except for `class`. Returns NULL if there is no memory.
 */
SNARLRT_HIDDEN struct slot_block *slot_alloc(uint32_t number, uint64_t bytes, uint32_t *order,
					    bool *used);

/* Thread `number` frees the block: it goes to the quarantine, and from there to slot_alloc(). */
SNARLRT_HIDDEN void slot_free(struct slot_block *b, uint32_t number, const void *pc);

/* Counts an allocation of thread `number` that needs no slot, and returns its order. */
SNARLRT_HIDDEN uint32_t slot_next_order(uint32_t number);

/* The block that begins at p, in use or freed; NULL: there is none. */
SNARLRT_HIDDEN struct slot_block *slot_at(const void *p);

/* The block at `addr`; between two blocks the one in use, or else the nearer. NULL: none. */
SNARLRT_HIDDEN const struct slot_block *slot_find(uint64_t addr);

#endif
