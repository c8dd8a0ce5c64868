/*
 * Waits that block for ever:
 *
 * - wait-hold: a thread waits (condition, semaphore, barrier, join, once) and holds a lock that
 *   another thread takes before it wakes the first.
 * - cancel-held: a thread may be cancelled within a critical section whose lock other threads need.
 *   The trace does not say whether there is a cancellation point within, or whether cancelling was
 *   disabled; a controlled run will show it.
 * - stuck: the trace ends with all threads blocked.
 *
 * Bounded: for each condition, semaphore or barrier the last wake-up by each of WAKEUPS_MAX
 * threads; CANCELS_MAX cancellations and as many candidates of cancel-held.
 */
#include "analyze/sync/blocked_waits.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/map.h"
#include "base/mem.h"

#define WAKEUPS_MAX 8u		/* threads whose last wake-up of an object is kept */
#define CANCELS_MAX 256u	/* cancellations, and candidates of cancel-held */
#define ONCE_SECTIONS_MAX 4u	/* critical sections kept of an initialiser that runs once */

struct thread {
	struct vclock entered;		/* view.strong when the thread took its outermost lock */
	uint32_t cancelled;		/* 1 + index in cancel_at of its last cancellation */
	bool ended, blocked;
	struct candidate_event blocked_at;	/* `kind`: of the operation that blocks */
};

/* The last event of a thread that can end a wait on an object: signal, post, barrier entry. */
struct wakeup {
	uint32_t thread;
	uint64_t index;
};

struct object {
	uint64_t addr;
	bool nonzero_first;		/* a semaphore with an initial value other than 0 */
	struct wakeup wakeups[WAKEUPS_MAX];
	size_t wakeup_count;
};

/*
 * An initialiser that runs once (pthread_once, static variables); other threads wait for its end.
 */
struct once {
	uint32_t thread;		/* that runs or ran it */
	uint64_t begin;			/* its event in that thread */
	struct section section[ONCE_SECTIONS_MAX];
	size_t section_count;
};

struct blocked_waits {
	const struct analysis_context *ctx;
	const struct sections *sections;
	struct thread **threads;
	size_t thread_count;
	struct object *objects;
	size_t object_count, object_capacity;
	struct map object_at;		/* address -> 1 + index in objects */
	struct once *onces;
	size_t once_count, once_capacity;
	struct map once_at;		/* address -> 1 + index in onces */
	struct map takers;		/* lock -> 1 + thread that took it, UINT64_MAX: several */
	/* Of cancel-held; dropped at the end if only one thread takes the lock. */
	struct candidate *cancels;
	size_t cancel_count, cancel_capacity;
	struct candidate_event cancel_at[CANCELS_MAX];
	size_t cancel_at_count;
	uint64_t dropped;
	struct map last_section_at;		/* thread and lock -> 1 + number in last_sections */
	struct section *last_sections;
	size_t last_section_count, last_section_capacity;
};

struct blocked_waits *blocked_waits_new(const struct analysis_context *ctx,
					const struct sections *sections)
{
	struct blocked_waits *w = xcalloc(1, sizeof(*w));

	w->ctx = ctx;
	w->sections = sections;
	return w;
}

void blocked_waits_free(struct blocked_waits *w)
{
	for (size_t i = 0; i < w->thread_count; i++) {
		if (w->threads[i])
			vclock_free(&w->threads[i]->entered);
		free(w->threads[i]);
	}
	free(w->threads);
	free(w->objects);
	free(w->onces);
	free(w->cancels);
	free(w->last_sections);
	map_free(&w->object_at);
	map_free(&w->once_at);
	map_free(&w->takers);
	map_free(&w->last_section_at);
	free(w);
}

static struct thread *thread_of(struct blocked_waits *w, uint32_t id)
{
	w->threads = xreach(w->threads, id, &w->thread_count, sizeof(*w->threads));
	if (!w->threads[id])
		w->threads[id] = xcalloc(1, sizeof(struct thread));
	return w->threads[id];
}

static struct object *object_of(struct blocked_waits *w, uint64_t addr)
{
	uint64_t *at = map_put(&w->object_at, addr, NULL);

	if (!*at) {
		w->objects = xgrow(w->objects, w->object_count, &w->object_capacity,
				   sizeof(*w->objects));
		w->objects[w->object_count] = (struct object){ .addr = addr };
		*at = ++w->object_count;
	}
	return &w->objects[*at - 1];
}

static uint64_t thread_lock_key(uint32_t thread, uint64_t lock)
{
	return (uint64_t)thread << 48 ^ lock;
}

static void note_wakeup(struct blocked_waits *w, const struct event *ev, const struct view *view)
{
	struct object *o = object_of(w, ev->addr);
	size_t i = 0;

	while (i < o->wakeup_count && o->wakeups[i].thread != view->thread)
		i++;
	if (i == WAKEUPS_MAX)
		return;
	if (i == o->wakeup_count)
		o->wakeup_count++;
	o->wakeups[i] = (struct wakeup){ view->thread, view->index };
}

static void emit_wait_hold(const struct section *mine, const struct section *theirs,
			   const struct event *ev, const struct view *view, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_WAIT_HOLD, .events = 3, .orders = 1,
			       .order = { { 0, 1 } }, .addr = mine->lock, .addr2 = ev->addr,
			       .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = section_begin(mine);
	c.event[1] = section_begin(theirs);
	c.event[2] = view_event(view, ev);
	findings_add(out, &c);
}

/*
 * A wait of the thread has returned; event `until` of `waker` ended it. For each lock that the
 * thread holds, finds the waker's last section of that lock before `until`. In this run the waker
 * entered the section before the thread took the lock. In the other order the waker would block on
 * the lock and could not end the wait.
 */
static void wait_ended(struct blocked_waits *w, uint32_t waker, uint64_t until,
		       const struct event *ev, const struct view *view, struct findings *out)
{
	struct thread *t = thread_of(w, view->thread);
	const struct section *held;
	size_t count;

	held = sections_held(w->sections, view->thread, &count);
	for (size_t i = 0; i < count && waker != view->thread; i++) {
		const uint64_t *n = map_find(&w->last_section_at,
					     thread_lock_key(waker, held[i].lock));
		const struct section *s = n ? &w->last_sections[*n - 1] : NULL;

		if (!s || s->first > until || !s->patient || (s->shared && held[i].shared) ||
		    (ev->kind == TRACE_COND_WAKE && held[i].lock == ev->arg) ||
		    vclock_saw(&t->entered, waker, s->strong_epoch))
			continue;
		emit_wait_hold(&held[i], s, ev, view, out);
	}
}

static void object_wait_ended(struct blocked_waits *w, const struct event *ev,
			      const struct view *view, struct findings *out)
{
	const struct object *o = object_of(w, ev->addr);

	for (size_t i = 0; i < o->wakeup_count && !o->nonzero_first; i++)
		wait_ended(w, o->wakeups[i].thread, o->wakeups[i].index, ev, view, out);
}

static void once_begins(struct blocked_waits *w, const struct event *ev, const struct view *view)
{
	uint64_t *at = map_put(&w->once_at, ev->addr, NULL);

	if (!*at) {
		w->onces = xgrow(w->onces, w->once_count, &w->once_capacity, sizeof(*w->onces));
		*at = ++w->once_count;
	}
	w->onces[*at - 1] = (struct once){ .thread = view->thread, .begin = view->index };
}

static void once_ends(struct blocked_waits *w, const struct event *ev, const struct view *view)
{
	const uint64_t *at = map_find(&w->once_at, ev->addr);
	struct once *o = at ? &w->onces[*at - 1] : NULL;
	const struct section *s;

	if (!o || o->thread != view->thread)
		return;
	for (size_t back = 0; (s = sections_left(w->sections, view->thread, 0, back)); back++) {
		if (s->last < o->begin)
			break;
		if (s->first < o->begin || !s->patient)
			continue;
		if (o->section_count == ONCE_SECTIONS_MAX) {
			w->dropped++;
			break;
		}
		o->section[o->section_count++] = *s;
	}
}

/*
 * The thread finds that the initialiser has run. If it came earlier, it would wait for the
 * initialiser while it holds its locks, and the initialiser may need one of them.
 */
static void once_passes(struct blocked_waits *w, const struct event *ev, const struct view *view,
			struct findings *out)
{
	const uint64_t *at = map_find(&w->once_at, ev->addr);
	const struct once *o = at ? &w->onces[*at - 1] : NULL;
	const struct thread *t = thread_of(w, view->thread);
	const struct section *held;
	size_t count;

	if (!o || !o->section_count || o->thread == view->thread)
		return;
	held = sections_held(w->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < o->section_count; k++) {
			const struct section *s = &o->section[k];

			if (s->lock == held[i].lock && !(s->shared && held[i].shared) &&
			    !vclock_saw(&t->entered, s->thread, s->strong_epoch))
				emit_wait_hold(&held[i], s, ev, view, out);
		}
}

static void cancel_add(struct blocked_waits *w, const struct section *s,
		       const struct candidate_event *at)
{
	struct candidate c = { .pattern = PATTERN_CANCEL_HELD, .events = 3, .orders = 2,
			       .order = { { 0, 1 }, { 1, 2 } }, .addr = s->lock, .count = 1 };

	for (size_t i = 0; i < w->cancel_count; i++)
		if (w->cancels[i].event[0].pc == s->pc && w->cancels[i].event[1].pc == at->pc &&
		    w->cancels[i].event[2].pc == s->end_pc && w->cancels[i].addr == s->lock)
			return;
	if (w->cancel_count == CANCELS_MAX) {
		w->dropped++;
		return;
	}
	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = section_begin(s);
	c.event[1] = *at;
	c.event[2] = section_end(s);
	w->cancels = xgrow(w->cancels, w->cancel_count, &w->cancel_capacity, sizeof(*w->cancels));
	w->cancels[w->cancel_count++] = c;
}

/*
 * Adds cancel-held for at most 16 locks of the target: those whose last section did not begin
 * strongly before the cancellation.
 */
static void on_cancel(struct blocked_waits *w, const struct event *ev, const struct view *view)
{
	struct candidate_event at = view_event(view, ev);
	uint32_t target = (uint32_t)ev->arg;
	size_t count = 0;

	if (w->cancel_at_count == CANCELS_MAX || target == view->thread || !target)
		return;
	w->cancel_at[w->cancel_at_count++] = at;
	thread_of(w, target)->cancelled = (uint32_t)w->cancel_at_count;
	for (size_t i = 0; i < w->last_section_count && count < 16; i++) {
		const struct section *s = &w->last_sections[w->last_section_count - 1 - i];
		const struct section *left;

		if (s->thread != target || vclock_saw(view->strong, target, s->strong_epoch))
			continue;
		left = sections_left(w->sections, target, s->lock, 0);
		if (left)
			cancel_add(w, left, &at);
		count++;
	}
}

static void on_acquired(struct blocked_waits *w, const struct event *ev, const struct view *view)
{
	const struct section *held;
	uint64_t *by, *n;
	size_t count;

	held = sections_held(w->sections, view->thread, &count);
	if (count == 1)
		vclock_copy(&thread_of(w, view->thread)->entered, view->strong);
	by = map_put(&w->takers, held[count - 1].lock, NULL);
	if (*by != view->thread + 1ull)
		*by = *by ? UINT64_MAX : view->thread + 1ull;
	if (ev->kind == TRACE_COND_WAKE)
		return;		/* the wait that returns held the mutex before */
	n = map_put(&w->last_section_at, thread_lock_key(view->thread, held[count - 1].lock), NULL);
	if (!*n) {
		w->last_sections = xgrow(w->last_sections, w->last_section_count,
					 &w->last_section_capacity, sizeof(*w->last_sections));
		*n = ++w->last_section_count;
	}
	w->last_sections[*n - 1] = held[count - 1];
}

void blocked_waits_event(struct blocked_waits *w, const struct event *ev, const struct view *view,
			 enum section_change change, struct findings *out)
{
	struct thread *t = thread_of(w, view->thread);

	if (change == SECTION_BEGUN)
		on_acquired(w, ev, view);
	if (change == SECTION_ENDED && t->cancelled)
		cancel_add(w, sections_left(w->sections, view->thread,
					    trace_lock(ev->kind, ev->addr, ev->arg), 0),
			   &w->cancel_at[t->cancelled - 1]);
	switch (ev->kind) {
	case TRACE_SEM_INIT:
		object_of(w, ev->addr)->nonzero_first = ev->arg != 0;
		break;
	case TRACE_COND_SIGNAL:
	case TRACE_COND_BROADCAST:
	case TRACE_SEM_POST:
	case TRACE_BARRIER_ENTER:
		if (!ev->result)
			note_wakeup(w, ev, view);
		break;
	case TRACE_COND_WAKE:
	case TRACE_SEM_WAIT:
	case TRACE_BARRIER_LEAVE:
		if (!ev->result && !(ev->detail & TRACE_TIMED))
			object_wait_ended(w, ev, view, out);
		break;
	case TRACE_THREAD_JOIN:
		if (!ev->result && !(ev->detail & TRACE_TIMED))
			wait_ended(w, (uint32_t)ev->arg, UINT64_MAX, ev, view, out);
		break;
	case TRACE_ONCE_BEGIN:
		once_begins(w, ev, view);
		break;
	case TRACE_ONCE_END:
	case TRACE_GUARD_RELEASE:
		once_ends(w, ev, view);
		break;
	case TRACE_ONCE_PASS:
		once_passes(w, ev, view, out);
		break;
	case TRACE_GUARD_ACQUIRE:	/* 1: this thread is to initialise */
		if (ev->result == 1)
			once_begins(w, ev, view);
		else
			once_passes(w, ev, view, out);
		break;
	case TRACE_THREAD_CANCEL:
		if (!ev->result)
			on_cancel(w, ev, view);
		break;
	case TRACE_THREAD_EXIT:
		t->ended = true;
		break;
	case TRACE_BLOCKED:
		t->blocked = true;
		t->blocked_at = view_event(view, ev);
		t->blocked_at.kind = (uint16_t)ev->arg;
		break;
	default:
		break;
	}
}

/*
 * Reports the waits with which the trace ends, if all threads are blocked. A thread in a system
 * call does not count as blocked: another process may wake it.
 */
static void emit_stuck(struct blocked_waits *w, struct findings *out)
{
	for (size_t i = 0; i < w->thread_count; i++) {
		const struct thread *t = w->threads[i];

		if (t && !t->ended && (!t->blocked || t->blocked_at.kind == TRACE_CALL_ENTER))
			return;
	}
	for (size_t i = 0; i < w->thread_count; i++) {
		const struct thread *t = w->threads[i];
		struct candidate c = { .pattern = PATTERN_STUCK, .seen = true, .events = 1,
				       .count = 1 };

		if (!t || !t->blocked)
			continue;
		memset(c.hold, -1, sizeof(c.hold));
		c.event[0] = t->blocked_at;
		c.addr = t->blocked_at.addr;
		findings_add(out, &c);
	}
}

void blocked_waits_finish(struct blocked_waits *w, struct findings *out)
{
	for (size_t i = 0; i < w->cancel_count; i++) {
		const uint64_t *by = map_find(&w->takers, w->cancels[i].addr);

		if (by && *by == UINT64_MAX)
			findings_add(out, &w->cancels[i]);
	}
	emit_stuck(w, out);
	findings_dropped(out, w->dropped);
}
