/*
 * Memory that outlives the process: what a killed process has recorded and not yet written to its
 * trace. trace/write/finish.c moves all of it into the trace.
 *
 *	rings	raw records of each running thread
 *	stash	a circular queue of whole chunks whose accesses may still turn out to be private
 *	outbox	chunks that go to the file with the next write
 */
#ifndef ABI_LIVE_MEMORY_H
#define ABI_LIVE_MEMORY_H

#include <stdint.h>

#define LIVE_MAGIC 0x4556494c4c524e53ull	/* "SNRLLIVE" */
#define LIVE_VERSION 3u
#define LIVE_SLOTS 2048u		/* threads alive at once; more go unrecorded, counted */
#define LIVE_RING_BYTES (128u << 10)
#define LIVE_OUT_BYTES (256u << 10)	/* written to the file when that much is there */
#define LIVE_RING_RECORDS (LIVE_RING_BYTES / 16)

/*
 * A thread's place. Records of the ring are valid up to the first one whose
 * site is 0; they are the chunk `seq` of `thread`, begun at `time`. If a whole
 * chunk with that number is in the trace or the stash already, the ring is its
 * copy and is to be skipped.
 */
struct live_slot {
	uint32_t thread;	/* 0: the slot is free */
	uint32_t waiting_in;	/* enum trace_kind of a blocking call under way, or 0 */
	uint64_t seq;
	uint64_t time;
	uint64_t waiting_for;	/* its object */
	uint64_t waiting_pc;
	uint64_t cut_locations;	/* became shared after their early history was cut; of all threads that had the slot */
	uint64_t unused[2];	/* a cache line for each slot */
};

/* Offsets are from the start of the live memory. */
struct live_header {
	uint64_t magic;		/* written last */
	uint32_t version;
	uint32_t pid;
	uint64_t size;		/* of all of it */
	uint64_t slots;		/* struct live_slot[LIVE_SLOTS] */
	uint64_t rings;		/* LIVE_SLOTS times LIVE_RING_BYTES */
	uint64_t stash;		/* a circular queue of chunks */
	uint64_t stash_size;
	/*
	 * Whole chunks lie between tail and head (positions that only grow; take
	 * them modulo stash_size). A chunk never wraps: where it would, a header
	 * of type 0 says how much is skipped.
	 */
	uint64_t stash_head, stash_tail;
	uint64_t stash_records;	/* in these chunks; a loop counts for all its accesses */
	uint64_t lost_records;	/* no room or no way to write them */
	uint64_t cut_records;	/* private so far, dropped when the window was full */
	uint64_t lost_threads;	/* more alive than slots */
	uint64_t lost_signals;	/* records of handlers that interrupted the runtime */
	uint64_t ticks_per_second;	/* of the trace clock; 0 if not measured */
	uint64_t ended;		/* 1: exit() or return from main */
	/* Whole chunks on their way to the file, one behind the other; they may be there too. */
	uint64_t out, out_size, out_used;
};

_Static_assert(sizeof(struct live_slot) == 64, "slot");

#endif
