/*
 * Deadlocks: cycles of locks, and the driver of lost_wakeup.c and blocked_waits.c.
 *
 * Lock dependencies after Goodlock, iGoodlock and MagicLock. Every acquisition by a thread that
 * holds a lock is a dependency: thread, lock wanted, locks held. Equal dependencies at one site are
 * one, of which a few instances are kept that differ in strong order.
 *
 * A deadlock is a cyclic chain of dependencies of different threads: each wants a lock that the
 * next one holds. No two of them may hold a common lock (a gate lock). None may be strongly ordered
 * before another: blocked at its acquisition, the first thread could not let the second one reach
 * its own. Read locks conflict with write locks only. Try and timed acquisitions do not wait for
 * ever: the locks they take count as held, but they want none.
 *
 * Bounded: DEPENDENCIES_MAX instances of dependencies, INSTANCES_MAX of each, STEPS_MAX steps of
 * the search, cycles of at most CYCLE_MAX threads.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/sections.h"
#include "analyze/sync/blocked_waits.h"
#include "analyze/sync/lost_wakeup.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define DEPENDENCIES_MAX 65536u	/* instances in all; bounds memory */
#define INSTANCES_MAX 4u	/* of one dependency */
#define STEPS_MAX (1u << 20)	/* dependencies tried; bounds the time of the search */
#define CYCLE_MAX (CANDIDATE_EVENTS / 2)	/* a candidate has two events for each thread */

struct held {
	uint64_t lock;
	bool shared;
	struct candidate_event taken;
};

/* One instance of a dependency. */
struct dependency {
	struct candidate_event at;	/* the acquisition that would block */
	uint64_t lock;
	bool shared;
	bool blocked;			/* the trace ends while it waits for the lock */
	bool alive;			/* reduce() has not ruled it out */
	uint64_t strong_epoch;
	struct vclock strong;
	/* held_count entries from `held` on in deadlock.held_locks */
	size_t held, held_count;
};

struct deadlock {
	const struct analysis_context *ctx;
	struct sections *sections;
	struct lost_wakeups *lost_wakeups;
	struct blocked_waits *blocked_waits;
	struct dependency *deps;
	size_t count, capacity;
	struct held *held_locks;
	size_t held_count, held_capacity;
	struct map instances;		/* hash of a dependency -> number of instances met */
	struct map slots;		/* hash of dependency and instance -> index in deps */
	uint64_t dropped;
	/* lock -> 1 + index in holder_list of the first that holds it */
	struct map holders;
	struct {
		size_t dep, next;
	} *holder_list;
	size_t holder_count, holder_capacity;
	size_t chain[CYCLE_MAX];	/* the search's dependencies, by index in deps */
	uint64_t steps;			/* of the search so far */
};

static void *deadlock_open(const struct analysis_context *ctx)
{
	struct deadlock *d = xcalloc(1, sizeof(*d));

	d->ctx = ctx;
	d->sections = sections_new();
	d->lost_wakeups = lost_wakeup_new(ctx, d->sections);
	d->blocked_waits = blocked_waits_new(ctx, d->sections);
	return d;
}

static void deadlock_close(void *state)
{
	struct deadlock *d = state;

	for (size_t i = 0; i < d->count; i++)
		vclock_free(&d->deps[i].strong);
	free(d->deps);
	free(d->held_locks);
	free(d->holder_list);
	map_free(&d->instances);
	map_free(&d->slots);
	map_free(&d->holders);
	lost_wakeup_free(d->lost_wakeups);
	blocked_waits_free(d->blocked_waits);
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

/* The slot of instance `n`, from 0: the first half of INSTANCES_MAX stays, the rest is replaced. */
static uint64_t instance_number(uint64_t n)
{
	return n < INSTANCES_MAX ? n : INSTANCES_MAX / 2 + n % (INSTANCES_MAX / 2);
}

/* The entry for a further instance of the dependency; NULL: the instance is not kept. */
static struct dependency *instance_slot(struct deadlock *d, uint64_t hash, size_t held_count,
					uint64_t strong_epoch)
{
	uint64_t *n = map_put(&d->instances, hash, NULL), *at;

	if (*n &&
	    d->deps[*map_find(&d->slots, hash_add(hash, instance_number(*n - 1)))].strong_epoch ==
		    strong_epoch)
		return NULL;
	if (*n < INSTANCES_MAX && d->count == DEPENDENCIES_MAX) {
		d->dropped++;
		return NULL;
	}
	at = map_put(&d->slots, hash_add(hash, instance_number(*n)), NULL);
	if (++*n > INSTANCES_MAX) {
		d->dropped++;
		return &d->deps[*at];
	}
	d->deps = xgrow(d->deps, d->count, &d->capacity, sizeof(*d->deps));
	d->deps[d->count] = (struct dependency){ .held = d->held_count, .held_count = held_count };
	*at = d->count;
	for (size_t i = 0; i < held_count; i++) {
		d->held_locks = xgrow(d->held_locks, d->held_count, &d->held_capacity,
				      sizeof(*d->held_locks));
		d->held_count++;
	}
	return &d->deps[d->count++];
}

/* The thread wants `lock` and holds `held`, which does not contain `lock`. */
static void depend(struct deadlock *d, const struct section *held, size_t count,
		   const struct event *ev, const struct view *view, uint64_t lock, bool shared)
{
	struct dependency *dep;

	if (!count)
		return;
	dep = instance_slot(d, hash_of(held, count, lock, shared, view->thread, ev->pc), count,
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
		d->held_locks[dep->held + i] = (struct held){ held[i].lock, held[i].shared,
							 section_begin(&held[i]) };
}

static void blocked(struct deadlock *d, const struct event *ev, const struct view *view)
{
	const struct section *held;
	unsigned roles = trace_roles(ev->arg);
	size_t count;

	if (roles & ROLE_TRY || !(roles & ROLE_ACQUIRE ||
				  (roles & ROLE_SEM && view->sem == VIEW_SEM_LOCK)))
		return;
	held = sections_held(d->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++)
		if (held[i].lock == ev->addr)
			return;		/* it blocks on its own lock: misuse.c reports that */
	depend(d, held, count, ev, view, ev->addr, roles & ROLE_SHARED);
}

static void deadlock_event(void *state, const struct event *ev, const struct view *view,
			   struct findings *out)
{
	struct deadlock *d = state;
	const struct section *held;
	enum section_change change;
	size_t count;

	lost_wakeup_event(d->lost_wakeups, ev, view);
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
	blocked_waits_event(d->blocked_waits, ev, view, change, out);
}

static const struct held *holds(const struct deadlock *d, const struct dependency *dep,
				uint64_t lock, bool wanted_shared)
{
	for (size_t i = 0; i < dep->held_count; i++) {
		const struct held *h = &d->held_locks[dep->held + i];

		if (h->lock == lock && !(h->shared && wanted_shared))
			return h;
	}
	return NULL;
}

static bool share_gate_lock(const struct deadlock *d, const struct dependency *a,
			    const struct dependency *b)
{
	for (size_t i = 0; i < a->held_count; i++) {
		const struct held *h = &d->held_locks[a->held + i];

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

/*
 * Rules out dependencies that can be in no cycle: no other one holds the lock they want, or none
 * wants a lock they hold. Repeats until nothing changes.
 */
static void reduce(struct deadlock *d)
{
	struct map held = { 0 }, wanted = { 0 };
	bool changed = true;

	for (size_t i = 0; i < d->count; i++) {
		++*map_put(&wanted, d->deps[i].lock, NULL);
		for (size_t k = 0; k < d->deps[i].held_count; k++)
			++*map_put(&held, d->held_locks[d->deps[i].held + k].lock, NULL);
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
				const uint64_t *w = map_find(&wanted,
							     d->held_locks[dep->held + k].lock);

				around += w ? *w : 0;
			}
			if (n && *n && around)
				continue;
			dep->alive = false;
			changed = true;
			--*map_put(&wanted, dep->lock, NULL);
			for (size_t k = 0; k < dep->held_count; k++)
				--*map_put(&held, d->held_locks[dep->held + k].lock, NULL);
		}
	}
	map_free(&held);
	map_free(&wanted);
}

static void index_holders(struct deadlock *d)
{
	for (size_t i = d->count; i-- > 0; ) {
		for (size_t k = 0; d->deps[i].alive && k < d->deps[i].held_count; k++) {
			uint64_t *first = map_put(&d->holders,
						  d->held_locks[d->deps[i].held + k].lock, NULL);

			d->holder_list = xgrow(d->holder_list, d->holder_count, &d->holder_capacity,
					       sizeof(*d->holder_list));
			d->holder_list[d->holder_count].dep = i;
			d->holder_list[d->holder_count].next = *first;
			*first = ++d->holder_count;
		}
	}
}

/*
 * Emits the cycle: for each thread the acquisition of the lock it holds, then the one that blocks.
 * Each blocking acquisition is to come after the next thread has acquired the lock it holds.
 */
static void emit_cycle(struct deadlock *d, size_t length, struct findings *out)
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

static bool may_join_chain(struct deadlock *d, size_t length, const struct dependency *next,
			   bool closes, struct findings *out)
{
	for (size_t i = 0; i < length; i++)
		if (d->deps[d->chain[i]].at.thread == next->at.thread)
			return false;
	for (size_t i = 0; i < length; i++) {
		const struct dependency *dep = &d->deps[d->chain[i]];

		if (share_gate_lock(d, dep, next)) {
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

/* Searches for cycles that begin with the first `length` dependencies of the chain. */
static void extend(struct deadlock *d, size_t length, struct findings *out)
{
	const struct dependency *start = &d->deps[d->chain[0]];
	const struct dependency *last = &d->deps[d->chain[length - 1]];
	const uint64_t *first = map_find(&d->holders, last->lock);

	for (size_t i = first ? *first : 0; i; i = d->holder_list[i - 1].next) {
		const struct dependency *next = &d->deps[d->holder_list[i - 1].dep];
		bool closes = holds(d, start, next->lock, next->shared);

		if (++d->steps > STEPS_MAX)
			return;
		/* The chain begins with its smallest thread, so that each cycle is found once. */
		if (next->at.thread <= start->at.thread ||
		    !holds(d, next, last->lock, last->shared) ||
		    !may_join_chain(d, length, next, closes, out))
			continue;
		d->chain[length] = d->holder_list[i - 1].dep;
		/* A chain that closes is not extended: a longer cycle would contain this one. */
		if (closes)
			emit_cycle(d, length + 1, out);
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
	lost_wakeup_finish(d->lost_wakeups, out);
	blocked_waits_finish(d->blocked_waits, out);
}

const struct analysis analysis_deadlock = {
	.name = "deadlock", .summary = "lock cycles, and waits that can miss their wake-up",
	.open = deadlock_open, .event = deadlock_event, .finish = deadlock_finish,
	.close = deadlock_close,
};
