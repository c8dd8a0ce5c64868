/*
 * Which events touch memory, and how.
 */
#ifndef ANALYZE_CONTEXT_ACCESS_H
#define ANALYZE_CONTEXT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/trace_roles.h"

enum access {
	ACCESS_READ = ROLE_READ,
	ACCESS_WRITE = ROLE_WRITE,
	ACCESS_ATOMIC = ROLE_ATOMIC,
};

/* Bits of enum access; 0: no access. A failed compare-and-swap is a read. */
static inline unsigned access_of(unsigned kind)
{
	return trace_roles(kind) & (ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC);
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
