/*
 * What the tool and the runtime say to each other; all the tool may see of
 * the runtime.
 *
 * Options reach the runtime as SNARL_OPTIONS=key=value:key=value. A value may
 * hold any byte but ':' and NUL; "%3a" and "%25" stand for ':' and '%'.
 *
 *   mode=off|record     default off
 *   trace=PATH          where to record; created, never overwritten: if it is
 *                       there already (a forked child, an exec'd image), the
 *                       process takes PATH.PID, then PATH.PID.2 …
 *   live=PATH           memory that outlives the process (below); a file of
 *                       tmpfs or a memfd under /proc/PID/fd. Only the process
 *                       that creates trace=PATH uses it; others, and a missing
 *                       one, make TRACE.live beside their trace
 *   fork=record|off     what a forked child does; default record
 *   filter=on|off       off keeps every access; default on
 *   window=RECORDS      undecided history kept before it is cut; K, M, G allowed
 *   sites=PATH          of inlined accesses, keep only those at these places
 *                       (docs/trace-format.md)
 *   quiet=0|1           1: not even a warning on stderr
 *
 * The live memory holds what is not in the trace yet, so that a process killed
 * at any moment loses nothing it committed: a ring of raw records for each
 * running thread, and the stash, a circular queue of whole chunks whose accesses
 * may still turn out to be private. `trace/finish.c` moves both into the trace.
 */
#ifndef RUNTIME_INTERFACE_H
#define RUNTIME_INTERFACE_H

#include <stdint.h>

#include "trace/format.h"

#define SNARL_OPTIONS_ENV "SNARL_OPTIONS"

#define LIVE_MAGIC 0x4556494c4c524e53ull	/* "SNRLLIVE" */
#define LIVE_VERSION 1u
#define LIVE_SLOTS 2048u		/* threads alive at once; more go unrecorded, counted */
#define LIVE_RING_BYTES (128u << 10)
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
	uint64_t lost;		/* records dropped by this thread, not told yet */
	uint64_t pad[2];
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
	uint64_t stash_records;	/* in these chunks */
	uint64_t lost_records;	/* no room or no way to write them */
	uint64_t cut_locations;	/* became shared after their early history was cut */
	uint64_t cut_records;	/* private so far, dropped when the window was full */
	uint64_t lost_threads;	/* more alive than slots */
	uint64_t lost_signals;	/* records of handlers that interrupted the runtime */
	uint64_t ticks_per_second;	/* of the trace clock; 0 if not measured */
	uint64_t ended;		/* 1: exit() or return from main */
};

_Static_assert(sizeof(struct live_slot) == 64, "slot");

#endif
