/*
 * Which events touch memory, and how.
 */
#ifndef ANALYZE_CONTEXT_ACCESS_H
#define ANALYZE_CONTEXT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/trace_format.h"

enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_ATOMIC = 4,
};

/* By enum trace_kind. A failed compare-and-swap is a read. */
static const uint8_t access_bits[TRACE_KIND_COUNT] = {
	[TRACE_READ] = ACCESS_READ,
	[TRACE_READ_RANGE] = ACCESS_READ,
	[TRACE_WRITE] = ACCESS_WRITE,
	[TRACE_WRITE_RANGE] = ACCESS_WRITE,
	[TRACE_ATOMIC_LOAD] = ACCESS_READ | ACCESS_ATOMIC,
	[TRACE_ATOMIC_CAS_FAIL] = ACCESS_READ | ACCESS_ATOMIC,
	[TRACE_ATOMIC_STORE] = ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_XCHG] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_ADD] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_SUB] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_AND] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_OR] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_XOR] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_NAND] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
	[TRACE_ATOMIC_CAS] = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
};

/* Bits of enum access; 0: no access. */
static inline unsigned access_of(unsigned kind)
{
	return kind < TRACE_KIND_COUNT ? access_bits[kind] : 0;
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
