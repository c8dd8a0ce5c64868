/*
 * Access groups (kind BUNCH): one record that stands for several accesses of straight-line code
 * whose addresses are the first one's plus constants. Programs linked with an older runtime write
 * them (formats 4 and 5); this runtime does not, but the reader still expands them.
 *
 *   { address of the first access, BUNCH with the number of accesses as detail, pc of the group }
 *
 * To the codec this is a plain record. Chunks of type TRACE_CHUNK_ACCESS_GROUPS describe the
 * accesses of each group; the program writes them when the code is loaded.
 */
#ifndef ABI_ACCESS_GROUP_FORMAT_H
#define ABI_ACCESS_GROUP_FORMAT_H

#include <stddef.h>

#include "abi/trace_format.h"

#define ACCESS_GROUP_MIN 2u	/* fewest accesses of a group */
#define ACCESS_GROUP_MAX 15u	/* most accesses of a group */

struct trace_group_access {
	int32_t site;		/* pc minus the group's pc */
	int16_t distance;	/* address minus that of the first access */
	uint16_t op;		/* kind | detail << 8; 0: a list of sites switched the access off */
};

/* An access group. The groups of a chunk follow each other directly, without alignment. */
struct trace_access_group {
	/* pc of the group: of its first access, or of code that emits all of them. */
	uint64_t site;
	uint32_t count;
	uint32_t reserved;
	struct trace_group_access access[];	/* in program order */
};

_Static_assert(sizeof(struct trace_access_group) == 16 && sizeof(struct trace_group_access) == 8,
	       "access groups");

static inline size_t trace_access_group_size(unsigned count)
{
	return sizeof(struct trace_access_group) + count * sizeof(struct trace_group_access);
}

/* The number of accesses, from the site of a record BUNCH. */
static inline unsigned trace_access_group_count(uint64_t site)
{
	return (unsigned)(site >> 56);
}

/*
 * Writes the accesses of a group whose first one is to address `addr` to `to`, which has room for
 * ACCESS_GROUP_MAX. Returns their number.
 */
static inline unsigned trace_access_group_expand(const struct trace_access_group *b, uint64_t addr,
						struct trace_record *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->count; i++) {
		const struct trace_group_access *a = &b->access[i];

		to[n].addr = (addr + (uint64_t)(int64_t)a->distance) & TRACE_ADDR_MASK;
		to[n].site = (uint64_t)a->op << 48 |
			     ((b->site + (uint64_t)(int64_t)a->site) & TRACE_ADDR_MASK);
		n += a->op != 0;
	}
	return n;
}

#endif
