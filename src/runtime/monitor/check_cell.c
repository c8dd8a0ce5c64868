#include "runtime/monitor/check_cell.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "abi/mix.h"
#include "runtime/core/arena.h"
#include "runtime/core/sys.h"

#define SPINS 200	/* tries to lock a cell, or to see a page, before giving up */
#define MEMORY_SHARE 4u		/* the cells take at most this part of the machine's memory */
#define LEAST_PAGES 64u		/* if fewer pages can be mapped, check does not start */
#define MOST_PAGES (1u << 19)	/* cells of 2 GiB of the program's memory */

static struct {
	struct check_page *pages;
	uint32_t used;	/* pages handed out, and attempts when there was no room */
	uint32_t most;	/* number of `pages` */
	uint32_t mask;	/* number of `slots` - 1 */
	/* Hash with open addressing; entries are never removed. */
	struct slot {
		uint64_t number;	/* of the page, plus 1; 0: free */
		/* written after `number`; NULL: not written yet, or no room */
		struct check_page *page;
	} *slots;
} cells;

/* The limit depends on the machine's memory. Only pages of cells that are touched take any. */
static uint32_t pages_allowed(void)
{
	struct sysinfo info = { 0 };
	uint64_t most;

	sys_call(SYS_sysinfo, &info, 0, 0);
	most = info.totalram * info.mem_unit / MEMORY_SHARE /
	       (CHECK_PAGE_GRANULES * sizeof(struct check_cell));
	return most < LEAST_PAGES ? LEAST_PAGES : most > MOST_PAGES ? MOST_PAGES : (uint32_t)most;
}

bool check_cells_init(void)
{
	for (cells.most = pages_allowed(); cells.most >= LEAST_PAGES; cells.most /= 2) {
		cells.pages = arena_pages(cells.most * sizeof(*cells.pages));
		if (cells.pages)
			break;
	}
	if (!cells.pages)
		return false;
	for (cells.mask = 1; cells.mask < 2 * cells.most; cells.mask *= 2)
		;
	cells.slots = arena_pages(cells.mask-- * sizeof(*cells.slots));
	return cells.slots != NULL;
}

/* The slot of the page, or a free slot. */
static struct slot *find(uint64_t number)
{
	uint64_t i = mix_spread(number) >> 24;

	for (;; i++) {
		struct slot *s = &cells.slots[i & cells.mask];
		uint64_t seen = __atomic_load_n(&s->number, __ATOMIC_ACQUIRE);

		if (!seen || seen == number + 1)
			return s;
	}
}

/* Whether the slot is for this page. Another thread may claim a free slot at any time. */
static bool is_for(const struct slot *s, uint64_t number)
{
	return __atomic_load_n(&s->number, __ATOMIC_ACQUIRE) == number + 1;
}

/* Claims a slot for the page, and a page of cells. NULL: there is no room. */
static struct slot *claim(uint64_t number)
{
	struct slot *s;
	uint64_t free;
	uint32_t n;

	if (__atomic_load_n(&cells.used, __ATOMIC_RELAXED) >= cells.most)
		return NULL;
	do {
		free = 0;
		s = find(number);
		if (is_for(s, number))
			return s;	/* another thread was faster */
	} while (!__atomic_compare_exchange_n(&s->number, &free, number + 1, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	n = __atomic_fetch_add(&cells.used, 1, __ATOMIC_RELAXED);
	if (n < cells.most)
		__atomic_store_n(&s->page, &cells.pages[n], __ATOMIC_RELEASE);
	return s;
}

/*
 * Returns the page, or NULL if there is no room. The thread that claimed the slot may be about
 * to write it.
 */
static struct check_page *page_of(const struct slot *s)
{
	struct check_page *page = __atomic_load_n(&s->page, __ATOMIC_ACQUIRE);

	for (int i = 0;
	     !page && i < SPINS && __atomic_load_n(&cells.used, __ATOMIC_RELAXED) <= cells.most;
	     i++) {
		sys_pause();
		page = __atomic_load_n(&s->page, __ATOMIC_ACQUIRE);
	}
	return page;
}

struct check_page *check_page_make(uint64_t number)
{
	struct slot *s = find(number);
	struct check_page *page;

	if (!is_for(s, number))
		s = claim(number);
	page = s ? page_of(s) : NULL;
	if (page)
		monitor_self.pages[number % MONITOR_CACHED_PAGES] =
			(struct monitor_page){ number + 1, page };
	else
		monitor_count(&monitor.log->lost_cells, 1);
	return page;
}

/* Does not wait for long: the thread that holds the cell may have been interrupted. */
bool check_cell_lock(struct check_cell *c)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(&c->lock, &free, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		sys_pause();
	}
	monitor_count(&monitor.log->lost_busy, 1);
	return false;
}

void check_cells_forget(uint64_t first, uint64_t last)
{
	if (!__atomic_load_n(&cells.used, __ATOMIC_RELAXED))
		return;
	for (uint64_t number = first / CHECK_PAGE_GRANULES; number <= last / CHECK_PAGE_GRANULES;
	     number++) {
		uint64_t start = number * CHECK_PAGE_GRANULES;
		uint64_t end =
			last - start < CHECK_PAGE_GRANULES ? last - start : CHECK_PAGE_GRANULES - 1;
		struct slot *s = find(number);
		struct check_page *page =
			is_for(s, number) ? __atomic_load_n(&s->page, __ATOMIC_ACQUIRE) : NULL;

		for (uint64_t i = first > start ? first - start : 0; page && i <= end; i++) {
			struct check_cell *c = &page->cells[i];

			if (!c->count || !check_cell_lock(c))
				continue;
			c->count = 0;
			c->latest = 0;
			if (monitor.streaks)
				__atomic_store_n(check_owner(start + i), 0, __ATOMIC_RELAXED);
			check_cell_unlock(c);
		}
	}
}

/*
 * Threads that do not exist in the child may have locked some cells: clears all of them in
 * place.
 */
void check_cells_forked(void)
{
	if (cells.pages)
		sys_call(SYS_madvise, cells.pages, cells.most * sizeof(*cells.pages),
			 MADV_DONTNEED);
}
