/*
 * Bunches: a row of accesses of straight-line code that one record stands for, because their
 * addresses are the first one's plus constants.
 *
 *   { address of the first access, BUNCH with the number of accesses as detail, pc of the bunch }
 *
 * To the codec it is a plain record. What the accesses are, chunks of type TRACE_CHUNK_BUNCHES say,
 * which come when the code is loaded. Programs linked with an older runtime write both (formats 4
 * and 5), this one writes neither; the reader expands them.
 */
#ifndef ABI_ACCESS_GROUP_FORMAT_H
#define ABI_ACCESS_GROUP_FORMAT_H

#include <stddef.h>

#include "abi/trace_format.h"

#define TRACE_BUNCH_LEAST 2u	/* accesses */
#define TRACE_BUNCH_MOST 15u

struct trace_bunch_access {
	int32_t site;		/* pc, from the bunch's on */
	int16_t distance;	/* of its address from the first one's */
	uint16_t op;		/* kind | detail << 8; 0: it is left out, as by a list of sites */
};

/* One behind the other in a chunk, not aligned in the file. */
struct trace_bunch {
	uint64_t site;		/* pc: the first access's, or that of code for all of them */
	uint32_t count;
	uint32_t reserved;
	struct trace_bunch_access access[];	/* in the order of the program */
};

_Static_assert(sizeof(struct trace_bunch) == 16 && sizeof(struct trace_bunch_access) == 8, "bunch");

static inline size_t trace_bunch_size(unsigned count)
{
	return sizeof(struct trace_bunch) + count * sizeof(struct trace_bunch_access);
}

static inline unsigned trace_bunch_count(uint64_t site)
{
	return (unsigned)(site >> 56);
}

/* The accesses if the first is at `addr`, at most TRACE_BUNCH_MOST; returns how many. */
static inline unsigned trace_bunch_expand(const struct trace_bunch *b, uint64_t addr, struct trace_record *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->count; i++) {
		const struct trace_bunch_access *a = &b->access[i];

		to[n].addr = (addr + (uint64_t)(int64_t)a->distance) & TRACE_ADDR_MASK;
		to[n].site = (uint64_t)a->op << 48 | ((b->site + (uint64_t)(int64_t)a->site) & TRACE_ADDR_MASK);
		n += a->op != 0;
	}
	return n;
}

#endif
