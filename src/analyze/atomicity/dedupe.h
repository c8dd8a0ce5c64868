/*
 * Deduplication: one candidate for each schedule. If an access is in a critical section whose lock
 * the other thread needs, too, a run can only move the section as a whole. So candidates with the
 * same sections ask for the same schedule, whatever they access there. Only the first one is
 * reported; the others are counted.
 */
#ifndef ANALYZE_ATOMICITY_DEDUPE_H
#define ANALYZE_ATOMICITY_DEDUPE_H

#include "analyze/atomicity/access_context.h"
#include "base/hash.h"
#include "base/map.h"

/* All zero: empty. */
struct dedupe {
	struct map by_schedule;	/* dedupe_key() to the number in `list`, plus 1 */
	struct dedupe_entry *list;
	size_t count, capacity;
};

/* An access of a candidate. */
struct dedupe_access {
	uint64_t pc;
	const struct access_context *at;
	uint32_t lockset;
	uint32_t other;		/* lockset of the other thread's access that it is ordered with */
};

void dedupe_free(struct dedupe *d);

/*
 * Returns the key of the schedule that a candidate of these accesses, in this order, asks for. It
 * depends on the pcs at which the accesses, or the sections that are moved with them, begin.
 */
static inline uint64_t dedupe_key(struct locks *locks, const struct dedupe_access *accesses,
				  unsigned count)
{
	const struct locks_ends *ends = locks_ends(locks);
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, locks_entry(locks, ends, accesses[i].lockset,
						  accesses[i].other, accesses[i].pc));
	return hash;
}

/* Returns the number of the candidate with this key; 0: none was reported yet. */
uint32_t dedupe_find(const struct dedupe *d, uint64_t key);

/*
 * If the instance adds nothing to the candidate with this number: counts it, also as PRUNE_SAME if
 * its sites differ, and returns true. False if it is the first instance that the trace itself shows
 * (`seen`), if its events are nearer in time, or if the number is 0.
 */
bool dedupe_count_repeat(struct dedupe *d, uint32_t number, const struct dedupe_access *accesses,
			 unsigned count, bool seen, struct findings *out);

/* Adds `count` further instances of the candidate with this number. */
void dedupe_add_count(struct dedupe *d, uint32_t number, bool same_sites, uint64_t count,
		      struct findings *out);

/*
 * dedupe_count_repeat() without access contexts: false also if the times of the events would
 * decide. `same_sites`: dedupe_same_sites().
 */
bool dedupe_count_early(struct dedupe *d, uint32_t number, bool same_sites, bool seen,
			struct findings *out);

/* A hash of the accesses' pcs. */
static inline uint64_t dedupe_sites_hash(const struct dedupe_access *accesses, unsigned count)
{
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, accesses[i].pc);
	return hash;
}

/* True if the candidate with this number has these sites. */
bool dedupe_same_sites(const struct dedupe *d, uint32_t number,
		       const struct dedupe_access *accesses, unsigned count);

/*
 * dedupe_count_early() for an instance that the trace may or may not show: true if that makes no
 * difference.
 */
bool dedupe_count_always(struct dedupe *d, uint32_t number, bool same_sites, struct findings *out);

/* True if further instances change nothing but the count. `maybe_seen`: the trace may show some. */
bool dedupe_is_saturated(const struct dedupe *d, uint32_t number, bool maybe_seen,
			 struct findings *out);

/*
 * Reports the candidate `c`, whose first events are the accesses. If one with the same key and
 * sites was reported, replaces its instance if the new one is seen or nearer in time.
 */
void dedupe_add(struct dedupe *d, uint64_t key, const struct dedupe_access *accesses,
		unsigned count, const struct candidate *c, struct findings *out);

#endif
