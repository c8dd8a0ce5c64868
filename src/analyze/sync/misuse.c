/*
 * Misuse of synchronisation that the trace itself shows: nothing is predicted, the event happened
 * (candidate.seen). Either a call returned an error, or the behaviour was undefined and did no harm
 * this time.
 *
 * not-held     unlock of a lock that the thread does not hold
 * relock       a thread locks what it holds, and the lock is not recursive
 * wait-nolock  wait on a condition without its mutex
 * two-mutexes  concurrent waits on one condition with different mutexes
 * destroy-use  an object is destroyed while held, waited on or entered
 * reinit       an object is initialised again without being destroyed
 * redestroy    an object is destroyed again
 * use-dead     an object is used after it was destroyed
 * join-twice   a thread is joined again
 * join-detach  a detached thread is joined
 * join-self    a thread joins itself
 * detach-bad   a joined or detached thread is detached
 * end-held     a thread ended with a lock held, and no thread recovered it as a robust mutex
 * exit-held    the process exits from within a critical section
 *
 * Left out: locks that a thread seems not to hold, if records were lost; a lock that the first
 * thread of the trace releases before any thread took it, because the trace may be of a forked
 * child whose parent took it. Returned errors are always reported. Objects on a stack may end
 * without being destroyed: reinit, redestroy and use-dead are not reported for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/read/kinds.h"

#define PAGE_SHIFT 12

struct object {
	uint64_t addr;
	enum { LIFE_UNKNOWN, LIFE_ALIVE, LIFE_DEAD } life;
	struct candidate_event made, ended;	/* last initialisation, last destruction */
	uint32_t users;				/* holders, waiters, threads in the barrier */
	struct candidate_event user;		/* the event that made the newest user one */
	uint64_t mutex;				/* condition: of the last wait */
	struct candidate_event orphan_acquired;	/* a lock whose holder ended: its acquisition */
	struct candidate_event holder_end;	/* the holder's end; thread 0: none, or recovered */
	/* 1 + index of the next object in the page; 0: none */
	uint32_t next;
};

struct thread {
	struct candidate_event joined, detached;	/* thread 0: not yet */
	bool lost;				/* some of its records are */
};

struct misuse {
	struct sections *sections;
	const struct reader *reader;
	struct object *objects;
	size_t count, capacity;
	struct map at;		/* address -> 1 + index in objects */
	struct map pages;	/* page number -> 1 + index of the first object in it */
	struct thread *threads;
	size_t thread_count;
	uint32_t first;		/* thread of the first event */
};

static void *misuse_open(const struct analysis_context *ctx)
{
	struct misuse *m = xcalloc(1, sizeof(*m));

	m->reader = ctx->reader;
	m->sections = sections_new();
	return m;
}

static void misuse_close(void *state)
{
	struct misuse *m = state;

	sections_free(m->sections);
	free(m->objects);
	free(m->threads);
	map_free(&m->at);
	map_free(&m->pages);
	free(m);
}

static struct thread *thread_of(struct misuse *m, uint32_t id)
{
	m->threads = xreach(m->threads, id, &m->thread_count, sizeof(*m->threads));
	return &m->threads[id];
}

static struct object *object_of(struct misuse *m, uint64_t addr)
{
	uint64_t *at = map_put(&m->at, addr, NULL), *page;

	if (!*at) {
		m->objects = xgrow(m->objects, m->count, &m->capacity, sizeof(*m->objects));
		page = map_put(&m->pages, addr >> PAGE_SHIFT, NULL);
		m->objects[m->count] = (struct object){ .addr = addr, .next = (uint32_t)*page };
		*at = *page = ++m->count;
	}
	return &m->objects[*at - 1];
}

static bool on_a_stack(const struct misuse *m, uint64_t addr)
{
	const struct reader_info *info = reader_info(m->reader);

	for (size_t i = 0; i < info->thread_count; i++)
		if (addr >= info->threads[i].stack_low && addr < info->threads[i].stack_high)
			return true;
	return false;
}

/* `before` is the event that makes `at` wrong; thread 0 or NULL: there is none. */
static void emit_pair(struct findings *out, enum pattern pattern,
		      const struct candidate_event *before, const struct candidate_event *at)
{
	struct candidate c = { .pattern = pattern, .seen = true, .addr = at->addr, .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	if (before && before->thread) {
		c.event[c.events++] = *before;
		c.order[c.orders++] = (struct candidate_order){ 0, 1 };
	}
	c.event[c.events++] = *at;
	findings_add(out, &c);
}

static void emit(struct findings *out, enum pattern pattern, const struct candidate_event *before,
		 const struct event *ev, const struct view *view)
{
	struct candidate_event at = view_event(view, ev);

	emit_pair(out, pattern, before, &at);
}

static void emit_orphan(const struct object *o, struct findings *out)
{
	if (o->holder_end.thread)
		emit_pair(out, PATTERN_END_HELD, &o->orphan_acquired, &o->holder_end);
}

static void forget(struct object *o, uint64_t addr, uint64_t size, struct findings *out)
{
	if (o->addr - addr >= size)
		return;
	emit_orphan(o, out);
	*o = (struct object){ .addr = o->addr, .next = o->next };
}

static void forget_memory(struct misuse *m, uint64_t addr, uint64_t size, struct findings *out)
{
	uint64_t first = addr >> PAGE_SHIFT, last = (addr + size - 1) >> PAGE_SHIFT;

	if (last - first >= m->count) {
		for (size_t i = 0; i < m->count; i++)
			forget(&m->objects[i], addr, size, out);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		const uint64_t *n = map_find(&m->pages, page);

		for (uint64_t i = n ? *n : 0; i; i = m->objects[i - 1].next)
			forget(&m->objects[i - 1], addr, size, out);
	}
}

static bool is_init(unsigned kind)
{
	return trace_roles(kind) & ROLE_INIT;
}

static bool is_destroy(unsigned kind)
{
	return trace_roles(kind) & ROLE_DESTROY;
}

static void track_life(struct misuse *m, struct object *o, const struct event *ev,
		       const struct view *view, struct findings *out)
{
	if (is_init(ev->kind)) {
		if (ev->result)
			return;
		if (o->life == LIFE_ALIVE && !on_a_stack(m, ev->addr))
			emit(out, PATTERN_REINIT, &o->made, ev, view);
		o->life = LIFE_ALIVE;
		o->made = view_event(view, ev);
		o->users = 0;
	} else if (is_destroy(ev->kind)) {
		if (o->life == LIFE_DEAD && !on_a_stack(m, ev->addr))
			emit(out, PATTERN_REDESTROY, &o->ended, ev, view);
		else if (o->users || ev->result == EBUSY)
			emit(out, PATTERN_DESTROY_USE, &o->user, ev, view);
		if (ev->result)
			return;
		o->life = LIFE_DEAD;
		o->ended = view_event(view, ev);
		o->users = 0;
	} else if (o->life == LIFE_DEAD && ev->kind != TRACE_COND_WAKE &&
		   ev->kind != TRACE_BARRIER_LEAVE && !on_a_stack(m, ev->addr)) {
		/* Not for the end of a wait: that thread was woken before the destruction. */
		emit(out, PATTERN_USE_DEAD, &o->ended, ev, view);
	}
}

static void enter(struct object *o, const struct event *ev, const struct view *view)
{
	o->users++;
	o->user = view_event(view, ev);
}

static void leave(struct object *o)
{
	o->users -= o->users > 0;
}

/* The thread may hold the lock though the trace does not show its acquisition. */
static bool may_hold_unseen(struct misuse *m, uint64_t lock, uint32_t thread)
{
	return thread_of(m, thread)->lost || (thread == m->first && !map_find(&m->at, lock));
}

static void on_wait(struct object *o, bool not_held, const struct event *ev,
		    const struct view *view, struct findings *out)
{
	if (not_held)
		emit(out, PATTERN_WAIT_NOLOCK, NULL, ev, view);
	if (o->users && o->mutex != ev->arg)
		emit(out, PATTERN_TWO_MUTEXES, &o->user, ev, view);
	o->mutex = ev->arg;
	enter(o, ev, view);
}

static void on_object(struct misuse *m, const struct event *ev, const struct view *view,
		      struct findings *out)
{
	/* Semaphores have no holder: any thread may post, and no post need follow a wait. */
	enum section_change change = kind_class(ev->kind) == TRACE_CLASS_SEM ? SECTION_NONE :
				     sections_event(m->sections, ev, view);
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);
	bool not_held = change == SECTION_UNHELD && !may_hold_unseen(m, lock, view->thread);
	struct object *o = object_of(m, ev->addr);

	track_life(m, o, ev, view, out);
	if (ev->result == EOWNERDEAD) {
		o->holder_end.thread = 0;
		leave(o);
	}
	if (ev->result == EDEADLK)
		emit(out, PATTERN_RELOCK, o->users ? &o->user : NULL, ev, view);
	if (ev->kind == TRACE_COND_WAIT) {
		on_wait(o, not_held, ev, view, out);
		leave(object_of(m, ev->arg));
	} else if (ev->kind == TRACE_COND_WAKE) {
		leave(o);
		if (ev->result == EPERM)
			emit(out, PATTERN_WAIT_NOLOCK, NULL, ev, view);
		else
			enter(object_of(m, ev->arg), ev, view);
	} else if (change == SECTION_BEGUN || (ev->kind == TRACE_BARRIER_ENTER && !ev->result)) {
		enter(o, ev, view);
	} else if (change == SECTION_ENDED || ev->kind == TRACE_BARRIER_LEAVE) {
		leave(o);
	} else if (not_held || ev->result == EPERM) {
		emit(out, PATTERN_NOT_HELD, o->users ? &o->user : NULL, ev, view);
	}
}

static void on_thread(struct misuse *m, const struct event *ev, const struct view *view,
		      struct findings *out)
{
	struct thread *t = ev->arg ? thread_of(m, (uint32_t)ev->arg) : NULL;

	if (ev->kind == TRACE_THREAD_JOIN) {
		if (ev->result == EDEADLK)
			emit(out, PATTERN_JOIN_SELF, NULL, ev, view);
		else if (t && t->joined.thread)
			emit(out, PATTERN_JOIN_TWICE, &t->joined, ev, view);
		else if (t && t->detached.thread)
			emit(out, PATTERN_JOIN_DETACH, &t->detached, ev, view);
		if (t && !ev->result)
			t->joined = view_event(view, ev);
	} else if (ev->kind == TRACE_THREAD_DETACH) {
		if (t && (t->joined.thread || t->detached.thread))
			emit(out, PATTERN_DETACH_BAD, t->joined.thread ? &t->joined : &t->detached,
			     ev,
			     view);
		if (t && !ev->result)
			t->detached = view_event(view, ev);
	}
}

static void on_end(struct misuse *m, const struct event *ev, const struct view *view,
		   struct findings *out)
{
	const struct section *held;
	size_t count;

	held = sections_held(m->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++) {
		struct candidate_event taken = section_begin(&held[i]);

		/* Reported at the end, unless another thread recovers it as a robust mutex. */
		if (ev->kind == TRACE_THREAD_EXIT) {
			struct object *o = object_of(m, held[i].lock);

			o->orphan_acquired = taken;
			o->holder_end = view_event(view, ev);
			o->holder_end.addr = o->addr;
		} else {
			emit(out, PATTERN_EXIT_HELD, &taken, ev, view);
		}
	}
}

static void on_blocked(struct misuse *m, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	const struct section *held;
	size_t count;

	held = sections_held(m->sections, view->thread, &count);
	for (size_t i = 0; i < count; i++) {
		struct candidate_event taken = section_begin(&held[i]);

		if (held[i].lock == ev->addr && ev->arg != TRACE_COND_WAIT)
			emit(out, PATTERN_RELOCK, &taken, ev, view);
	}
}

static void misuse_event(void *state, const struct event *ev, const struct view *view,
			 struct findings *out)
{
	struct misuse *m = state;

	if (!m->first)
		m->first = view->thread;
	if (view->gone_size)
		forget_memory(m, view->gone_addr, view->gone_size, out);
	switch (kind_class(ev->kind)) {
	case TRACE_CLASS_MUTEX:
	case TRACE_CLASS_RWLOCK:
	case TRACE_CLASS_SPIN:
	case TRACE_CLASS_COND:
	case TRACE_CLASS_SEM:
	case TRACE_CLASS_BARRIER:
		on_object(m, ev, view, out);
		break;
	case TRACE_CLASS_THREAD:
		on_thread(m, ev, view, out);
		break;
	default:
		break;
	}
	if (ev->kind == TRACE_THREAD_EXIT || ev->kind == TRACE_EXIT)
		on_end(m, ev, view, out);
	else if (ev->kind == TRACE_BLOCKED)
		on_blocked(m, ev, view, out);
	else if (ev->kind == TRACE_LOST)
		thread_of(m, view->thread)->lost = true;
}

static void misuse_finish(void *state, struct findings *out)
{
	const struct misuse *m = state;

	for (size_t i = 0; i < m->count; i++)
		emit_orphan(&m->objects[i], out);
}

const struct analysis analysis_misuse = {
	.name = "misuse", .summary = "misuse of locks, conditions and threads that the trace shows",
	.open = misuse_open, .event = misuse_event, .finish = misuse_finish, .close = misuse_close,
};
