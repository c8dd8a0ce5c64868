#include "learn/fold/breakable_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CELL_MOST 256u	/* sites, and pairs, per cell: bounds time and memory */
#define CLOCK_BYTES (256u << 20)	/* memory for copies of vector clocks */

/*
 * The last access of a thread at a site. An access that is ordered after it is ordered after all
 * earlier ones.
 */
struct site_access {
	uint32_t thread, site;
	uint32_t locks;		/* held at all of its accesses */
	bool write;
	uint64_t epoch;
};

struct pair {
	uint32_t thread, p, i;
	uint32_t number;	/* index in breakable.pairs */
	uint32_t locks;		/* held from p to i, each time */
	bool p_write, i_write;
	bool adjacent;		/* at most locks lie between p and i */
	uint64_t epoch;		/* of the last i */
};

struct last_access {
	uint32_t site;		/* 0: none */
	/* index in breakable.clocks; 0: not known, so no access counts as ordered before this */
	uint32_t clock;
	bool write;
	uint64_t index;		/* number of the event in its thread */
};

/*
 * A thread's last access to the cell, and its last write, where a WRW begins
 * (learn/fold/avio.h).
 */
struct own_accesses {
	uint32_t thread;
	struct last_access last, wrote;
};

struct cell {
	struct site_access *accesses;
	size_t count, capacity;
	struct pair *pairs;
	size_t pair_count, pair_capacity;
	struct own_accesses *owns;
	size_t own_count, own_capacity;
	bool full;		/* some accesses or pairs were dropped */
};

/* State that all accesses of a thread share until it synchronises. */
struct thread {
	uint32_t clock;
	/* the lockset of the view; the same locks without the times at which they were taken */
	uint32_t lockset, locks;
};

struct breakable {
	struct cells cells;
	struct locks *locks;
	struct thread *threads;
	size_t thread_count;
	struct vclock *clocks;
	size_t clock_count, clock_capacity, clock_bytes;
	struct learn_pairs pairs, between, breakable, visits;
	struct map numbers;	/* p << 32 | i to index in `pairs`, plus 1 */
	struct learn_pairs adjacent;	/* of `pairs`, those with at most locks in between */
	struct learn_pairs candidates;	/* (r, index in `pairs`): r may come between */
	uint8_t *writes;	/* by site: does it write? */
	size_t site_count;
};

static void clear(void *item)
{
	struct cell *c = item;

	free(c->accesses);
	free(c->pairs);
	free(c->owns);
}

struct breakable *breakable_new(unsigned granularity, struct locks *locks)
{
	struct breakable *a = xcalloc(1, sizeof(*a));

	a->locks = locks;
	cells_init(&a->cells, granularity, sizeof(struct cell));
	a->clocks = xgrow(a->clocks, 0, &a->clock_capacity, sizeof(*a->clocks));
	a->clocks[a->clock_count++] = (struct vclock){ 0 };
	return a;
}

void breakable_free(struct breakable *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->clock_count; i++)
		vclock_free(&a->clocks[i]);
	free(a->clocks);
	free(a->threads);
	cells_free(&a->cells, clear);
	learn_pairs_free(&a->pairs);
	learn_pairs_free(&a->between);
	learn_pairs_free(&a->breakable);
	learn_pairs_free(&a->visits);
	learn_pairs_free(&a->adjacent);
	learn_pairs_free(&a->candidates);
	map_free(&a->numbers);
	free(a->writes);
	free(a);
}

static bool same_clock(const struct vclock *a, const struct vclock *b)
{
	return a->count == b->count && memcmp(a->at, b->at, a->count * sizeof(*a->at)) == 0;
}

static uint32_t clock_of(struct breakable *a, const struct thread *t, const struct vclock *now)
{
	if (t->clock && same_clock(&a->clocks[t->clock], now))
		return t->clock;
	a->clock_bytes += now->count * sizeof(*now->at);
	if (a->clock_bytes > CLOCK_BYTES)
		return 0;
	a->clocks = xgrow(a->clocks, a->clock_count, &a->clock_capacity, sizeof(*a->clocks));
	a->clocks[a->clock_count] = (struct vclock){ 0 };
	vclock_copy(&a->clocks[a->clock_count], now);
	return (uint32_t)a->clock_count++;
}

/* The locks of the view that were taken before the thread's event `index`, without times. */
static uint32_t locks_since(struct breakable *a, const struct view *view, uint64_t index)
{
	uint32_t set = LOCKS_NONE;

	for (size_t i = 0; i < locks_count(a->locks, view->lockset); i++) {
		struct locks_held held;

		locks_at(a->locks, view->lockset, i, &held);
		if (view->acquired[i].index < index)
			set = locks_acquire(a->locks, set, held.lock, held.shared, 0);
	}
	return set;
}

static struct thread *thread_at(struct breakable *a, const struct view *view)
{
	struct thread *t;

	a->threads = xreach(a->threads, view->thread, &a->thread_count, sizeof(*a->threads));
	t = &a->threads[view->thread];
	t->clock = clock_of(a, t, view->strong);
	if (t->lockset != view->lockset) {
		t->lockset = view->lockset;
		t->locks = locks_since(a, view, UINT64_MAX);
	}
	return t;
}

static void add_breaker(struct breakable *a, const struct pair *pair, uint32_t r, bool write)
{
	bool both = pair->p_write && pair->i_write;

	learn_pairs_add(&a->candidates, r, pair->number);
	if (!write && !pair->p_write && !pair->i_write)
		return;
	learn_pairs_add(&a->between, r, pair->i);
	if (both != write)
		learn_pairs_add(&a->breakable, pair->p, pair->i);
	if (pair->adjacent && pair->p != pair->i && (write ? !both : pair->i_write))
		learn_pairs_add(&a->visits, pair->p, r);
}

/* Compares a new pair with earlier accesses of other threads. */
static void compare_with_accesses(struct breakable *a, struct cell *c, const struct pair *pair,
				  const struct last_access *p)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct site_access *r = &c->accesses[i];

		if (r->thread != pair->thread &&
		    !vclock_saw(&a->clocks[p->clock], r->thread, r->epoch) &&
		    !locks_exclude(a->locks, pair->locks, r->locks))
			add_breaker(a, pair, r->site, r->write);
	}
}

/* The locks in both sets; read locks if either set has them as such. */
static uint32_t common(struct breakable *a, uint32_t x, uint32_t y)
{
	uint32_t set = LOCKS_NONE;

	if (x == y)
		return x;
	for (size_t i = 0; i < locks_count(a->locks, x); i++) {
		struct locks_held held, other;
		size_t at;

		locks_at(a->locks, x, i, &held);
		at = locks_index(a->locks, y, held.lock);
		if (at == LOCKS_ABSENT)
			continue;
		locks_at(a->locks, y, at, &other);
		set = locks_acquire(a->locks, set, held.lock, held.shared || other.shared, 0);
	}
	return set;
}

static void remember_pair(struct breakable *a, struct cell *c, const struct pair *pair)
{
	for (size_t i = 0; i < c->pair_count; i++) {
		struct pair *old = &c->pairs[i];

		if (old->thread == pair->thread && old->p == pair->p && old->i == pair->i &&
		    old->adjacent == pair->adjacent) {
			old->locks = common(a, old->locks, pair->locks);
			old->epoch = pair->epoch;
			return;
		}
	}
	if (c->pair_count >= CELL_MOST) {
		c->full = true;
		return;
	}
	c->pairs = xgrow(c->pairs, c->pair_count, &c->pair_capacity, sizeof(*c->pairs));
	c->pairs[c->pair_count++] = *pair;
}

static void remember_access(struct breakable *a, struct cell *c, const struct site_access *now)
{
	for (size_t i = 0; i < c->count; i++) {
		struct site_access *old = &c->accesses[i];

		if (old->thread == now->thread && old->site == now->site) {
			old->locks = common(a, old->locks, now->locks);
			old->epoch = now->epoch;
			return;
		}
	}
	if (c->count >= CELL_MOST) {
		c->full = true;
		return;
	}
	c->accesses = xgrow(c->accesses, c->count, &c->capacity, sizeof(*c->accesses));
	c->accesses[c->count++] = *now;
}

static struct own_accesses *accesses_of(struct cell *c, uint32_t thread)
{
	for (size_t i = 0; i < c->own_count; i++)
		if (c->owns[i].thread == thread)
			return &c->owns[i];
	c->owns = xgrow(c->owns, c->own_count, &c->own_capacity, sizeof(*c->owns));
	c->owns[c->own_count] = (struct own_accesses){ .thread = thread };
	return &c->owns[c->own_count++];
}

static uint32_t number_of(struct breakable *a, const struct pair *pair)
{
	bool added;
	uint64_t *number = map_put(&a->numbers, (uint64_t)pair->p << 32 | pair->i, &added);

	if (added) {
		learn_pairs_add(&a->pairs, pair->p, pair->i);
		*number = a->pairs.count;
	}
	return (uint32_t)*number - 1;
}

static void add_pair(struct breakable *a, struct cell *c, const struct last_access *p,
		     const struct site_access *now, const struct view *view, bool adjacent)
{
	struct pair pair = { .thread = now->thread, .p = p->site, .i = now->site,
			     .locks = locks_since(a, view, p->index), .p_write = p->write,
			     .i_write = now->write, .adjacent = adjacent, .epoch = now->epoch };

	pair.number = number_of(a, &pair);
	compare_with_accesses(a, c, &pair, p);
	if (c->full)
		learn_pairs_add(&a->breakable, pair.p, pair.i);
	remember_pair(a, c, &pair);
}

static void access_cell(struct breakable *a, struct cell *c, const struct site_access *now,
			const struct view *view, uint32_t clock)
{
	struct own_accesses *own = accesses_of(c, now->thread);
	bool adjacent = clock && own->last.clock == clock;

	for (size_t i = 0; i < c->pair_count; i++) {
		const struct pair *pair = &c->pairs[i];

		if (pair->thread != now->thread &&
		    !vclock_saw(view->strong, pair->thread, pair->epoch) &&
		    !locks_exclude(a->locks, pair->locks, now->locks))
			add_breaker(a, pair, now->site, now->write);
	}
	a->writes = xreach(a->writes, now->site, &a->site_count, sizeof(*a->writes));
	a->writes[now->site] = now->write;
	if (own->last.site && adjacent)
		learn_pairs_add(&a->adjacent, own->last.site, now->site);
	if (own->last.site)
		add_pair(a, c, &own->last, now, view, adjacent);
	/*
	 * If the write holds locks, a WRW pair counts only if one of these is held all the time.
	 * Otherwise each update of a variable under a lock would be watched together with the
	 * next update.
	 */
	if (now->write && own->wrote.site && !own->last.write &&
	    (now->locks == LOCKS_NONE || locks_since(a, view, own->wrote.index) != LOCKS_NONE))
		add_pair(a, c, &own->wrote, now, view, false);
	remember_access(a, c, now);
	own->last = (struct last_access){ .site = now->site, .clock = clock, .write = now->write,
				    .index = view->index };
	if (now->write)
		own->wrote = own->last;
}

void breakable_step(struct breakable *a, const struct learn_step *s, const struct view *view)
{
	const struct thread *t;
	struct site_access now;

	if (s->op == IROOT_OP_FRESH)
		cells_forget(&a->cells, s->addr, s->size, clear);
	if ((s->op != IROOT_OP_READ && s->op != IROOT_OP_WRITE) || !s->size)
		return;
	t = thread_at(a, view);
	now = (struct site_access){ .thread = s->thread, .site = s->site, .locks = t->locks,
				    .write = s->op == IROOT_OP_WRITE,
				    .epoch = view->strong_epoch };
	for (uint64_t i = cells_first(&a->cells, s->addr);
	     i <= cells_last(&a->cells, s->addr, s->size); i++)
		access_cell(a, cells_get(&a->cells, i), &now, view, t->clock);
}

void breakable_finish(struct breakable *a)
{
	uint32_t *first = xcalloc(a->site_count + 1, sizeof(*first));
	uint32_t *next = xcalloc(a->adjacent.count + 1, sizeof(*next));

	for (uint32_t i = 0; i < a->adjacent.count; i++) {
		next[i + 1] = first[a->adjacent.items[i].first];
		first[a->adjacent.items[i].first] = i + 1;
	}
	/* The loop appends to this list: an access that follows a candidate is a candidate, too. */
	for (size_t i = 0; i < a->candidates.count; i++) {
		struct learn_pair candidate = a->candidates.items[i];
		const struct learn_pair *pair = &a->pairs.items[candidate.second];
		struct pair p = { .p = pair->first,
				  .i = pair->second,
				  .number = candidate.second,
				  .p_write = a->writes[pair->first],
				  .i_write = a->writes[pair->second] };

		add_breaker(a, &p, candidate.first, a->writes[candidate.first]);
		for (uint32_t n = first[candidate.first]; n; n = next[n])
			learn_pairs_add(&a->candidates, a->adjacent.items[n - 1].second,
					candidate.second);
	}
	free(first);
	free(next);
}

const struct learn_pairs *breakable_local_pairs(const struct breakable *a)
{
	return &a->pairs;
}

const struct learn_pairs *breakable_between(const struct breakable *a)
{
	return &a->between;
}

const struct learn_pairs *breakable_visits(const struct breakable *a)
{
	return &a->visits;
}

const struct learn_pairs *breakable_pairs(const struct breakable *a)
{
	return &a->breakable;
}
