/*
 * Who used which memory last: for each place the last read and the last write of each
 * thread, who had it alone, and who wrote it first.
 *
 * A place is one granule (8 bytes) or some bytes of it: as many as were always used
 * together. Nothing is known of memory that was given back (uses_forget()). Of each
 * place USES_THREADS threads are remembered; more take the place of the oldest. Beyond
 * so many places or situations all is forgotten, and begun anew.
 *
 * A use is kept in the place itself, in 16 bytes: what it has in common with others of its
 * thread (struct situation) or of its line of code (struct site) is elsewhere, and found to be
 * needless now and then by looking at all places, so that nothing need be counted.
 */
#ifndef ANALYZE_ORDER_LAST_ACCESS_H
#define ANALYZE_ORDER_LAST_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/candidate.h"
#include "base/map.h"

#define USES_THREADS 8u
#define USES_KEPT (2 * USES_THREADS)	/* reads and writes */
#define USES_FEW 2u		/* of them lie in the place itself; most have no more */
#define USES_SOME 4u		/* … or these: of two threads */
#define USES_NEAR 64u		/* bytes of an access that is the same at other addresses */
#define USES_PLACES (1u << 22)	/* 0.3 GiB, 1.6 if all have many */
#define USES_SITUATIONS (1u << 24)	/* 1 GiB */

/* What the uses of a thread have in common until it synchronises, calls or returns. */
struct situation {
	uint64_t index, time;	/* of its first use */
	uint64_t order_epoch, strong_epoch;	/* of its thread: view.order, view.strong */
	uint64_t section_reads;	/* what was read in the sections around it, section_granule() */
	uint32_t thread, lockset, stack;
	uint32_t next;		/* free ones */
};

/* What uses at one line of code have in common. */
struct site {
	uint64_t pc;
	uint64_t addr;		/* up to USES_NEAR bytes: from the granule's on */
	uint64_t size;
	uint16_t kind;		/* enum trace_kind */
	uint8_t access;		/* enum access */
	uint32_t next;		/* free ones */
};

struct kept {
	uint32_t situation;	/* 0: none */
	uint32_t site;
	uint32_t index, time;	/* since the situation's */
};

/* One event, in full. */
struct use {
	struct candidate_event at;
	uint64_t order_epoch, section_reads;
	uint8_t access;
};

enum uses_wide { USES_NARROW, USES_WITH_SOME, USES_WITH_MANY };
enum { USES_LAST_WRITE, USES_LATEST, USES_FIRST };	/* of a wide place, in few[] */

/* A cache line. */
struct place {
	uint32_t next;		/* place of the same granule, or free; uses.c */
	uint32_t more;		/* wide: which; else where the latest is, 0: it is the first */
	uint64_t mask : 8;	/* bytes of the granule */
	uint64_t shared : 1;	/* its owner is no longer the only one */
	uint64_t read_first : 1;	/* its owner found something there: it was not made here */
	uint64_t blind : 1;	/* the last write was of something not read before in the same section */
	uint64_t wide : 2;	/* enum uses_wide */
	uint64_t count : 5;	/* uses that are remembered */
	/* Of few[0] and [1]: 2 * thread, + 1 for a write. Wide: of the last write, and the owner's once shared. */
	uint64_t who0 : 21, who1 : 21;
	struct kept few[3];	/* newest first, then the owner's first write; see above if wide */
};

_Static_assert(sizeof(struct place) == 64, "a line of the cache");

/* Of a place with more than a few uses, or of which it is asked who met the first write. */
struct uses_head {
	uint64_t order;		/* numbers of the uses, 4 bits each, newest first */
	uint64_t met;		/* threads (modulo 64) judged against the first write */
};

struct some {
	struct uses_head head;
	uint32_t who[USES_SOME];	/* 0: none */
	struct kept mark[USES_SOME];
};

struct many {
	struct uses_head head;
	uint32_t who[USES_KEPT];
	struct kept mark[USES_KEPT];
};

#define USES_RECENT 256u	/* pages found without a search; a power of two */

struct uses {
	struct map pages;	/* number -> struct uses_page, uses.c */
	struct {
		uint64_t number;
		struct uses_page *page;	/* NULL: none */
	} recent[USES_RECENT];
	struct place *nodes;	/* number 0 is not used */
	size_t node_count, node_room;
	uint32_t free_node;
	struct some *some;	/* 0 is not used */
	size_t some_count, some_room;
	uint32_t free_some;	/* linked by the first's `site` */
	struct many *many;	/* 0 is not used */
	size_t many_count, many_room;
	uint32_t free_many;	/* linked by the first's `site` */
	struct kept *latest;	/* 0 is not used */
	size_t latest_count, latest_room;
	uint32_t free_latest;	/* linked by `site` */
	struct situation *situations;	/* 0 is none */
	size_t situation_count, situation_room, situations_enough;
	uint32_t free_situation;
	uint32_t *now;		/* by thread: its situation, 0: none */
	size_t now_count;
	struct site *sites;	/* 0 is none */
	size_t site_count, site_room, sites_enough;
	uint32_t free_site;
	uint32_t *slots;	/* of sites by hash */
	size_t slot_count;	/* a power of two */
	size_t place_limit, situation_limit;
	uint64_t dropped;
};

/* At most so many places and situations; those of one access may be more. */
struct uses *uses_new(size_t places, size_t situations);
void uses_free(struct uses *u);

/* The cache lines of an access to come: first step 0, then 1 and 2, as each says where the next is. */
void uses_prefetch(const struct uses *u, uint64_t addr, unsigned step);

typedef void uses_visit(void *ctx, struct place *place, uint64_t granule);

/*
 * Calls back for each place of [addr, addr + size), which it makes and splits as
 * needed, so that none is partly within.
 */
void uses_each(struct uses *u, uint64_t addr, uint64_t size, uses_visit *fn, void *ctx);

/* The same for those that are there, without splitting. */
void uses_known(struct uses *u, uint64_t addr, uint64_t size, uses_visit *fn, void *ctx);

void uses_forget(struct uses *u, uint64_t addr, uint64_t size);

/*
 * A use in the situation `s`, of which index and time are those of the event, at `site`. To be
 * kept before the next uses_each(), by places of the granule that the site's address means.
 */
struct kept uses_make(struct uses *u, const struct situation *s, const struct site *site);

/* One that a place of the granule has, in full; its situation, and the number of the event. */
struct use uses_at(const struct uses *u, const struct kept *k, uint64_t granule);

static inline const struct situation *uses_situation(const struct uses *u, const struct kept *k)
{
	return &u->situations[k->situation];
}

static inline uint64_t uses_number(const struct uses *u, const struct kept *k)
{
	return u->situations[k->situation].index + k->index;
}

/* The last of `who` (2 * thread, + 1 for a write) in this place. */
void uses_note(struct uses *u, struct place *place, const struct kept *use, uint32_t who);

/* Uses of threads that gave way to others', and places forgotten for lack of room. */
uint64_t uses_dropped(const struct uses *u);

/* That of a thread; NULL if there is none. */
const struct kept *uses_last_of(const struct uses *u, const struct place *place, uint32_t who);

/* NULL: none. */
const struct kept *uses_last_write(const struct uses *u, const struct place *place, uint32_t *thread);

/* The owner's first write, none if NULL, which is the latest as well. */
void uses_set_first(struct uses *u, struct place *place, const struct kept *use);
void uses_set_latest(struct uses *u, struct place *place, const struct kept *use);

static inline const struct kept *uses_first(const struct place *place)
{
	return place->few[USES_FIRST].situation ? &place->few[USES_FIRST] : NULL;
}

/* If there is a first. */
static inline const struct kept *uses_latest(const struct uses *u, const struct place *place)
{
	if (place->wide)
		return &place->few[USES_LATEST];
	return place->more ? &u->latest[place->more] : &place->few[USES_FIRST];
}

/* From now on it has more than a few. */
void uses_widen(struct uses *u, struct place *place);

/* If it is wide. */
static inline struct uses_head *uses_head(const struct uses *u, const struct place *place)
{
	return place->wide == USES_WITH_SOME ? &u->some[place->more].head : &u->many[place->more].head;
}

static inline uint32_t *uses_who(const struct uses *u, const struct place *place)
{
	return place->wide == USES_WITH_SOME ? u->some[place->more].who : u->many[place->more].who;
}

static inline struct kept *uses_marks(const struct uses *u, const struct place *place)
{
	return place->wide == USES_WITH_SOME ? u->some[place->more].mark : u->many[place->more].mark;
}

/* The n-th of the `count` last uses of a place, newest first. */
static inline const struct kept *uses_last(const struct uses *u, const struct place *place, unsigned n,
					   uint32_t *who)
{
	unsigned slot;

	if (place->wide) {
		slot = (unsigned)(uses_head(u, place)->order >> 4 * n) & 15;
		*who = uses_who(u, place)[slot];
		return &uses_marks(u, place)[slot];
	}
	*who = n ? place->who1 : place->who0;
	return &place->few[n];
}

/* For uses.c: a copy of a place, of its own; a place that is no more. */
void uses_copied(struct uses *u, struct place *copy);
void uses_dropped_place(struct uses *u, struct place *place);

/* For uses.c: there are so many situations or sites that it may pay to find those that no place names. */
static inline bool uses_are_many(const struct uses *u)
{
	return (!u->free_situation && u->situation_count >= u->situations_enough) ||
	       (!u->free_site && u->site_count >= u->sites_enough);
}

void uses_collect(struct uses *u);
void uses_begin_events(struct uses *u);
void uses_end_events(struct uses *u);

#endif
