/*
 * What mode check knows of a granule of memory (8 bytes unless told otherwise): of each thread
 * its last access, and what others did since.
 *
 * Pieces do not share cells: a page of cells is made for CELL_PAGE pieces of memory when the
 * first of them is touched by a watched place, and found by a table of pages and a small
 * cache of each thread's. A cell is a cache line, and a second one where more than a few
 * threads come.
 */
#ifndef RUNTIME_MONITOR_CHECK_CELL_H
#define RUNTIME_MONITOR_CHECK_CELL_H

#include "runtime/monitor/monitor.h"

#define CHECK_PAGE_GRANULES 512u		/* pieces */
#define CHECK_NEAR 3u		/* threads in the first line, and in the second */
#define CHECK_FAR 4u
#define CHECK_SITES (1u << 24)	/* places with larger numbers are not watched */

/* Sites are 0 if there is none. */
struct check_thread {
	uint64_t site : 24;	/* of the last access */
	uint64_t last_write : 24;	/* of the last write */
	uint64_t serial : 16;
	uint64_t first_remote : 24;	/* first remote access since that write */
	uint64_t last_remote_write : 24;	/* last remote write since the last access */
	uint64_t write : 1;
	uint64_t first_remote_reads : 1;
};

struct check_cell {
	/*
	 * Who was here last: site << 16 | serial. The same one again, with nobody in between,
	 * changes nothing, and needs no lock. Pairs with nothing: it is only compared.
	 */
	uint64_t latest;
	uint32_t lock;
	uint32_t count;
	struct check_thread own[CHECK_NEAR];
} __attribute__((aligned(64)));

struct check_page {
	struct check_cell near[CHECK_PAGE_GRANULES];
	struct check_thread far[CHECK_PAGE_GRANULES][CHECK_FAR];
};

_Static_assert(sizeof(struct check_thread) == 16 && sizeof(struct check_cell) == 64, "cell");

SNARLRT_HIDDEN bool check_cells_init(void);
SNARLRT_HIDDEN void check_cells_forked(void);

/* The page of a granule; NULL: there is none, and no room (counted). */
SNARLRT_HIDDEN struct check_page *check_page_make(uint64_t number);

/* Memory begins anew. */
SNARLRT_HIDDEN void check_cells_forget(uint64_t first, uint64_t last);

static inline struct check_page *check_page(uint64_t number)
{
	struct monitor_page *seen = &monitor_self.pages[number % MONITOR_CACHED_PAGES];

	if (likely(seen->number == number + 1))
		return seen->page;
	return check_page_make(number);
}

static inline struct check_thread *check_thread_at(struct check_page *p, uint32_t granule, uint32_t i)
{
	return i < CHECK_NEAR ? &p->near[granule].own[i] : &p->far[granule][i - CHECK_NEAR];
}

/* With watch.streaks: whose the granule is. */
static inline uint16_t *check_owner(uint64_t granule)
{
	return (uint16_t *)SHADOW_BASE + granule;
}

/* false: busy, counted. */
SNARLRT_HIDDEN bool check_cell_lock(struct check_cell *c);

static inline void check_cell_unlock(struct check_cell *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);	/* pairs with that of check_cell_lock */
}

#endif
