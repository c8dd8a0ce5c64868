#include "analyze/relevance/unshared.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/access.h"
#include "base/mem.h"

#define WARM_UP 8192u	/* accesses not counted: at first, all memory has one user */
#define SAMPLE 16384u	/* accesses between two decisions whether to give up */
/* Shared accesses of 64 from which on the pass gives up: skipping the others would not pay. */
#define MOSTLY_SHARED 60u

/* A granule's users: the id of its only thread, or SEVERAL (also for larger ids), and WRITTEN. */
#define SEVERAL 0x7fffu
#define WRITTEN 0x8000u

/* The users of each granule of a page; 0: no access so far. */
struct users {
	uint64_t accesses;	/* to the whole page */
	uint16_t granule[UNSHARED_PAGE_GRANULES];
};

struct scan {
	struct unshared *unshared;
	struct users *pages;	/* by number of the page */
	size_t capacity;
	uint64_t key;		/* of the page selected last; 0: it has no room */
	struct users *page;	/* the page selected last; NULL: it has no room */
	bool gave_up;		/* most memory is shared, or one access is too large */
	uint64_t seen;		/* accesses since the warm-up, up to the end of this sample */
	uint64_t shared;	/* accesses since the warm-up to granules shared by then */
	uint32_t until_sample;	/* accesses left in the current sample */
};

static void more_slots(struct unshared *a)
{
	struct unshared_slot *old = a->slots;
	size_t count = a->slot_count;

	a->slot_count = count ? 2 * count : 1024;
	a->slots = xcalloc(a->slot_count, sizeof(*a->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*(struct unshared_slot *)unshared_slot(a, old[i].key) = old[i];
	free(old);
}

uint32_t unshared_page(struct unshared *a, uint64_t key)
{
	struct unshared_slot *s = (struct unshared_slot *)unshared_slot(a, key);

	if (s->key)
		return s->page;
	if (a->page_count == UNSHARED_MAX_PAGES)
		return UNSHARED_NO_PAGE;
	if (2 * a->page_count >= a->slot_count) {
		more_slots(a);
		s = (struct unshared_slot *)unshared_slot(a, key);
	}
	*s = (struct unshared_slot){ key, (uint32_t)a->page_count++ };
	return s->page;
}

static __attribute__((noinline)) void select_page(struct scan *scan, uint64_t key)
{
	size_t count = scan->unshared->page_count;
	uint32_t page = unshared_page(scan->unshared, key);

	scan->key = 0;
	scan->page = NULL;
	if (page == UNSHARED_NO_PAGE)
		return;
	scan->key = key;
	if (page == count) {
		scan->pages = xgrow(scan->pages, count, &scan->capacity, sizeof(*scan->pages));
		memset(&scan->pages[page], 0, sizeof(*scan->pages));
	}
	scan->page = &scan->pages[page];
}

/* Adds `mark`, a thread and perhaps WRITTEN, to the granule's users; whether it is shared now. */
static inline bool touch_page(const struct scan *scan, uint64_t granule, unsigned mark)
{
	uint16_t *at = &scan->page->granule[granule % UNSHARED_PAGE_GRANULES];
	unsigned was = *at, now = was | mark;

	scan->page->accesses++;
	if (was && (was ^ mark) & SEVERAL)
		now |= SEVERAL;
	if (now != was)
		*at = (uint16_t)now;
	return now == (SEVERAL | WRITTEN);
}

static bool touch(struct scan *scan, uint64_t granule, unsigned mark)
{
	if (scan->key != unshared_key(granule))
		select_page(scan, unshared_key(granule));
	return !scan->page || touch_page(scan, granule, mark);
}

/* After the warm-up and after each sample: gives up if nearly all accesses are shared. */
static void sample(struct scan *scan)
{
	if (!scan->seen)
		scan->shared = 0;
	else
		scan->gave_up |= scan->shared > scan->seen / 64 * MOSTLY_SHARED;
	scan->seen += SAMPLE;
	scan->until_sample = SAMPLE;
}

/* Slow path: another page, several granules, no size, or the end of a sample. */
static __attribute__((noinline)) bool on_access_slow(struct scan *scan, unsigned mark,
						     uint64_t addr, uint64_t size)
{
	uint64_t first = addr / 8, last = (addr + size - 1) / 8;

	if (!size)
		return true;
	scan->shared += touch(scan, first, mark);
	if (first != last) {
		scan->gave_up |= size > UNSHARED_MAX_BYTES;
		while (first < last && !scan->gave_up)
			touch(scan, ++first, mark);
	}
	if (--scan->until_sample == 0)
		sample(scan);
	return !scan->gave_up;
}

/* Fast for one granule of the page of the access before; false: gave up. */
static inline bool on_access(struct scan *scan, unsigned thread, unsigned kind, uint64_t addr,
			   uint64_t size)
{
	unsigned access = access_of(kind), mark = thread | (access & ACCESS_WRITE ? WRITTEN : 0);

	if (!access)
		return true;
	if (__builtin_expect(scan->key != unshared_key(addr / 8) || size - 1 > 7 - addr % 8 ||
			     scan->until_sample == 1, 0))
		return on_access_slow(scan, mark, addr, size);
	scan->shared += touch_page(scan, addr / 8, mark);
	scan->until_sample--;
	return true;
}

/* Callback of reader_accesses(). */
static bool on_accesses(void *ctx, uint32_t thread, const struct trace_record *r, size_t count,
		uint64_t size)
{
	const struct trace_record *end = r + count;

	thread = thread < SEVERAL ? thread : SEVERAL;
	for (; r < end; r++)
		if (!on_access(ctx, thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
			     size ? size : trace_site_size(r->site)))
			return false;
	return true;
}

/* Counts used and shared granules of a page; in 16 bits, so that the compiler uses vectors. */
static void count_page(const struct users *p, uint16_t *used, uint16_t *shared)
{
	uint16_t u = 0, s = 0;

	for (unsigned i = 0; i < UNSHARED_PAGE_GRANULES; i++) {
		u = (uint16_t)(u + (p->granule[i] != 0));
		s = (uint16_t)(s + (p->granule[i] == (SEVERAL | WRITTEN)));
	}
	*used = u;
	*shared = s;
}

static void mark_shared(const struct users *p, struct granule_bits *shared)
{
	uint16_t used, several;

	count_page(p, &used, &several);
	if (!several)
		return;
	for (unsigned i = 0; i < UNSHARED_PAGE_GRANULES; i++)
		shared->granule[i / 64] |=
			(uint64_t)(p->granule[i] == (SEVERAL | WRITTEN)) << i % 64;
}

/*
 * Estimates how many of 64 accesses go to shared granules; 64 if the trace is shorter than the
 * warm-up.
 *
 * Both of two estimates may be too low, so the higher one counts. The count during the pass misses
 * accesses before the second thread came. The count per page assumes that all its used granules
 * are accessed equally often.
 */
static unsigned estimate_shared(const struct scan *scan)
{
	uint64_t counted = scan->shared * 64 / (scan->seen - scan->until_sample + 1);
	uint64_t all = 1, by_page = 0;

	for (size_t i = 0; i < scan->unshared->page_count; i++) {
		const struct users *p = &scan->pages[i];
		uint16_t used, shared;

		count_page(p, &used, &shared);
		all += p->accesses;
		by_page += used ? p->accesses * shared / used : 0;
	}
	by_page = by_page * 64 / all;
	return scan->gave_up || !scan->seen ? 64 :
	       (unsigned)(by_page > counted ? by_page : counted);
}

struct unshared *unshared_new(struct reader *trace)
{
	struct unshared *a = xcalloc(1, sizeof(*a));
	struct scan scan = { .unshared = a, .until_sample = WARM_UP };
	struct err unused;

	more_slots(a);
	scan.gave_up |= reader_accesses(trace, on_accesses, &scan, &unused) < 0;
	a->shared_of_64 = estimate_shared(&scan);
	scan.gave_up |= scan.seen && a->shared_of_64 >= MOSTLY_SHARED;
	if (scan.gave_up) {
		memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
		a->page_count = 0;
	}
	a->lost = scan.gave_up;
	a->shared = xcalloc(a->page_count + 1, sizeof(*a->shared));
	a->unordered = a->shared;
	for (size_t i = 0; i < a->page_count; i++)
		mark_shared(&scan.pages[i], &a->shared[i]);
	free(scan.pages);
	return a;
}

void unshared_free(struct unshared *a)
{
	if (!a)
		return;
	if (a->unordered != a->shared)
		free(a->unordered);
	free(a->slots);
	free(a->shared);
	free(a);
}
