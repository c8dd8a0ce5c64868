/*
 * Who used which memory last: for each place the last read and the last write of each
 * thread, who had it alone, and who wrote it first.
 *
 * A place is one granule (8 bytes) or some bytes of it: as many as were always used
 * together. Nothing is known of memory that was given back (uses_forget()). Of each
 * place USES_THREADS threads are remembered; more take the place of the oldest. Beyond
 * so many places or events all is forgotten, and begun anew.
 */
#ifndef ANALYZE_USES_H
#define ANALYZE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/candidate.h"

#define USES_THREADS 8u
#define USES_KEPT (2 * USES_THREADS)	/* reads and writes */
#define USES_FEW 2u		/* of them lie in the place itself; most have no more */
#define USES_PLACES (1u << 22)	/* 0.3 GiB, 0.8 if all have many */
#define USES_EVENTS (1u << 24)	/* 1.6 GiB */

/* One event; all places it touched share it. */
struct use {
	struct candidate_event at;
	uint64_t order_epoch;	/* of its thread: view.order */
	uint64_t section_reads;	/* what was read in the sections around it, section_granule() */
	uint8_t access;		/* enum access */
	uint32_t references;
};

struct use_mark {
	uint32_t use;		/* 0: none */
	uint32_t who;		/* 2 * thread, + 1 for a write: saves looking there */
};

/* A cache line. */
struct place {
	uint8_t mask;		/* bytes of the granule */
	bool shared;		/* `owner` is no longer the only one */
	bool read_first;	/* its owner found something there: it was not made here */
	bool blind;		/* the last write was of something not read before in the same section */
	uint32_t owner;		/* thread, 0: nobody yet */
	uint64_t owner_epoch;	/* at its last access */
	uint32_t first, latest;	/* the owner's first write, and first since its last release */
	uint32_t last_write;
	uint32_t next;		/* place of the same granule, or free; uses.c */
	uint64_t met;		/* threads (modulo 64) judged against the first write */
	uint32_t many;		/* uses.c: where the last uses are, if not in … */
	struct use_mark few[USES_FEW];	/* uses_last() */
};

_Static_assert(sizeof(struct place) == 64, "a line of the cache");

struct uses;

/* At most so many places and events; those of one access may be more. */
struct uses *uses_new(size_t places, size_t events);
void uses_free(struct uses *u);

/* The cache lines of an access to come: first step 0, then 1 and 2, as each says where the next is. */
void uses_prefetch(const struct uses *u, uint64_t addr, unsigned step);

/*
 * Calls back for each place of [addr, addr + size), which it makes and splits as
 * needed, so that none is partly within.
 */
void uses_each(struct uses *u, uint64_t addr, uint64_t size,
	       void (*fn)(void *ctx, struct place *place), void *ctx);

/* The same for those that are there, without splitting. */
void uses_known(struct uses *u, uint64_t addr, uint64_t size,
		void (*fn)(void *ctx, struct place *place), void *ctx);

void uses_forget(struct uses *u, uint64_t addr, uint64_t size);

/* A new one with no references, which uses_note() and uses_set() make; the rest is the caller's. */
uint32_t uses_add(struct uses *u);

/* Good until the next uses_add(). */
struct use *uses_at(const struct uses *u, uint32_t use);

/* Makes `*slot` (first, latest, last_write) refer to `use`, or nothing if 0. */
void uses_set(struct uses *u, uint32_t *slot, uint32_t use);

/* The last of its thread and kind (write or not) in this place. */
void uses_note(struct uses *u, struct place *place, uint32_t use);

/* Uses of threads that gave way to others', and places forgotten for lack of room. */
uint64_t uses_dropped(const struct uses *u);

/* The last uses of a place, newest first; good until the next uses_note(). */
const struct use_mark *uses_last(const struct uses *u, const struct place *place, unsigned *count);

/* That of a thread; 0 if there is none. */
uint32_t uses_last_of(const struct uses *u, const struct place *place, uint32_t thread, bool write);

#endif
