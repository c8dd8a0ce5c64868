/*
 * What doubt.c needs to know of a trace: critical sections with the accesses in them, which blocks
 * of memory were allocated when, and which thread read values of which other.
 *
 * Kept are the accesses of critical sections that contain a *wanted* event, one that a candidate
 * names. An *edge* says that a thread read what another thread had written. In a trace without a
 * total order that is certain only if both held a lock.
 */
#ifndef ANALYZE_DOUBT_TRACE_H
#define ANALYZE_DOUBT_TRACE_H

#include "analyze/candidate.h"
#include "analyze/context/vclock.h"
#include "base/map.h"
#include "trace/read/reader.h"

#define DOUBT_MAX_EVENTS (1u << 25)	/* of a trace: longer ones take too long to read again */
#define DOUBT_MAX_EDGES (1u << 21)	/* bounds memory to 64 MiB */
#define DOUBT_MAX_ACCESSES (1u << 21)	/* bounds memory to 96 MiB */

struct doubt_access {
	uint64_t index;		/* among the thread's events */
	uint64_t addr, size, pc;
	unsigned access;	/* bits of enum access */
};

/* A critical section of one lock. A wait on a condition ends one, waking begins another. */
struct doubt_section {
	uint64_t lock;
	uint64_t first, last;	/* thread's events, by index; UINT64_MAX while the lock is held */
	uint64_t pc, stack;	/* where it or the section before the wait began; hash of callers */
	bool to_wait;		/* ended by a wait */
	bool from_wait;		/* begun by waking */
};

/* An event that a candidate names. */
struct doubt_wanted {
	uint32_t thread;
	uint64_t index, addr;
	uint64_t position;	/* in the trace; 0: not reached */
	bool wrote;		/* its thread had written the address since it was allocated */
	struct vclock seen;	/* events of other threads that it has to come after, by flags */
};

/* A thread may have learnt an address: it read eight bytes that another thread had written. */
struct doubt_edge {
	uint32_t from, to;
	uint64_t from_index, to_index;
	bool certain;		/* false: it may have read any earlier write of `from` */
};

struct doubt_block {
	uint64_t addr, end;
	uint64_t index, position;	/* of the allocation */
	uint32_t thread;
};

struct doubt_thread {
	uint64_t index;			/* of its next event */
	struct doubt_section *sections;	/* in the order of their beginnings */
	size_t section_count, section_capacity;
	size_t held[8];			/* numbers of the sections it is in, outermost first */
	size_t held_count;
	struct doubt_access *accesses;
	size_t access_count, access_capacity;
	size_t kept;			/* accesses of earlier outermost sections, which are kept */
	bool is_wanted;			/* there was a wanted event since the outermost lock */
	uint64_t *stacks;		/* hash of callers, by depth */
	size_t depth;			/* length of `stacks` */
	struct vclock seen;
};

struct doubt_trace {
	struct doubt_thread *threads;	/* by id */
	size_t thread_count;
	struct doubt_wanted *wanted;
	size_t wanted_count, wanted_capacity;
	struct map wanted_at;		/* hash of thread and index to number in `wanted`, plus 1 */
	uint64_t *addrs;		/* of `wanted`, ascending */
	struct doubt_edge *edges;	/* in the order of the trace */
	size_t edge_count, edge_capacity;
	struct doubt_block *blocks;	/* that hold one of `addrs`, in the order of the trace */
	size_t block_count, block_capacity;
	size_t access_count;		/* of all threads */
	struct map waits;		/* doubt_section.pc of those that ended by a wait */
	struct map granules;		/* address / 8 to number in `writes`, plus 1 */
	struct doubt_write *writes;
	size_t write_count, write_capacity;
	uint64_t position;
	bool total;
	bool full;			/* a bound was reached: what follows is not known */
};

/* Reads the trace. -1: it is damaged, or too long; then nothing may be doubted. */
int doubt_trace_read(struct doubt_trace *t, struct reader *trace, const struct findings *f,
		     struct err *err);
void doubt_trace_free(struct doubt_trace *t);

/* NULL: the event was not reached. */
const struct doubt_wanted *doubt_wanted(const struct doubt_trace *t,
					const struct candidate_event *e);

/* The section of `lock` around an event; NULL: none. */
const struct doubt_section *doubt_section(const struct doubt_trace *t, uint32_t thread,
					  uint64_t lock, uint64_t index);

/* Whether the operation of the section waits for a condition, in this or another section. */
bool doubt_waits(const struct doubt_trace *t, const struct doubt_section *s);

/* Whether only this thread wrote the memory of an event since it was allocated. */
bool doubt_owns(const struct doubt_trace *t, const struct candidate_event *e);

/* The block that holds the event's address when it happens; NULL: none is known. */
const struct doubt_block *doubt_block(const struct doubt_trace *t, const struct doubt_wanted *w);

/* The thread's kept accesses from event `from` on; *end is behind the last of them. */
const struct doubt_access *doubt_accesses(const struct doubt_trace *t, uint32_t thread,
					  uint64_t from, const struct doubt_access **end);

#endif
