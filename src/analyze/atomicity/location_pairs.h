/*
 * Locations used together: two accesses of one thread in one block to different
 * places x and y, found again by the two places.
 *
 * Of each thread and two sites COUPLES_KEPT couples of places are remembered, each at
 * its latest; one more takes the place of the one not used for longest. So memory
 * follows the code, not the data. Two sites that are at other places every time (a walk
 * through an array) are from then on watched at one of COUPLES_SPARSE places, which are
 * the same for all threads. An access that spans granules counts by its first.
 *
 * A couple is moot if memory of a side is alone (alone.h): nobody has one that it breaks. It takes
 * the room of others, but nothing else has to be known of it. If two couples break each other, sides
 * that begin in one granule meet, since the sides of a couple do not overlap: so it is by the first
 * granule that a side is moot.
 */
#ifndef ANALYZE_ATOMICITY_LOCATION_PAIRS_H
#define ANALYZE_ATOMICITY_LOCATION_PAIRS_H

#include "analyze/atomicity/access_context.h"
#include "analyze/context/granules.h"
#include "base/hash.h"
#include "base/map.h"

#define COUPLES_KEPT 8u
#define COUPLES_SPARSE 16u		/* a power of two */
#define COUPLES_STRANGE 256u	/* couples at unknown places in a row that make two sites a walk */

/* An access of a couple, as long as it is remembered. */
struct couple_side {
	struct moment at;
	uint64_t pc;
	uint32_t generation;	/* of the memory there: another after it was freed */
	uint16_t kind;
	uint8_t access;
};

/* … and while it may become one of more couples. */
struct couple_access {
	struct couple_side side;
	uint64_t place;		/* hash of granule and generation: couples_place() */
	uint64_t key;		/* … so good that the sum of two of them names both */
	uint64_t likeness;	/* … and of all else that makes two accesses alike */
	uint32_t site;		/* couples_site() */
	uint32_t lockset;
	bool wide;		/* it reaches into the next granule */
	bool moot;		/* nothing conflicts with it */
};

/* Two accesses that may become a couple. */
struct couple_pair {
	const struct couple_access *first, *second;
	uint64_t places;	/* sum of their keys */
	struct couple_cell *cell;	/* couples_sites() */
	uint32_t writes;	/* as in struct couple_link */
	bool moot;
};

struct couple {
	struct couple_side side[2];	/* in the order of the thread */
};

/*
 * What comparing couples of the same places looks at, apart: most have nothing to tell. Two
 * such couples have the same places x and y, and are `swapped` if x is the one with the
 * greater key.
 */
struct couple_link {
	uint64_t places;	/* sum of both keys, mixed with `writes` */
	uint32_t next, previous;	/* of the same place in the table; 0: none */
	uint32_t stamp;		/* higher than that of all linked before */
	uint32_t thread;
	uint32_t epoch[2], lockset[2];	/* of the sides */
	uint32_t cut[MOMENTS_CUTS];	/* locksets in between */
	uint8_t cuts;
	uint8_t writes;		/* bits: 1 the lesser place, 2 the greater */
	uint8_t access[2], low[2], end[2];	/* bytes within the granule */
	bool swapped;
	bool one;		/* both sides are in one granule */
	bool wide;		/* a side reaches into the next granule: `low` and `end` do not tell */
};

/* Those at a place of the table. */
struct couple_head {
	uint32_t first;		/* 0: none */
	uint32_t tags;		/* bits by hash of what may be there: mostly it is something else */
};

#define COUPLES_MOOT 0x80000000u

/* Two sites of a thread. */
struct couple_sites {
	uint32_t couple[COUPLES_KEPT];	/* most recent first; COUPLES_MOOT and more of the hash: moot */
	uint16_t likeness[COUPLES_KEPT];	/* hash: other hash, other couple */
	uint16_t strange;	/* couples in a row whose places were not known, as far as it matters */
	uint16_t count;
	uint32_t thread;
	uint32_t unused[2];	/* 64 bytes, as processors fetch them */
};

/* A site of a thread: the sites before it that it was coupled with, by number. */
#define COUPLES_ROW 16u
#define COUPLES_WALK 0x80000000u
struct couple_row {
	struct couple_cell {
		uint32_t site;
		uint32_t sites;	/* of both, and COUPLES_WALK if they walk */
	} at[COUPLES_ROW];
};

struct couples {
	struct moments *moments;
	struct granules generations;	/* plus 1 */
	struct couple *list;		/* 0 is none */
	struct couple_link *links;	/* of each in `list` */
	size_t count, capacity, link_capacity;
	uint32_t free;			/* of them, linked by `next`; 0: none */
	struct couple_sites *sites;	/* 0 is none */
	size_t sites_count, sites_capacity;
	struct couple_row *rows;	/* 0 is none */
	size_t row_count, row_capacity;
	struct map sites_at;		/* two sites to their number in `sites` */
	struct couple_head *places_table;	/* by hash */
	size_t places_size;		/* a power of two */
	uint32_t stamp;			/* the last one given */
	uint64_t replaced, skipped;
};

void couples_init(struct couples *c, struct moments *moments);
void couples_free(struct couples *c);

/* For moments_marker(). */
void couples_mark(const struct couples *c);

/* Sets generation, place and likeness of an access, by its moment and lockset. */
void couples_place(struct couples *c, struct couple_access *access);

/* A number for one more site of some thread; accesses have one each. */
uint32_t couples_site(struct couples *c);

/* For couples_sites(), if the row does not know it. */
struct couple_cell *couples_sites_find(struct couples *c, uint32_t thread, uint32_t first, uint32_t second);

/*
 * The two sites of the thread, made if need be: good until the next call, then it may be of others.
 * Those of a loop are numbered in a row.
 */
static inline struct couple_cell *couples_sites(struct couples *c, uint32_t thread, uint32_t first,
						uint32_t second)
{
	struct couple_cell *cell = &c->rows[second].at[first % COUPLES_ROW];

	return cell->site == first ? cell : couples_sites_find(c, thread, first, second);
}

/* These two places (couples_place()) are watched where sites walk: (x, y) and (y, x), in all threads. */
static inline bool couples_watched(uint64_t a, uint64_t b)
{
	return !(hash_add(a + b, a ^ b) >> 32 & (COUPLES_SPARSE - 1));
}

/* The two sites walk, as far as is known now: only what is watched is to be noted. */
static inline bool couples_walk(const struct couple_cell *cell)
{
	return cell->sites & COUPLES_WALK;
}

/* Completes a pair that has `first` and `cell`. */
static inline void couples_pair(struct couple_pair *p, const struct couple_access *second)
{
	unsigned x = (p->first->side.access & ACCESS_WRITE) != 0;
	unsigned y = (second->side.access & ACCESS_WRITE) != 0;
	bool swapped = p->first->key > second->key;
	bool unsure = p->first->key == second->key || p->first->wide || second->wide;

	p->second = second;
	p->moot = p->first->moot || second->moot;
	p->places = p->first->key + second->key;
	/* Where it is not sure which place is written, both. */
	p->writes = unsure ? 3 * (x | y) : x << swapped | y << !swapped;
}

/*
 * Remembers the pair. Returns the couple if it is new in its places, locksets or clocks, and
 * has to be compared with others; else 0, as for one that is moot.
 */
uint32_t couples_note(struct couples *c, const struct couple_pair *p);

/*
 * That is about to be called: these ask the processor for memory that it will need, the
 * first for what the second looks at. In between, the same can be done for others.
 */
void couples_soon(const struct couples *c, const struct couple_pair *p);
void couples_sooner(const struct couples *c, const struct couple_pair *p);

/*
 * Other threads' couples of the same two places, in either order, so that both of them may be
 * written: the last linked first.
 */
struct couples_others {
	uint64_t places[4];
	uint32_t next[4];
	unsigned count;
	uint32_t thread;
};

void couples_others(const struct couples *c, uint32_t couple, struct couples_others *out);

/* 0: no more. */
uint32_t couples_other(const struct couples *c, struct couples_others *others);

/*
 * The side of `other` that meets side 0 of `couple`, while the other one meets side 1, in bytes
 * of which one of the two writes; COUPLES_APART: they do not.
 */
#define COUPLES_APART 2u
unsigned couples_cross(const struct couples *c, uint32_t couple, uint32_t other);

/* Memory that is given back or anew. */
void couples_forget(struct couples *c, uint64_t addr, uint64_t size);

#endif
