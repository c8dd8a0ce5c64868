/*
 * Live memory: what a recorded process has not yet written to its trace. It is a file or memfd that
 * outlives the process, even after SIGKILL. trace/write/finish.c then moves its content into the
 * trace.
 *
 *   slots    one struct live_slot for each running thread
 *   rings    raw records, one ring per slot
 *   stash    circular queue of chunks whose accesses are still undecided
 *            (runtime/record/undecided_chunks.c)
 *   outbox   chunks that go to the file with the next write
 */
#ifndef ABI_LIVE_MEMORY_H
#define ABI_LIVE_MEMORY_H

#include <stdint.h>

#define LIVE_MAGIC 0x4556494c4c524e53ull	/* "SNRLLIVE" */
#define LIVE_VERSION 3u
/* Most threads alive at once; others are not recorded, but counted in lost_threads. */
#define LIVE_SLOTS 2048u
#define LIVE_RING_BYTES (128u << 10)	/* of each slot */
/* Size of the outbox, which is written to the file when it is full. */
#define LIVE_OUT_BYTES (256u << 10)
#define LIVE_RING_RECORDS (LIVE_RING_BYTES / 16)

/*
 * State of the thread that has this slot. The records of its ring are valid up to the first one
 * whose site is 0. They will become chunk number `seq` of `thread`, begun at `time`. If the trace,
 * the stash or the outbox already has a whole chunk with that number, readers skip the ring.
 */
struct live_slot {
	uint32_t thread;	/* id of the thread; 0: the slot is free */
	uint32_t waiting_in;	/* enum trace_kind of a blocking call under way, or 0 */
	uint64_t seq;
	uint64_t time;
	uint64_t waiting_for;	/* object of that call */
	uint64_t waiting_pc;
	/*
	 * Number of granules that became shared after their history was cut. Never reset: it counts
	 * for all threads that have had this slot.
	 */
	uint64_t cut_locations;
	uint64_t unused[2];	/* fills the cache line */
};

/* The start of the live memory. Offsets count from here. */
struct live_header {
	uint64_t magic;		/* written last */
	uint32_t version;
	uint32_t pid;
	uint64_t size;		/* bytes of live memory */
	uint64_t slots;		/* offset of struct live_slot[LIVE_SLOTS] */
	uint64_t rings;		/* offset of LIVE_SLOTS rings of LIVE_RING_BYTES each */
	uint64_t stash;		/* offset of the stash */
	uint64_t stash_size;
	/*
	 * The stash holds whole chunks from tail to head. These positions only grow; modulo
	 * stash_size they are offsets in the stash. A chunk does not wrap around: a chunk header of
	 * type 0 stands for the rest of the stash.
	 */
	uint64_t stash_head, stash_tail;
	/* Number of records in these chunks; a loop group counts as all its accesses. */
	uint64_t stash_records;
	uint64_t lost_records;	/* records lost because they could not be written */
	/* Accesses to unshared memory that were dropped because the window was full. */
	uint64_t cut_records;
	uint64_t lost_threads;	/* threads not recorded because there was no slot */
	uint64_t lost_signals;	/* deferred signals that could not be delivered */
	uint64_t ticks_per_second;	/* of the trace clock; 0 if not measured */
	uint64_t ended;		/* 1: the process ended by exit() or by returning from main */
	/*
	 * The outbox: out_used bytes of whole chunks, one directly behind the other. If the process
	 * is killed during a write, some of them are in the file, too.
	 */
	uint64_t out, out_size, out_used;
};

_Static_assert(sizeof(struct live_slot) == 64, "slot");

#endif
