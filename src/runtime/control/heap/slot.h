/*
 * Slots of the heap under control, for control_heap*.c alone.
 *
 * Memory is carved into slots, one after another: a head of 48 bytes, then room of
 * a size class (steps of 16 to 512 bytes, then four to each doubling). A slot keeps
 * its class for ever, so all slots of an area can be walked through. The head
 * lies right before what the program gets; for an aligned block that is not the
 * start of the slot, which then has a copy of its first two fields.
 */
#ifndef RUNTIME_CONTROL_HEAP_SLOT_H
#define RUNTIME_CONTROL_HEAP_SLOT_H

#include "runtime/control/heap/heap.h"

#define SLOT_HEADER 48ull
#define SLOT_ALIGN 16ull
#define SLOT_RETAINED (1ull << 20)	/* of a freed block's memory, see slot_dropped() */

enum slot_state { SLOT_LIVE = 0x6c697665, SLOT_FREED = 0x66726565 };

struct slot_block {
	uint32_t class;
	uint32_t shift;		/* from the slot's start to here, in units of SLOT_ALIGN */
	uint64_t size;		/* asked for */
	uint64_t malloc_by;	/* pc << 16 | thread */
	uint64_t free_by;
	uint32_t order;
	uint32_t magic;		/* enum slot_state, mixed with the address */
	struct slot_block *next;	/* in the queue, or the list of its class */
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

/* What the program gets, the slot's first byte, and the one behind its last. */
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

/* The pages of a freed block that go back to the kernel: [*low, *high). */
static inline bool slot_unmapped_range(const struct slot_block *b, uint64_t *low, uint64_t *high)
{
	*low = slot_round(slot_user(b) + SLOT_RETAINED, 4096);
	*high = slot_end(b) & ~4095ull;
	return b->size > SLOT_RETAINED && *low < *high && *low < slot_user(b) + b->size;
}

/*
 * Room for `bytes` from the part of thread `number`, whose n-th it is. *used: it had
 * an earlier life, which the head that is returned describes; otherwise it is zero,
 * all but class. NULL: no memory.
 */
SNARLRT_HIDDEN struct slot_block *slot_alloc(uint32_t number, uint64_t bytes, uint32_t *order,
					    bool *used);

/* A block is freed by thread `number`, now; it comes to slot_take() in due time. */
SNARLRT_HIDDEN void slot_free(struct slot_block *b, uint32_t number, const void *pc);

/* One more allocation of thread `number` that needs no slot. */
SNARLRT_HIDDEN uint32_t slot_next_order(uint32_t number);

/* The block that begins at p, in use or freed; NULL: none. */
SNARLRT_HIDDEN struct slot_block *slot_at(const void *p);

/*
 * The block addr is in, or lies around: between two blocks it is the one in use,
 * or the nearer. NULL: none.
 */
SNARLRT_HIDDEN const struct slot_block *slot_find(uint64_t addr);

#endif
