/*
 * Which events touch memory, and how.
 */
#ifndef ANALYZE_ACCESS_H
#define ANALYZE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_ATOMIC = 4,
};

/* Bits of enum access; 0: no access. A failed compare-and-swap is a read. */
static inline unsigned access_of(unsigned kind)
{
	switch (kind) {
	case TRACE_READ: case TRACE_READ_RANGE:
		return ACCESS_READ;
	case TRACE_WRITE: case TRACE_WRITE_RANGE:
		return ACCESS_WRITE;
	case TRACE_ATOMIC_LOAD: case TRACE_ATOMIC_CAS_FAIL:
		return ACCESS_READ | ACCESS_ATOMIC;
	case TRACE_ATOMIC_STORE:
		return ACCESS_WRITE | ACCESS_ATOMIC;
	case TRACE_ATOMIC_XCHG: case TRACE_ATOMIC_ADD: case TRACE_ATOMIC_SUB: case TRACE_ATOMIC_AND:
	case TRACE_ATOMIC_OR: case TRACE_ATOMIC_XOR: case TRACE_ATOMIC_NAND: case TRACE_ATOMIC_CAS:
		return ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
	default:
		return 0;
	}
}

/*
 * A counter is stepped by whoever comes: that another thread was there first is the order
 * of this run, as with locks. The step that finds 1 may be the one that lets the last
 * reference go, which comes after the others.
 */
static inline bool access_by_chance(unsigned kind, uint64_t found)
{
	return (kind == TRACE_ATOMIC_ADD || kind == TRACE_ATOMIC_SUB) && found != 1;
}

/* By an atomic's memory order (__ATOMIC_…). */
static inline bool access_acquires(unsigned order)
{
	return order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static inline bool access_releases(unsigned order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

#endif
