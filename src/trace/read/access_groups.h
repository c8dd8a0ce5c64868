/*
 * Access groups: the accesses that a record of kind BUNCH stands for (abi/access_group_format.h).
 *
 * A library may be mapped where another one was before, so groups may have the same pc. A record
 * refers to the last one announced no later than the record's time.
 */
#ifndef TRACE_READ_ACCESS_GROUPS_H
#define TRACE_READ_ACCESS_GROUPS_H

#include "abi/access_group_format.h"
#include "base/map.h"

/* One access group. */
struct access_group {
	uint64_t time;		/* when the program announced it */
	size_t first;		/* index of its first access in access_groups.accesses */
	uint32_t accesses;	/* number of accesses, without those that a site list left out */
	uint32_t count;		/* number of all accesses, which is its records' detail */
	size_t earlier;		/* index plus 1 of the previous group with this pc; 0: none */
};

/* All access groups of a trace. All zero: there are none. */
struct access_groups {
	struct access_group *entries;
	size_t count, capacity;
	struct trace_record *accesses;	/* of all groups; addresses relative to the record's */
	size_t access_count, access_capacity;
	struct map by_site;	/* pc of a group to index plus 1 of the last one with it */
};

/* Adds the groups of a chunk, in the order of times. Returns -1 if the payload is malformed. */
int access_groups_add(struct access_groups *b, const uint8_t *payload, size_t size, uint64_t time);
void access_groups_free(struct access_groups *b);

/*
 * Expands a record of kind BUNCH to at most ACCESS_GROUP_MAX accesses. Returns their number, or -1
 * if the trace does not describe its group. `time` is the last recorded time before the record.
 */
int access_groups_expand(const struct access_groups *b, const struct trace_record *r, uint64_t time,
			 struct trace_record *to);

#endif
