/*
 * Waits that end in a deadlock because of what else happens, or never ended:
 *
 * - wait-hold: a thread waits (condition, semaphore, barrier, join, once) and still holds
 *   a lock that the other side takes before it wakes it.
 * - cancel-held: a thread may be cancelled within a critical section whose lock others
 *   need. Whether there is a cancellation point within, or cancelling was disabled,
 *   the trace does not say: a run will.
 * - stuck: the trace ends with all threads waiting.
 *
 * Bounded: the last wake-up of WAKERS_MAX threads for each condition, semaphore or
 * barrier, and the numbers below.
 */
#include "analyze/sync/blocked_waits.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/map.h"
#include "base/mem.h"

#define WAKERS_MAX 8u
#define CANCELS_MAX 256u
#define INSIDE_MAX 4u		/* locks taken by an initialiser that runs once */

struct thread {
	struct vclock entered;		/* strong, when it took the first of the locks it holds */
	uint32_t cancelled;		/* 1 + place in cancels */
	bool ended, blocked;
	struct candidate_event blocked_at;
};

/* The last signal or post of a thread. */
struct wake {
	uint32_t thread;
	uint64_t index;
};

struct object {
	uint64_t addr;
	bool posted_first;		/* a semaphore that does not begin with 0 */
	struct wake wakes[WAKERS_MAX];
	size_t wake_count;
};

/* An initialiser that others wait for. */
struct once {
	uint32_t thread;		/* who runs or ran it */
	uint64_t begun;
	struct section inside[INSIDE_MAX];
	size_t inside_count;
};

struct waits {
	const struct analysis_context *ctx;
	const struct sections *sections;
	struct thread **threads;
	size_t thread_count;
	struct object *objects;
	size_t object_count, object_capacity;
	struct map object_at;		/* address -> 1 + number */
	struct once *onces;
	size_t once_count, once_capacity;
	struct map once_at;		/* … */
	struct map taken;		/* lock -> 1 + thread that took it, UINT64_MAX: several */
	struct candidate *cancels;
	size_t cancel_count, cancel_capacity;
	struct candidate_event cancel_at[CANCELS_MAX];
	size_t cancelling;
	uint64_t dropped;
	struct map last_taken;		/* thread and lock -> 1 + number in takes */
	struct section *takes;
	size_t take_count, take_capacity;
};

struct waits *waits_new(const struct analysis_context *ctx, const struct sections *sections)
{
	struct waits *w = xcalloc(1, sizeof(*w));

	w->ctx = ctx;
	w->sections = sections;
	return w;
}

void waits_free(struct waits *w)
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
	free(w->takes);
	map_free(&w->object_at);
	map_free(&w->once_at);
	map_free(&w->taken);
	map_free(&w->last_taken);
	free(w);
}

static struct thread *thread_of(struct waits *w, uint32_t id)
{
	w->threads = xreach(w->threads, id, &w->thread_count, sizeof(*w->threads));
	if (!w->threads[id])
		w->threads[id] = xcalloc(1, sizeof(struct thread));
	return w->threads[id];
}

static struct object *object_of(struct waits *w, uint64_t addr)
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

static uint64_t pair(uint32_t thread, uint64_t lock)
{
	return (uint64_t)thread << 48 ^ lock;
}

static void wakes(struct waits *w, const struct event *ev, const struct view *view)
{
	struct object *o = object_of(w, ev->addr);
	size_t i = 0;

	while (i < o->wake_count && o->wakes[i].thread != view->thread)
		i++;
	if (i == WAKERS_MAX)
		return;
	if (i == o->wake_count)
		o->wake_count++;
	o->wakes[i] = (struct wake){ view->thread, view->index };
}

static void tell_hold(const struct section *mine, const struct section *theirs,
		      const struct event *ev, const struct view *view, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_WAIT_HOLD, .events = 3, .orders = 1,
			       .order = { { 0, 1 } }, .addr = mine->lock, .addr2 = ev->addr, .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = section_begin(mine);
	c.event[1] = section_begin(theirs);
	c.event[2] = view_event(view, ev);
	findings_add(out, &c);
}

/*
 * The thread has come through a wait that `waker` ended with its event `until`. All
 * that it holds it held before, so the waker's last acquisition was earlier: had it come
 * second, nobody would have moved.
 */
static void waited(struct waits *w, uint32_t waker, uint64_t until, const struct event *ev,
		   const struct view *view, struct findings *out)
{
	struct thread *t = thread_of(w, view->thread);
	const struct section *held;
	size_t count;

	held = sections_held(w->sections, view->thread, &count);
	for (size_t i = 0; i < count && waker != view->thread; i++) {
		const uint64_t *n = map_find(&w->last_taken, pair(waker, held[i].lock));
		const struct section *s = n ? &w->takes[*n - 1] : NULL;

		if (!s || s->first > until || !s->patient || (s->shared && held[i].shared) ||
		    (ev->kind == TRACE_COND_WAKE && held[i].lock == ev->arg) ||
		    vclock_saw(&t->entered, waker, s->strong_epoch))
			continue;
		tell_hold(&held[i], s, ev, view, out);
	}
}

static void waited_for_object(struct waits *w, const struct event *ev, const struct view *view,
			      struct findings *out)
{
	const struct object *o = object_of(w, ev->addr);

	for (size_t i = 0; i < o->wake_count && !o->posted_first; i++)
		waited(w, o->wakes[i].thread, o->wakes[i].index, ev, view, out);
}

static void once_begins(struct waits *w, const struct event *ev, const struct view *view)
{
	uint64_t *at = map_put(&w->once_at, ev->addr, NULL);

	if (!*at) {
		w->onces = xgrow(w->onces, w->once_count, &w->once_capacity, sizeof(*w->onces));
		*at = ++w->once_count;
	}
	w->onces[*at - 1] = (struct once){ .thread = view->thread, .begun = view->index };
}

static void once_ends(struct waits *w, const struct event *ev, const struct view *view)
{
	const uint64_t *at = map_find(&w->once_at, ev->addr);
	struct once *o = at ? &w->onces[*at - 1] : NULL;
	const struct section *s;

	if (!o || o->thread != view->thread)
		return;
	for (size_t back = 0; (s = sections_left(w->sections, view->thread, 0, back)); back++) {
		if (s->last < o->begun)
			break;
		if (s->first < o->begun || !s->patient)
			continue;
		if (o->inside_count == INSIDE_MAX) {
			w->dropped++;
			break;
		}
		o->inside[o->inside_count++] = *s;
	}
}

/* It came when all was done; earlier, it would have waited for that with what it holds. */
static void once_passes(struct waits *w, const struct event *ev, const struct view *view,
			struct findings *out)
{
	const uint64_t *at = map_find(&w->once_at, ev->addr);
	const struct once *o = at ? &w->onces[*at - 1] : NULL;
	const struct thread *t = thread_of(w, view->thread);
	const struct section *held;
	size_t count;

	if (!o || !o->inside_count || o->thread == view->thread)
		return;
	held = sections_held(w->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < o->inside_count; k++) {
			const struct section *s = &o->inside[k];

			if (s->lock == held[i].lock && !(s->shared && held[i].shared) &&
			    !vclock_saw(&t->entered, s->thread, s->strong_epoch))
				tell_hold(&held[i], s, ev, view, out);
		}
}

static void cancel_add(struct waits *w, const struct section *s, const struct candidate_event *at)
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

/* Sections not strongly before the cancelling: the newest few. */
static void cancels(struct waits *w, const struct event *ev, const struct view *view)
{
	struct candidate_event at = view_event(view, ev);
	uint32_t target = (uint32_t)ev->arg;
	size_t told = 0;

	if (w->cancelling == CANCELS_MAX || target == view->thread || !target)
		return;
	w->cancel_at[w->cancelling++] = at;
	thread_of(w, target)->cancelled = (uint32_t)w->cancelling;
	for (size_t i = 0; i < w->take_count && told < 16; i++) {
		const struct section *s = &w->takes[w->take_count - 1 - i];
		const struct section *left;

		if (s->thread != target || vclock_saw(view->strong, target, s->strong_epoch))
			continue;
		left = sections_left(w->sections, target, s->lock, 0);
		if (left)
			cancel_add(w, left, &at);
		told++;
	}
}

static void took(struct waits *w, const struct event *ev, const struct view *view)
{
	const struct section *held;
	uint64_t *by, *n;
	size_t count;

	held = sections_held(w->sections, view->thread, &count);
	if (count == 1)
		vclock_copy(&thread_of(w, view->thread)->entered, view->strong);
	by = map_put(&w->taken, held[count - 1].lock, NULL);
	if (*by != view->thread + 1ull)
		*by = *by ? UINT64_MAX : view->thread + 1ull;
	if (ev->kind == TRACE_COND_WAKE)
		return;		/* it had to be taken before */
	n = map_put(&w->last_taken, pair(view->thread, held[count - 1].lock), NULL);
	if (!*n) {
		w->takes = xgrow(w->takes, w->take_count, &w->take_capacity, sizeof(*w->takes));
		*n = ++w->take_count;
	}
	w->takes[*n - 1] = held[count - 1];
}

void waits_event(struct waits *w, const struct event *ev, const struct view *view,
		 enum section_change change, struct findings *out)
{
	struct thread *t = thread_of(w, view->thread);

	if (change == SECTION_BEGUN)
		took(w, ev, view);
	if (change == SECTION_ENDED && t->cancelled)
		cancel_add(w, sections_left(w->sections, view->thread,
					    trace_lock(ev->kind, ev->addr, ev->arg), 0),
			   &w->cancel_at[t->cancelled - 1]);
	switch (ev->kind) {
	case TRACE_SEM_INIT:
		object_of(w, ev->addr)->posted_first = ev->arg != 0;
		break;
	case TRACE_COND_SIGNAL:
	case TRACE_COND_BROADCAST:
	case TRACE_SEM_POST:
	case TRACE_BARRIER_ENTER:
		if (!ev->result)
			wakes(w, ev, view);
		break;
	case TRACE_COND_WAKE:
	case TRACE_SEM_WAIT:
	case TRACE_BARRIER_LEAVE:
		if (!ev->result && !(ev->detail & TRACE_TIMED))
			waited_for_object(w, ev, view, out);
		break;
	case TRACE_THREAD_JOIN:
		if (!ev->result && !(ev->detail & TRACE_TIMED))
			waited(w, (uint32_t)ev->arg, UINT64_MAX, ev, view, out);
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
			cancels(w, ev, view);
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

/* Who waits in a system call may be woken from outside. */
static void stuck(struct waits *w, struct findings *out)
{
	for (size_t i = 0; i < w->thread_count; i++) {
		const struct thread *t = w->threads[i];

		if (t && !t->ended && (!t->blocked || t->blocked_at.kind == TRACE_CALL_ENTER))
			return;
	}
	for (size_t i = 0; i < w->thread_count; i++) {
		const struct thread *t = w->threads[i];
		struct candidate c = { .pattern = PATTERN_STUCK, .seen = true, .events = 1, .count = 1 };

		if (!t || !t->blocked)
			continue;
		memset(c.hold, -1, sizeof(c.hold));
		c.event[0] = t->blocked_at;
		c.addr = t->blocked_at.addr;
		findings_add(out, &c);
	}
}

void waits_finish(struct waits *w, struct findings *out)
{
	for (size_t i = 0; i < w->cancel_count; i++) {
		const uint64_t *by = map_find(&w->taken, w->cancels[i].addr);

		if (by && *by == UINT64_MAX)
			findings_add(out, &w->cancels[i]);
	}
	stuck(w, out);
	findings_dropped(out, w->dropped);
}
