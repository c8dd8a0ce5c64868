/*
 * A set of address ranges, each with a number, for look-up by address.
 *
 * Ranges may nest or overlap: the one that starts last wins. Fill, sort once,
 * then look up.
 */
#ifndef SYMBOL_SPAN_H
#define SYMBOL_SPAN_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t low, high;	/* [low, high) */
	uint64_t reach;		/* the highest end of all up to this one */
	uint32_t id;
};

/* Zeroed is empty. */
struct spans {
	struct span *items;
	size_t count, capacity;
};

#define SPAN_NONE UINT32_MAX

void spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t id);

/* Of ranges with the same start the shorter comes later, then the greater id. */
void spans_sort(struct spans *s);

/* The id of the innermost range around addr, SPAN_NONE if there is none. */
uint32_t spans_find(const struct spans *s, uint64_t addr);

void spans_free(struct spans *s);

#endif
