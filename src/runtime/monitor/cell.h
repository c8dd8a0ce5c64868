/*
 * What is known of a piece of memory (8 bytes unless told otherwise). A direct-mapped table:
 * where two pieces meet, the newer one stays.
 */
#ifndef RUNTIME_MONITOR_CELL_H
#define RUNTIME_MONITOR_CELL_H

#include "runtime/monitor/monitor.h"

#define CELL_READS 5u
#define CELL_TX 4u
#define CELL_MANY UINT16_MAX
#define CELL_LOCK (1ull << 62)	/* in a tag: the address of a lock */
#define CELL_GATE (1ull << 61)	/* … the number of a gate */

struct cell_last {
	uint32_t site;		/* 0: none */
	uint16_t serial;
	uint16_t place : 10, at : 6;	/* of the thread; its watch_thread.accesses then, as far as that fits */
};

_Static_assert(WATCH_THREADS <= 1u << 10, "place");
#define CELL_AT 63u

struct cell_tx {
	uint32_t site, epoch;
	uint16_t place;
	uint16_t exclusive;
};

struct cell {
	uint32_t lock;
	uint32_t version;	/* moves with each access */
	uint64_t tag;		/* 0: nobody's */
	uint16_t touched, wrote;	/* serial of the only thread that did; 0: nobody, CELL_MANY: several */
	uint32_t count;		/* of read */
	struct cell_last write;
	struct cell_last read[CELL_READS];	/* since the write, the newest last */
	struct cell_tx tx[CELL_TX];
} __attribute__((aligned(128)));

_Static_assert(sizeof(struct cell) == 128, "cell");

SNARLRT_HIDDEN bool cells_init(void);
SNARLRT_HIDDEN void cells_forked(void);

/* May nap. NULL: busy all the time, counted. Unlock it soon. */
SNARLRT_HIDDEN struct cell *cell_lock(uint64_t tag);
SNARLRT_HIDDEN void cell_forget(uint64_t tag);

static inline void cell_unlock(struct cell *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);	/* pairs with that of cell_lock */
}

/* Whoever waits for a change looks again with its next nap: the access is still to be done. */
static inline void cell_moved(struct cell *c)
{
	__atomic_store_n(&c->version, c->version + 1, __ATOMIC_RELEASE);
}

#endif
