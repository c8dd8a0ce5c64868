/*
 * Deadlocks: cycles of locks, and waits that can miss their wake-up (wakeups.c, waits.c).
 *
 * Every acquisition by a thread that holds something is a dependency: thread, lock
 * wanted, locks held. Equal ones (and the same site) are one, with a few moments
 * that differ in strong order (Goodlock, iGoodlock, MagicLock). A chain of
 * dependencies of different threads, each wanting what the next one holds, is a
 * deadlock if it closes, if no two of them hold a common lock (a gate), and if none
 * is strongly ordered before another: who is stuck cannot have let the other come
 * so far. Read locks conflict with write locks only. Trying and timed acquisitions
 * do not wait for ever, so they make a thread hold but not wait.
 *
 * Bounded: DEPENDENCIES_MAX dependencies, MOMENTS_MAX moments of each, STEPS_MAX
 * steps of the search, cycles of at most CYCLE_MAX threads.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/sections.h"
#include "analyze/sync/blocked_waits.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define DEPENDENCIES_MAX 65536u
#define MOMENTS_MAX 4u
#define STEPS_MAX (1u << 20)
#define CYCLE_MAX (CANDIDATE_EVENTS / 2)

struct held {
	uint64_t lock;
	bool shared;
	struct candidate_event taken;
};

struct dependency {
	struct candidate_event at;	/* the acquisition that waits in the deadlock */
	uint64_t lock;
	bool shared;
	bool blocked;			/* it never got the lock: the trace ends there */
	bool alive;
	uint64_t strong_epoch;
	struct vclock strong;
	size_t held, held_count;	/* in deadlock.helds */
};

struct deadlock {
	const struct analysis_context *ctx;
	struct sections *sections;
	struct wakeups *wakeups;
	struct waits *waits;
	struct dependency *deps;
	size_t count, capacity;
	struct held *helds;
	size_t held_count, held_capacity;
	struct map moments;		/* hash of a dependency -> moments met */
	struct map slots;		/* … and the place of one -> number in deps */
	uint64_t dropped;
	struct map holders;		/* lock -> 1 + index in next of a dependency that holds it */
	struct {
		size_t dep, next;
	} *next;
	size_t next_count, next_capacity;
	size_t chain[CYCLE_MAX];
	uint64_t steps;
};

static void *deadlock_open(const struct analysis_context *ctx)
{
	struct deadlock *d = xcalloc(1, sizeof(*d));

	d->ctx = ctx;
	d->sections = sections_new();
	d->wakeups = wakeups_new(ctx, d->sections);
	d->waits = waits_new(ctx, d->sections);
	return d;
}

static void deadlock_close(void *state)
{
	struct deadlock *d = state;

	for (size_t i = 0; i < d->count; i++)
		vclock_free(&d->deps[i].strong);
	free(d->deps);
	free(d->helds);
	free(d->next);
	map_free(&d->moments);
	map_free(&d->slots);
	map_free(&d->holders);
	wakeups_free(d->wakeups);
	waits_free(d->waits);
	sections_free(d->sections);
	free(d);
}

static uint64_t hash_of(const struct section *held, size_t count, uint64_t lock, bool shared,
			uint32_t thread, uint64_t pc)
{
	uint64_t set = 0;

	/* The order in which they were taken does not matter. */
	for (size_t i = 0; i < count; i++)
		set += hash_add(held[i].lock, held[i].shared);
	return hash_add(hash_add(hash_add(hash_add(set, lock), shared), thread), pc);
}

/* The n-th moment's place among those kept: the first ones stay, the newest replace each other. */
static uint64_t slot_of(uint64_t n)
{
	return n < MOMENTS_MAX ? n : MOMENTS_MAX / 2 + n % (MOMENTS_MAX / 2);
}

/* Where to put another moment of the dependency; NULL: it is not to be kept. */
static struct dependency *moment(struct deadlock *d, uint64_t hash, size_t held_count,
				 uint64_t strong_epoch)
{
	uint64_t *n = map_put(&d->moments, hash, NULL), *at;

	if (*n && d->deps[*map_find(&d->slots, hash_add(hash, slot_of(*n - 1)))].strong_epoch ==
			  strong_epoch)
		return NULL;
	if (*n < MOMENTS_MAX && d->count == DEPENDENCIES_MAX) {
		d->dropped++;
		return NULL;
	}
	at = map_put(&d->slots, hash_add(hash, slot_of(*n)), NULL);
	if (++*n > MOMENTS_MAX) {
		d->dropped++;
		return &d->deps[*at];
	}
	d->deps = xgrow(d->deps, d->count, &d->capacity, sizeof(*d->deps));
	d->deps[d->count] = (struct dependency){ .held = d->held_count, .held_count = held_count };
	*at = d->count;
	for (size_t i = 0; i < held_count; i++) {
		d->helds = xgrow(d->helds, d->held_count, &d->held_capacity, sizeof(*d->helds));
		d->held_count++;
	}
	return &d->deps[d->count++];
}

/* `held` without the lock wanted itself. */
static void depend(struct deadlock *d, const struct section *held, size_t count,
		   const struct event *ev, const struct view *view, uint64_t lock, bool shared)
{
	struct dependency *dep;

	if (!count)
		return;
	dep = moment(d, hash_of(held, count, lock, shared, view->thread, ev->pc), count,
		     view->strong_epoch);
	if (!dep)
		return;
	dep->at = view_event(view, ev);
	dep->at.addr = lock;
	dep->lock = lock;
	dep->shared = shared;
	dep->blocked = ev->kind == TRACE_BLOCKED;
	dep->alive = true;
	dep->strong_epoch = view->strong_epoch;
	vclock_copy(&dep->strong, view->strong);
	for (size_t i = 0; i < count; i++)
		d->helds[dep->held + i] = (struct held){ held[i].lock, held[i].shared,
							 section_begin(&held[i]) };
}

static void blocked(struct deadlock *d, const struct event *ev, const struct view *view)
{
	const struct section *held;
	unsigned roles = trace_roles(ev->arg);
	size_t count;

	if (roles & ROLE_TRY || !(roles & ROLE_ACQUIRE || (roles & ROLE_SEM && view->sem == VIEW_SEM_LOCK)))
		return;
	held = sections_held(d->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++)
		if (held[i].lock == ev->addr)
			return;		/* by its own hand: misuse.c */
	depend(d, held, count, ev, view, ev->addr, roles & ROLE_SHARED);
}

static void deadlock_event(void *state, const struct event *ev, const struct view *view,
			   struct findings *out)
{
	struct deadlock *d = state;
	const struct section *held;
	enum section_change change;
	size_t count;

	wakeups_event(d->wakeups, ev, view);
	if (access_of(ev->kind)) {
		sections_access(d->sections, ev);
		return;
	}
	change = sections_event(d->sections, ev, view);
	if (change == SECTION_BEGUN) {
		held = sections_held(d->sections, view->thread, &count);
		if (held[count - 1].patient && !(view->ignore & 4))
			depend(d, held, count - 1, ev, view, held[count - 1].lock,
			       held[count - 1].shared);
	} else if (ev->kind == TRACE_BLOCKED) {
		blocked(d, ev, view);
	}
	waits_event(d->waits, ev, view, change, out);
}

static const struct held *holds(const struct deadlock *d, const struct dependency *dep,
				uint64_t lock, bool wanted_shared)
{
	for (size_t i = 0; i < dep->held_count; i++) {
		const struct held *h = &d->helds[dep->held + i];

		if (h->lock == lock && !(h->shared && wanted_shared))
			return h;
	}
	return NULL;
}

static bool gated(const struct deadlock *d, const struct dependency *a, const struct dependency *b)
{
	for (size_t i = 0; i < a->held_count; i++) {
		const struct held *h = &d->helds[a->held + i];

		if (holds(d, b, h->lock, h->shared))
			return true;
	}
	return false;
}

static bool ordered(const struct dependency *a, const struct dependency *b)
{
	return vclock_saw(&b->strong, a->at.thread, a->strong_epoch) ||
	       vclock_saw(&a->strong, b->at.thread, b->strong_epoch);
}

/* Most dependencies are in no cycle: leave those out whose lock nobody holds, or … */
static void reduce(struct deadlock *d)
{
	struct map held = { 0 }, wanted = { 0 };
	bool changed = true;

	for (size_t i = 0; i < d->count; i++) {
		++*map_put(&wanted, d->deps[i].lock, NULL);
		for (size_t k = 0; k < d->deps[i].held_count; k++)
			++*map_put(&held, d->helds[d->deps[i].held + k].lock, NULL);
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < d->count; i++) {
			struct dependency *dep = &d->deps[i];
			const uint64_t *n = map_find(&held, dep->lock);
			uint64_t around = 0;

			if (!dep->alive)
				continue;
			for (size_t k = 0; k < dep->held_count; k++) {
				const uint64_t *w = map_find(&wanted, d->helds[dep->held + k].lock);

				around += w ? *w : 0;
			}
			if (n && *n && around)
				continue;
			dep->alive = false;
			changed = true;
			--*map_put(&wanted, dep->lock, NULL);
			for (size_t k = 0; k < dep->held_count; k++)
				--*map_put(&held, d->helds[dep->held + k].lock, NULL);
		}
	}
	map_free(&held);
	map_free(&wanted);
}

static void index_holders(struct deadlock *d)
{
	for (size_t i = d->count; i-- > 0; ) {
		for (size_t k = 0; d->deps[i].alive && k < d->deps[i].held_count; k++) {
			uint64_t *first = map_put(&d->holders, d->helds[d->deps[i].held + k].lock, NULL);

			d->next = xgrow(d->next, d->next_count, &d->next_capacity, sizeof(*d->next));
			d->next[d->next_count].dep = i;
			d->next[d->next_count].next = *first;
			*first = ++d->next_count;
		}
	}
}

/* Each thread's hold and then its wait; every wait comes after the next one's hold. */
static void tell(struct deadlock *d, size_t length, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_LOCK_CYCLE, .seen = true, .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	for (size_t i = 0; i < length; i++) {
		const struct dependency *dep = &d->deps[d->chain[i]];
		const struct dependency *before = &d->deps[d->chain[(i + length - 1) % length]];
		const struct held *h = holds(d, dep, before->lock, before->shared);

		c.seen &= dep->blocked;
		c.event[2 * i] = h->taken;
		c.event[2 * i + 1] = dep->at;
		c.order[c.orders++] = (struct candidate_order){
			(uint8_t)(2 * ((i + 1) % length)), (uint8_t)(2 * i + 1) };
	}
	c.events = (uint8_t)(2 * length);
	c.addr = c.event[0].addr;
	c.addr2 = c.event[2].addr;
	findings_add(out, &c);
}

static bool fits(struct deadlock *d, size_t length, const struct dependency *next, bool closes,
		 struct findings *out)
{
	for (size_t i = 0; i < length; i++)
		if (d->deps[d->chain[i]].at.thread == next->at.thread)
			return false;
	for (size_t i = 0; i < length; i++) {
		const struct dependency *dep = &d->deps[d->chain[i]];

		if (gated(d, dep, next)) {
			findings_pruned(out, PRUNE_LOCK, closes);
			return false;
		}
		if (ordered(dep, next)) {
			findings_pruned(out, PRUNE_HB, closes);
			return false;
		}
	}
	return true;
}

/* The chain begins with its smallest thread, so that each cycle is found once. */
static void extend(struct deadlock *d, size_t length, struct findings *out)
{
	const struct dependency *start = &d->deps[d->chain[0]];
	const struct dependency *last = &d->deps[d->chain[length - 1]];
	const uint64_t *first = map_find(&d->holders, last->lock);

	for (size_t i = first ? *first : 0; i; i = d->next[i - 1].next) {
		const struct dependency *next = &d->deps[d->next[i - 1].dep];
		bool closes = holds(d, start, next->lock, next->shared);

		if (++d->steps > STEPS_MAX)
			return;
		if (next->at.thread <= start->at.thread ||
		    !holds(d, next, last->lock, last->shared) ||
		    !fits(d, length, next, closes, out))
			continue;
		d->chain[length] = d->next[i - 1].dep;
		/* What closes here and goes on as well contains a shorter deadlock. */
		if (closes)
			tell(d, length + 1, out);
		else if (length + 1 < CYCLE_MAX)
			extend(d, length + 1, out);
	}
}

static void deadlock_finish(void *state, struct findings *out)
{
	struct deadlock *d = state;

	reduce(d);
	index_holders(d);
	for (size_t i = 0; i < d->count; i++) {
		if (!d->deps[i].alive)
			continue;
		d->chain[0] = i;
		extend(d, 1, out);
	}
	findings_dropped(out, d->dropped + (d->steps > STEPS_MAX));
	wakeups_finish(d->wakeups, out);
	waits_finish(d->waits, out);
}

const struct analysis analysis_deadlock = {
	.name = "deadlock", .summary = "lock cycles, and waits that can miss their wake-up",
	.open = deadlock_open, .event = deadlock_event, .finish = deadlock_finish,
	.close = deadlock_close,
};
