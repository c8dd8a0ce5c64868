#include "analyze/relevance/ordered.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/analysis.h"
#include "analyze/context/access.h"
#include "analyze/context/track.h"
#include "base/mem.h"
#include "base/page_array.h"

#define BATCH 32u			/* events per call of the reader */
#define MAX_EPOCHS ((1u << 24) - 1)	/* 128 MiB; the field `write` has 24 bits */
#define MAX_GROUPS (1u << 21)		/* 128 MiB */
#define FIRST_JUDGEMENT 16384u	/* accesses to shared granules before the first call of judge() */
#define JUDGE_EVERY 4096u	/* accesses to shared granules between two calls of judge() */
#define MIN_SHARED 20u		/* shared accesses of 64; with fewer, the pass is not made */
#define UNORDERED MAX_EPOCHS	/* in place of the number of the last write's epoch */
#define USER_BITS 8u
#define MAX_READERS 15u		/* reads of a granule that are not ordered among each other */

/*
 * What is known of a granule. Epochs are given by number, 0 is none.
 *
 * It is loaded and stored as a whole: a load of both halves right after a store to one half would
 * wait until the store has reached the cache.
 */
union granule {
	uint64_t all;
	struct {
		uint32_t write : 24;	/* epoch of the last write, or UNORDERED after a conflict */
		uint32_t users : USER_BITS;	/* threads of this life, bits by id % USER_BITS */
		uint32_t read : 24;	/* epoch of the last read since then, or a group */
		uint32_t is_group : 1;	/* `read` is the number of a group */
		uint32_t revisited : 1;	/* a bit of `users` came twice in one life */
	};
};

_Static_assert(sizeof(union granule) == 8, "a granule's state fits in one load");

/* Epochs of reads since the last write, none ordered before another. */
struct group {
	uint32_t epoch[MAX_READERS];
	uint32_t count;		/* 0: the group is free, and epoch[0] is the next free one */
};

struct page {
	union granule granule[UNSHARED_PAGE_GRANULES];
};

struct pass {
	struct unshared *map;
	struct page *pages;	/* by number of the page in `map` */
	size_t capacity;
	struct track track;
	struct group *groups;	/* number 0 is unused */
	size_t group_count, group_capacity;
	uint32_t free_group;	/* first of the list of free groups; 0: none */
	uint64_t *epochs;	/* by number: thread << 44 | its component of its strong clock */
	size_t epoch_count, epoch_capacity;
	struct current {
		uint64_t clock;
		uint32_t epoch;
	} *current;		/* by thread: the epoch numbered last, and its clock */
	size_t thread_count;	/* length of `current` */
	uint32_t thread;	/* of the previous access; 0: a synchronisation came since */
	uint32_t now;		/* number of that thread's epoch */
	unsigned user;		/* the thread's bit of granule.users */
	const struct vclock *strong;	/* the thread's strong clock */
	uint64_t events, last_relevant;	/* as in struct unshared, so far */
	uint64_t accesses;	/* so far */
	uint64_t touched;	/* shared granules that they touched, counted each time */
	uint64_t saved;		/* the part of `touched` that analyses could skip */
	uint64_t granules;	/* accessed granules that are not unordered */
	uint32_t until_judged;	/* granules still to be touched before the next judge() */
	bool gave_up;
};

/*
 * Whether an event is for track.h. Locks make no strong order, and neither do atomics and futexes.
 * A semaphore that begins as a lock may turn into a signal, so it is followed.
 */
static bool affects_strong_order(unsigned kind)
{
	switch (kind) {
	case TRACE_FUNC_ENTRY: case TRACE_FUNC_EXIT: case TRACE_FENCE: case TRACE_JUMP:
	case TRACE_BLOCK_BEGIN: case TRACE_BLOCK_END: case TRACE_FUTEX_WAIT: case TRACE_FUTEX_WAKE:
		return false;
	default:
		return !(trace_roles(kind) & (ROLE_ACQUIRE | ROLE_RELEASE));
	}
}

/* Called when the thread of an access or its clock may differ from that of the access before. */
static __attribute__((noinline)) void switch_thread(struct pass *p, uint32_t thread)
{
	struct current *current;
	uint64_t clock;

	p->strong = &track_thread(&p->track, thread)->clocks.at[CLOCK_STRONG];
	clock = vclock_get(p->strong, thread);
	p->current = thread < p->thread_count ? p->current :
		     xreach(p->current, thread, &p->thread_count, sizeof(*p->current));
	current = &p->current[thread];
	if (current->clock != clock) {
		p->gave_up |= p->epoch_count == MAX_EPOCHS;
		p->epochs = xgrow(p->epochs, p->epoch_count, &p->epoch_capacity,
				  sizeof(*p->epochs));
		*current = (struct current){ clock, (uint32_t)p->epoch_count };
		p->epochs[p->epoch_count++] = (uint64_t)thread << 44 | clock;
	}
	p->thread = thread;
	p->now = current->epoch;
	p->user = 1u << thread % USER_BITS;
}

static inline bool is_before(const struct pass *p, uint32_t epoch)
{
	uint64_t e = p->epochs[epoch];

	return epoch == p->now ||
	       vclock_saw(p->strong, (uint32_t)(e >> 44), e & ((1ull << 44) - 1));
}

static uint32_t group_new(struct pass *p)
{
	uint32_t n = p->free_group;

	if (n) {
		p->free_group = p->groups[n].epoch[0];
		return n;
	}
	if (p->group_count == MAX_GROUPS)
		return 0;
	p->groups = xgrow(p->groups, p->group_count, &p->group_capacity, sizeof(*p->groups));
	return (uint32_t)p->group_count++;
}

/* Forgets all reads of the granule. */
static inline void drop_reads(struct pass *p, union granule *g)
{
	struct group *group;

	if (g->is_group) {
		group = &p->groups[g->read];
		*group = (struct group){ .epoch = { p->free_group } };
		p->free_group = g->read;
	}
	g->read = 0;
	g->is_group = 0;
}

/* Whether the thread read the granule in its current epoch, after the last write. */
static inline bool has_read(const struct pass *p, const union granule *g)
{
	const struct group *group;

	if (!g->is_group)
		return g->read == p->now;
	group = &p->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (group->epoch[i] == p->now)
			return true;
	return false;
}

/* Whether all reads since the last write happened before the current access. */
static inline bool reads_before(const struct pass *p, const union granule *g)
{
	const struct group *group;

	if (!g->is_group)
		return !g->read || is_before(p, g->read);
	group = &p->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (!is_before(p, group->epoch[i]))
			return false;
	return true;
}

/* Adds a read, in place of the reads that happened before it. False: there is no room. */
static bool add_read(struct pass *p, union granule *g)
{
	struct group *group;
	uint32_t n, kept = 0;

	if (reads_before(p, g)) {
		drop_reads(p, g);
		g->read = p->now;
		return true;
	}
	if (!g->is_group) {
		n = group_new(p);
		if (!n)
			return false;
		p->groups[n] = (struct group){ .epoch = { g->read }, .count = 1 };
		g->read = n;
		g->is_group = 1;
	}
	group = &p->groups[g->read];
	for (uint32_t i = 0; i < group->count; i++)
		if (!is_before(p, group->epoch[i]))
			group->epoch[kept++] = group->epoch[i];
	group->count = kept;
	if (kept == MAX_READERS)
		return false;
	group->epoch[group->count++] = p->now;
	return true;
}

/* Whether accesses to the granule may matter to analyses. */
static inline bool is_unordered(const union granule *g)
{
	return g->write == UNORDERED && g->revisited;
}

/*
 * A granule has become unordered: none of its accesses are saved. Their number is not kept, so the
 * average of all granules is subtracted.
 */
static __attribute__((noinline)) void note_unordered(struct pass *p)
{
	p->saved -= p->saved / p->granules;
	p->granules--;
	p->last_relevant = p->events;
}

static inline void touch_ordered(struct pass *p, union granule *g, bool write)
{
	if (!write && has_read(p, g))
		return;
	p->granules += !g->read && !g->write;
	if ((g->write && !is_before(p, g->write)) ||
	    !(write ? reads_before(p, g) : add_read(p, g))) {
		drop_reads(p, g);
		g->write = UNORDERED;
	} else if (write) {
		drop_reads(p, g);
		g->write = p->now;
	}
}

static inline void touch(struct pass *p, union granule *at, bool write)
{
	uint64_t before = at->all;
	union granule g = { .all = before };

	if (is_unordered(&g)) {
		p->last_relevant = p->events;
		return;
	}
	p->saved++;
	if (!g.revisited) {
		g.revisited = (g.users & p->user) != 0;
		g.users |= p->user;
	}
	if (g.write != UNORDERED)
		touch_ordered(p, &g, write);
	if (is_unordered(&g))
		note_unordered(p);
	if (g.all != before)
		at->all = g.all;
}

/* Adds a page if unshared.h gave up and knows none. This may move all pages. */
static __attribute__((noinline)) uint32_t make_page(struct pass *p, uint64_t key)
{
	uint32_t page = p->map->lost ? unshared_page(p->map, key) : UNSHARED_NO_PAGE;
	size_t room = p->capacity ? 2 * p->capacity : 256;

	if (page != UNSHARED_NO_PAGE && page >= p->capacity) {
		p->pages = pages_grow(p->pages, p->capacity * sizeof(*p->pages),
				      room * sizeof(*p->pages));
		p->capacity = room;
	}
	return page;
}

static inline void on_granule(struct pass *p, uint64_t granule, bool write)
{
	const struct unshared *a = p->map;
	uint64_t key = unshared_key(granule);
	const struct unshared_slot *s = unshared_slot(a, key);
	uint32_t page = s->page;

	if (__builtin_expect(!s->key, 0))
		page = make_page(p, key);
	if (__builtin_expect(page == UNSHARED_NO_PAGE, 0))
		p->last_relevant = p->events;
	if (page == UNSHARED_NO_PAGE || (!a->lost && !granule_bit(&a->shared[page], granule)))
		return;
	p->touched++;
	p->until_judged--;
	touch(p, &p->pages[page].granule[granule % UNSHARED_PAGE_GRANULES], write);
}

/*
 * Gives up if the pass costs more than it saves. An analysis needs about five times as long for an
 * access as this pass, so at least a quarter of all accesses has to be saved.
 *
 * The number of all accesses is estimated from `touched` by the share of shared accesses, so far or
 * in the whole trace, whichever is higher: unshared accesses may be frequent only at the beginning.
 */
static void judge(struct pass *p)
{
	uint64_t shared = p->touched * 64 / p->accesses;

	if (shared < p->map->shared_of_64)
		shared = p->map->shared_of_64;
	p->until_judged = JUDGE_EVERY;
	p->gave_up |= p->saved / 16 * shared < p->touched;
}

static inline void on_access(struct pass *p, const struct event *ev, bool write)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + ev->size - 1) / 8;

	p->gave_up |= ev->size > UNSHARED_MAX_BYTES;
	p->accesses++;
	if (!ev->size || last < first) {
		p->last_relevant = p->events;
		return;
	}
	if (p->thread != ev->thread)
		switch_thread(p, ev->thread);
	for (;; first++) {
		on_granule(p, first, write);
		if (__builtin_expect(p->until_judged == 0, 0))
			judge(p);
		if (first == last || p->gave_up)
			return;
	}
}

/* Granules `first` to `end` - 1, as far as they are in the page, whose first granule is `base`. */
static void end_life_in_page(struct pass *p, uint32_t page, uint64_t base, uint64_t first,
			     uint64_t end)
{
	for (uint64_t i = first > base ? first - base : 0;
	     i < UNSHARED_PAGE_GRANULES && base + i < end; i++) {
		union granule g = { .all = p->pages[page].granule[i].all };

		if ((!g.write && !g.read) || is_unordered(&g))
			continue;
		g.users = 0;
		if (g.write != UNORDERED) {
			p->granules--;
			drop_reads(p, &g);
			g.write = 0;
		}
		p->pages[page].granule[i].all = g.all;
	}
}

/* Begins a new life of the memory; accesses before and after it make no pair. */
static void end_life(struct pass *p, uint64_t addr, uint64_t size)
{
	uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
	uint64_t first = addr / 8, end = last / 8 + 1;
	uint64_t from = first / UNSHARED_PAGE_GRANULES, to = (end - 1) / UNSHARED_PAGE_GRANULES;
	bool all = to - from >= p->map->slot_count;

	for (uint64_t i = all ? 0 : from; i <= (all ? p->map->slot_count - 1 : to); i++) {
		const struct unshared_slot *s =
			all ? &p->map->slots[i] : unshared_slot(p->map, i + 1);

		if (s->key && s->key > from && s->key <= to + 1)
			end_life_in_page(p, s->page, (s->key - 1) * UNSHARED_PAGE_GRANULES, first,
					 end);
	}
}

/* False: the thread id is too large for track.h. */
static bool on_sync(struct pass *p, const struct event *ev)
{
	const struct view *view;

	if (!affects_strong_order(ev->kind))
		return true;
	view = track_before(&p->track, ev);
	if (!view)
		return false;
	if (view->gone_size)
		end_life(p, view->gone_addr, view->gone_size);
	track_after(&p->track, ev);
	p->thread = 0;
	return true;
}

/* False: the thread id is too large for track.h. */
static inline bool on_event(struct pass *p, const struct event *ev)
{
	unsigned how = access_of(ev->kind);

	p->events++;
	if (ev->thread >= TRACK_MAX_THREADS)
		return false;
	if (!how)
		return on_sync(p, ev);
	if (how & ACCESS_ATOMIC)
		p->last_relevant = p->events;
	on_access(p, ev, how & ACCESS_WRITE);
	return true;
}

/* False: the pass gave up, or the trace is damaged. */
static bool run(struct pass *p, struct reader *trace)
{
	struct event batch[BATCH];
	struct err unused;
	int got;

	while ((got = reader_some(trace, batch, BATCH, NULL, &unused)) > 0)
		for (int i = 0; i < got; i++)
			if (!on_event(p, &batch[i]) || p->gave_up)
				return false;
	return got == 0;
}

/* Writes the result into the map. If its pages were made here, all granules count as shared. */
static void publish(const struct pass *p)
{
	struct unshared *a = p->map;

	a->events = p->events;
	a->accesses = p->accesses;
	a->last_relevant = p->last_relevant;
	a->unordered = xcalloc(a->page_count + 1, sizeof(*a->unordered));
	for (size_t i = 0; i < a->page_count; i++)
		for (unsigned k = 0; k < UNSHARED_PAGE_GRANULES; k++)
			a->unordered[i].granule[k / 64] |=
				(uint64_t)is_unordered(&p->pages[i].granule[k]) << k % 64;
	if (!a->lost)
		return;
	free(a->shared);
	a->shared = xcalloc(a->page_count + 1, sizeof(*a->shared));
	memset(a->shared, 0xff, (a->page_count + 1) * sizeof(*a->shared));
}

static void clear_slots(struct unshared *a)
{
	memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
	a->page_count = 0;
}

void ordered_prescan(struct unshared *a, struct reader *trace)
{
	struct pass p = {
		.map = a, .until_judged = FIRST_JUDGEMENT, .epoch_count = 1, .group_count = 1,
		.capacity = a->page_count,
	};
	struct analysis_context ctx;
	struct err unused;

	if (a->shared_of_64 < MIN_SHARED)
		return;
	analysis_context_init(&ctx);
	ctx.reader = trace;
	track_init(&p.track, &ctx);
	p.groups = xgrow(NULL, 0, &p.group_capacity, sizeof(*p.groups));
	p.track.no_full = true;
	if (p.capacity)
		p.pages = pages_grow(NULL, 0, p.capacity * sizeof(*p.pages));
	if (run(&p, trace))
		publish(&p);
	else if (a->lost)
		clear_slots(a);
	pages_free(p.pages, p.capacity * sizeof(*p.pages));
	track_free(&p.track);
	analysis_context_free(&ctx);
	free(p.groups);
	free(p.epochs);
	free(p.current);
	reader_rewind(trace, &unused);	/* the analyses' first read reports a failure */
}
