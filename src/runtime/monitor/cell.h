/*
 * The state that guard keeps for a granule of memory (8 bytes, or as --granularity says), a lock or
 * a gate: the last accesses, and the transactions that touched it. The table is direct-mapped: if
 * two tags share a cell, the newer one clears it.
 *
 * Example: threads 0.1 (slot 1, serial 2) and 0.2 (slot 2, serial 3) call deposit(), which reads
 * `balance` at site 7 and writes it at site 8. Main has slot 0 and serial 1. Training found both in
 * one transaction. `balance` is at 0x5000, so the tag is 0xa00. "s7 t3 a1" stands for site 7,
 * serial 3, access 1 of that thread:
 *
 * 	event                       touched wrote  write     read[0]   tx[0]: site, epoch, slot
 * 	0.2 reads; its epoch is 1         3     0  -         s7 t3 a1  7, 1, 2  exclusive
 * 	0.1 is about to read: tx[0] is under way, so 0.1 waits while the epoch of slot 2 is 1
 * 	0.2 writes                        3     3  s8 t3 a2  -         8, 1, 2  exclusive
 * 	0.2 leaves deposit(); its epoch becomes 2, 0.1 is woken and finds tx[0] out of date
 * 	0.1 reads; its epoch is 1   SEVERAL     3  s8 t3 a2  s7 t2 a1  7, 1, 1  exclusive
 *
 * A write empties read[]. The read is exclusive because its transaction also writes. `version`
 * grows with each access. It is the futex of threads that wait for an access, not a transaction.
 */
#ifndef RUNTIME_MONITOR_CELL_H
#define RUNTIME_MONITOR_CELL_H

#include "runtime/monitor/monitor.h"

#define CELL_READS 5u	/* reads per cell: with tx[], they fill its two cache lines */
#define CELL_TX 4u
#define CELL_SEVERAL UINT16_MAX
#define CELL_TAG_LOCK (1ull << 62)	/* tag of a lock: its address / 8, and this bit */
#define CELL_TAG_GATE (1ull << 61)	/* tag of a gate: its number, and this bit */

/* An access, and the thread that made it. */
struct guard_cell_access {
	uint32_t site;		/* 0: none */
	uint16_t serial;
	/* slot of the thread; low bits of its monitor_thread.accesses */
	uint16_t slot : 10, access : 6;
};

_Static_assert(MONITOR_THREADS <= 1u << 10, "slot");
#define CELL_ACCESS_MASK 63u	/* of guard_cell_access.access, 6 bits */

/* A transaction that accessed the granule. It is under way while its thread has this epoch. */
struct guard_cell_tx {
	uint32_t site, epoch;
	uint16_t slot;
	uint16_t exclusive;	/* 1: it writes the granule, or other memory */
};

struct guard_cell {
	uint32_t lock;		/* enum in cell.c */
	uint32_t version;	/* changes with each access; a futex */
	uint64_t tag;		/* 0: the cell is free */
	/* Serials of the only thread that accessed it, and that wrote it; 0: none; CELL_SEVERAL. */
	uint16_t touched, wrote;
	uint32_t count;		/* number of entries in read[] */
	struct guard_cell_access write;
	struct guard_cell_access read[CELL_READS];	/* since the write, ascending by time */
	struct guard_cell_tx tx[CELL_TX];
} __attribute__((aligned(128)));

_Static_assert(sizeof(struct guard_cell) == 128, "cell");

SNARLRT_HIDDEN bool guard_cells_init(void);
SNARLRT_HIDDEN void guard_cells_forked(void);

/* Locks and returns the cell of the tag; may sleep. NULL: it stayed locked; counted in the log. */
SNARLRT_HIDDEN struct guard_cell *guard_cell_lock(uint64_t tag);
SNARLRT_HIDDEN void guard_cell_forget(uint64_t tag);

static inline void guard_cell_unlock(struct guard_cell *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);	/* pairs with try_lock() */
}

/* Does not wake waiting threads: the access is still to come, and they check again soon. */
static inline void guard_cell_changed(struct guard_cell *c)
{
	__atomic_store_n(&c->version, c->version + 1, __ATOMIC_RELEASE);
}

#endif
