/*
 * Lost wake-ups: a thread checks some state under a mutex and waits on a condition; who
 * signals changes that state without the mutex (the change and the signal can come
 * between check and wait), or there is no state that both touch (a signal that
 * comes first is forgotten). Safe is a change made under the mutex, with the lock held
 * at the signal or not, and one after which the signaller takes the mutex; so is a
 * signaller that has seen, under the mutex, what the waiter wrote before it waited. A
 * condition may be signalled for several reasons: one that goes with state the waiter
 * checks is enough to take it that the others do, too.
 * Waits with a time limit end by themselves.
 *
 * Late wake-ups: the change and the signal are not one critical section. A waiter that comes
 * in between may use up what was changed without having to wait, and be woken for it later.
 * That does harm if it does not look again when it was woken.
 *
 * Bounded: of each thread the last RECENT accesses; for each condition SIDES_MAX waits
 * and signals that differ in thread or site, the newest of each.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/waits.h"
#include "base/map.h"
#include "base/mem.h"

#define RECENT 32u
#define SIDES_MAX 64u
#define STATE_MAX 12u
#define LOCKS_MAX 4u

struct touched {
	struct candidate_event at;
	bool read, write;
};

struct recent {
	struct touched at[RECENT];
	uint64_t count;
	size_t woken, wait;		/* the condition it was woken at, plus 1, and the wait; 0: long ago */
};

/* One side of a wake-up: a wait, or a signal. */
struct side {
	struct candidate_event at;
	uint64_t mutex;			/* wait: and when it was taken */
	uint64_t section_epoch;
	bool inside;
	struct candidate_event enter;	/* … the outermost section that it is in */
	struct {
		uint64_t lock, writes;	/* signal: granules written under it before such signals */
		uint64_t first;		/* where it was taken before this one, plus 1 */
	} under[LOCKS_MAX];
	uint64_t strong_epoch;
	struct vclock strong;
	struct touched state[STATE_MAX];	/* wait: in the section; signal: before it */
	size_t state_count;
	bool partial;			/* there was more than is known */
	bool woken, rechecks;		/* wait: ever; and then looked again under the mutex */
};

struct condition {
	struct side *waits, *wakes;
	size_t wait_count, wait_capacity, wake_count, wake_capacity;
};

struct wakeups {
	const struct analysis_context *ctx;
	const struct sections *sections;
	struct recent **threads;
	size_t thread_count;
	struct condition *conditions;
	size_t count, capacity;
	struct map at;			/* address -> 1 + number */
	uint64_t dropped;
};

struct wakeups *wakeups_new(const struct analysis_context *ctx, const struct sections *sections)
{
	struct wakeups *w = xcalloc(1, sizeof(*w));

	w->ctx = ctx;
	w->sections = sections;
	return w;
}

static void sides_free(struct side *sides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vclock_free(&sides[i].strong);
	free(sides);
}

void wakeups_free(struct wakeups *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		free(w->threads[i]);
	for (size_t i = 0; i < w->count; i++) {
		sides_free(w->conditions[i].waits, w->conditions[i].wait_count);
		sides_free(w->conditions[i].wakes, w->conditions[i].wake_count);
	}
	free(w->threads);
	free(w->conditions);
	map_free(&w->at);
	free(w);
}

static struct recent *recent_of(struct wakeups *w, uint32_t id)
{
	if (id >= w->thread_count) {
		size_t count = id + 16;

		w->threads = xrealloc(w->threads, count * sizeof(*w->threads));
		memset(w->threads + w->thread_count, 0,
		       (count - w->thread_count) * sizeof(*w->threads));
		w->thread_count = count;
	}
	if (!w->threads[id])
		w->threads[id] = xcalloc(1, sizeof(struct recent));
	return w->threads[id];
}

static struct condition *condition_of(struct wakeups *w, uint64_t addr)
{
	uint64_t *at = map_put(&w->at, addr, NULL);

	if (!*at) {
		w->conditions = xgrow(w->conditions, w->count, &w->capacity,
				      sizeof(*w->conditions));
		w->conditions[w->count] = (struct condition){ 0 };
		*at = ++w->count;
	}
	return &w->conditions[*at - 1];
}

/* The side for this thread and site: the newest moment replaces the one before. */
static struct side *side_put(struct side **sides, size_t *count, size_t *capacity,
			     const struct event *ev, const struct view *view)
{
	struct side *s;

	for (size_t i = 0; i < *count; i++)
		if ((*sides)[i].at.thread == view->thread && (*sides)[i].at.pc == ev->pc)
			return &(*sides)[i];
	if (*count == SIDES_MAX)
		return NULL;
	*sides = xgrow(*sides, *count, capacity, sizeof(**sides));
	s = &(*sides)[(*count)++];
	memset(s, 0, sizeof(*s));
	return s;
}

static void side_fill(struct side *s, const struct event *ev, const struct view *view)
{
	s->at = view_event(view, ev);
	s->strong_epoch = view->strong_epoch;
	vclock_copy(&s->strong, view->strong);
	s->state_count = 0;
	s->partial = false;
	for (size_t i = 0; i < LOCKS_MAX; i++)
		s->under[i].first = 0;	/* what was written under it before still tells */
}

/* Accesses since the thread's event `since`, newest first. */
static void side_state(struct wakeups *w, struct side *s, uint32_t thread, uint64_t since)
{
	const struct recent *t = recent_of(w, thread);

	for (uint64_t i = 1; i <= t->count && i <= RECENT; i++) {
		const struct touched *a = &t->at[(t->count - i) % RECENT];

		if (a->at.index < since)
			return;
		if (s->state_count == STATE_MAX) {
			s->partial = true;
			return;
		}
		s->state[s->state_count++] = *a;
	}
	s->partial = t->count > RECENT;
}

/* While the mutex is still held. */
static void wait_begins(struct wakeups *w, const struct event *ev, const struct view *view)
{
	const struct section *in = sections_around(w->sections, view->thread, ev->arg, view->index);
	struct condition *c;
	struct side *s;

	if ((ev->detail & TRACE_TIMED) || !in)
		return;
	c = condition_of(w, ev->addr);
	s = side_put(&c->waits, &c->wait_count, &c->wait_capacity, ev, view);
	w->dropped += !s;
	if (!s)
		return;
	side_fill(s, ev, view);
	s->mutex = ev->arg;
	s->enter = section_begin(in);
	recent_of(w, view->thread)->wait = (size_t)(s - c->waits);
	recent_of(w, view->thread)->woken = 0;
	s->section_epoch = in->strong_epoch;
	side_state(w, s, view->thread, in->first);
}

static void side_under(struct side *s, const struct section *in)
{
	for (size_t i = 0; i < LOCKS_MAX; i++) {
		if (s->under[i].lock && s->under[i].lock != in->lock)
			continue;
		if (!s->under[i].first)
			s->under[i].first = in->first + 1;	/* the newest comes first */
		s->under[i].lock = in->lock;
		s->under[i].writes |= in->writes;
		return;
	}
}

static void wakes(struct wakeups *w, const struct event *ev, const struct view *view)
{
	struct condition *c = condition_of(w, ev->addr);
	struct side *s = side_put(&c->wakes, &c->wake_count, &c->wake_capacity, ev, view);
	const struct section *in;
	size_t count;

	w->dropped += !s;
	if (!s)
		return;
	side_fill(s, ev, view);
	side_state(w, s, view->thread, 0);
	in = sections_held(w->sections, view->thread, &count);
	s->inside = count > 0;
	if (s->inside)
		s->enter = section_begin(&in[0]);
	for (size_t i = 0; i < count; i++)
		side_under(s, &in[i]);
	for (size_t i = 0; i < LOCKS_MAX && (in = sections_left(w->sections, view->thread, 0, i)); i++)
		side_under(s, in);
}

/* A thread goes on behind its wait. */
static void woken(struct wakeups *w, const struct event *ev, uint32_t thread)
{
	const uint64_t *at = map_find(&w->at, ev->addr);
	struct recent *t = recent_of(w, thread);

	for (size_t i = 0; at && i < w->conditions[*at - 1].wait_count; i++)
		if (w->conditions[*at - 1].waits[i].at.thread == thread && t->wait == i) {
			w->conditions[*at - 1].waits[i].woken = true;
			t->woken = *at;
		}
}

static bool overlap(const struct candidate_event *a, const struct candidate_event *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

static void looks_again(struct wakeups *w, const struct recent *t, const struct touched *a)
{
	struct side *s = &w->conditions[t->woken - 1].waits[t->wait];

	for (size_t i = 0; a->read && i < s->state_count; i++)
		s->rechecks |= overlap(&s->state[i].at, &a->at);
}

void wakeups_event(struct wakeups *w, const struct event *ev, const struct view *view)
{
	unsigned access = access_of(ev->kind);
	struct recent *t;

	if (access && !view_ignores(view, access)) {
		t = recent_of(w, view->thread);
		t->at[t->count++ % RECENT] = (struct touched){
			view_event(view, ev), access & ACCESS_READ, access & ACCESS_WRITE,
		};
		if (t->woken)
			looks_again(w, t, &t->at[(t->count - 1) % RECENT]);
	} else if (ev->kind == TRACE_COND_WAIT) {
		wait_begins(w, ev, view);
	} else if (ev->kind == TRACE_COND_SIGNAL || ev->kind == TRACE_COND_BROADCAST) {
		if (!ev->result)
			wakes(w, ev, view);
	} else if (ev->kind == TRACE_COND_WAKE) {
		woken(w, ev, view->thread);
	} else if (ev->kind == TRACE_MUTEX_UNLOCK) {
		recent_of(w, view->thread)->woken = 0;
	}
}

/* What the signaller did under the waiter's mutex: wrote this, or took it after `index`. */
static bool wrote_under(const struct side *wake, uint64_t mutex, uint64_t addr)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (wake->under[i].lock == mutex && (wake->under[i].writes & section_granule(addr)))
			return true;
	return false;
}

static bool took_after(const struct side *wake, uint64_t mutex, uint64_t index)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (wake->under[i].lock == mutex && wake->under[i].first > index + 1)
			return true;
	return false;
}

/*
 * Whether both touch, under the mutex or (the signaller) before it takes it, state that
 * one of them writes. A change that the mutex does not guard goes to *changed.
 */
static bool agreed(const struct wakeups *w, const struct side *wait, const struct side *wake,
		   const struct touched **checked, const struct touched **changed)
{
	bool common = wait->partial;

	*checked = *changed = NULL;
	for (size_t i = 0; i < wait->state_count; i++) {
		const struct touched *a = &wait->state[i];

		common |= wrote_under(wake, wait->mutex, a->at.addr);
		for (size_t k = 0; k < wake->state_count; k++) {
			const struct touched *b = &wake->state[k];
			bool guarded = locks_has(w->ctx->locks, b->at.lockset, wait->mutex) ||
				       took_after(wake, wait->mutex, b->at.index);

			if (!overlap(&a->at, &b->at) || !(a->write || b->write))
				continue;
			common |= guarded;
			if (a->read && b->write && !guarded && !*changed) {
				*checked = a;
				*changed = b;
			}
		}
	}
	return common;
}

/* `safe`: some signal of the condition goes with state that the waiter checks. */
static void lost_wake(struct wakeups *w, const struct side *wait, const struct side *wake, bool safe,
		      struct findings *out)
{
	struct candidate c = { .class = CANDIDATE_DEADLOCK, .pattern = "lost-wake",
			       .addr = wake->at.addr, .count = 1 };
	const struct touched *checked, *changed;

	agreed(w, wait, wake, &checked, &changed);
	if (wait->at.thread == wake->at.thread)
		return;
	if (vclock_saw(&wait->strong, wake->at.thread, wake->strong_epoch) ||
	    vclock_saw(&wake->strong, wait->at.thread, wait->strong_epoch)) {
		findings_pruned(out, PRUNE_HB, 1);
		return;
	}
	/* It knows that the other one has the mutex, and gets it only when that one waits. */
	if (vclock_saw(&wake->strong, wait->at.thread, wait->section_epoch) &&
	    took_after(wake, wait->mutex, 0)) {
		findings_pruned(out, PRUNE_LOCK, 1);
		return;
	}
	if (safe && !changed) {
		findings_pruned(out, PRUNE_LOCK, 1);
		return;
	}
	memset(c.hold, -1, sizeof(c.hold));
	if (changed) {
		c.event[c.events++] = checked->at;
		c.event[c.events++] = changed->at;
		c.order[c.orders++] = (struct candidate_order){ 0, 1 };
		c.addr2 = changed->at.addr;
		c.size2 = changed->at.size;
		c.note = "the state waited for is changed without the mutex";
	} else {
		c.note = "no state says that the signal was given before the wait";
	}
	c.order[c.orders++] = (struct candidate_order){ c.events, (uint8_t)(c.events + 1) };
	c.event[c.events++] = wake->at;
	c.event[c.events++] = wait->at;
	findings_add(out, &c);
}

/* A change before the section of the signal, and the first look at it in that of the wait. */
static bool apart(const struct side *wait, const struct side *wake, const struct touched **looked,
		  const struct touched **changed)
{
	*looked = *changed = NULL;
	for (size_t k = 0; k < wake->state_count && !*changed; k++) {
		const struct touched *b = &wake->state[k];

		if (!b->write || (wake->inside && b->at.index > wake->enter.index))
			continue;
		for (size_t i = 0; i < wait->state_count; i++)
			if (wait->state[i].read && overlap(&wait->state[i].at, &b->at)) {
				*looked = &wait->state[i];
				*changed = b;
			}
	}
	return *changed != NULL;
}

static void late_wake(struct wakeups *w, const struct side *wait, const struct side *wake,
		      struct findings *out)
{
	struct candidate c = { .class = CANDIDATE_ATOMICITY2, .pattern = "late-wake", .events = 4,
			       .orders = 2, .order = { { 0, 1 }, { 2, 3 } }, .count = 1,
			       .note = "the wake-up may come when what was changed is used up already" };
	const struct touched *looked, *changed;

	if (wait->at.thread == wake->at.thread || !wait->woken || wait->rechecks || !apart(wait, wake, &looked, &changed))
		return;
	if (vclock_saw(&wait->strong, wake->at.thread, wake->strong_epoch) ||
	    vclock_saw(&wake->strong, wait->at.thread, wait->strong_epoch)) {
		findings_pruned(out, PRUNE_HB, 1);
		return;
	}
	memset(c.hold, -1, sizeof(c.hold));
	c.addr = changed->at.addr;
	c.size = changed->at.size;
	c.addr2 = wake->at.addr;
	c.event[0] = changed->at;
	c.event[1] = looked->at;
	c.event[2] = wait->at;
	c.event[3] = wake->at;
	c.seen = changed->at.time < looked->at.time && wait->at.time < wake->at.time;
	if (locks_has(w->ctx->locks, changed->at.lockset, wait->mutex)) {
		c.hold[1] = (int8_t)c.events;
		c.event[c.events++] = wait->enter;
	}
	if (wake->inside) {
		c.hold[3] = (int8_t)c.events;
		c.event[c.events++] = wake->enter;
	}
	findings_add(out, &c);
}

void wakeups_finish(struct wakeups *w, struct findings *out)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct condition *c = &w->conditions[i];

		for (size_t a = 0; a < c->wait_count; a++) {
			const struct touched *checked, *changed;
			bool safe = false;

			for (size_t b = 0; b < c->wake_count; b++)
				safe |= agreed(w, &c->waits[a], &c->wakes[b], &checked, &changed);
			for (size_t b = 0; b < c->wake_count; b++)
				lost_wake(w, &c->waits[a], &c->wakes[b], safe, out);
			for (size_t b = 0; b < c->wake_count; b++)
				late_wake(w, &c->waits[a], &c->wakes[b], out);
		}
	}
	findings_dropped(out, w->dropped);
}
