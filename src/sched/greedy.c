/*
 * Greedy: looks for many interleaving roots (abi/iroot.h) at once, each of which earlier runs
 * predicted.
 *
 *  - If the pending event of a thread completes a wanted root, this thread goes first. Next come
 *    threads whose step would let the pending event of another thread complete one.
 *  - When all but the last event of a root have happened, the root is attempted: the thread that
 *    has to make the last event runs with priority for a number of steps, and no other thread may
 *    touch the memory of the dependency that this event ends.
 *  - Otherwise threads are chosen as in partial order sampling (pos.c).
 *
 * The strategy takes opportunities as they come; `active` brings about one root at any cost. A step
 * completes a root if it depends on the last access to its memory, and if the root consists of this
 * dependency and a recent one between the same two threads. This is an approximation: only the last
 * RECENT dependencies are known, the window IROOT_WINDOW is ignored, and of a long access only the
 * first 64 bytes count. What a run has exposed is decided by coverage/fold/iroot_fold.h.
 */
#include "sched/greedy.h"

#include "abi/mix.h"
#include "abi/plan.h"
#include "sched/iroot_match.h"
#include "sched/pick.h"

/* Entries of the direct-mapped table of last accesses; each stands for 4 aligned bytes. */
#define GRANULES 512u
#define ACCESS_GRANULES 16u	/* most granules of one access; the rest is ignored */
#define RECENT 32u		/* number of dependencies and accesses that are remembered */
#define GREEDY_PERMILLE 900u	/* default chance to take an opportunity */
#define LOOKAHEAD_THREADS 32u	/* with more threads, other threads' pending events are ignored */
#define WAIT_BITS 11u		/* an attempt lasts at most 2^k steps, k random below this */
#define NO_THREAD SCHED_MAX_THREADS

/* A step of the run that accesses memory or a lock; size 0: it accesses neither. */
struct access {
	struct iroot_event event;
	uint64_t object, step;
	uint32_t size, thread;
};

struct dependency {
	struct access from, to;
	uint64_t hash;
};

struct greedy {
	const uint64_t *table;			/* wanted roots: greedy.h */
	uint64_t slots;				/* size of `table` */
	uint64_t seed, rng;
	uint32_t permille;			/* chance to take an opportunity */
	/* Step of the last pick(); SCHED_NO_LIMIT: none yet. */
	uint64_t last_pick;
	uint32_t chosen;			/* thread that it chose */
	struct sched_event event;		/* pending event of that thread */
	uint64_t priority[SCHED_MAX_THREADS];	/* of each pending event; 0: not drawn yet */
	/* The current attempt. */
	/* Thread of the last event; NO_THREAD: no attempt. */
	uint32_t awaited;
	struct access source;			/* first event of the dependency that it ends */
	uint64_t until;				/* step at which the attempt is given up */
	uint64_t attempt;			/* greedy_partial() of the root */
	/* Ring buffers, and how many entries were ever written to each. */
	uint32_t dependencies, accesses, tried_count;
	struct dependency recent[RECENT];
	struct access access[RECENT];
	/* Hashes of attempts that were given up; they are not attempted again in this run. */
	uint64_t tried[RECENT];
	struct access last[GRANULES];		/* last access to each granule; size 0: none */
};

uint64_t greedy_slots(uint64_t count)
{
	uint64_t slots = 16;

	while (slots < count * 5 * 2)
		slots *= 2;
	return slots;
}

static void put(uint64_t *table, uint64_t slots, uint64_t hash)
{
	uint64_t at = hash >> 1 & (slots - 1);

	while (table[at] && table[at] != hash)
		at = (at + 1) & (slots - 1);
	table[at] = hash;
}

void greedy_add(uint64_t *table, uint64_t slots, const struct iroot *root)
{
	const struct iroot_shape *s = &iroot_shapes[root->idiom];
	uint64_t hash[2] = { 0 };

	for (unsigned d = 0; d < s->dependencies; d++) {
		hash[d] = greedy_dependency(&root->event[s->dependency[d][0]],
					    &root->event[s->dependency[d][1]]);
		put(table, slots, hash[d]);
	}
	put(table, slots, greedy_root(root->idiom, hash[0], hash[1]));
	if (s->dependencies == 2)
		put(table, slots,
		    greedy_partial(root->idiom, hash[0], &root->event[s->dependency[1][0]]));
	/* In idiom 5 either dependency may end first. */
	if (root->idiom == 5)
		put(table, slots, greedy_partial(5, hash[1], &root->event[0]));
}

static void greedy_init(void *state, const struct sched_params *params)
{
	struct greedy *g = state;
	const struct sched_plan *plan = params->plan;

	g->seed = params->seed;
	g->permille = params->switch_permille ? params->switch_permille : GREEDY_PERMILLE;
	g->table = plan ? sched_plan_open(plan) : NULL;
	g->slots = plan ? plan->open : 0;
}

static void greedy_begin(void *state, const struct sched_run *run)
{
	struct greedy *g = state;

	g->rng = pick_seed(g->seed, run->number);
	g->last_pick = SCHED_NO_LIMIT;
	g->dependencies = g->accesses = g->tried_count = 0;
	g->awaited = NO_THREAD;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		g->priority[i] = 0;
	for (size_t i = 0; i < GRANULES; i++)
		g->last[i].size = 0;
}

/* --- which roots a step completes --- */

static struct access access_of(const struct sched_event *e, uint32_t thread, uint64_t step)
{
	uint32_t access = iroot_access_of(e);

	return (struct access){ { e->site, access },
				e->object,
				step,
				access == IROOT_MATCH_NO_ACCESS ? 0 : e->size,
				thread };
}

static bool overlap(const struct access *a, const struct access *b)
{
	return a->size && b->size && iroot_match_overlap(a->object, a->size, b->object, b->size);
}

/*
 * The table entry of the n-th granule of `a`, which may hold an access to another granule; NULL:
 * `a` has no more granules.
 */
static struct access *last_of(struct greedy *g, const struct access *a, unsigned n)
{
	uint64_t granule = (a->object >> 2) + n;

	if (!a->size || n >= ACCESS_GRANULES || granule > (a->object + a->size - 1) >> 2)
		return NULL;
	return &g->last[mix_spread(granule) >> 32 & (GRANULES - 1)];
}

static bool conflict(const struct access *a, const struct access *b)
{
	if (a->thread == b->thread || !overlap(a, b))
		return false;
	if (a->event.access >= IROOT_ACQUIRE || b->event.access >= IROOT_ACQUIRE)
		return a->event.access == IROOT_RELEASE && b->event.access == IROOT_ACQUIRE;
	return a->event.access == IROOT_WRITE || b->event.access == IROOT_WRITE;
}

static bool has(const struct greedy *g, uint64_t idiom, uint64_t first, uint64_t second)
{
	return greedy_has(g->table, g->slots, greedy_root(idiom, first, second));
}

/* True if the dependencies `r` and then `d` are a wanted root. */
static bool joins(const struct greedy *g, const struct dependency *r, const struct dependency *d)
{
	bool same = overlap(&r->to, &d->from);

	if (r->from.thread == d->to.thread && r->to.thread == d->from.thread) {
		if (same && r->to.step == d->from.step)
			return has(g, 2, r->hash, d->hash);
		if (r->to.step < d->from.step)
			return has(g, same ? 3 : 4, r->hash, d->hash);
		return !same && r->to.step > d->from.step &&
		       (has(g, 5, r->hash, d->hash) || has(g, 5, d->hash, r->hash));
	}
	return !same && r->from.thread == d->from.thread && r->to.thread == d->to.thread &&
	       r->from.step < d->from.step && has(g, 6, r->hash, d->hash);
}

static bool completes(const struct greedy *g, const struct access *from, const struct access *to)
{
	uint32_t count = g->dependencies < RECENT ? g->dependencies : RECENT;
	struct dependency d = { *from, *to, 0 };

	if (!conflict(from, to))
		return false;
	d.hash = greedy_dependency(&from->event, &to->event);
	if (!greedy_has(g->table, g->slots, d.hash))
		return false;
	if (has(g, 1, d.hash, 0))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (joins(g, &g->recent[i], &d))
			return true;
	return false;
}

/* --- attempts --- */

static bool was_tried(const struct greedy *g, uint64_t partial)
{
	for (uint32_t i = 0; i < g->tried_count && i < RECENT; i++)
		if (g->tried[i] == partial)
			return true;
	return false;
}

static void give_up(struct greedy *g)
{
	g->tried[g->tried_count++ % RECENT] = g->attempt;
	g->awaited = NO_THREAD;
}

/*
 * Makes a root the current attempt if it is wanted, and lacks only the event that ends its second
 * dependency, which `then` begins. Of several such roots one is drawn; *seen counts them.
 */
static void consider(struct greedy *g, uint64_t idiom, const struct dependency *r,
		     const struct access *then, uint64_t *seen)
{
	uint64_t partial = greedy_partial(idiom, r->hash, &then->event);

	if (!greedy_has(g->table, g->slots, partial) || was_tried(g, partial) ||
	    rng_below(&g->rng, ++*seen) != 0)
		return;
	g->awaited = idiom == 6 ? r->to.thread : r->from.thread;
	g->source = *then;
	g->attempt = partial;
}

/* Looks for an attempt after the access `now`. `fresh`: the dependency that it ends, or NULL. */
static void begin_attempt(struct greedy *g, const struct access *now,
			  const struct dependency *fresh)
{
	uint32_t count = g->dependencies < RECENT ? g->dependencies : RECENT;
	uint64_t seen = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct dependency *r = &g->recent[i];
		bool same = overlap(&r->to, now);

		if (now->thread == r->to.thread)
			consider(g, !same ? 4 : r->to.step == now->step ? 2 : 3, r, now, &seen);
		else if (now->thread == r->from.thread && !same)
			consider(g, 6, r, now, &seen);
	}
	/* In idiom 5 the second dependency begins before the first one ends. */
	count = g->accesses < RECENT ? g->accesses : RECENT;
	for (uint32_t i = 0; fresh && i < count; i++) {
		const struct access *then = &g->access[i];

		if (then->thread == now->thread && !overlap(then, now) &&
		    last_of(g, then, 0)->step == then->step)
			consider(g, 5, fresh, then, &seen);
	}
	g->until = now->step + 1 + rng_below(&g->rng, 1ull << rng_below(&g->rng, WAIT_BITS));
}

static void executed(struct greedy *g, const struct sched_point *point)
{
	const struct access now = access_of(&g->event, g->chosen, g->last_pick);
	struct dependency *fresh = NULL;
	struct access *last;

	g->priority[g->chosen] = 0;
	for (uint32_t i = 0; i < point->threads; i++)
		if (g->priority[i] && sched_dependent(&g->event, &point->pending[i]))
			g->priority[i] = 0;
	if (!now.size)
		return;
	for (unsigned n = 0; (last = last_of(g, &now, n)); n++) {
		uint64_t hash =
			conflict(last, &now) ? greedy_dependency(&last->event, &now.event) : 0;

		if (g->awaited == g->chosen && last->step == g->source.step &&
		    completes(g, last, &now))
			g->awaited = NO_THREAD;
		if (hash && greedy_has(g->table, g->slots, hash) &&
		    !(fresh && fresh->from.step == last->step)) {
			fresh = &g->recent[g->dependencies++ % RECENT];
			*fresh = (struct dependency){ *last, now, hash };
		}
		*last = now;
	}
	g->access[g->accesses++ % RECENT] = now;
	if (g->awaited != NO_THREAD && overlap(&now, &g->source))
		give_up(g);
	if (g->awaited == NO_THREAD && rng_below(&g->rng, 1000) < g->permille)
		begin_attempt(g, &now, fresh);
}

/* --- choice of the next thread --- */

/* 2: the thread's step completes a wanted root; 1: it lets a pending event of another do so. */
static unsigned value_of_step(struct greedy *g, const struct sched_point *point, uint32_t thread)
{
	const struct access now = access_of(&point->pending[thread], thread, point->step);
	const struct access *last;

	if (!now.size)
		return 0;
	for (unsigned n = 0; (last = last_of(g, &now, n)); n++)
		if (completes(g, last, &now))
			return 2;
	for (uint32_t i = 0; point->threads <= LOOKAHEAD_THREADS && i < point->threads; i++) {
		const struct access then = access_of(&point->pending[i], i, point->step + 1);

		if (completes(g, &now, &then))
			return 1;
	}
	return 0;
}

/* A thread whose step has the highest value; NO_THREAD: all have value 0. */
static uint32_t best_of(struct greedy *g, const struct sched_point *point, bool leave)
{
	uint32_t best = NO_THREAD;
	unsigned highest = 1;
	uint64_t seen = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];
		unsigned value =
			leave && thread == point->running ? 0 : value_of_step(g, point, thread);

		if (value < highest)
			continue;
		seen = value > highest ? 0 : seen;
		highest = value;
		if (rng_below(&g->rng, ++seen) == 0)
			best = thread;
	}
	return best;
}

/*
 * The thread that has to make the last event of the attempt, or one that does not touch the memory
 * of its dependency; NO_THREAD: there is neither.
 */
static uint32_t pick_for_awaited(struct greedy *g, const struct sched_point *point, bool leave)
{
	uint32_t found = NO_THREAD;
	uint64_t seen = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (leave && thread == point->running)
			continue;
		if (thread == g->awaited)
			return thread;
		if (!iroot_match_overlap(g->source.object, g->source.size,
					 point->pending[thread].object,
					 point->pending[thread].size) &&
		    rng_below(&g->rng, ++seen) == 0)
			found = thread;
	}
	return found;
}

static uint64_t priority_of(struct greedy *g, uint32_t thread)
{
	if (!g->priority[thread])
		g->priority[thread] = rng_next(&g->rng) | 1;
	return g->priority[thread];
}

static void greedy_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct greedy *g = state;
	bool leave = point->runs && !pick_may_stay(point);
	uint64_t highest = 0;
	uint32_t best = NO_THREAD;

	if (g->last_pick != SCHED_NO_LIMIT && point->step > g->last_pick)
		executed(g, point);
	for (size_t i = 0; point->yields && i < point->count; i++)
		g->priority[point->runnable[i]] = 0;
	if (g->slots && rng_below(&g->rng, 1000) < g->permille)
		best = best_of(g, point, leave);
	if (g->awaited != NO_THREAD && best == NO_THREAD) {
		best = point->step < g->until ? pick_for_awaited(g, point, leave) : NO_THREAD;
		if (best == NO_THREAD)
			give_up(g);
	}
	for (size_t i = 0; best == NO_THREAD && i < point->count; i++) {
		uint32_t thread = point->runnable[i];
		uint64_t priority = priority_of(g, thread);

		if (priority > highest && !(leave && thread == point->running)) {
			highest = priority;
			out->thread = thread;
		}
	}
	if (best != NO_THREAD)
		out->thread = best;
	out->steps = 1;
	g->last_pick = point->step;
	g->chosen = out->thread;
	g->event = point->pending[out->thread];
}

static uint32_t greedy_choose(void *state, uint32_t count)
{
	struct greedy *g = state;

	return (uint32_t)rng_below(&g->rng, count);
}

const struct strategy strategy_greedy = {
	.name = "greedy",
	.guided = "needs iRoots that a profile predicts: use snarl cover --chase",
	.summary = "takes steps that complete iRoots wanted for coverage",
	.state_size = sizeof(struct greedy),
	.init = greedy_init,
	.begin = greedy_begin,
	.pick = greedy_pick,
	.choose = greedy_choose,
};
