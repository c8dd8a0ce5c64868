/*
 * One candidate for each schedule. Accesses within a critical section that the other
 * thread needs too move as a whole, so candidates whose sections are the same ask for
 * the same schedule, whatever they access there: only the first is told.
 */
#ifndef ANALYZE_ATOMICITY_DEDUPE_H
#define ANALYZE_ATOMICITY_DEDUPE_H

#include "analyze/atomicity/access_context.h"
#include "base/hash.h"
#include "base/map.h"

/* All zero is empty. */
struct dedupe {
	struct map by_schedule;	/* key of a candidate to its number in `list`, plus 1 */
	struct dedupe_entry *list;
	size_t count, capacity;
};

/* An access of a candidate: its moment, and what it is ordered with. */
struct dedupe_access {
	uint64_t pc;
	const struct access_context *at;
	uint32_t lockset;
	uint32_t other;		/* the lockset of the access of the other thread that it meets */
};

void dedupe_free(struct dedupe *d);

/*
 * Of the schedule that a candidate of these accesses, in this order, asks for: by where the
 * sections begin that have to be moved with the accesses, or the accesses.
 */
static inline uint64_t dedupe_key(struct locks *locks, const struct dedupe_access *parts,
				  unsigned count)
{
	const struct locks_ends *ends = locks_ends(locks);
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, locks_entry(locks, ends, parts[i].lockset, parts[i].other,
						  parts[i].pc));
	return hash;
}

/* Its number; 0: none was told yet. */
uint32_t dedupe_find(const struct dedupe *d, uint64_t key);

/*
 * True if the candidate with this number is near enough in time: it counts one more
 * (PRUNE_SAME if the sites are others), and another need not be made.
 */
bool dedupe_count_repeat(struct dedupe *d, uint32_t number, const struct dedupe_access *parts,
			 unsigned count, bool seen, struct findings *out);

/* One of the candidate with this number comes so many times more. */
void dedupe_add_count(struct dedupe *d, uint32_t number, bool same_sites, uint64_t count,
		      struct findings *out);

/* The same where only counting is left; false: told_again() says. `same`: by told_same(). */
bool dedupe_count_early(struct dedupe *d, uint32_t number, bool same_sites, bool seen,
			struct findings *out);

/* A hash of where they are. */
static inline uint64_t dedupe_sites_hash(const struct dedupe_access *parts, unsigned count)
{
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, parts[i].pc);
	return hash;
}

/* The candidate with this number has these sites. */
bool dedupe_same_sites(const struct dedupe *d, uint32_t number, const struct dedupe_access *parts,
		       unsigned count);

/* As told_often(), where it is so whether the trace shows it or not. */
bool dedupe_count_always(struct dedupe *d, uint32_t number, bool same_sites, struct findings *out);

/*
 * Instances that the trace does not show can change nothing but the count of the candidate
 * with this number; with `shown`, those it shows neither.
 */
bool dedupe_is_saturated(const struct dedupe *d, uint32_t number, bool maybe_seen,
			 struct findings *out);

/* Adds `c`, whose first events are the parts, or puts it in the place of one less near. */
void dedupe_add(struct dedupe *d, uint64_t key, const struct dedupe_access *parts, unsigned count,
		const struct candidate *c, struct findings *out);

#endif
