/*
 * Interns synchronisation states: each one has an epoch (a strong clock) and a lockset. Free states
 * and epochs are linked by number; collect() frees those that the analysis does not mark.
 */
#include "analyze/atomicity/access_context.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_CAPACITY 4096u	/* sync_states */
#define SYNC_STATES 65536u	/* first collection at this many; below, the capacity doubles */
/* beyond, the capacity grows by this factor: unused pages cost nothing, and huge pages fit */
#define CAPACITY_FACTOR 8u

/* A strong vector clock of a thread. */
struct contexts_epoch {
	struct vclock clock;
	uint64_t own;		/* the thread's own component of `clock` */
	uint32_t thread;
	bool marked;
	uint32_t next;		/* next free epoch, if this one is free */
};

/*
 * The members of a synchronisation state that are read often. The events that acquired its locks
 * are larger and rarely read, so they are in `outer` and `inner`.
 */
struct contexts_sync_state {
	uint32_t epoch;
	uint32_t lockset;	/* if the state is free (epoch 0): number of the next free one */
	uint32_t inner;		/* if several locks are held: number in contexts.inner; else 0 */
};

static void set_capacity(struct contexts *cs, size_t capacity)
{
	size_t old = cs->sync_state_capacity;

	cs->sync_states = pages_grow(cs->sync_states, old * sizeof(*cs->sync_states),
				     capacity * sizeof(*cs->sync_states));
	cs->outer = pages_grow(cs->outer, old * sizeof(*cs->outer), capacity * sizeof(*cs->outer));
	pages_soon(cs->sync_states, old * sizeof(*cs->sync_states),
		   capacity * sizeof(*cs->sync_states));
	pages_soon(cs->outer, old * sizeof(*cs->outer), capacity * sizeof(*cs->outer));
	cs->sync_state_capacity = capacity;
}

struct contexts *contexts_new(struct locks *locks)
{
	struct contexts *cs = xcalloc(1, sizeof(*cs));

	cs->locks = locks;
	cs->collect_at = SYNC_STATES;
	cs->epochs = xgrow(NULL, 0, &cs->epoch_capacity, sizeof(*cs->epochs));
	cs->epochs[cs->epoch_count++] = (struct contexts_epoch){ 0 };
	set_capacity(cs, FIRST_CAPACITY);
	cs->sync_state_count = cs->inner_count = 1;
	return cs;
}

void contexts_free(struct contexts *cs)
{
	if (!cs)
		return;
	for (size_t i = 0; i < cs->thread_count; i++)
		free(cs->threads[i]);
	for (size_t i = 0; i < cs->epoch_count; i++)
		vclock_free(&cs->epochs[i].clock);
	free(cs->threads);
	free(cs->epochs);
	pages_free(cs->sync_states, cs->sync_state_capacity * sizeof(*cs->sync_states));
	pages_free(cs->outer, cs->sync_state_capacity * sizeof(*cs->outer));
	free(cs->inner);
	free(cs);
}

static struct contexts_thread *make_thread(struct contexts *cs, uint32_t id)
{
	size_t count = cs->thread_count;

	if (id >= count) {
		cs->thread_count = id + 1 > count * 2 ? id + 1 : count * 2;
		cs->threads = xrealloc(cs->threads, cs->thread_count * sizeof(*cs->threads));
		memset(cs->threads + count, 0, (cs->thread_count - count) * sizeof(*cs->threads));
	}
	cs->threads[id] = xcalloc(1, sizeof(**cs->threads));
	cs->threads[id]->stale = true;
	return cs->threads[id];
}

static inline struct contexts_thread *thread_of(struct contexts *cs, uint32_t id)
{
	if (id < cs->thread_count && cs->threads[id])
		return cs->threads[id];
	return make_thread(cs, id);
}

void contexts_set_marker(struct contexts *cs, void (*mark)(void *ctx), void *ctx)
{
	cs->mark = mark;
	cs->mark_ctx = ctx;
}

static bool is_marked(const struct contexts *cs, uint32_t sync_state)
{
	return cs->marked[sync_state / 64] >> sync_state % 64 & 1;
}

static uint32_t take_inner(struct contexts *cs)
{
	uint32_t number = cs->free_inner;

	if (number) {
		cs->free_inner = (uint32_t)cs->inner[number]->index;
		return number;
	}
	cs->inner = xgrow(cs->inner, cs->inner_count, &cs->inner_capacity, sizeof(*cs->inner));
	return (uint32_t)cs->inner_count++;
}

static void give_inner(struct contexts *cs, uint32_t number)
{
	if (!number)
		return;
	cs->inner[number]->index = cs->free_inner;
	cs->free_inner = number;
}

static void free_unmarked(struct contexts *cs)
{
	size_t kept = 1;

	cs->free_sync_state = cs->free_epoch = 0;
	for (uint32_t n = (uint32_t)cs->sync_state_count; n-- > 1;) {
		struct contexts_sync_state *s = &cs->sync_states[n];

		if (is_marked(cs, n)) {
			cs->epochs[s->epoch].marked = true;
			kept++;
		} else {
			give_inner(cs, s->inner);
			*s = (struct contexts_sync_state){ .lockset = cs->free_sync_state };
			cs->free_sync_state = n;
		}
	}
	for (uint32_t n = (uint32_t)cs->epoch_count; n-- > 1;) {
		struct contexts_epoch *e = &cs->epochs[n];

		if (!e->marked) {
			e->next = cs->free_epoch;
			cs->free_epoch = n;
		}
		e->marked = false;
	}
	cs->collect_at = kept * 4 > SYNC_STATES ? kept * 4 : SYNC_STATES;
}

static void collect(struct contexts *cs)
{
	cs->marked = xcalloc(cs->sync_state_count / 64 + 1, sizeof(*cs->marked));
	for (size_t i = 0; i < cs->thread_count; i++)
		if (cs->threads[i])
			contexts_mark_sync_state(cs, cs->threads[i]->sync_state);
	cs->mark(cs->mark_ctx);
	free_unmarked(cs);
	free(cs->marked);
	cs->marked = NULL;
}

static bool same_clock(const struct vclock *a, const struct vclock *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->at, b->at, a->count * sizeof(*a->at)) == 0);
}

/*
 * Returns the number of the thread's present strong clock: its last epoch if the clock is equal, or
 * a new one.
 */
static uint32_t epoch_now(struct contexts *cs, const struct contexts_thread *t,
			  const struct view *view)
{
	uint32_t number = cs->free_epoch;
	struct contexts_epoch *e = &cs->epochs[t->epoch];

	if (t->epoch && e->own == view->strong_epoch &&
	    ((t->clock == view->strong && t->clock_changes == view->strong->changes) ||
	     same_clock(&e->clock, view->strong)))
		return t->epoch;
	if (number) {
		cs->free_epoch = cs->epochs[number].next;
	} else {
		cs->epochs = xgrow(cs->epochs, cs->epoch_count, &cs->epoch_capacity,
				   sizeof(*cs->epochs));
		number = (uint32_t)cs->epoch_count++;
		cs->epochs[number] = (struct contexts_epoch){ 0 };
	}
	e = &cs->epochs[number];
	vclock_copy(&e->clock, view->strong);
	e->own = view->strong_epoch;
	e->thread = view->thread;
	return number;
}

static uint32_t take_sync_state(struct contexts *cs)
{
	uint32_t number = cs->free_sync_state;

	if (number) {
		cs->free_sync_state = cs->sync_states[number].lockset;
		return number;
	}
	if (cs->sync_state_count == cs->sync_state_capacity)
		set_capacity(cs, (cs->sync_state_capacity < SYNC_STATES ? 2 : CAPACITY_FACTOR) *
					 cs->sync_state_capacity);
	return (uint32_t)cs->sync_state_count++;
}

static void sync_state_make(struct contexts *cs, struct contexts_thread *t, const struct view *view)
{
	size_t held = locks_ends(cs->locks)[view->lockset].count;
	uint32_t number, inner = 0;

	if (!cs->free_sync_state && cs->mark && cs->sync_state_count >= cs->collect_at)
		collect(cs);
	t->epoch = epoch_now(cs, t, view);
	t->clock = view->strong;
	t->clock_changes = view->strong->changes;
	t->lockset = view->lockset;
	number = t->sync_state = take_sync_state(cs);
	cs->sync_states[number] =
		(struct contexts_sync_state){ .epoch = t->epoch, .lockset = view->lockset };
	if (held)
		cs->outer[number] = view->acquired[0];
	if (held > 1)
		inner = cs->sync_states[number].inner = take_inner(cs);
	for (size_t i = 1; i < held && i < LOCKS_OUTER; i++)
		cs->inner[inner][i - 1] = view->acquired[i];
	t->stale = false;
}

static void changed(struct contexts_thread *t, uint64_t index, uint32_t lockset)
{
	if (t->changes && t->change[(t->changes - 1) % CONTEXTS_CHANGES].lockset == lockset)
		return;
	t->change[t->changes++ % CONTEXTS_CHANGES] = (struct contexts_change){ index, lockset };
}

/* Returns the lock that the event releases, 0: none. */
static uint64_t released_lock(const struct event *ev, const struct view *view)
{
	unsigned roles;

	if (ev->result)
		return 0;
	roles = trace_roles(ev->kind);
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN))
		return trace_lock(ev->kind, ev->addr, ev->arg);
	if (roles & ROLE_SEM && roles & ROLE_SIGNAL)
		return view->sem == VIEW_SEM_LOCK || view->sem == VIEW_SEM_POOL ? ev->addr : 0;
	return 0;
}

void contexts_sync(struct contexts *cs, const struct event *ev, const struct view *view)
{
	struct contexts_thread *t;
	uint64_t lock;

	if (ev->kind == TRACE_FUNC_ENTRY || ev->kind == TRACE_FUNC_EXIT)
		return;
	t = thread_of(cs, ev->thread);
	t->stale = true;
	changed(t, view->index, view->lockset);
	lock = released_lock(ev, view);
	if (lock) {
		/* The view is from before the event, so the release takes effect with the next. */
		t->released = view->index + 1;
		changed(t, view->index + 1, locks_release(cs->locks, view->lockset, lock));
	}
}

const struct contexts_thread *contexts_refresh(struct contexts *cs, const struct view *view)
{
	struct contexts_thread *t = thread_of(cs, view->thread);

	if (contexts_stale(t, view))
		sync_state_make(cs, t, view);
	return t;
}

uint32_t contexts_thread(const struct contexts *cs, const struct access_context *a)
{
	return cs->epochs[a->epoch].thread;
}

uint32_t contexts_epoch(const struct contexts *cs, uint32_t sync_state)
{
	return cs->sync_states[sync_state].epoch;
}

uint32_t contexts_lockset(const struct contexts *cs, const struct access_context *a)
{
	return cs->sync_states[a->sync_state].lockset;
}

bool contexts_ordered(const struct contexts *cs, uint32_t a, uint32_t b)
{
	const struct contexts_epoch *x = &cs->epochs[a];
	const struct contexts_epoch *y = &cs->epochs[b];

	return vclock_saw(&y->clock, x->thread, x->own);
}

bool contexts_order_fixed(const struct contexts *cs, uint32_t a1, uint32_t b1, uint32_t b2,
			  uint32_t a2)
{
	return contexts_ordered(cs, b1, a1) || contexts_ordered(cs, a2, b2) ||
	       (contexts_ordered(cs, a1, b1) && contexts_ordered(cs, b2, a2));
}

/*
 * True if set `a` is no more restrictive than `b`: each lockset that another thread can have while
 * this one has `b` is possible with `a`, too. True if `a` has only locks of `b`, in the same or a
 * weaker mode, and with acquisition histories that are subsets.
 */
static bool is_weaker(const struct contexts *cs, uint32_t a, uint32_t b)
{
	struct locks_held x, y;
	const struct locks_ends *ends = locks_ends(cs->locks);
	size_t at, k, n = ends[a].count;

	if (n > ends[b].count || ends[a].held & ~ends[b].held)
		return false;
	for (size_t i = 0; a != b && i < n; i++) {
		locks_at(cs->locks, a, i, &x);
		at = locks_index(cs->locks, b, x.lock);
		if (at == LOCKS_ABSENT)
			return false;
		locks_at(cs->locks, b, at, &y);
		if (y.shared && !x.shared)
			return false;
		/* Both histories are sorted. */
		for (size_t j = k = 0; j < x.history_count; j++, k++) {
			while (k < y.history_count && y.history[k] < x.history[j])
				k++;
			if (k == y.history_count || y.history[k] != x.history[j])
				return false;
		}
	}
	return true;
}

/* Returns the event that acquired the lock at `position` of the state's lockset. */
static const struct view_acquired *acquired_at(const struct contexts *cs, uint32_t sync_state,
					       size_t position)
{
	return position ? &cs->inner[cs->sync_states[sync_state].inner][position - 1]
			: &cs->outer[sync_state];
}

/*
 * Adds `set` to `cuts` unless a cut is no more restrictive than `set`; removes cuts that are at
 * least as restrictive. Keeps the CONTEXTS_CUTS sets with the fewest locks; returns their number.
 */
static unsigned add_cut(const struct contexts *cs, uint32_t *cuts, unsigned count, uint32_t set)
{
	unsigned kept = 0, at = 0;

	for (unsigned i = 0; i < count; i++)
		if (is_weaker(cs, cuts[i], set))
			return count;
	for (unsigned i = 0; i < count; i++)
		if (!is_weaker(cs, set, cuts[i]))
			cuts[kept++] = cuts[i];
	while (at < kept && locks_count(cs->locks, cuts[at]) <= locks_count(cs->locks, set))
		at++;
	if (at == CONTEXTS_CUTS)
		return kept;
	if (kept < CONTEXTS_CUTS)
		kept++;
	memmove(cuts + at + 1, cuts + at, (kept - 1 - at) * sizeof(*cuts));
	cuts[at] = set;
	return kept;
}

unsigned contexts_cuts_search(const struct contexts *cs, const struct contexts_thread *t,
			      uint64_t index, uint32_t lockset, uint32_t cuts[CONTEXTS_CUTS])
{
	uint32_t end = t->changes > CONTEXTS_CHANGES ? t->changes - CONTEXTS_CHANGES : 0,
		 first = t->changes;
	unsigned count = 1;

	cuts[0] = 0;
	for (; first > end && t->change[(first - 1) % CONTEXTS_CHANGES].index > index; first--)
		if (!t->change[(first - 1) % CONTEXTS_CHANGES].lockset)
			return 1;
	cuts[0] = lockset;
	for (uint32_t n = t->changes; n > first; n--)
		count = add_cut(cs, cuts, count, t->change[(n - 1) % CONTEXTS_CHANGES].lockset);
	return count;
}

enum prune_reason contexts_check_locks(const struct contexts *cs, const uint32_t *cuts,
				       unsigned count, uint32_t set)
{
	enum prune_reason why = PRUNE_LOCK;

	for (unsigned i = 0; i < count; i++) {
		if (locks_exclude(cs->locks, cuts[i], set))
			continue;
		if (locks_compatible(cs->locks, cuts[i], set))
			return PRUNE_REASONS;
		why = PRUNE_HISTORY;
	}
	return why;
}

uint32_t contexts_core(const struct contexts *cs, uint32_t set)
{
	return locks_core(cs->locks, set);
}

struct candidate_event contexts_candidate_event(const struct contexts *cs,
						const struct access_context *a, uint64_t pc,
						uint16_t kind)
{
	uint32_t lockset = contexts_lockset(cs, a);

	return (struct candidate_event){
		.thread = contexts_thread(cs, a),
		.kind = kind,
		.index = a->index,
		.time = a->time,
		.addr = a->addr,
		.size = a->size,
		.pc = pc,
		.lockset = lockset,
		.stack = a->stack,
		.lockset_size = (uint16_t)locks_count(cs->locks, lockset),
	};
}

bool contexts_find_section(const struct contexts *cs, const struct access_context *a,
			   uint64_t after, const struct access_context *other,
			   struct candidate_event *out)
{
	const struct contexts_sync_state *s = &cs->sync_states[a->sync_state];
	size_t position = locks_needed(cs->locks, s->lockset, contexts_lockset(cs, other));
	const struct view_acquired *at;
	struct locks_held held;

	/* Positions are in the order of acquisition: the first match is the outermost lock. */
	for (; position < locks_count(cs->locks, s->lockset) && position < LOCKS_OUTER;
	     position++) {
		locks_at(cs->locks, s->lockset, position, &held);
		at = acquired_at(cs, a->sync_state, position);
		if ((after != CONTEXTS_ANY_SECTION && at->index <= after) ||
		    !locks_takes(cs->locks, contexts_lockset(cs, other), held.lock, held.shared))
			continue;
		*out = (struct candidate_event){
			.thread = contexts_thread(cs, a),
			.kind = at->kind,
			.index = at->index,
			.time = at->time,
			.addr = held.lock,
			.pc = held.acquired_pc,
		};
		return true;
	}
	return false;
}
