/*
 * AVIO's invariants, checked while the program runs (docs/check.md).
 *
 * check --all checks all sites (monitor.streaks). Most accesses then continue a streak: no other
 * thread accessed the memory since the thread's last access. Two kinds of them are skipped:
 *
 * - A thread that writes a granule owns it, by the shadow, until another thread comes. Its accesses
 *   until then do not even call the runtime.
 * - A thread reads a granule again that no thread wrote since its last read.
 *
 * So the access p before the current one may have been skipped. The cell shows that p exists and
 * what other threads did since. The site of p, and whether it wrote, are taken from training
 * (rules_site.after). Of the writes of a streak, the cell has the first.
 */
#ifndef RUNTIME_MONITOR_CHECK_AVIO_H
#define RUNTIME_MONITOR_CHECK_AVIO_H

#include "runtime/monitor/check_cell.h"
#include "runtime/monitor/rules.h"

/*
 * With streaks: does the read change nothing in the cell? If other threads change it meanwhile,
 * they come after the read, so no lock is needed.
 */
static inline bool check_is_repeated_read(uint64_t addr, uint64_t size)
{
	uint64_t at = addr & TRACE_ADDR_MASK, granule = at >> 3,
		 number = granule / CHECK_PAGE_GRANULES;
	const struct monitor_page *seen = &monitor_self.pages[number % MONITOR_CACHED_PAGES];
	const struct check_cell *c;

	if ((at + size - 1) >> 3 != granule || seen->number != number + 1)
		return false;
	c = &seen->page->cells[granule % CHECK_PAGE_GRANULES];
	for (uint32_t i = 0; i < CHECK_CELL_THREADS && i < c->count; i++)
		if (c->threads[i].serial == monitor_self.serial)
			return !c->threads[i].write && !c->threads[i].last_remote_write;
	return false;
}

/* Called before the access is done. */
SNARLRT_HIDDEN void check_access(uint64_t addr, uint64_t size, const struct active_site *site,
				 bool write);

#endif
