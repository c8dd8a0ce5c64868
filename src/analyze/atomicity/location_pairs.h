/*
 * Location pairs: two accesses of one thread in one block of code to different locations x and y.
 * They can be looked up by their two locations.
 *
 * For each thread and two sites, the LOCATION_PAIRS_KEPT most recently used pairs are kept, each
 * with its latest instance. So memory depends on the code, not on the data. Two sites *walk* if
 * they access other locations every time, as a loop over an array does. From then on their pairs
 * are sampled: only one in LOCATION_PAIRS_SAMPLING is kept, by its locations, so all threads keep
 * the same ones. The location of an access that spans granules is its first granule.
 *
 * A pair is *unshared* if nothing can conflict with one of its sides (unshared.h): no pair of
 * another thread can break it. It takes a slot among the pairs of its sites, but is not kept
 * otherwise. Two pairs that break each other have sides that begin in the same granules, since the
 * sides of one pair do not overlap. So the first granule of a side decides whether it is unshared.
 */
#ifndef ANALYZE_ATOMICITY_LOCATION_PAIRS_H
#define ANALYZE_ATOMICITY_LOCATION_PAIRS_H

#include "analyze/atomicity/access_context.h"
#include "analyze/context/granules.h"
#include "base/hash.h"
#include "base/map.h"

#define LOCATION_PAIRS_KEPT 8u /* per thread and two sites: bounds memory by code size */
#define LOCATION_PAIRS_SAMPLING 16u		/* a power of 2 */
#define LOCATION_PAIRS_STREAK 256u /* pairs in a row at new locations that make two sites walk */

/* One side of a kept pair: an access. */
struct pair_side {
	struct access_context at;
	uint64_t pc;
	/* counts how often the memory was freed: another generation is another location */
	uint32_t generation;
	uint16_t kind;
	uint8_t access;
};

/* An access that may become a side of pairs. */
struct pair_access {
	struct pair_side side;
	uint64_t location; /* hash of granule and generation: location_pairs_locate() */
	uint64_t key; /* a stronger hash of these: the sum of two keys identifies both locations */
	uint64_t identity;	/* hash of the key, address, lockset and epoch */
	uint32_t site;		/* location_pairs_new_site() */
	uint32_t lockset;
	bool spans_granules;	/* it reaches into the next granule */
	bool unshared;		/* nothing can conflict with it */
};

/* Two accesses that may become a pair. */
struct pair_attempt {
	const struct pair_access *first, *second;
	uint64_t locations;	/* sum of the keys */
	struct pair_cell *cell;	/* location_pairs_sites() */
	uint32_t writes;	/* as in struct pair_link */
	bool unshared;
};

struct location_pair {
	struct pair_side side[2];	/* in program order */
};

/*
 * The members of a pair that comparisons read, kept apart from struct location_pair: most
 * comparisons find nothing. x and y are ordered by their keys; the pair is `swapped` if its first
 * access is to the location with the greater key.
 */
struct pair_link {
	uint64_t locations;	/* sum of both keys, mixed with `writes`: identifies the bucket */
	uint32_t next, previous;	/* in the bucket; 0: none */
	uint32_t stamp;		/* ascends in the order in which pairs were added */
	uint32_t thread;
	uint32_t epoch[2], lockset[2];	/* of the two sides */
	uint32_t cut[CONTEXTS_CUTS]; /* locksets between the two accesses (contexts_cuts_since()) */
	uint8_t cuts;
	/* bit set: 1: the location with the lesser key is written, 2: the greater */
	uint8_t writes;
	uint8_t access[2], low[2], end[2]; /* per side; low and end: bytes within the granule */
	bool swapped;
	bool one_granule;	/* both sides are in one granule */
	/* a side reaches into the next granule: `low` and `end` are not valid */
	bool spans_granules;
};

/* A bucket of the hash table from locations to pairs. */
struct pair_bucket {
	uint32_t first;		/* 0: none */
	/* bit set by hash of `locations`: a clear bit means that there is no such pair */
	uint32_t tags;
};

#define LOCATION_PAIRS_UNSHARED 0x80000000u

/* The pairs that a thread made at two sites, most recently used first. */
struct pair_sites {
	/* number of the pair; LOCATION_PAIRS_UNSHARED and bits of its hash: an unshared pair */
	uint32_t location_pair[LOCATION_PAIRS_KEPT];
	uint16_t hash16[LOCATION_PAIRS_KEPT]; /* of each pair: different hashes, different pairs */
	/* pairs in a row that were at new locations; at most LOCATION_PAIRS_STREAK + 1 */
	uint16_t new_in_row;
	uint16_t count;
	uint32_t thread;
	bool matched;		/* a pair had a match: the sites were compared with others */
	uint8_t tries;		/* pairs dropped, up to LOCATION_PAIRS_TRIES */
	uint8_t unused[6];	/* pads to 64 bytes, a cache line */
};

/* Cache by a thread's second site: the first sites that it made pairs with. */
#define LOCATION_PAIRS_ROW 16u
#define LOCATION_PAIRS_WALK 0x80000000u
struct pair_row {
	struct pair_cell {
		uint32_t site;
		/* number of struct pair_sites, with LOCATION_PAIRS_WALK if the sites walk */
		uint32_t sites;
	} at[LOCATION_PAIRS_ROW];
};

/* A dropped pair that another thread may still make a pair with. */
struct pair_lost {
	uint32_t tag;		/* of pair_link.locations */
	uint32_t thread;	/* 0: free */
};

/*
 * In short traces a dropped pair stays comparable, if it is at other locations than the pairs that
 * are kept: LOCATION_PAIRS_SPARE pairs in all, of the first LOCATION_PAIRS_TRIES dropped of two
 * sites.
 */
#define LOCATION_PAIRS_SPARE 4096u
#define LOCATION_PAIRS_TRIES 64u

#define LOCATION_PAIRS_LOST 16384u	/* a power of 2; 128 KiB */

struct location_pairs {
	struct contexts *contexts;
	struct granules generations;	/* generation of each granule, plus 1 */
	struct location_pair *list;	/* number 0 is unused */
	struct pair_link *links;	/* by number of the pair */
	size_t count, capacity, link_capacity;
	uint32_t free;			/* first unused pair, linked by `next`; 0: none */
	struct pair_sites *sites;	/* number 0 is unused */
	size_t sites_count, sites_capacity;
	struct pair_row *rows;	/* number 0 is unused */
	size_t row_count, row_capacity;
	struct map sites_at;	/* first and second site to their number in `sites` */
	struct pair_bucket *table;	/* hash table by pair_link.locations */
	size_t table_size;	/* a power of 2 */
	uint32_t stamp;			/* latest stamp given */
	/* pairs dropped for newer ones, and shared pairs not noted because their sites walk */
	uint64_t replaced, skipped;
	uint32_t spared;	/* number of dropped pairs that stay comparable */
	struct pair_lost *lost;	/* LOCATION_PAIRS_LOST entries by hash; NULL: none was dropped */
};

void location_pairs_init(struct location_pairs *c, struct contexts *contexts);
void location_pairs_free(struct location_pairs *c);

/* Marks the access contexts of all pairs, for contexts_set_marker(). */
void location_pairs_mark(const struct location_pairs *c);

/*
 * Fills in the members of an access that follow from its context and lockset: generation, location,
 * key, identity, spans_granules.
 */
void location_pairs_locate(struct location_pairs *c, struct pair_access *access);

/* Returns a number for one more site of a thread. Threads do not share numbers. */
uint32_t location_pairs_new_site(struct location_pairs *c);

/* Slow path of location_pairs_sites(): the row does not have the first site. */
struct pair_cell *location_pairs_sites_find(struct location_pairs *c, uint32_t thread,
					    uint32_t first, uint32_t second);

/*
 * Returns the cache entry of a thread's two sites, made if there is none. Valid until the next
 * call. A loop's sites have consecutive numbers, so they do not collide in a row.
 */
static inline struct pair_cell *location_pairs_sites(struct location_pairs *c, uint32_t thread,
						     uint32_t first, uint32_t second)
{
	struct pair_cell *cell = &c->rows[second].at[first % LOCATION_PAIRS_ROW];

	return cell->site == first ? cell : location_pairs_sites_find(c, thread, first, second);
}

/*
 * True if a walking pair of these locations (pair_access.location) is kept. Equal for (x, y) and
 * (y, x), and in all threads.
 */
static inline bool location_pairs_sampled(uint64_t a, uint64_t b)
{
	return !(hash_add(a + b, a ^ b) >> 32 & (LOCATION_PAIRS_SAMPLING - 1));
}

/* True if the two sites walk: only sampled pairs are to be noted. */
static inline bool location_pairs_walk(const struct pair_cell *cell)
{
	return cell->sites & LOCATION_PAIRS_WALK;
}

/* Completes an attempt that has `first` and `cell`. */
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
	/* If the keys do not show which location is written, both count as written. */
	p->writes = unsure ? 3 * (x | y) : x << swapped | y << !swapped;
}

/*
 * Keeps the pair. Returns its number if it is new: the caller has to compare it with other threads'
 * pairs. Returns 0 if an equal pair is known, or if the pair is unshared.
 */
uint32_t location_pairs_note(struct location_pairs *c, const struct pair_attempt *p);

/*
 * Prefetch for location_pairs_note(): location_pairs_prefetch_next() reads what
 * location_pairs_prefetch() fetches. To be called for several attempts between the two.
 */
void location_pairs_prefetch(const struct location_pairs *c, const struct pair_attempt *p);
void location_pairs_prefetch_next(const struct location_pairs *c, const struct pair_attempt *p);

/*
 * An iterator over the pairs of other threads at the same two locations, in either order, if both
 * locations may be written by one of the two threads. The latest pair comes first.
 */
struct location_pairs_matches {
	uint64_t locations[4];
	uint32_t next[4];
	unsigned count;
	uint32_t thread;
};

void location_pairs_matches(const struct location_pairs *c, uint32_t location_pair,
			    struct location_pairs_matches *out);

/*
 * Whether location_pairs_matches() may lack a pair that another thread has made and that was
 * dropped. Of pairs with equal hashes only the one dropped last is known.
 */
bool location_pairs_was_lost(const struct location_pairs *c, uint32_t location_pair);

/* Returns the next pair, 0: no more. */
uint32_t location_pairs_next_match(const struct location_pairs *c,
				   struct location_pairs_matches *others);

/*
 * Returns the side of `other` that overlaps side 0 of `location_pair`, if its other side overlaps
 * side 1, and each overlap is written by one of the two. Else LOCATION_PAIRS_DISJOINT.
 */
#define LOCATION_PAIRS_DISJOINT 2u
unsigned location_pairs_overlap(const struct location_pairs *c, uint32_t location_pair,
				uint32_t other);

/* Makes memory that is freed or allocated again another location. */
void location_pairs_forget(struct location_pairs *c, uint64_t addr, uint64_t size);

#endif
