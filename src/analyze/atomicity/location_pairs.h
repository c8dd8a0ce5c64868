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

#define LOCATION_PAIRS_KEPT 8u
#define LOCATION_PAIRS_SAMPLING 16u		/* a power of two */
#define LOCATION_PAIRS_STREAK 256u	/* couples at unknown places in a row that make two sites a walk */

/* An access of a couple, as long as it is remembered. */
struct pair_side {
	struct access_context at;
	uint64_t pc;
	uint32_t generation;	/* of the memory there: another after it was freed */
	uint16_t kind;
	uint8_t access;
};

/* … and while it may become one of more couples. */
struct pair_access {
	struct pair_side side;
	uint64_t location;		/* hash of granule and generation: couples_place() */
	uint64_t key;		/* … so good that the sum of two of them names both */
	uint64_t identity;	/* … and of all else that makes two accesses alike */
	uint32_t site;		/* couples_site() */
	uint32_t lockset;
	bool spans_granules;		/* it reaches into the next granule */
	bool unshared;		/* nothing conflicts with it */
};

/* Two accesses that may become a couple. */
struct pair_attempt {
	const struct pair_access *first, *second;
	uint64_t locations;	/* sum of their keys */
	struct pair_cell *cell;	/* couples_sites() */
	uint32_t writes;	/* as in struct couple_link */
	bool unshared;
};

struct location_pair {
	struct pair_side side[2];	/* in the order of the thread */
};

/*
 * What comparing couples of the same places looks at, apart: most have nothing to tell. Two
 * such couples have the same places x and y, and are `swapped` if x is the one with the
 * greater key.
 */
struct pair_link {
	uint64_t locations;	/* sum of both keys, mixed with `writes` */
	uint32_t next, previous;	/* of the same place in the table; 0: none */
	uint32_t stamp;		/* higher than that of all linked before */
	uint32_t thread;
	uint32_t epoch[2], lockset[2];	/* of the sides */
	uint32_t cut[CONTEXTS_CUTS];	/* locksets in between */
	uint8_t cuts;
	uint8_t writes;		/* bits: 1 the lesser place, 2 the greater */
	uint8_t access[2], low[2], end[2];	/* bytes within the granule */
	bool swapped;
	bool one_granule;		/* both sides are in one granule */
	bool spans_granules;		/* a side reaches into the next granule: `low` and `end` do not tell */
};

/* Those at a place of the table. */
struct pair_bucket {
	uint32_t first;		/* 0: none */
	uint32_t tags;		/* bits by hash of what may be there: mostly it is something else */
};

#define LOCATION_PAIRS_UNSHARED 0x80000000u

/* Two sites of a thread. */
struct pair_sites {
	uint32_t location_pair[LOCATION_PAIRS_KEPT];	/* most recent first; COUPLES_MOOT and more of the hash: moot */
	uint16_t hash16[LOCATION_PAIRS_KEPT];	/* hash: other hash, other couple */
	uint16_t new_in_row;	/* couples in a row whose places were not known, as far as it matters */
	uint16_t count;
	uint32_t thread;
	uint32_t unused[2];	/* 64 bytes, as processors fetch them */
};

/* A site of a thread: the sites before it that it was coupled with, by number. */
#define LOCATION_PAIRS_ROW 16u
#define LOCATION_PAIRS_WALK 0x80000000u
struct pair_row {
	struct pair_cell {
		uint32_t site;
		uint32_t sites;	/* of both, and COUPLES_WALK if they walk */
	} at[LOCATION_PAIRS_ROW];
};

struct location_pairs {
	struct contexts *contexts;
	struct granules generations;	/* plus 1 */
	struct location_pair *list;		/* 0 is none */
	struct pair_link *links;	/* of each in `list` */
	size_t count, capacity, link_capacity;
	uint32_t free;			/* of them, linked by `next`; 0: none */
	struct pair_sites *sites;	/* 0 is none */
	size_t sites_count, sites_capacity;
	struct pair_row *rows;	/* 0 is none */
	size_t row_count, row_capacity;
	struct map sites_at;		/* two sites to their number in `sites` */
	struct pair_bucket *table;	/* by hash */
	size_t table_size;		/* a power of two */
	uint32_t stamp;			/* the last one given */
	uint64_t replaced, skipped;
};

void location_pairs_init(struct location_pairs *c, struct contexts *contexts);
void location_pairs_free(struct location_pairs *c);

/* For moments_marker(). */
void location_pairs_mark(const struct location_pairs *c);

/* Sets generation, place and likeness of an access, by its moment and lockset. */
void location_pairs_locate(struct location_pairs *c, struct pair_access *access);

/* A number for one more site of some thread; accesses have one each. */
uint32_t location_pairs_new_site(struct location_pairs *c);

/* For couples_sites(), if the row does not know it. */
struct pair_cell *location_pairs_sites_find(struct location_pairs *c, uint32_t thread,
					    uint32_t first, uint32_t second);

/*
 * The two sites of the thread, made if need be: good until the next call, then it may be of others.
 * Those of a loop are numbered in a row.
 */
static inline struct pair_cell *location_pairs_sites(struct location_pairs *c, uint32_t thread,
						     uint32_t first, uint32_t second)
{
	struct pair_cell *cell = &c->rows[second].at[first % LOCATION_PAIRS_ROW];

	return cell->site == first ? cell : location_pairs_sites_find(c, thread, first, second);
}

/* These two places (couples_place()) are watched where sites walk: (x, y) and (y, x), in all threads. */
static inline bool location_pairs_sampled(uint64_t a, uint64_t b)
{
	return !(hash_add(a + b, a ^ b) >> 32 & (LOCATION_PAIRS_SAMPLING - 1));
}

/* The two sites walk, as far as is known now: only what is watched is to be noted. */
static inline bool location_pairs_walk(const struct pair_cell *cell)
{
	return cell->sites & LOCATION_PAIRS_WALK;
}

/* Completes a pair that has `first` and `cell`. */
static inline void location_pairs_complete(struct pair_attempt *p, const struct pair_access *second)
{
	unsigned x = (p->first->side.access & ACCESS_WRITE) != 0;
	unsigned y = (second->side.access & ACCESS_WRITE) != 0;
	bool swapped = p->first->key > second->key;
	bool unsure =
		p->first->key == second->key || p->first->spans_granules || second->spans_granules;

	p->second = second;
	p->unshared = p->first->unshared || second->unshared;
	p->locations = p->first->key + second->key;
	/* Where it is not sure which place is written, both. */
	p->writes = unsure ? 3 * (x | y) : x << swapped | y << !swapped;
}

/*
 * Remembers the pair. Returns the couple if it is new in its places, locksets or clocks, and
 * has to be compared with others; else 0, as for one that is moot.
 */
uint32_t location_pairs_note(struct location_pairs *c, const struct pair_attempt *p);

/*
 * That is about to be called: these ask the processor for memory that it will need, the
 * first for what the second looks at. In between, the same can be done for others.
 */
void location_pairs_prefetch(const struct location_pairs *c, const struct pair_attempt *p);
void location_pairs_prefetch_next(const struct location_pairs *c, const struct pair_attempt *p);

/*
 * Other threads' couples of the same two places, in either order, so that both of them may be
 * written: the last linked first.
 */
struct location_pairs_matches {
	uint64_t locations[4];
	uint32_t next[4];
	unsigned count;
	uint32_t thread;
};

void location_pairs_matches(const struct location_pairs *c, uint32_t location_pair,
			    struct location_pairs_matches *out);

/* 0: no more. */
uint32_t location_pairs_next_match(const struct location_pairs *c,
				   struct location_pairs_matches *others);

/*
 * The side of `other` that meets side 0 of `couple`, while the other one meets side 1, in bytes
 * of which one of the two writes; COUPLES_APART: they do not.
 */
#define LOCATION_PAIRS_DISJOINT 2u
unsigned location_pairs_overlap(const struct location_pairs *c, uint32_t location_pair,
				uint32_t other);

/* Memory that is given back or anew. */
void location_pairs_forget(struct location_pairs *c, uint64_t addr, uint64_t size);

#endif
