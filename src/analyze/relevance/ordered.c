#include "analyze/relevance/ordered.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/analysis.h"
#include "analyze/context/access.h"
#include "analyze/context/track.h"
#include "base/mem.h"
#include "base/page_array.h"

#define SOME 32u		/* events read at once */
#define EPOCHS ((1u << 24) - 1)	/* at most: 128 MiB */
#define SAMPLE 16384u		/* accesses to what is not alone before the first judgement */
#define MORE 4096u		/* … and between two */
#define FOUGHT 20u		/* of 64 accesses are to what is not alone, or it saves little */
#define LOOSE EPOCHS
#define USERS 8u
#define READERS 15u
#define GROUPS (1u << 21)	/* at most: 128 MiB */

/*
 * Numbers of epochs; 0: none. Read and written as one: a load of both halves that follows a store to one
 * waits until that has reached the cache.
 */
union granule {
	uint64_t all;
	struct {
		uint32_t write : 24;	/* LOOSE: two that conflict are not ordered */
		uint32_t users : USERS;	/* bits, by number: threads that came since it was given out */
		uint32_t read : 24;	/* since that write and after all other reads, or a group */
		uint32_t several : 1;	/* … the latter */
		uint32_t twice : 1;	/* of `users` one came again, or another with the same bit */
	};
};

_Static_assert(sizeof(union granule) == 8, "no larger");

/* Epochs of reads since the last write, none ordered before another. */
struct group {
	uint32_t epoch[READERS];
	uint32_t count;		/* 0: free, then the first is the next free one */
};

struct page {
	union granule granule[UNSHARED_PAGE_GRANULES];
};

struct handed {
	struct alone *alone;
	struct page *pages;
	size_t capacity;
	struct track track;
	struct group *groups;	/* 0 is none */
	size_t group_count, group_capacity;
	uint32_t free_group;
	uint64_t *epochs;	/* by number: thread, and its own component of `strong` */
	size_t epoch_count, epoch_capacity;
	struct own {
		uint64_t clock;
		uint32_t epoch;
	} *own;			/* by thread: the last that was numbered */
	size_t own_count;
	uint32_t thread;	/* of the access before, if no other event came since; 0: none */
	uint32_t now;		/* its epoch */
	unsigned user;		/* its bit of granule.users */
	const struct vclock *strong;
	uint64_t events, last;	/* seen so far; as of struct alone */
	uint64_t looked, seen;	/* accesses; granules of theirs that are not alone */
	uint64_t saved;		/* … and would be passed over */
	uint64_t granules;	/* that are used and not loose */
	uint32_t left;		/* of the sample */
	bool hopeless;
};

/* What does not touch strong order. Of locks, only semaphores may turn out to be none. */
static bool matters(unsigned kind)
{
	switch (kind) {
	case TRACE_FUNC_ENTRY: case TRACE_FUNC_EXIT: case TRACE_FENCE: case TRACE_JUMP:
	case TRACE_BLOCK_BEGIN: case TRACE_BLOCK_END: case TRACE_FUTEX_WAIT: case TRACE_FUTEX_WAKE:
		return false;
	default:
		return !(trace_roles(kind) & (ROLE_ACQUIRE | ROLE_RELEASE));
	}
}

/* The thread of an access is another one, or its clock may be. */
static __attribute__((noinline)) void turn_to(struct handed *h, uint32_t thread)
{
	struct own *own;
	uint64_t clock;

	h->strong = &track_thread(&h->track, thread)->clocks.at[CLOCK_STRONG];
	clock = vclock_get(h->strong, thread);
	h->own = thread < h->own_count ? h->own : xreach(h->own, thread, &h->own_count, sizeof(*h->own));
	own = &h->own[thread];
	if (own->clock != clock) {
		h->hopeless |= h->epoch_count == EPOCHS;
		h->epochs = xgrow(h->epochs, h->epoch_count, &h->epoch_capacity, sizeof(*h->epochs));
		*own = (struct own){ clock, (uint32_t)h->epoch_count };
		h->epochs[h->epoch_count++] = (uint64_t)thread << 44 | clock;
	}
	h->thread = thread;
	h->now = own->epoch;
	h->user = 1u << thread % USERS;
}

static inline bool is_before(const struct handed *h, uint32_t epoch)
{
	uint64_t e = h->epochs[epoch];

	return epoch == h->now || vclock_saw(h->strong, (uint32_t)(e >> 44), e & ((1ull << 44) - 1));
}

static uint32_t group_new(struct handed *h)
{
	uint32_t n = h->free_group;

	if (n) {
		h->free_group = h->groups[n].epoch[0];
		return n;
	}
	if (h->group_count == GROUPS)
		return 0;
	h->groups = xgrow(h->groups, h->group_count, &h->group_capacity, sizeof(*h->groups));
	return (uint32_t)h->group_count++;
}

/* No read of the granule is known any more. */
static inline void drop_reads(struct handed *h, union granule *g)
{
	struct group *group;

	if (g->several) {
		group = &h->groups[g->read];
		*group = (struct group){ .epoch = { h->free_group } };
		h->free_group = g->read;
	}
	g->read = 0;
	g->several = 0;
}

/* The thread read it since the last write and has not synchronised in between. */
static inline bool has_read(const struct handed *h, const union granule *g)
{
	const struct group *group;

	if (!g->several)
		return g->read == h->now;
	group = &h->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (group->epoch[i] == h->now)
			return true;
	return false;
}

/* All reads are before now. */
static inline bool reads_before(const struct handed *h, const union granule *g)
{
	const struct group *group;

	if (!g->several)
		return !g->read || is_before(h, g->read);
	group = &h->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (!is_before(h, group->epoch[i]))
			return false;
	return true;
}

/* One more read, after which those before it need not be known. False: there is no room. */
static bool add_read(struct handed *h, union granule *g)
{
	struct group *group;
	uint32_t n, kept = 0;

	if (reads_before(h, g)) {
		drop_reads(h, g);
		g->read = h->now;
		return true;
	}
	if (!g->several) {
		n = group_new(h);
		if (!n)
			return false;
		h->groups[n] = (struct group){ .epoch = { g->read }, .count = 1 };
		g->read = n;
		g->several = 1;
	}
	group = &h->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (!is_before(h, group->epoch[i]))
			group->epoch[kept++] = group->epoch[i];
	group->count = kept;
	if (kept == READERS)
		return false;
	group->epoch[group->count++] = h->now;
	return true;
}

/* Nothing is known that settles what happens there. */
static inline bool is_lost(const union granule *g)
{
	return g->write == LOOSE && g->twice;
}

/* As often as others was it used until now, it is assumed: none of that is saved. */
static __attribute__((noinline)) void lose(struct handed *h)
{
	h->saved -= h->saved / h->granules;
	h->granules--;
	h->last = h->events;
}

static inline void touch_ordered(struct handed *h, union granule *g, bool write)
{
	if (!write && has_read(h, g))
		return;
	h->granules += !g->read && !g->write;
	if ((g->write && !is_before(h, g->write)) || !(write ? reads_before(h, g) : add_read(h, g))) {
		drop_reads(h, g);
		g->write = LOOSE;
	} else if (write) {
		drop_reads(h, g);
		g->write = h->now;
	}
}

static inline void touch(struct handed *h, union granule *at, bool write)
{
	uint64_t before = at->all;
	union granule g = { .all = before };

	if (is_lost(&g)) {
		h->last = h->events;
		return;
	}
	h->saved++;
	if (!g.twice) {
		g.twice = (g.users & h->user) != 0;
		g.users |= h->user;
	}
	if (g.write != LOOSE)
		touch_ordered(h, &g, write);
	if (is_lost(&g))
		lose(h);
	if (g.all != before)
		at->all = g.all;
}

/* Pages are made here if there are none; with new ones, all others may move. */
static __attribute__((noinline)) uint32_t make_page(struct handed *h, uint64_t key)
{
	uint32_t page = h->alone->unknown ? unshared_page(h->alone, key) : UNSHARED_NO_PAGE;
	size_t room = h->capacity ? 2 * h->capacity : 256;

	if (page != UNSHARED_NO_PAGE && page >= h->capacity) {
		h->pages = pages_grow(h->pages, h->capacity * sizeof(*h->pages), room * sizeof(*h->pages));
		h->capacity = room;
	}
	return page;
}

static inline void at_granule(struct handed *h, uint64_t granule, bool write)
{
	const struct alone *a = h->alone;
	uint64_t key = granule / UNSHARED_PAGE_GRANULES + 1;
	const struct unshared_slot *s = unshared_slot(a, key);
	uint32_t page = s->page;

	if (__builtin_expect(!s->key, 0))
		page = make_page(h, key);
	if (__builtin_expect(page == UNSHARED_NO_PAGE, 0))
		h->last = h->events;
	if (page == UNSHARED_NO_PAGE || (!a->unknown && !granule_bit(&a->shared[page], granule)))
		return;
	h->seen++;
	h->left--;
	touch(h, &h->pages[page].granule[granule % UNSHARED_PAGE_GRANULES], write);
}

/*
 * Following an access takes some five times as long as looking at it here, and those that are
 * alone are looked at in vain. How many that are has shown until now, or before; a part
 * of the trace may have more of them.
 */
static void judge(struct handed *h)
{
	uint64_t fought = h->seen * 64 / h->looked;

	if (fought < h->alone->shared_of_64)
		fought = h->alone->shared_of_64;
	h->left = MORE;
	h->hopeless |= h->saved / 16 * fought < h->seen;
}

static inline void access(struct handed *h, const struct event *ev, bool write)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + ev->size - 1) / 8;

	h->hopeless |= ev->size > UNSHARED_MAX_BYTES;
	h->looked++;
	if (!ev->size || last < first) {
		h->last = h->events;
		return;
	}
	if (h->thread != ev->thread)
		turn_to(h, ev->thread);
	for (;; first++) {
		at_granule(h, first, write);
		if (__builtin_expect(h->left == 0, 0))
			judge(h);
		if (first == last || h->hopeless)
			return;
	}
}

static void forget_page(struct handed *h, uint32_t page, uint64_t base, uint64_t first, uint64_t end)
{
	for (uint64_t i = first > base ? first - base : 0; i < UNSHARED_PAGE_GRANULES && base + i < end; i++) {
		union granule g = { .all = h->pages[page].granule[i].all };

		if ((!g.write && !g.read) || is_lost(&g))
			continue;
		g.users = 0;
		if (g.write != LOOSE) {
			h->granules--;
			drop_reads(h, &g);
			g.write = 0;
		}
		h->pages[page].granule[i].all = g.all;
	}
}

/* As history_forget() does. */
static void forget(struct handed *h, uint64_t addr, uint64_t size)
{
	uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
	uint64_t first = addr / 8, end = last / 8 + 1;
	uint64_t from = first / UNSHARED_PAGE_GRANULES, to = (end - 1) / UNSHARED_PAGE_GRANULES;
	bool all = to - from >= h->alone->slot_count;

	for (uint64_t i = all ? 0 : from; i <= (all ? h->alone->slot_count - 1 : to); i++) {
		const struct unshared_slot *s = all ? &h->alone->slots[i] : unshared_slot(h->alone, i + 1);

		if (s->key && s->key > from && s->key <= to + 1)
			forget_page(h, s->page, (s->key - 1) * UNSHARED_PAGE_GRANULES, first, end);
	}
}

/* False: a thread that cannot be followed. */
static bool other(struct handed *h, const struct event *ev)
{
	const struct view *view;

	if (!matters(ev->kind))
		return true;
	view = track_before(&h->track, ev);
	if (!view)
		return false;
	if (view->gone_size)
		forget(h, view->gone_addr, view->gone_size);
	track_after(&h->track, ev);
	h->thread = 0;
	return true;
}

/* False: as other(). */
static inline bool see(struct handed *h, const struct event *ev)
{
	unsigned how = access_of(ev->kind);

	h->events++;
	if (ev->thread >= TRACK_MAX_THREADS)
		return false;
	if (!how)
		return other(h, ev);
	if (how & ACCESS_ATOMIC)
		h->last = h->events;
	access(h, ev, how & ACCESS_WRITE);
	return true;
}

/* False: it was given up, or the trace is damaged. */
static bool look(struct handed *h, struct reader *trace)
{
	struct event some[SOME];
	struct err unused;
	int got;

	while ((got = reader_some(trace, some, SOME, NULL, &unused)) > 0)
		for (int i = 0; i < got; i++)
			if (!see(h, &some[i]) || h->hopeless)
				return false;
	return got == 0;
}

/* What is loose. If pages were made here, nothing is alone. */
static void settle(const struct handed *h)
{
	struct alone *a = h->alone;

	a->events = h->events;
	a->accesses = h->looked;
	a->last_relevant = h->last;
	a->unordered = xcalloc(a->page_count + 1, sizeof(*a->unordered));
	for (size_t i = 0; i < a->page_count; i++)
		for (unsigned k = 0; k < UNSHARED_PAGE_GRANULES; k++)
			a->unordered[i].granule[k / 64] |=
				(uint64_t)is_lost(&h->pages[i].granule[k]) << k % 64;
	if (!a->unknown)
		return;
	free(a->shared);
	a->shared = xcalloc(a->page_count + 1, sizeof(*a->shared));
	memset(a->shared, 0xff, (a->page_count + 1) * sizeof(*a->shared));
}

static void clear_slots(struct alone *a)
{
	memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
	a->page_count = 0;
}

void handed_look(struct alone *a, struct reader *trace)
{
	struct handed h = { .alone = a, .left = SAMPLE, .epoch_count = 1, .group_count = 1,
			    .capacity = a->page_count };
	struct analysis_context ctx;
	struct err unused;

	if (a->shared_of_64 < FOUGHT)
		return;
	analysis_context_init(&ctx);
	ctx.reader = trace;
	track_init(&h.track, &ctx);
	h.groups = xgrow(NULL, 0, &h.group_capacity, sizeof(*h.groups));
	h.track.no_full = true;
	if (h.capacity)
		h.pages = pages_grow(NULL, 0, h.capacity * sizeof(*h.pages));
	if (look(&h, trace))
		settle(&h);
	else if (a->unknown)
		clear_slots(a);
	pages_free(h.pages, h.capacity * sizeof(*h.pages));
	track_free(&h.track);
	analysis_context_free(&ctx);
	free(h.groups);
	free(h.epochs);
	free(h.own);
	reader_rewind(trace, &unused);	/* if it cannot, reading says so */
}
