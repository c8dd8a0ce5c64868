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
static inline bool check_is_repeated_read(uint64_t addr, uint64_t size)
{
	uint64_t at = addr & TRACE_ADDR_MASK, granule = at >> 3, number = granule / CHECK_PAGE_GRANULES;
	const struct monitor_page *seen = &monitor_self.pages[number % MONITOR_CACHED_PAGES];
	const struct check_cell *c;

	if ((at + size - 1) >> 3 != granule || seen->number != number + 1)
		return false;
	c = &seen->page->near[granule % CHECK_PAGE_GRANULES];
	for (uint32_t i = 0; i < CHECK_NEAR && i < c->count; i++)
		if (c->own[i].serial == monitor_self.serial)
			return !c->own[i].write && !c->own[i].last_remote_write;
	return false;
}

/* Before the access is done. */
SNARLRT_HIDDEN void check_access(uint64_t addr, uint64_t size, const struct active_site *site, bool write);

#endif
