/*
 * AVIO's invariants, watched while the program runs (check.c); docs/check.md.
 *
 * With all places watched (watch.streaks), most accesses teach nothing: a thread goes on with memory that
 * nobody else touched since. Two kinds are let pass:
 *
 *   - Whoever writes owns the memory, by its shadow, until another thread comes; what it does until then
 *     does not even come to C.
 *   - Who has read, and nobody wrote since, may read again.
 *
 * So the access before, p, may be one that was not looked at. That it was there at all, and what others did
 * since, is known; where it was, and whether it wrote, is taken from training (rules_site.after). Of several
 * writes of a streak the first is known.
 */
#ifndef RUNTIME_MONITOR_CHECK_AVIO_H
#define RUNTIME_MONITOR_CHECK_AVIO_H

#include "runtime/monitor/check_cell.h"
#include "runtime/monitor/rules.h"

/* With streaks: a read that changes nothing. Others may change the cell meanwhile; they come after it, then. */
static inline bool check_read_again(uint64_t addr, uint64_t size)
{
	uint64_t at = addr & TRACE_ADDR_MASK, piece = at >> 3, number = piece / CHECK_PAGE;
	const struct watch_page *seen = &watch_self.pages[number % WATCH_PAGES];
	const struct check_cell *c;

	if ((at + size - 1) >> 3 != piece || seen->number != number + 1)
		return false;
	c = &seen->page->near[piece % CHECK_PAGE];
	for (uint32_t i = 0; i < CHECK_NEAR && i < c->count; i++)
		if (c->own[i].serial == watch_self.serial)
			return !c->own[i].write && !c->own[i].last;
	return false;
}

/* Before the access is done. */
SNARLRT_HIDDEN void check_access(uint64_t addr, uint64_t size, const struct rules_place *place, bool write);

#endif
