#include "trace/sites/shared_granules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/kinds.h"

#define GRANULE_BITS 3		/* log2: the runtime keeps an owner for each 8 bytes */
#define PAGE_BITS 12		/* log2 of granules: 32 KB of the program's memory, 8 KB here */
#define MAX_PAGES (1u << 16)	/* bounds memory: 512 MB here */
#define SHARED UINT16_MAX	/* in place of a toucher */
#define MAX_THREAD 0x7000u	/* what threads with this or a greater id touch is SHARED */
#define CUT_LINE_BITS 3		/* log2 of granules: 64 bytes */

/*
 * Parses hexadecimal ranges with commas between them, or `none`. False: it is damaged, or it covers
 * all lines.
 */
static bool read_cut(uint8_t *cut, const char *text)
{
	char *end;

	if (strcmp(text, "none") == 0)
		return true;
	for (;; text = end + 1) {
		uint64_t first = strtoull(text, &end, 16),
			 last = *end == '-' ? strtoull(end + 1, &end, 16) : first;

		if (end == text || first > last || last >= SHARED_CUT_LINES ||
		    last - first == SHARED_CUT_LINES - 1)
			return false;
		for (; first <= last; first++)
			cut[first / 8] |= (uint8_t)(1u << first % 8);
		if (*end != ',')
			return *end == 0;
	}
}

bool shared_granules_usable(struct shared_granules *o, const struct reader *r)
{
	const char *lost = reader_meta(r, "lost_records", 0), *cut = reader_meta(r, "cut_lines", 0);

	return cut && lost && strtoull(lost, NULL, 10) == 0 &&
	       !(reader_info(r)->header->flags & TRACE_UNFILTERED) && read_cut(o->cut, cut);
}

static bool is_cut(const struct shared_granules *o, uint64_t granule)
{
	uint64_t line = (granule >> CUT_LINE_BITS) % SHARED_CUT_LINES;

	return o->cut[line / 8] >> line % 8 & 1;
}

static uint16_t *page_of(const struct shared_granules *o, uint64_t granule)
{
	uint64_t *found = map_find(&o->pages, granule >> PAGE_BITS);

	return found ? (uint16_t *)(uintptr_t)*found : NULL;
}

static uint16_t *page_put(struct shared_granules *o, uint64_t granule)
{
	uint16_t *page = page_of(o, granule);

	if (!page && map_count(&o->pages) < MAX_PAGES) {
		page = xcalloc(1u << PAGE_BITS, sizeof(*page));
		*map_put(&o->pages, granule >> PAGE_BITS, NULL) = (uintptr_t)page;
	}
	return page;
}

static uint64_t last_granule(uint64_t addr, uint64_t size)
{
	return (addr + (size ? size : 1) - 1) >> GRANULE_BITS;
}

/* The thread as the toucher of a granule. */
static uint16_t owner_of(uint32_t thread)
{
	return thread < MAX_THREAD ? (uint16_t)(thread + 1) : SHARED;
}

static void touch(struct shared_granules *o, const struct event *ev)
{
	uint16_t toucher = owner_of(ev->thread);

	for (uint64_t g = ev->addr >> GRANULE_BITS; g <= last_granule(ev->addr, ev->size); g++) {
		uint16_t *page = page_put(o, g), *owner;

		if (!page)
			return;		/* granules without a page count as shared */
		owner = &page[g & ((1u << PAGE_BITS) - 1)];
		*owner = (*owner == 0 || *owner == toucher) && !is_cut(o, g) ? toucher : SHARED;
	}
}

/* A range of granules that a thread freed. */
struct freed {
	uint64_t first, last;
	uint16_t by;		/* owner_of() the thread */
};

/* Handles the granules of the range that lie in one page. */
static void free_in_page(void *ctx, uint64_t number, uint64_t page)
{
	const struct freed *f = ctx;
	uint64_t g = number << PAGE_BITS, end = (number + 1) << PAGE_BITS;
	uint16_t *owners = (uint16_t *)(uintptr_t)page;

	for (g = g < f->first ? f->first : g; g < end && g <= f->last; g++) {
		uint16_t *owner = &owners[g & ((1u << PAGE_BITS) - 1)];

		if (*owner && *owner != f->by)
			*owner = SHARED;
	}
}

/*
 * Freeing memory conflicts with other threads' accesses to it, as a write would. The range may be
 * larger than all pages together.
 */
static void touch_freed(struct shared_granules *o, uint32_t thread, uint64_t addr, uint64_t size)
{
	struct freed f = { addr >> GRANULE_BITS, last_granule(addr, size), owner_of(thread) };

	if ((f.last >> PAGE_BITS) - (f.first >> PAGE_BITS) > map_count(&o->pages)) {
		map_each(&o->pages, free_in_page, &f);
		return;
	}
	for (uint64_t n = f.first >> PAGE_BITS; n <= f.last >> PAGE_BITS; n++) {
		uint64_t *page = map_find(&o->pages, n);

		if (page)
			free_in_page(&f, n, *page);
	}
}

static void add_event(struct shared_granules *o, const struct event *ev)
{
	enum trace_class class = kind_class(ev->kind);
	uint64_t *size;

	if (class == TRACE_CLASS_ACCESS || (class == TRACE_CLASS_ATOMIC && ev->addr)) {
		touch(o, ev);
	} else if (trace_roles(ev->kind) & ROLE_ALLOC) {
		*map_put(&o->blocks, ev->addr, NULL) = ev->arg;
	} else if (ev->kind == TRACE_MUNMAP) {
		touch_freed(o, ev->thread, ev->addr, ev->arg);
	} else if (ev->kind == TRACE_FREE) {
		size = map_find(&o->blocks, ev->addr);
		touch_freed(o, ev->thread, ev->addr, size ? *size : 0);
	}
}

int shared_granules_read(struct shared_granules *o, struct reader *r, struct err *err)
{
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0)
		add_event(o, &ev);
	return got;
}

bool shared_granules_touched(const struct shared_granules *o, const struct event *ev)
{
	for (uint64_t g = ev->addr >> GRANULE_BITS; g <= last_granule(ev->addr, ev->size); g++) {
		const uint16_t *page = page_of(o, g);

		if (!page || page[g & ((1u << PAGE_BITS) - 1)] == SHARED)
			return true;
	}
	return false;
}

static void free_page(void *ctx, uint64_t number, uint64_t page)
{
	(void)ctx;
	(void)number;
	free((void *)(uintptr_t)page);
}

void shared_granules_free(struct shared_granules *o)
{
	map_each(&o->pages, free_page, NULL);
	map_free(&o->pages);
	map_free(&o->blocks);
}
