/*
 * The last accesses to each location: of each thread the last read and the last write, and, while
 * one thread owns the location, its first and latest write.
 *
 * A location is a granule (8 aligned bytes), or some bytes of it that were always accessed
 * together. The caller forgets memory that is freed (last_access_forget()). A location remembers up
 * to 16 accesses; then a new one replaces the oldest. If there are too many locations or segments,
 * all are forgotten, and `dropped` counts them.
 *
 * An access takes 16 bytes (struct packed_access). What it has in common with other accesses is
 * kept once: struct thread_segment (thread, clocks, lockset, stack) and struct access_site (pc,
 * size, kind). Segments and sites have no reference counts: last_access_gc() marks those that
 * locations name, and frees the others.
 *
 * Example: an 8-byte block at 0x1000. Thread 1 writes it (its event 10, at time 100), thread 2
 * reads it (its event 4, at time 105), and thread 1 frees it. Nothing orders the two threads.
 * Threads appear as keys: 2 * thread, + 1 for a write.
 *
 *   after the write, by thread 1
 *	segments[1] = { .thread = 1, .index = 10, .time = 100, lockset, clocks, stack }
 *	sites[1]    = { .pc = the write's, .addr = 0 (relative to the granule), .size = 8 }
 *	location    = { .mask = 0xff, .count = 1, .key0 = 3, .direct = {
 *			[0] = { .segment = 1, .site = 1, .index = 0, .time = 0 },
 *			[DIRECT_FIRST_WRITE] = the same } }		thread 1 is the owner
 *   after the read, by thread 2
 *	segments[2], sites[2]: of the read
 *	location    = { .mask = 0xff, .count = 2, .shared = 1,
 *			.overflow = OVERFLOW_SMALL, .extra = 1,
 *			.key0 = 3 (last write), .key1 = 3 (the former owner), .direct = {
 *			[DIRECT_LAST_WRITE], [DIRECT_LATEST_WRITE] and
 *			[DIRECT_FIRST_WRITE] = the write } }
 *	small[1]    = { .head.recency = 0x101: newest in slot 1, then slot 0,
 *			.head.checked = 1 << 2: thread 2 was judged against the first write,
 *			.key = { 3, 4 }, .access = { the write, the read } }
 *	order_violation.c has compared the read with the first write: before-init.
 *   at the free, by thread 1
 *	last_access_nth(0) is the read, with key 4: order_end.c judges it (use-free).
 *   after the free
 *	mask = 0: the location and small[1] are on their free lists, the segments wait for the
 *	garbage collection.
 *
 * If the write were strongly ordered before the read, thread 2 would become the owner instead:
 * count = 2, key0 = 4, key1 = 3, no overflow, no first write, because the owner read first.
 */
#ifndef ANALYZE_ORDER_LAST_ACCESS_H
#define ANALYZE_ORDER_LAST_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/candidate.h"
#include "base/map.h"

#define LAST_ACCESS_THREADS 8u	/* threads of a location, if each reads and writes */
#define LAST_ACCESS_LARGE (2 * LAST_ACCESS_THREADS)	/* accesses of a location, at most */
#define LAST_ACCESS_DIRECT 2u	/* accesses in the location itself: most have no more */
#define LAST_ACCESS_SMALL 4u	/* accesses in a small overflow: of two threads */
#define LAST_ACCESS_RELATIVE 64u	/* up to this size, access_site.addr is relative */
#define LAST_ACCESS_MAX_LOCATIONS (1u << 22)	/* bounds memory: 0.3 GiB, 1.6 if all overflow */
#define LAST_ACCESS_MAX_SEGMENTS (1u << 24)	/* bounds memory: 0.9 GiB */

/* A part of a thread's events between which it does not synchronise, call or return. */
struct thread_segment {
	uint64_t index, time;	/* of its first access */
	uint64_t order_epoch, strong_epoch;	/* the thread's epochs: view.order, view.strong */
	uint64_t section_reads;	/* section_granule() of reads so far in the sections around it */
	uint32_t thread, lockset, stack;
	uint32_t next;		/* if free: the next free one */
};

/* What all accesses by one instruction have in common. */
struct access_site {
	uint64_t pc;
	uint64_t addr;		/* sizes up to LAST_ACCESS_RELATIVE: minus the granule's address */
	uint64_t size;
	uint16_t kind;		/* enum trace_kind */
	uint8_t access;		/* enum access */
	uint32_t next;		/* if free: the next free one */
};

struct packed_access {
	uint32_t segment;	/* number; 0: no access */
	uint32_t site;		/* number */
	uint32_t index, time;	/* minus the segment's */
};

struct unpacked_access {
	struct candidate_event at;
	uint64_t order_epoch, section_reads;
	uint8_t access;
};

/* Where the accesses of a location are: in the location, or in an overflow of 4 or 16. */
enum overflow_size { OVERFLOW_NONE, OVERFLOW_SMALL, OVERFLOW_LARGE };

/* Indices in location.direct: 0 and 1 with overflow only, 2 always. */
enum { DIRECT_LAST_WRITE, DIRECT_LATEST_WRITE, DIRECT_FIRST_WRITE };

/*
 * The owner of a location is the only thread that accessed it since its history began, or since
 * strong order handed it off. The latest write of the owner is its first one in the last epoch of
 * view.order in which it wrote.
 */
struct location {
	uint32_t next;		/* next location of the granule; if free: the next free one */
	/* With overflow: its number. Else the latest write's number, 0: it is the first write. */
	uint32_t extra;
	uint64_t mask : 8;	/* bytes of the granule */
	uint64_t shared : 1;	/* two threads accessed it that strong order leaves unordered */
	uint64_t read_first : 1;	/* the owner's first access reads */
	uint64_t blind_write : 1;	/* the last write was blind: order_violation.c */
	uint64_t overflow : 2;	/* enum overflow_size */
	uint64_t count : 5;	/* accesses that are remembered */
	/*
	 * Keys of direct[0] and direct[1]. With overflow: the key of the last write, and once
	 * shared the key of the owner's last access.
	 */
	uint64_t key0 : 21, key1 : 21;
	struct packed_access direct[3];	/* two newest accesses; the owner's first write */
};

_Static_assert(sizeof(struct location) == 64, "a location is one cache line");

/* A location that is shared after its owner wrote first has an overflow even for few accesses. */
struct overflow_head {
	uint64_t recency;	/* slots in 4 bits each, the newest access lowest */
	uint64_t checked;	/* threads (bit thread % 64) judged against the first write */
};

struct overflow_small {
	struct overflow_head head;
	uint32_t key[LAST_ACCESS_SMALL];	/* by slot; 0: empty */
	struct packed_access access[LAST_ACCESS_SMALL];
};

struct overflow_large {
	struct overflow_head head;
	uint32_t key[LAST_ACCESS_LARGE];	/* by slot; 0: empty */
	struct packed_access access[LAST_ACCESS_LARGE];
};

#define LAST_ACCESS_CACHED_PAGES 256u	/* slots of the page cache; a power of two */

/* Number 0 of each pool means none. Its elements are reused: free_X is the first free one. */
struct last_accesses {
	struct map pages;	/* page number -> struct location_page of last_access.c */
	struct {
		uint64_t number;
		struct location_page *page;	/* NULL: empty slot */
	} page_cache[LAST_ACCESS_CACHED_PAGES];	/* direct-mapped */
	struct location *locations;
	size_t location_count, location_room;
	uint32_t free_location;
	struct overflow_small *small;
	size_t small_count, small_room;
	uint32_t free_small;	/* linked by access[0].site */
	struct overflow_large *large;
	size_t large_count, large_room;
	uint32_t free_large;	/* linked by access[0].site */
	struct packed_access *latest;	/* latest writes of locations without overflow */
	size_t latest_count, latest_room;
	uint32_t free_latest;	/* linked by `site` */
	struct thread_segment *segments;
	size_t segment_count, segment_room;
	size_t segment_gc_at;	/* segment_count that makes a garbage collection worthwhile */
	uint32_t free_segment;
	uint32_t *current;	/* by thread: number of its current segment, 0: none */
	size_t current_count;
	struct access_site *sites;
	size_t site_count, site_room;
	size_t site_gc_at;	/* site_count that makes a garbage collection worthwhile */
	uint32_t free_site;
	uint32_t *site_slots;	/* hash table of sites: their numbers, 0: free slot */
	size_t site_slot_count;	/* a power of two */
	size_t location_limit, segment_limit;
	uint64_t dropped;	/* accesses replaced by other threads', and locations forgotten */
};

/* The limits `locations` and `segments` are checked before each last_access_each(). */
struct last_accesses *last_access_new(size_t locations, size_t segments);
void last_access_free(struct last_accesses *u);

/* Prefetches what an access to `addr` will need: call with step 0, later with 1, then with 2. */
void last_access_prefetch(const struct last_accesses *u, uint64_t addr, unsigned step);

typedef void location_visit(void *ctx, struct location *loc, uint64_t granule);

/*
 * Calls back for each location of [addr, addr + size). Makes missing ones and splits those that are
 * partly within. `granule` is addr >> 3.
 */
void last_access_each(struct last_accesses *u, uint64_t addr, uint64_t size, location_visit *fn,
		      void *ctx);

/* Calls back for each location with a byte in [addr, addr + size). Makes and splits none. */
void last_access_each_known(struct last_accesses *u, uint64_t addr, uint64_t size,
			    location_visit *fn, void *ctx);

/* Takes [addr, addr + size) out of all locations: the memory was freed. */
void last_access_forget(struct last_accesses *u, uint64_t addr, uint64_t size);

/*
 * Packs an access. `s` is the thread's state, with the index and time of this event. A location has
 * to store the result before the next last_access_each(), which may collect garbage.
 */
struct packed_access last_access_pack(struct last_accesses *u, const struct thread_segment *s,
				      const struct access_site *site);

/* The packed access of a location in `granule`, in full. */
struct unpacked_access last_access_unpack(const struct last_accesses *u,
					  const struct packed_access *k, uint64_t granule);

static inline const struct thread_segment *last_access_segment(const struct last_accesses *u,
							       const struct packed_access *k)
{
	return &u->segments[k->segment];
}

/* Index of the event in its thread. */
static inline uint64_t last_access_index(const struct last_accesses *u,
					 const struct packed_access *k)
{
	return u->segments[k->segment].index + k->index;
}

/* Makes `access` the last one of `key` in this location, and the newest of all. */
void last_access_set(struct last_accesses *u, struct location *loc,
		     const struct packed_access *access, uint32_t key);

uint64_t last_access_dropped(const struct last_accesses *u);

/* The last access of `key`; NULL if there is none. */
const struct packed_access *last_access_of(const struct last_accesses *u,
					   const struct location *loc, uint32_t key);

/* The last write of all threads, and its thread; NULL if there is none. */
const struct packed_access *last_access_write(const struct last_accesses *u,
					      const struct location *loc, uint32_t *thread);

/* Sets the owner's first and latest write to the same access; NULL: the owner has not written. */
void last_access_set_first_write(struct last_accesses *u, struct location *loc,
				 const struct packed_access *access);
void last_access_set_latest_write(struct last_accesses *u, struct location *loc,
				  const struct packed_access *access);

static inline const struct packed_access *last_access_first_write(const struct location *loc)
{
	return loc->direct[DIRECT_FIRST_WRITE].segment ? &loc->direct[DIRECT_FIRST_WRITE] : NULL;
}

/* Only if there is a first write. */
static inline const struct packed_access *last_access_latest_write(const struct last_accesses *u,
								   const struct location *loc)
{
	if (loc->overflow)
		return &loc->direct[DIRECT_LATEST_WRITE];
	return loc->extra ? &u->latest[loc->extra] : &loc->direct[DIRECT_FIRST_WRITE];
}

/* Moves the accesses of the location to a small overflow, unless it has one. */
void last_access_make_overflow(struct last_accesses *u, struct location *loc);

/* This and the next two: only with overflow. */
static inline struct overflow_head *last_access_head(const struct last_accesses *u,
						     const struct location *loc)
{
	return loc->overflow == OVERFLOW_SMALL ? &u->small[loc->extra].head :
						 &u->large[loc->extra].head;
}

static inline uint32_t *last_access_keys(const struct last_accesses *u, const struct location *loc)
{
	return loc->overflow == OVERFLOW_SMALL ? u->small[loc->extra].key :
	       u->large[loc->extra].key;
}

static inline struct packed_access *last_access_list(const struct last_accesses *u,
						     const struct location *loc)
{
	return loc->overflow == OVERFLOW_SMALL ? u->small[loc->extra].access :
						 u->large[loc->extra].access;
}

/* The n-th of the loc->count accesses, newest first, and its key. */
static inline const struct packed_access *last_access_nth(const struct last_accesses *u,
							  const struct location *loc, unsigned n,
							  uint32_t *key)
{
	unsigned slot;

	if (loc->overflow) {
		slot = (unsigned)(last_access_head(u, loc)->recency >> 4 * n) & 15;
		*key = last_access_keys(u, loc)[slot];
		return &last_access_list(u, loc)[slot];
	}
	*key = n ? loc->key1 : loc->key0;
	return &loc->direct[n];
}

/* Between last_access.c, last_access_record.c and last_access_events.c. */

/* `copy` is a bytewise copy of a location: gives it an overflow or latest write of its own. */
void last_access_copy_overflow(struct last_accesses *u, struct location *copy);

/* Frees what belongs to the location, and zeroes it. */
void last_access_clear_location(struct last_accesses *u, struct location *loc);

static inline bool last_access_wants_gc(const struct last_accesses *u)
{
	return (!u->free_segment && u->segment_count >= u->segment_gc_at) ||
	       (!u->free_site && u->site_count >= u->site_gc_at);
}

/* Frees the segments and sites that no location and no thread names. */
void last_access_gc(struct last_accesses *u);

/* Forgets all segments and sites; the first call allocates the memory for them. */
void last_access_init_segments(struct last_accesses *u);
void last_access_free_segments(struct last_accesses *u);

#endif
