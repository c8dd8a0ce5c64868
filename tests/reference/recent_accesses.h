/*
 * Reference of the recent accesses of a thread (analyze/atomicity/recent_accesses.h): which slot a
 * new access takes.
 *
 * It compares the access with each slot in turn. The slot is the one with the same address and
 * direction; else the oldest of its site, if the site has RECENT_PER_SITE slots; else the next free
 * one; else the oldest.
 */
#ifndef REFERENCE_RECENT_ACCESSES_H
#define REFERENCE_RECENT_ACCESSES_H

#include "analyze_util.h"

#include "analyze/atomicity/recent_accesses.h"

/* A slot; index 0: free. */
struct last {
	uint64_t index, addr, pc;
	uint8_t access;
	bool shared;
};

static unsigned slow_slot(const struct last *last, uint64_t addr, uint8_t access, uint64_t pc)
{
	unsigned slot = 0, own_slot = 0, own = 0, i;

	for (i = 0; i < RECENT_MAX && last[i].index; i++) {
		if (last[i].addr == addr && last[i].access == access)
			return i;
		if (last[i].index < last[slot].index)
			slot = i;
		if (last[i].pc != pc)
			continue;
		if (!own || last[i].index < last[own_slot].index)
			own_slot = i;
		own++;
	}
	if (own >= RECENT_PER_SITE)
		return own_slot;
	return i < RECENT_MAX ? i : slot;
}

#endif
