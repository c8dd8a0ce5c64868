#include "trace/sites/shared_granules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/kinds.h"

#define GRANULE 3		/* log2: the runtime tells owners apart by 8 bytes */
#define PAGE 12			/* log2, of granules: 32 KB of the program's memory, 8 KB here */
#define PAGES (1u << 16)	/* at most: 512 MB */
#define MANY UINT16_MAX
#define THREADS 0x7000u		/* ids from here on: the runtime may not tell their memory apart */
#define CUT_LINE 3		/* log2, of granules */

/* Hexadecimal ranges with commas between them, or `none`; false: damaged, or nothing is left that could be private. */
static bool read_cut(uint8_t *cut, const char *text)
{
	char *end;

	if (strcmp(text, "none") == 0)
		return true;
	for (;; text = end + 1) {
		uint64_t first = strtoull(text, &end, 16), last = *end == '-' ? strtoull(end + 1, &end, 16) : first;

		if (end == text || first > last || last >= OWNERS_CUT_LINES || last - first == OWNERS_CUT_LINES - 1)
			return false;
		for (; first <= last; first++)
			cut[first / 8] |= (uint8_t)(1u << first % 8);
		if (*end != ',')
			return *end == 0;
	}
}

bool owners_can(struct owners *o, const struct reader *r)
{
	const char *lost = reader_meta(r, "lost_records", 0), *cut = reader_meta(r, "cut_lines", 0);

	return cut && lost && strtoull(lost, NULL, 10) == 0 && !(reader_info(r)->header->flags & TRACE_UNFILTERED) &&
	       read_cut(o->cut, cut);
}

static bool is_cut(const struct owners *o, uint64_t granule)
{
	uint64_t line = (granule >> CUT_LINE) % OWNERS_CUT_LINES;

	return o->cut[line / 8] >> line % 8 & 1;
}

static uint16_t *page_of(const struct owners *o, uint64_t granule)
{
	uint64_t *found = map_find(&o->pages, granule >> PAGE);

	return found ? (uint16_t *)(uintptr_t)*found : NULL;
}

static uint16_t *page_put(struct owners *o, uint64_t granule)
{
	uint16_t *page = page_of(o, granule);

	if (!page && map_count(&o->pages) < PAGES) {
		page = xcalloc(1u << PAGE, sizeof(*page));
		*map_put(&o->pages, granule >> PAGE, NULL) = (uintptr_t)page;
	}
	return page;
}

static uint64_t last_granule(uint64_t addr, uint64_t size)
{
	return (addr + (size ? size : 1) - 1) >> GRANULE;
}

static uint16_t who(uint32_t thread)
{
	return thread < THREADS ? (uint16_t)(thread + 1) : MANY;
}

static void touch(struct owners *o, const struct event *ev)
{
	uint16_t toucher = who(ev->thread);

	for (uint64_t g = ev->addr >> GRANULE; g <= last_granule(ev->addr, ev->size); g++) {
		uint16_t *page = page_put(o, g), *owner;

		if (!page)
			return;		/* nothing of it will ever be private */
		owner = &page[g & ((1u << PAGE) - 1)];
		*owner = (*owner == 0 || *owner == toucher) && !is_cut(o, g) ? toucher : MANY;
	}
}

struct freed {
	uint64_t first, last;	/* granules */
	uint16_t by;
};

/* What of it is in one page. */
static void free_in_page(void *ctx, uint64_t number, uint64_t page)
{
	const struct freed *f = ctx;
	uint64_t g = number << PAGE, end = (number + 1) << PAGE;
	uint16_t *owners = (uint16_t *)(uintptr_t)page;

	for (g = g < f->first ? f->first : g; g < end && g <= f->last; g++) {
		uint16_t *owner = &owners[g & ((1u << PAGE) - 1)];

		if (*owner && *owner != f->by)
			*owner = MANY;
	}
}

/* To free memory is as much as to write it, for those who touched it before. It may be more than any memory has. */
static void touch_freed(struct owners *o, uint32_t thread, uint64_t addr, uint64_t size)
{
	struct freed f = { addr >> GRANULE, last_granule(addr, size), who(thread) };

	if ((f.last >> PAGE) - (f.first >> PAGE) > map_count(&o->pages)) {
		map_each(&o->pages, free_in_page, &f);
		return;
	}
	for (uint64_t n = f.first >> PAGE; n <= f.last >> PAGE; n++) {
		uint64_t *page = map_find(&o->pages, n);

		if (page)
			free_in_page(&f, n, *page);
	}
}

static void note(struct owners *o, const struct event *ev)
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

int owners_read(struct owners *o, struct reader *r, struct err *err)
{
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0)
		note(o, &ev);
	return got;
}

bool owners_shared(const struct owners *o, const struct event *ev)
{
	for (uint64_t g = ev->addr >> GRANULE; g <= last_granule(ev->addr, ev->size); g++) {
		const uint16_t *page = page_of(o, g);

		if (!page || page[g & ((1u << PAGE) - 1)] == MANY)
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

void owners_free(struct owners *o)
{
	map_each(&o->pages, free_page, NULL);
	map_free(&o->pages);
	map_free(&o->blocks);
}
