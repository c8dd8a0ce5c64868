#include "analyze/race/sync_preserving.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/map.h"
#include "base/mem.h"

#define MAX_STEPS (1u << 23)	/* kept of a trace; 256 MiB. Beyond, answers are unknown */
#define FREE_COST 1000000u	/* steps looked at, besides COST for each event of the trace */
#define COST 1u

struct step {
	uint64_t index;		/* of the thread's events */
	uint64_t until;		/* section: its release, ~0 while held; dependence: of the other */
	uint64_t order;		/* section: place among all acquisitions */
	uint32_t other;		/* dependence: the thread; section: number of the lock */
	bool section;
};

/* A critical section the thread is in. */
struct open_section {
	uint64_t lock, index;
	size_t step;		/* SIZE_MAX: not kept */
};

struct thread {
	struct step *steps;
	size_t count, capacity;
	struct open_section *open;
	size_t open_count, open_capacity;
	bool ended;		/* one of them, if it did not fail */
	bool exited;		/* its last event was seen */
	uint32_t lockset;
	uint32_t epoch;		/* of `order` */
	uint64_t *ends;		/* epoch to its last event */
	size_t end_count, end_capacity;
	uint64_t last;		/* index of its last event */
	struct vclock seen;	/* `order`, as dependences tell it */
	uint64_t changes;	/* of `order`, when that was looked at */
	struct vclock read;	/* index + 1 of others' events it depends on by reading */

	/* The question at hand. */
	uint64_t cut;		/* events below it are in */
	uint64_t limit;		/* it must not be beyond */
	size_t at;		/* steps looked at */
	uint32_t asked;		/* number of the question; others: nothing is in */
};

struct lock {
	uint32_t asked;
	uint32_t thread;	/* of the last section that is in */
	uint64_t order, until;
};

struct reorder {
	struct locks *locks;
	struct thread *threads;
	uint32_t thread_count;
	struct map lock_at;	/* address to number, plus 1 */
	struct lock *lock;
	size_t lock_count, lock_capacity;
	uint64_t acquisitions, events, cost;
	size_t steps;
	bool full;
	uint32_t questions;
	uint32_t *dirty;	/* threads whose cut was raised */
	size_t dirty_count, dirty_capacity;
};

struct reorder *reorder_new(struct locks *locks)
{
	struct reorder *r = xcalloc(1, sizeof(*r));

	r->locks = locks;
	return r;
}

void reorder_free(struct reorder *r)
{
	for (uint32_t i = 0; i < r->thread_count; i++) {
		free(r->threads[i].steps);
		free(r->threads[i].open);
		free(r->threads[i].ends);
		vclock_free(&r->threads[i].seen);
		vclock_free(&r->threads[i].read);
	}
	free(r->threads);
	free(r->lock);
	free(r->dirty);
	map_free(&r->lock_at);
	free(r);
}

static __attribute__((noinline)) void reach_thread(struct reorder *r, uint32_t id)
{
	uint32_t count = id + id / 2 + 16;

	r->threads = xrealloc(r->threads, count * sizeof(*r->threads));
	memset(r->threads + r->thread_count, 0, (count - r->thread_count) * sizeof(*r->threads));
	r->thread_count = count;
}

static inline struct thread *thread_of(struct reorder *r, uint32_t id)
{
	if (id >= r->thread_count)
		reach_thread(r, id);
	return &r->threads[id];
}

static struct step *step_add(struct reorder *r, struct thread *t)
{
	if (r->steps == MAX_STEPS) {
		r->full = true;
		return NULL;
	}
	r->steps++;
	t->steps = xgrow(t->steps, t->count, &t->capacity, sizeof(*t->steps));
	return &t->steps[t->count++];
}

static void depend(struct reorder *r, struct thread *t, uint64_t index, uint32_t other,
		   uint64_t until)
{
	struct step *s = step_add(r, t);

	if (s)
		*s = (struct step){ .index = index, .until = until, .other = other };
}

static uint32_t lock_number(struct reorder *r, uint64_t lock)
{
	uint64_t *number = map_put(&r->lock_at, lock, NULL);

	if (!*number) {
		r->lock = xgrow(r->lock, r->lock_count, &r->lock_capacity, sizeof(*r->lock));
		r->lock[r->lock_count++] = (struct lock){ 0 };
		*number = r->lock_count;
	}
	return (uint32_t)*number - 1;
}

static void section_end(struct thread *t, const struct open_section *o, uint64_t index)
{
	if (o->step != SIZE_MAX)
		t->steps[o->step].until = index;
}

/*
 * About to release: the section ends here, unless the thread's next event shows that
 * it failed. Others may be asked about before that.
 */
static void release(struct reorder *r, struct thread *t, const struct event *ev,
		    const struct view *view)
{
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);
	struct locks_held held = { 0 };
	size_t place;

	if (ev->result != 0)
		return;
	if (!locks_only(&locks_ends(r->locks)[view->lockset], lock)) {
		place = locks_place(r->locks, view->lockset, lock);
		if (place == LOCKS_ABSENT)
			return;
		locks_at(r->locks, view->lockset, place, &held);
	}
	for (size_t i = 0; i < t->open_count && held.depth == 0; i++)
		if (t->open[i].lock == lock) {
			section_end(t, &t->open[i], view->index);
			t->ended = true;
		}
}

/* Sections that ended did so with the event before this one. */
static void close_sections(struct reorder *r, struct thread *t, const struct view *view)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->open_count; i++) {
		struct open_section *o = &t->open[i];
		size_t place = locks_place(r->locks, view->lockset, o->lock);

		if (place == LOCKS_ABSENT || view->acquired[place].index != o->index) {
			section_end(t, o, t->last);
		} else {
			section_end(t, o, UINT64_MAX);
			t->open[kept++] = *o;
		}
	}
	t->open_count = kept;
}

static void open_section(struct reorder *r, struct thread *t, uint64_t lock, uint64_t index)
{
	struct step *s = step_add(r, t);

	t->open = xgrow(t->open, t->open_count, &t->open_capacity, sizeof(*t->open));
	t->open[t->open_count++] = (struct open_section){ lock, index, s ? t->count - 1 : SIZE_MAX };
	if (s)
		*s = (struct step){ .index = index, .until = UINT64_MAX, .section = true,
				    .order = ++r->acquisitions, .other = lock_number(r, lock) };
}

/* Places in a set are in order of acquisition, and so are open sections. */
static void sections(struct reorder *r, struct thread *t, const struct view *view)
{
	const struct locks_ends *ends = &locks_ends(r->locks)[view->lockset];
	struct locks_held held;

	close_sections(r, t, view);
	t->ended = false;
	for (size_t i = t->open_count; i < ends->count; i++) {
		held.lock = ends->inner;
		if (i + 1 < ends->count)
			locks_at(r->locks, view->lockset, i, &held);
		open_section(r, t, held.lock, view->acquired[i].index);
	}
	t->lockset = view->lockset;
}

static void end_epochs(struct thread *t, const struct view *view)
{
	for (; t->epoch < view->order_epoch; t->epoch++) {
		while (t->end_count <= t->epoch) {
			t->ends = xgrow(t->ends, t->end_count, &t->end_capacity,
					sizeof(*t->ends));
			t->ends[t->end_count++] = 0;
		}
		t->ends[t->epoch] = t->last;
	}
}

/* What it learnt of others' clocks with this event. */
static void learn(struct reorder *r, uint32_t self, const struct view *view)
{
	struct thread *t = &r->threads[self];

	for (uint32_t u = 1; u < view->order->count && u < r->thread_count; u++) {
		uint64_t epoch = view->order->at[u];
		const struct thread *other = &r->threads[u];

		if (u == self || epoch == 0 || epoch <= vclock_get(&t->seen, u))
			continue;
		depend(r, t, view->index, u, epoch < other->epoch ? other->ends[epoch] : other->last);
	}
	vclock_copy(&t->seen, view->order);
}

/* Who was joined learns no more; each would know a clock as long as there were threads. */
static void join(struct reorder *r, const struct event *ev)
{
	struct thread *t = !ev->result && ev->arg < r->thread_count ? &r->threads[ev->arg] : NULL;

	if (!t || !t->exited || ev->arg == ev->thread)
		return;
	vclock_free(&t->seen);
	vclock_free(&t->read);
}

/* Whatever was held before such an event is, and nothing else. */
static inline bool takes_none(const struct event *ev)
{
	return ev->kind == TRACE_MUTEX_UNLOCK || ev->kind == TRACE_FUNC_ENTRY ||
	       ev->kind == TRACE_FUNC_EXIT;
}

void reorder_event(struct reorder *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	unsigned roles = trace_roles(ev->kind);
	bool plain = roles & ROLE_PLAIN;

	r->events++;
	if (t->epoch != (uint32_t)view->order_epoch)
		end_epochs(t, view);
	if (t->lockset != view->lockset ||
	    (!plain && t->open_count > 0 && (t->ended || !takes_none(ev))))
		sections(r, t, view);
	if (!plain && t->changes != view->order->changes) {
		t->changes = view->order->changes;
		if (!vclock_leq(view->order, &t->seen))
			learn(r, view->thread, view);
	}
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN) || (roles & ROLE_SEM && roles & ROLE_SIGNAL))
		release(r, t, ev, view);
	else if (ev->kind == TRACE_THREAD_EXIT)
		t->exited = true;
	else if (ev->kind == TRACE_THREAD_JOIN)
		join(r, ev);
	t->last = view->index;
}

void reorder_depends(struct reorder *r, const struct view *view, uint32_t writer,
		     uint64_t written)
{
	struct thread *t = &r->threads[view->thread];

	if (written < vclock_get(&t->read, writer))
		return;
	vclock_raise(&t->read, writer, written + 1);
	depend(r, t, view->index, writer, written);
}

/* Events of the thread below `cut` have to be in; false: one of the two would be. */
static bool raise_cut(struct reorder *r, uint32_t id, uint64_t cut)
{
	struct thread *t = thread_of(r, id);

	if (t->asked != r->questions) {
		t->asked = r->questions;
		t->cut = t->at = 0;
		t->limit = UINT64_MAX;
	}
	if (cut <= t->cut)
		return true;
	if (cut > t->limit)
		return false;
	t->cut = cut;
	r->dirty = xgrow(r->dirty, r->dirty_count, &r->dirty_capacity, sizeof(*r->dirty));
	r->dirty[r->dirty_count++] = id;
	return true;
}

/* Of two sections of a lock that are in, the earlier must be whole. */
static bool section_in(struct reorder *r, uint32_t thread, const struct step *s)
{
	struct lock *l = &r->lock[s->other];
	struct lock first = { r->questions, thread, s->order, s->until };

	if (l->asked != r->questions) {
		*l = first;
		return true;
	}
	if (l->order < s->order) {
		struct lock swap = *l;

		*l = first;
		first = swap;
	}
	return first.until != UINT64_MAX && raise_cut(r, first.thread, first.until + 1);
}

static bool follow(struct reorder *r, uint32_t id)
{
	while (r->threads[id].at < r->threads[id].count) {
		const struct step *s = &r->threads[id].steps[r->threads[id].at];

		if (s->index >= r->threads[id].cut)
			break;
		r->threads[id].at++;
		r->cost++;
		if (s->section ? !section_in(r, id, s) : !raise_cut(r, s->other, s->until + 1))
			return false;
	}
	return true;
}

static bool limit_to(struct reorder *r, uint32_t thread, uint64_t index)
{
	raise_cut(r, thread, 0);
	r->threads[thread].limit = index;
	return raise_cut(r, thread, index);
}

enum reorder_answer reorder_ask(struct reorder *r, uint32_t thread, uint64_t index,
				const struct view *view)
{
	bool good;

	if (r->full || r->cost > FREE_COST + COST * r->events)
		return REORDER_UNKNOWN;
	r->questions++;
	r->dirty_count = 0;
	good = limit_to(r, thread, index) && limit_to(r, view->thread, view->index);
	while (good && r->dirty_count > 0)
		good = follow(r, r->dirty[--r->dirty_count]);
	return good ? REORDER_YES : REORDER_NO;
}
