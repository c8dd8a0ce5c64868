#include "analyze/sync/lost_wakeup.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/mem.h"

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
	w->threads = xreach(w->threads, id, &w->thread_count, sizeof(*w->threads));
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

static void looks_again(struct wakeups *w, const struct recent *t, const struct touched *a)
{
	struct side *s = &w->conditions[t->woken - 1].waits[t->wait];

	for (size_t i = 0; a->read && i < s->state_count; i++)
		s->rechecks |= touched_overlap(&s->state[i].at, &a->at);
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
	} else if (trace_roles(ev->kind) & ROLE_NOTIFY) {
		if (!ev->result)
			wakes(w, ev, view);
	} else if (ev->kind == TRACE_COND_WAKE) {
		woken(w, ev, view->thread);
	} else if (ev->kind == TRACE_MUTEX_UNLOCK) {
		recent_of(w, view->thread)->woken = 0;
	}
}
