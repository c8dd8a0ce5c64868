/*
 * What is known of a piece of memory (8 bytes unless told otherwise). A direct-mapped table:
 * where two pieces meet, the newer one stays.
 */
#ifndef RUNTIME_MONITOR_CELL_H
#define RUNTIME_MONITOR_CELL_H

#include "runtime/monitor/monitor.h"

#define CELL_READS 5u
#define CELL_TX 4u
#define CELL_SEVERAL UINT16_MAX
#define CELL_TAG_LOCK (1ull << 62)	/* in a tag: the address of a lock */
#define CELL_TAG_GATE (1ull << 61)	/* … the number of a gate */

struct guard_cell_access {
	uint32_t site;		/* 0: none */
	uint16_t serial;
	uint16_t slot : 10, access : 6;	/* of the thread; its monitor_thread.accesses then, as far as that fits */
};

_Static_assert(MONITOR_THREADS <= 1u << 10, "slot");
#define CELL_ACCESS_MASK 63u

struct guard_cell_tx {
	uint32_t site, epoch;
	uint16_t slot;
	uint16_t exclusive;
};

struct guard_cell {
	uint32_t lock;
	uint32_t version;	/* moves with each access */
	uint64_t tag;		/* 0: nobody's */
	uint16_t touched, wrote;	/* serial of the only thread that did; 0: nobody, CELL_SEVERAL: several */
	uint32_t count;		/* of read */
	struct guard_cell_access write;
	struct guard_cell_access read[CELL_READS];	/* since the write, the newest last */
	struct guard_cell_tx tx[CELL_TX];
} __attribute__((aligned(128)));

_Static_assert(sizeof(struct guard_cell) == 128, "cell");

SNARLRT_HIDDEN bool guard_cells_init(void);
SNARLRT_HIDDEN void guard_cells_forked(void);

/* May nap. NULL: busy all the time, counted. Unlock it soon. */
SNARLRT_HIDDEN struct guard_cell *guard_cell_lock(uint64_t tag);
SNARLRT_HIDDEN void guard_cell_forget(uint64_t tag);

static inline void guard_cell_unlock(struct guard_cell *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);	/* pairs with that of guard_cell_lock */
}

/* Whoever waits for a change looks again with its next nap: the access is still to be done. */
static inline void guard_cell_changed(struct guard_cell *c)
{
	__atomic_store_n(&c->version, c->version + 1, __ATOMIC_RELEASE);
}

#endif
