/*
 * Locations used together: two accesses of one thread in one block to different
 * places x and y, found again by the two places.
 *
 * Of each thread and two sites COUPLES_KEPT couples of places are remembered, each at
 * its latest; one more takes the place of the one not used for longest. So memory
 * follows the code, not the data. Two sites that are at other places every time (a walk
 * through an array) are from then on watched at one of COUPLES_SPARSE places, which are
 * the same for all threads. An access that spans granules counts by its first.
 */
#ifndef ANALYZE_COUPLES_H
#define ANALYZE_COUPLES_H

#include "analyze/granules.h"
#include "analyze/moments.h"

#define COUPLES_KEPT 8u
#define COUPLES_SPARSE 16u		/* a power of two */

struct couple_side {
	struct moment at;
	uint64_t pc;
	uint64_t place;		/* hash of granule and generation: couples_place() */
	uint64_t likeness;	/* … and of all else that makes two accesses alike */
	uint32_t generation;	/* of the memory there: another after it was freed */
	uint16_t kind;
	uint8_t access;
};

struct couple {
	struct couple_side side[2];	/* in the order of the thread */
	uint32_t thread;
	uint32_t cut[MOMENTS_CUTS];	/* locksets in between */
	uint32_t cuts;
};

/* What a search for couples of the same places looks at, apart: most are not what it wants. */
struct couple_link {
	uint64_t places;	/* hash of both, in either order */
	uint32_t next, previous;	/* of the same place in the table; 0: none */
	uint32_t thread;
	uint32_t writes;	/* how many sides do */
};

/* An entry of the table of sites. */
struct couple_place {
	uint32_t hash, sites;	/* sites 0: none */
};

/* Two sites of a thread. */
struct couple_sites {
	uint64_t pc[2];
	uint32_t thread;
	uint32_t strange;	/* couples in a row whose places were not known */
	uint32_t count;
	uint32_t couple[COUPLES_KEPT];	/* most recent first */
	uint32_t likeness[COUPLES_KEPT];	/* hash: other hash, other couple */
};

struct couples {
	struct moments *moments;
	struct granules generations;	/* plus 1 */
	struct couple *list;		/* 0 is none */
	struct couple_link *links;	/* of each in `list` */
	size_t count, capacity, link_capacity;
	struct couple_sites *sites;	/* 0 is none */
	size_t sites_count, sites_capacity;
	struct couple_place *sites_table;	/* by hash */
	uint32_t *places_table;			/* … the first; 0: none */
	size_t sites_size, places_size;		/* powers of two */
	uint64_t replaced, skipped;
};

void couples_init(struct couples *c, struct moments *moments);
void couples_free(struct couples *c);

/* For moments_marker(). */
void couples_mark(const struct couples *c);

/* Sets generation, place and likeness of a side, by its moment. */
void couples_place(struct couples *c, struct couple_side *side);

/* The number of the two sites, made if need be. */
uint32_t couples_sites(struct couples *c, uint32_t thread, uint64_t pc0, uint64_t pc1);

/*
 * Remembers the two accesses of `sites`. Returns the couple if it is new in its places,
 * locksets or clocks, and has to be compared with others; else 0.
 */
uint32_t couples_note(struct couples *c, uint32_t sites, const struct couple_side *first,
		      const struct couple_side *second);

/*
 * Another thread's couple of the same two places, in either order, so that both of them
 * may be written; 0: no more. Start with 0.
 */
uint32_t couples_of_others(const struct couples *c, uint32_t couple, uint32_t previous);

/* Memory that is given back or anew. */
void couples_forget(struct couples *c, uint64_t addr, uint64_t size);

#endif
