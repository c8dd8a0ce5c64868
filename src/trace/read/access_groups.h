/*
 * All bunches that a trace tells of (bunch.h), and what their records stand for.
 *
 * A library may come to lie where another one was: of several bunches with the same pc, the last one counts that was
 * told no later than the record.
 */
#ifndef TRACE_READ_ACCESS_GROUPS_H
#define TRACE_READ_ACCESS_GROUPS_H

#include "abi/access_group_format.h"
#include "base/map.h"

struct access_group {
	uint64_t time;		/* when it was told */
	size_t first;		/* of its accesses */
	uint32_t accesses;	/* without those left out */
	uint32_t count;		/* as its records have it */
	size_t earlier;		/* the one told before with the same pc, plus 1; 0: none */
};

/* All zero: there are none. */
struct bunches {
	struct access_group *entries;
	size_t count, capacity;
	struct trace_record *accesses;	/* of all, as if the first were at 0 */
	size_t access_count, access_capacity;
	struct map by_site;	/* by pc of the first access: the last told entry, plus 1 */
};

/* Adds the payload of a chunk told at `time`; -1 if it is not what it should be. In the order of times. */
int access_groups_add(struct bunches *b, const uint8_t *payload, size_t size, uint64_t time);
void access_groups_free(struct bunches *b);

/*
 * The accesses, at most TRACE_BUNCH_MOST, of a record of kind BUNCH: how many, or -1 if it was never told what it is.
 * `time` is the last that its thread had before.
 */
int access_groups_expand(const struct bunches *b, const struct trace_record *r, uint64_t time, struct trace_record *to);

#endif
