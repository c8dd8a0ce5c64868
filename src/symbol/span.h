/*
 * A sorted list of address ranges, each with an id, for look-up by address. The caller adds all
 * ranges, sorts once, and then looks up. Ranges may nest or overlap: the one that starts last is
 * found.
 */
#ifndef SYMBOL_SPAN_H
#define SYMBOL_SPAN_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t low, high;	/* [low, high) */
	uint64_t reach;		/* greatest `high` of this range and all before it */
	uint32_t id;
};

/* A zeroed struct is an empty list. */
struct spans {
	struct span *items;
	size_t count, capacity;
};

#define SPAN_NONE UINT32_MAX

/* Adds [low, high); does nothing if it is empty. */
void spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t id);

/* Of ranges with the same start, the shorter sorts later; of equal ranges, the greater id. */
void spans_sort(struct spans *s);

/* Returns the id of the last range that contains addr, the innermost, or SPAN_NONE. */
uint32_t spans_find(const struct spans *s, uint64_t addr);

void spans_free(struct spans *s);

#endif
