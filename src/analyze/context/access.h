/*
 * Which events access memory, and how.
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
 * Whether this atomic orders threads by chance only, as critical sections do: threads may add to a
 * counter in any order. Exception: an update that finds 1 may drop the last reference, and then
 * comes after all other updates. `found` is the value before the update.
 */
static inline bool access_by_chance(unsigned kind, uint64_t found)
{
	return (kind == TRACE_ATOMIC_ADD || kind == TRACE_ATOMIC_SUB) && found != 1;
}

/* Whether an atomic of this memory order (__ATOMIC_...) acquires. */
static inline bool access_acquires(unsigned order)
{
	return order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Whether an atomic of this memory order releases. */
static inline bool access_releases(unsigned order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

#endif
