#include "analyze/relevance/unshared.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/access.h"
#include "base/mem.h"

#define WARM 8192u	/* accesses after which it begins to show who shares what */
#define SAMPLE 16384u
#define FOUGHT 60u	/* of 64 accesses are to what is fought over: to ask for the rest costs more than it saves */

#define MANY 0x7fffu	/* several threads, or one whose number is not below it */
#define WRITTEN 0x8000u

/* Of a page: the thread that used each granule, or MANY, and WRITTEN if one wrote. 0: nobody used it. */
struct users {
	uint64_t accesses;
	uint16_t granule[ALONE_GRANULES];
};

struct look {
	struct alone *alone;
	struct users *pages;
	size_t capacity;
	uint64_t key;		/* of the last one used; 0: none, or there are too many */
	struct users *page;	/* it; NULL: none */
	bool lost;		/* one access alone is to more, or it would not pay */
	uint64_t seen;		/* accesses behind the first WARM, at the end of this sample */
	uint64_t fought;	/* so many of them were where several were and wrote */
	uint32_t left;		/* of the sample */
};

static void more_slots(struct alone *a)
{
	struct alone_slot *old = a->slots;
	size_t count = a->slot_count;

	a->slot_count = count ? 2 * count : 1024;
	a->slots = xcalloc(a->slot_count, sizeof(*a->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*(struct alone_slot *)alone_slot(a, old[i].key) = old[i];
	free(old);
}

uint32_t alone_page(struct alone *a, uint64_t key)
{
	struct alone_slot *s = (struct alone_slot *)alone_slot(a, key);

	if (s->key)
		return s->page;
	if (a->page_count == ALONE_PAGES)
		return ALONE_NONE;
	if (2 * a->page_count >= a->slot_count) {
		more_slots(a);
		s = (struct alone_slot *)alone_slot(a, key);
	}
	*s = (struct alone_slot){ key, (uint32_t)a->page_count++ };
	return s->page;
}

static __attribute__((noinline)) void turn_to(struct look *l, uint64_t key)
{
	size_t count = l->alone->page_count;
	uint32_t page = alone_page(l->alone, key);

	l->key = 0;
	l->page = NULL;
	if (page == ALONE_NONE)
		return;
	l->key = key;
	if (page == count) {
		l->pages = xgrow(l->pages, count, &l->capacity, sizeof(*l->pages));
		memset(&l->pages[page], 0, sizeof(*l->pages));
	}
	l->page = &l->pages[page];
}

/* The thread, and maybe WRITTEN, come to what the granule of the page has; whether it is fought over now. */
static inline bool touch_page(const struct look *l, uint64_t granule, unsigned mark)
{
	uint16_t *at = &l->page->granule[granule % ALONE_GRANULES];
	unsigned was = *at, now = was | mark;

	l->page->accesses++;
	if (was && (was ^ mark) & MANY)
		now |= MANY;
	if (now != was)
		*at = (uint16_t)now;
	return now == (MANY | WRITTEN);
}

static bool touch(struct look *l, uint64_t granule, unsigned mark)
{
	if (l->key != alone_key(granule))
		turn_to(l, alone_key(granule));
	return !l->page || touch_page(l, granule, mark);
}

/* After WARM accesses and then after each SAMPLE: if nearly all is fought over, the rest saves little. */
static void sample(struct look *l)
{
	if (!l->seen)
		l->fought = 0;
	else
		l->lost |= l->fought > l->seen / 64 * FOUGHT;
	l->seen += SAMPLE;
	l->left = SAMPLE;
}

/* Any access. */
static __attribute__((noinline)) bool see_any(struct look *l, unsigned mark, uint64_t addr, uint64_t size)
{
	uint64_t first = addr / 8, last = (addr + size - 1) / 8;

	if (!size)
		return true;
	l->fought += touch(l, first, mark);
	if (first != last) {
		l->lost |= size > ALONE_MOST;
		while (first < last && !l->lost)
			touch(l, ++first, mark);
	}
	if (--l->left == 0)
		sample(l);
	return !l->lost;
}

/* Most go to a granule of the page where the one before went. */
static inline bool see_one(struct look *l, unsigned thread, unsigned kind, uint64_t addr, uint64_t size)
{
	unsigned access = access_of(kind), mark = thread | (access & ACCESS_WRITE ? WRITTEN : 0);

	if (!access)
		return true;
	if (__builtin_expect(l->key != alone_key(addr / 8) || size - 1 > 7 - addr % 8 || l->left == 1, 0))
		return see_any(l, mark, addr, size);
	l->fought += touch_page(l, addr / 8, mark);
	l->left--;
	return true;
}

static bool see(void *ctx, uint32_t thread, const struct trace_record *r, size_t count, uint64_t size)
{
	const struct trace_record *end = r + count;

	thread = thread < MANY ? thread : MANY;
	for (; r < end; r++)
		if (!see_one(ctx, thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
			     size ? size : trace_site_size(r->site)))
			return false;
	return true;
}

/* Granules of the page that somebody used, and that are fought over: 16 bits, of which many are added at once. */
static void count_page(const struct users *p, uint16_t *used, uint16_t *shared)
{
	uint16_t u = 0, s = 0;

	for (unsigned i = 0; i < ALONE_GRANULES; i++) {
		u = (uint16_t)(u + (p->granule[i] != 0));
		s = (uint16_t)(s + (p->granule[i] == (MANY | WRITTEN)));
	}
	*used = u;
	*shared = s;
}

static void settle(const struct users *p, struct alone_bits *shared)
{
	uint16_t used, fought;

	count_page(p, &used, &fought);
	if (!fought)
		return;
	for (unsigned i = 0; i < ALONE_GRANULES; i++)
		shared->granule[i / 64] |= (uint64_t)(p->granule[i] == (MANY | WRITTEN)) << i % 64;
}

/*
 * Who was first did not fight yet, so what was counted on the way may be too little. So may what follows if all
 * granules of a page are taken to be used alike. A short trace does not show it.
 */
static unsigned fought_of(const struct look *l)
{
	uint64_t all = 1, fought = 0, counted = l->fought * 64 / (l->seen - l->left + 1);

	for (size_t i = 0; i < l->alone->page_count; i++) {
		const struct users *p = &l->pages[i];
		uint16_t used, shared;

		count_page(p, &used, &shared);
		all += p->accesses;
		fought += used ? p->accesses * shared / used : 0;
	}
	fought = fought * 64 / all;
	return l->lost || !l->seen ? 64 : (unsigned)(fought > counted ? fought : counted);
}

struct alone *alone_new(struct reader *trace)
{
	struct alone *a = xcalloc(1, sizeof(*a));
	struct look l = { .alone = a, .left = WARM };
	struct err unused;

	more_slots(a);
	l.lost |= reader_accesses(trace, see, &l, &unused) < 0;
	a->fought = fought_of(&l);
	l.lost |= l.seen && a->fought >= FOUGHT;
	if (l.lost) {
		memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
		a->page_count = 0;
	}
	a->lost = l.lost;
	a->shared = xcalloc(a->page_count + 1, sizeof(*a->shared));
	a->loose = a->shared;
	for (size_t i = 0; i < a->page_count; i++)
		settle(&l.pages[i], &a->shared[i]);
	free(l.pages);
	return a;
}

void alone_free(struct alone *a)
{
	if (!a)
		return;
	if (a->loose != a->shared)
		free(a->loose);
	free(a->slots);
	free(a->shared);
	free(a);
}
