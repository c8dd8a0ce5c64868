#include "analyze/atomicity/access_context.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_ROOM 4096u	/* situations there is room for */
#define SITUATIONS 65536u	/* to begin with */
#define LEAP 8u		/* beyond, room grows by this: what is not used takes no memory, and huge pages fit in */

/* A strong clock of a thread. */
struct moments_epoch {
	struct vclock clock;
	uint64_t own;
	uint32_t thread;
	bool marked;
	uint32_t next;		/* when free */
};

/* What is asked for, apart from where locks were taken: that is much more, and hardly ever asked for. */
struct moments_situation {
	uint32_t epoch;
	uint32_t lockset;	/* epoch 0: free, then it is the next free one */
	uint32_t inner;		/* of several locks: number in `inner`; else 0 */
};

/* Room for so many. */
static void set_room(struct moments *m, size_t room)
{
	size_t old = m->situation_room;

	m->situations = pages_grow(m->situations, old * sizeof(*m->situations),
				   room * sizeof(*m->situations));
	m->outer = pages_grow(m->outer, old * sizeof(*m->outer), room * sizeof(*m->outer));
	pages_soon(m->situations, old * sizeof(*m->situations), room * sizeof(*m->situations));
	pages_soon(m->outer, old * sizeof(*m->outer), room * sizeof(*m->outer));
	m->situation_room = room;
}

struct moments *moments_new(struct locks *locks)
{
	struct moments *m = xcalloc(1, sizeof(*m));

	m->locks = locks;
	m->enough = SITUATIONS;
	m->epochs = xgrow(NULL, 0, &m->epoch_capacity, sizeof(*m->epochs));
	m->epochs[m->epoch_count++] = (struct moments_epoch){ 0 };
	set_room(m, FIRST_ROOM);
	m->situation_count = m->inner_count = 1;
	return m;
}

void moments_free(struct moments *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->thread_count; i++)
		free(m->threads[i]);
	for (size_t i = 0; i < m->epoch_count; i++)
		vclock_free(&m->epochs[i].clock);
	free(m->threads);
	free(m->epochs);
	pages_free(m->situations, m->situation_room * sizeof(*m->situations));
	pages_free(m->outer, m->situation_room * sizeof(*m->outer));
	free(m->inner);
	free(m);
}

static struct moments_thread *make_thread(struct moments *m, uint32_t id)
{
	size_t count = m->thread_count;

	if (id >= count) {
		m->thread_count = id + 1 > count * 2 ? id + 1 : count * 2;
		m->threads = xrealloc(m->threads, m->thread_count * sizeof(*m->threads));
		memset(m->threads + count, 0, (m->thread_count - count) * sizeof(*m->threads));
	}
	m->threads[id] = xcalloc(1, sizeof(**m->threads));
	m->threads[id]->stale = true;
	return m->threads[id];
}

static inline struct moments_thread *thread_of(struct moments *m, uint32_t id)
{
	if (id < m->thread_count && m->threads[id])
		return m->threads[id];
	return make_thread(m, id);
}

void moments_marker(struct moments *m, void (*mark)(void *ctx), void *ctx)
{
	m->mark = mark;
	m->mark_ctx = ctx;
}

static bool is_marked(const struct moments *m, uint32_t situation)
{
	return m->marked[situation / 64] >> situation % 64 & 1;
}

static uint32_t take_inner(struct moments *m)
{
	uint32_t number = m->free_inner;

	if (number) {
		m->free_inner = (uint32_t)m->inner[number]->index;
		return number;
	}
	m->inner = xgrow(m->inner, m->inner_count, &m->inner_capacity, sizeof(*m->inner));
	return (uint32_t)m->inner_count++;
}

static void give_inner(struct moments *m, uint32_t number)
{
	if (!number)
		return;
	m->inner[number]->index = m->free_inner;
	m->free_inner = number;
}

static void free_unmarked(struct moments *m)
{
	size_t kept = 1;

	m->free_situation = m->free_epoch = 0;
	for (uint32_t n = (uint32_t)m->situation_count; n-- > 1;) {
		struct moments_situation *s = &m->situations[n];

		if (is_marked(m, n)) {
			m->epochs[s->epoch].marked = true;
			kept++;
		} else {
			give_inner(m, s->inner);
			*s = (struct moments_situation){ .lockset = m->free_situation };
			m->free_situation = n;
		}
	}
	for (uint32_t n = (uint32_t)m->epoch_count; n-- > 1;) {
		struct moments_epoch *e = &m->epochs[n];

		if (!e->marked) {
			e->next = m->free_epoch;
			m->free_epoch = n;
		}
		e->marked = false;
	}
	m->enough = kept * 4 > SITUATIONS ? kept * 4 : SITUATIONS;
}

static void collect(struct moments *m)
{
	m->marked = xcalloc(m->situation_count / 64 + 1, sizeof(*m->marked));
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i])
			moments_mark_situation(m, m->threads[i]->situation);
	m->mark(m->mark_ctx);
	free_unmarked(m);
	free(m->marked);
	m->marked = NULL;
}

static bool same_clock(const struct vclock *a, const struct vclock *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->at, b->at, a->count * sizeof(*a->at)) == 0);
}

/* The thread's strong clock now: that of the situation before, or a new one. */
static uint32_t epoch_now(struct moments *m, const struct moments_thread *t, const struct view *view)
{
	uint32_t number = m->free_epoch;
	struct moments_epoch *e = &m->epochs[t->epoch];

	if (t->epoch && e->own == view->strong_epoch &&
	    ((t->clock == view->strong && t->clock_changes == view->strong->changes) ||
	     same_clock(&e->clock, view->strong)))
		return t->epoch;
	if (number) {
		m->free_epoch = m->epochs[number].next;
	} else {
		m->epochs = xgrow(m->epochs, m->epoch_count, &m->epoch_capacity, sizeof(*m->epochs));
		number = (uint32_t)m->epoch_count++;
		m->epochs[number] = (struct moments_epoch){ 0 };
	}
	e = &m->epochs[number];
	vclock_copy(&e->clock, view->strong);
	e->own = view->strong_epoch;
	e->thread = view->thread;
	return number;
}

static uint32_t take_situation(struct moments *m)
{
	uint32_t number = m->free_situation;

	if (number) {
		m->free_situation = m->situations[number].lockset;
		return number;
	}
	if (m->situation_count == m->situation_room)
		set_room(m, (m->situation_room < SITUATIONS ? 2 : LEAP) * m->situation_room);
	return (uint32_t)m->situation_count++;
}

static void situation_now(struct moments *m, struct moments_thread *t, const struct view *view)
{
	size_t held = locks_ends(m->locks)[view->lockset].count;
	uint32_t number, inner = 0;

	if (!m->free_situation && m->mark && m->situation_count >= m->enough)
		collect(m);
	t->epoch = epoch_now(m, t, view);
	t->clock = view->strong;
	t->clock_changes = view->strong->changes;
	t->lockset = view->lockset;
	number = t->situation = take_situation(m);
	m->situations[number] = (struct moments_situation){ .epoch = t->epoch,
							    .lockset = view->lockset };
	if (held)
		m->outer[number] = view->acquired[0];
	if (held > 1)
		inner = m->situations[number].inner = take_inner(m);
	for (size_t i = 1; i < held && i < LOCKS_OUTER; i++)
		m->inner[inner][i - 1] = view->acquired[i];
	t->stale = false;
}

static void changed(struct moments_thread *t, uint64_t index, uint32_t lockset)
{
	if (t->changes && t->change[(t->changes - 1) % MOMENTS_CHANGES].lockset == lockset)
		return;
	t->change[t->changes++ % MOMENTS_CHANGES] = (struct moments_change){ index, lockset };
}

/* The lock that the event lets go of, 0: none. */
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

void moments_sync(struct moments *m, const struct event *ev, const struct view *view)
{
	struct moments_thread *t;
	uint64_t lock;

	if (ev->kind == TRACE_FUNC_ENTRY || ev->kind == TRACE_FUNC_EXIT)
		return;
	t = thread_of(m, ev->thread);
	t->stale = true;
	changed(t, view->index, view->lockset);
	lock = released_lock(ev, view);
	if (lock) {
		/* The view is of the moment before. */
		t->released = view->index + 1;
		changed(t, view->index + 1, locks_release(m->locks, view->lockset, lock));
	}
}

const struct moments_thread *moments_look(struct moments *m, const struct view *view)
{
	struct moments_thread *t = thread_of(m, view->thread);

	if (moments_stale(t, view))
		situation_now(m, t, view);
	return t;
}

uint32_t moments_thread(const struct moments *m, const struct moment *a)
{
	return m->epochs[a->epoch].thread;
}

uint32_t moments_epoch(const struct moments *m, uint32_t situation)
{
	return m->situations[situation].epoch;
}

uint32_t moments_lockset(const struct moments *m, const struct moment *a)
{
	return m->situations[a->situation].lockset;
}

bool moments_ordered(const struct moments *m, uint32_t a, uint32_t b)
{
	const struct moments_epoch *x = &m->epochs[a];
	const struct moments_epoch *y = &m->epochs[b];

	return vclock_saw(&y->clock, x->thread, x->own);
}

bool moments_fixed(const struct moments *m, uint32_t a1, uint32_t b1, uint32_t b2, uint32_t a2)
{
	return moments_ordered(m, b1, a1) || moments_ordered(m, a2, b2) ||
	       (moments_ordered(m, a1, b1) && moments_ordered(m, b2, a2));
}

/* Whoever can meet a thread in `b` can meet one in `a`: fewer locks, taken no earlier. */
static bool covers(const struct moments *m, uint32_t a, uint32_t b)
{
	struct locks_held x, y;
	const struct locks_ends *ends = locks_ends(m->locks);
	size_t at, k, n = ends[a].count;

	if (n > ends[b].count || ends[a].held & ~ends[b].held)
		return false;
	for (size_t i = 0; a != b && i < n; i++) {
		locks_at(m->locks, a, i, &x);
		at = locks_index(m->locks, b, x.lock);
		if (at == LOCKS_ABSENT)
			return false;
		locks_at(m->locks, b, at, &y);
		if (y.shared && !x.shared)
			return false;
		/* Both ascend. */
		for (size_t j = k = 0; j < x.history_count; j++, k++) {
			while (k < y.history_count && y.history[k] < x.history[j])
				k++;
			if (k == y.history_count || y.history[k] != x.history[j])
				return false;
		}
	}
	return true;
}

/* Where a lock of the situation's set was taken. */
static const struct view_acquired *acquired_at(const struct moments *m, uint32_t situation, size_t place)
{
	return place ? &m->inner[m->situations[situation].inner][place - 1] : &m->outer[situation];
}

/* Keeps sets of which none covers another, those with the fewest locks. */
static unsigned add_cut(const struct moments *m, uint32_t *cuts, unsigned count, uint32_t set)
{
	unsigned kept = 0, at = 0;

	for (unsigned i = 0; i < count; i++)
		if (covers(m, cuts[i], set))
			return count;
	for (unsigned i = 0; i < count; i++)
		if (!covers(m, set, cuts[i]))
			cuts[kept++] = cuts[i];
	while (at < kept && locks_count(m->locks, cuts[at]) <= locks_count(m->locks, set))
		at++;
	if (at == MOMENTS_CUTS)
		return kept;
	if (kept < MOMENTS_CUTS)
		kept++;
	memmove(cuts + at + 1, cuts + at, (kept - 1 - at) * sizeof(*cuts));
	cuts[at] = set;
	return kept;
}

unsigned moments_cuts_behind(const struct moments *m, const struct moments_thread *t, uint64_t index,
			     uint32_t lockset, uint32_t cuts[MOMENTS_CUTS])
{
	uint32_t end = t->changes > MOMENTS_CHANGES ? t->changes - MOMENTS_CHANGES : 0, first = t->changes;
	unsigned count = 1;

	cuts[0] = 0;
	for (; first > end && t->change[(first - 1) % MOMENTS_CHANGES].index > index; first--)
		if (!t->change[(first - 1) % MOMENTS_CHANGES].lockset)
			return 1;
	cuts[0] = lockset;
	for (uint32_t n = t->changes; n > first; n--)
		count = add_cut(m, cuts, count, t->change[(n - 1) % MOMENTS_CHANGES].lockset);
	return count;
}

enum prune_reason moments_meet(const struct moments *m, const uint32_t *cuts, unsigned count,
			       uint32_t set)
{
	enum prune_reason why = PRUNE_LOCK;

	for (unsigned i = 0; i < count; i++) {
		if (locks_exclude(m->locks, cuts[i], set))
			continue;
		if (locks_compatible(m->locks, cuts[i], set))
			return PRUNE_REASONS;
		why = PRUNE_HISTORY;
	}
	return why;
}

uint32_t moments_core(const struct moments *m, uint32_t set)
{
	return locks_core(m->locks, set);
}

struct candidate_event moments_event(const struct moments *m, const struct moment *a, uint64_t pc,
				     uint16_t kind)
{
	uint32_t lockset = moments_lockset(m, a);

	return (struct candidate_event){
		.thread = moments_thread(m, a), .kind = kind, .index = a->index, .time = a->time,
		.addr = a->addr, .size = a->size, .pc = pc, .lockset = lockset, .stack = a->stack,
		.lockset_size = (uint16_t)locks_count(m->locks, lockset),
	};
}

bool moments_hold(const struct moments *m, const struct moment *a, uint64_t after,
		  const struct moment *other, struct candidate_event *out)
{
	const struct moments_situation *s = &m->situations[a->situation];
	size_t place = locks_needed(m->locks, s->lockset, moments_lockset(m, other));
	const struct view_acquired *at;
	struct locks_held held;

	/* Those further in were taken later. */
	for (; place < locks_count(m->locks, s->lockset) && place < LOCKS_OUTER; place++) {
		locks_at(m->locks, s->lockset, place, &held);
		at = acquired_at(m, a->situation, place);
		if ((after != MOMENTS_ANY && at->index <= after) ||
		    !locks_takes(m->locks, moments_lockset(m, other), held.lock, held.shared))
			continue;
		*out = (struct candidate_event){
			.thread = moments_thread(m, a), .kind = at->kind,
			.index = at->index, .time = at->time,
			.addr = held.lock, .pc = held.acquired_pc,
		};
		return true;
	}
	return false;
}
