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
struct told {
	struct map by_units;	/* key of a candidate to its number in `list`, plus 1 */
	struct told_entry *list;
	size_t count, capacity;
};

/* An access of a candidate: its moment, and what it is ordered with. */
struct told_part {
	uint64_t pc;
	const struct moment *at;
	uint32_t lockset;
	uint32_t other;		/* the lockset of the access of the other thread that it meets */
};

void told_free(struct told *t);

/*
 * Of the schedule that a candidate of these accesses, in this order, asks for: by where the
 * sections begin that have to be moved with the accesses, or the accesses.
 */
static inline uint64_t told_key(struct locks *locks, const struct told_part *parts, unsigned count)
{
	const struct locks_ends *ends = locks_ends(locks);
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, locks_entry(locks, ends, parts[i].lockset, parts[i].other,
						  parts[i].pc));
	return hash;
}

/* Its number; 0: none was told yet. */
uint32_t told_find(const struct told *t, uint64_t key);

/*
 * True if the candidate with this number is near enough in time: it counts one more
 * (PRUNE_SAME if the sites are others), and another need not be made.
 */
bool told_again(struct told *t, uint32_t number, const struct told_part *parts, unsigned count,
		bool seen, struct findings *out);

/* One of the candidate with this number comes so many times more. */
void told_more(struct told *t, uint32_t number, bool same, uint64_t count, struct findings *out);

/* The same where only counting is left; false: told_again() says. `same`: by told_same(). */
bool told_often(struct told *t, uint32_t number, bool same, bool seen, struct findings *out);

/* A hash of where they are. */
static inline uint64_t told_sites(const struct told_part *parts, unsigned count)
{
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++)
		hash = hash_add(hash, parts[i].pc);
	return hash;
}

/* The candidate with this number has these sites. */
bool told_same(const struct told *t, uint32_t number, const struct told_part *parts, unsigned count);

/* As told_often(), where it is so whether the trace shows it or not. */
bool told_always(struct told *t, uint32_t number, bool same, struct findings *out);

/*
 * Instances that the trace does not show can change nothing but the count of the candidate
 * with this number; with `shown`, those it shows neither.
 */
bool told_enough(const struct told *t, uint32_t number, bool shown, struct findings *out);

/* Adds `c`, whose first events are the parts, or puts it in the place of one less near. */
void told_add(struct told *t, uint64_t key, const struct told_part *parts, unsigned count,
	      const struct candidate *c, struct findings *out);

#endif
