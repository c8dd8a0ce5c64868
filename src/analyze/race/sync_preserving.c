#include "analyze/race/sync_preserving.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/map.h"
#include "base/mem.h"

#define MAX_CONSTRAINTS (1u << 23)	/* bounds memory: 256 MiB. Beyond, answers are unknown */
/* Constraints that all queries may visit: FREE_WORK + WORK_PER_EVENT * events of the trace. */
#define FREE_WORK 1000000u
#define WORK_PER_EVENT 1u

/* If the thread's prefix holds event `index`, other prefixes have to hold other events. */
struct constraint {
	uint64_t index;
	uint64_t until;		/* section: its release, ~0 while held; dependence: its event */
	uint64_t order;		/* section: number of its acquisition in the trace */
	uint32_t other;		/* dependence: thread of the event; section: number of the lock */
	bool section;
};

/* A critical section that the thread is in. */
struct open_section {
	uint64_t lock;
	uint64_t index;		/* the acquisition, of the thread's events */
	size_t constraint;	/* in thread.constraints; SIZE_MAX: not kept */
};

struct thread {
	struct constraint *constraints;
	size_t count, capacity;
	struct open_section *open;
	size_t open_count, open_capacity;
	bool released;		/* the last event releases an open section, unless it failed */
	bool exited;		/* THREAD_EXIT was seen */
	uint32_t lockset;	/* at the last event */
	uint32_t epoch;		/* own component of view.order at the last event */
	uint64_t *epoch_end;	/* by epoch: index of its last event */
	size_t epoch_end_count, epoch_end_capacity;
	uint64_t last;		/* index of the last event */
	struct vclock seen;	/* the part of view.order for which there are dependences */
	uint64_t seen_changes;	/* view.order's `changes` when `seen` was brought up to date */
	struct vclock read;	/* by writer: 1 + index of the last event this thread depends on */

	/* State of query number `query`; unset for later queries. */
	uint64_t prefix;	/* length of the prefix: it holds the events below this index */
	uint64_t limit;		/* the prefix must not hold this event, one of the two accesses */
	size_t checked;		/* constraints that were followed */
	uint32_t query;
};

/* The last section of a lock that the prefixes of the current query hold. */
struct lock {
	uint32_t query;		/* number of the query; if not the current one: no section */
	uint32_t thread;
	uint64_t order, until;	/* as in struct constraint */
};

struct reorder {
	struct locks *locks;
	struct thread *threads;
	uint32_t thread_count;
	struct map lock_at;	/* address -> 1 + number */
	struct lock *lock;	/* by number */
	size_t lock_count, lock_capacity;
	uint64_t acquisitions, events, work;
	size_t constraints;
	bool overflowed;
	uint32_t queries;
	uint32_t *dirty;	/* stack of threads whose prefix grew in this query */
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
		free(r->threads[i].constraints);
		free(r->threads[i].open);
		free(r->threads[i].epoch_end);
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

static struct constraint *constraint_add(struct reorder *r, struct thread *t)
{
	if (r->constraints == MAX_CONSTRAINTS) {
		r->overflowed = true;
		return NULL;
	}
	r->constraints++;
	t->constraints = xgrow(t->constraints, t->count, &t->capacity, sizeof(*t->constraints));
	return &t->constraints[t->count++];
}

static void dependence_add(struct reorder *r, struct thread *t, uint64_t index, uint32_t other,
			   uint64_t until)
{
	struct constraint *s = constraint_add(r, t);

	if (s)
		*s = (struct constraint){ .index = index, .until = until, .other = other };
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
	if (o->constraint != SIZE_MAX)
		t->constraints[o->constraint].until = index;
}

/*
 * The thread is about to release a lock. The section ends at this event, unless the thread's next
 * event shows that the release failed. Queries for other threads may come before that.
 */
static void note_release(struct reorder *r, struct thread *t, const struct event *ev,
			 const struct view *view)
{
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);
	struct locks_held held = { 0 };
	size_t position;

	if (ev->result != 0)
		return;
	if (!locks_only(&locks_ends(r->locks)[view->lockset], lock)) {
		position = locks_place(r->locks, view->lockset, lock);
		if (position == LOCKS_ABSENT)
			return;
		locks_at(r->locks, view->lockset, position, &held);
	}
	for (size_t i = 0; i < t->open_count && held.depth == 0; i++)
		if (t->open[i].lock == lock) {
			section_end(t, &t->open[i], view->index);
			t->released = true;
		}
}

/* Ends the sections whose lock is no longer in the lockset: the previous event released it. */
static void close_sections(struct reorder *r, struct thread *t, const struct view *view)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->open_count; i++) {
		struct open_section *o = &t->open[i];
		size_t position = locks_place(r->locks, view->lockset, o->lock);

		if (position == LOCKS_ABSENT || view->acquired[position].index != o->index) {
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
	struct constraint *s = constraint_add(r, t);

	t->open = xgrow(t->open, t->open_count, &t->open_capacity, sizeof(*t->open));
	t->open[t->open_count++] = (struct open_section){
		.lock = lock, .index = index, .constraint = s ? t->count - 1 : SIZE_MAX };
	if (s)
		*s = (struct constraint){ .index = index, .until = UINT64_MAX, .section = true,
				    .order = ++r->acquisitions, .other = lock_number(r, lock) };
}

/* Brings open sections up to date with the lockset. Both are in order of acquisition. */
static void update_sections(struct reorder *r, struct thread *t, const struct view *view)
{
	const struct locks_ends *ends = &locks_ends(r->locks)[view->lockset];
	struct locks_held held;

	close_sections(r, t, view);
	t->released = false;
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
		while (t->epoch_end_count <= t->epoch) {
			t->epoch_end = xgrow(t->epoch_end, t->epoch_end_count,
					     &t->epoch_end_capacity,
					     sizeof(*t->epoch_end));
			t->epoch_end[t->epoch_end_count++] = 0;
		}
		t->epoch_end[t->epoch] = t->last;
	}
}

/* Adds dependences on the events of other threads that this event is newly ordered after. */
static void add_order(struct reorder *r, uint32_t self, const struct view *view)
{
	struct thread *t = &r->threads[self];

	for (uint32_t u = 1; u < view->order->count && u < r->thread_count; u++) {
		uint64_t epoch = view->order->at[u];
		const struct thread *other = &r->threads[u];

		if (u == self || epoch == 0 || epoch <= vclock_get(&t->seen, u))
			continue;
		dependence_add(r, t, view->index, u,
			       epoch < other->epoch ? other->epoch_end[epoch] : other->last);
	}
	vclock_copy(&t->seen, view->order);
}

/* Frees the clocks of a joined thread: each is as long as the number of threads. */
static void thread_joined(struct reorder *r, const struct event *ev)
{
	struct thread *t = !ev->result && ev->arg < r->thread_count ? &r->threads[ev->arg] : NULL;

	if (!t || !t->exited || ev->arg == ev->thread)
		return;
	vclock_free(&t->seen);
	vclock_free(&t->read);
}

/* The event acquires nothing: an unchanged lockset means unchanged sections. */
static inline bool keeps_lockset(const struct event *ev)
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
	    (!plain && t->open_count > 0 && (t->released || !keeps_lockset(ev))))
		update_sections(r, t, view);
	if (!plain && t->seen_changes != view->order->changes) {
		t->seen_changes = view->order->changes;
		if (!vclock_leq(view->order, &t->seen))
			add_order(r, view->thread, view);
	}
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN) || (roles & ROLE_SEM && roles & ROLE_SIGNAL))
		note_release(r, t, ev, view);
	else if (ev->kind == TRACE_THREAD_EXIT)
		t->exited = true;
	else if (ev->kind == TRACE_THREAD_JOIN)
		thread_joined(r, ev);
	t->last = view->index;
}

void reorder_depends(struct reorder *r, const struct view *view, uint32_t writer,
		     uint64_t written)
{
	struct thread *t = &r->threads[view->thread];

	if (written < vclock_get(&t->read, writer))
		return;
	vclock_raise(&t->read, writer, written + 1);
	dependence_add(r, t, view->index, writer, written);
}

/* Extends the thread's prefix to `length` events. False: it would hold one of the two accesses. */
static bool extend_prefix(struct reorder *r, uint32_t id, uint64_t length)
{
	struct thread *t = thread_of(r, id);

	if (t->query != r->queries) {
		t->query = r->queries;
		t->prefix = t->checked = 0;
		t->limit = UINT64_MAX;
	}
	if (length <= t->prefix)
		return true;
	if (length > t->limit)
		return false;
	t->prefix = length;
	r->dirty = xgrow(r->dirty, r->dirty_count, &r->dirty_capacity, sizeof(*r->dirty));
	r->dirty[r->dirty_count++] = id;
	return true;
}

/* A prefix now holds acquisition `s`. The earlier one of two sections of a lock must be whole. */
static bool section_in(struct reorder *r, uint32_t thread, const struct constraint *s)
{
	struct lock *l = &r->lock[s->other];
	struct lock first = { r->queries, thread, s->order, s->until };

	if (l->query != r->queries) {
		*l = first;
		return true;
	}
	if (l->order < s->order) {
		struct lock swap = *l;

		*l = first;
		first = swap;
	}
	return first.until != UINT64_MAX && extend_prefix(r, first.thread, first.until + 1);
}

/* Follows the constraints of the thread's prefix that were not followed yet. */
static bool check_prefix(struct reorder *r, uint32_t id)
{
	while (r->threads[id].checked < r->threads[id].count) {
		const struct constraint *s = &r->threads[id].constraints[r->threads[id].checked];

		if (s->index >= r->threads[id].prefix)
			break;
		r->threads[id].checked++;
		r->work++;
		if (s->section ? !section_in(r, id, s) : !extend_prefix(r, s->other, s->until + 1))
			return false;
	}
	return true;
}

/* The prefix of the thread ends right before its event `index`. */
static bool set_limit(struct reorder *r, uint32_t thread, uint64_t index)
{
	extend_prefix(r, thread, 0);
	r->threads[thread].limit = index;
	return extend_prefix(r, thread, index);
}

enum reorder_answer reorder_ask(struct reorder *r, uint32_t thread, uint64_t index,
				const struct view *view)
{
	bool good;

	if (r->overflowed || r->work > FREE_WORK + WORK_PER_EVENT * r->events)
		return REORDER_UNKNOWN;
	r->queries++;
	r->dirty_count = 0;
	good = set_limit(r, thread, index) && set_limit(r, view->thread, view->index);
	while (good && r->dirty_count > 0)
		good = check_prefix(r, r->dirty[--r->dirty_count]);
	return good ? REORDER_YES : REORDER_NO;
}
