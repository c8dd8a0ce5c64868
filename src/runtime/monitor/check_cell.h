/*
 * The state that check keeps for a granule of memory (8 bytes, or as --granularity says): for each
 * thread its last access, and what other threads did since.
 *
 * Granules never share a cell. The first access of a monitored site to CHECK_PAGE_GRANULES granules
 * creates a page of cells for them. A hash table finds the page, behind a small cache per thread. A
 * cell takes one cache line for up to CHECK_CELL_THREADS threads, and a second one for
 * CHECK_OVERFLOW_THREADS more.
 */
#ifndef RUNTIME_MONITOR_CHECK_CELL_H
#define RUNTIME_MONITOR_CHECK_CELL_H

#include "runtime/monitor/monitor.h"

#define CHECK_PAGE_GRANULES 512u	/* 4 KiB of memory */
#define CHECK_CELL_THREADS 3u		/* threads in the first cache line of a cell */
#define CHECK_OVERFLOW_THREADS 4u	/* threads in the second cache line of a cell */
#define CHECK_SITES (1u << 24)	/* sites with larger numbers do not fit check_thread: not checked */

/* What one thread did to the granule. Sites are 0 if there is none. */
struct check_thread {
	uint64_t site : 24;	/* of the last access */
	uint64_t last_write : 24;	/* of the thread's last write */
	uint64_t serial : 16;
	uint64_t first_remote : 24;	/* first access of another thread since that write */
	/* last write of another thread since the thread's last access */
	uint64_t last_remote_write : 24;
	uint64_t write : 1;	/* the last access is a write */
	uint64_t first_remote_reads : 1;	/* `first_remote` is a read */
};

struct check_cell {
	/*
	 * The last access, as site << 16 | serial. If the same site and thread come again,
	 * nothing changes, so the caller needs no lock. It is only compared, so relaxed loads
	 * and stores are enough.
	 */
	uint64_t latest;
	uint32_t lock;
	uint32_t count;
	struct check_thread threads[CHECK_CELL_THREADS];
} __attribute__((aligned(64)));

struct check_page {
	struct check_cell cells[CHECK_PAGE_GRANULES];
	struct check_thread overflow[CHECK_PAGE_GRANULES][CHECK_OVERFLOW_THREADS];
};

_Static_assert(sizeof(struct check_thread) == 16 && sizeof(struct check_cell) == 64, "cell");

SNARLRT_HIDDEN bool check_cells_init(void);
SNARLRT_HIDDEN void check_cells_forked(void);

/* The page with this number, created at first use; NULL: no room, which is counted in the log. */
SNARLRT_HIDDEN struct check_page *check_page_make(uint64_t number);

/* Granules `first` to `last` were allocated or freed: forgets their accesses. */
SNARLRT_HIDDEN void check_cells_forget(uint64_t first, uint64_t last);

static inline struct check_page *check_page(uint64_t number)
{
	struct monitor_page *seen = &monitor_self.pages[number % MONITOR_CACHED_PAGES];

	if (likely(seen->number == number + 1))
		return seen->page;
	return check_page_make(number);
}

static inline struct check_thread *check_thread_at(struct check_page *p, uint32_t granule,
						   uint32_t i)
{
	return i < CHECK_CELL_THREADS ? &p->cells[granule].threads[i]
				      : &p->overflow[granule][i - CHECK_CELL_THREADS];
}

/* With monitor.streaks: the shadow value of the thread that owns the granule. */
static inline uint16_t *check_owner(uint64_t granule)
{
	return (uint16_t *)SHADOW_BASE + granule;
}

/* Locks the cell. false: it stayed locked, which is counted in the log. */
SNARLRT_HIDDEN bool check_cell_lock(struct check_cell *c);

static inline void check_cell_unlock(struct check_cell *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);	/* pairs with check_cell_lock() */
}

#endif
