/*
 * Misuse of synchronisation that the trace itself shows: nothing is predicted, the
 * event happened (candidate.seen). Calls that returned an error say so themselves;
 * the others are undefined behaviour that went well this time.
 *
 * not-held     unlock of a lock that the thread does not hold
 * relock       a thread locks what it holds, and the lock is not recursive
 * wait-nolock  wait on a condition without its mutex
 * two-mutexes  waits on one condition at one time with different mutexes
 * destroy-use  destroyed while held, waited on or entered
 * reinit       initialised again without being destroyed
 * redestroy    destroyed again
 * use-dead     used after it was destroyed
 * join-twice, join-detach, join-self, detach-bad
 * end-held     a thread ended with a lock, and nobody got it as a robust one
 * exit-held    the process exits from within a critical section
 *
 * After lost records nothing is said of what a thread seems not to hold, nor of a lock
 * that the trace's first thread gives back before anybody took it: the trace may be of
 * a forked child, whose parent did. An error returned is always told. Objects on a
 * stack may end without being destroyed: reinit and use-dead are not told of them.
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
	struct candidate_event made, ended;	/* by the event of that kind */
	uint32_t users;				/* holders, waiters, threads in it */
	struct candidate_event user;		/* the last of them */
	uint64_t mutex;				/* of those who wait on a condition */
	struct candidate_event orphan, orphaned;	/* taken, and its holder's end */
	uint32_t next;				/* in the same page, plus 1 */
};

struct thread {
	struct candidate_event joined, detached;	/* thread 0: not yet */
	bool lost;
};

struct misuse {
	struct sections *sections;
	const struct reader *reader;
	struct object *objects;
	size_t count, capacity;
	struct map at, pages;	/* address, page -> 1 + number */
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

/* `before` is the event that makes this one wrong; thread 0: there is none. */
static void tell_pair(struct findings *out, enum pattern pattern,
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

static void tell(struct findings *out, enum pattern pattern, const struct candidate_event *before,
		 const struct event *ev, const struct view *view)
{
	struct candidate_event at = view_event(view, ev);

	tell_pair(out, pattern, before, &at);
}

static void tell_orphan(const struct object *o, struct findings *out)
{
	if (o->orphaned.thread)
		tell_pair(out, PATTERN_END_HELD, &o->orphan, &o->orphaned);
}

static void forget(struct object *o, uint64_t addr, uint64_t size, struct findings *out)
{
	if (o->addr - addr >= size)
		return;
	tell_orphan(o, out);
	*o = (struct object){ .addr = o->addr, .next = o->next };
}

static void memory_gone(struct misuse *m, uint64_t addr, uint64_t size, struct findings *out)
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

static void life(struct misuse *m, struct object *o, const struct event *ev,
		 const struct view *view, struct findings *out)
{
	if (is_init(ev->kind)) {
		if (ev->result)
			return;
		if (o->life == LIFE_ALIVE && !on_a_stack(m, ev->addr))
			tell(out, PATTERN_REINIT, &o->made, ev, view);
		o->life = LIFE_ALIVE;
		o->made = view_event(view, ev);
		o->users = 0;
	} else if (is_destroy(ev->kind)) {
		if (o->life == LIFE_DEAD && !on_a_stack(m, ev->addr))
			tell(out, PATTERN_REDESTROY, &o->ended, ev, view);
		else if (o->users || ev->result == EBUSY)
			tell(out, PATTERN_DESTROY_USE, &o->user, ev, view);
		if (ev->result)
			return;
		o->life = LIFE_DEAD;
		o->ended = view_event(view, ev);
		o->users = 0;
	} else if (o->life == LIFE_DEAD && ev->kind != TRACE_COND_WAKE &&
		   ev->kind != TRACE_BARRIER_LEAVE && !on_a_stack(m, ev->addr)) {
		/* Who was woken or let through by then is only on its way out. */
		tell(out, PATTERN_USE_DEAD, &o->ended, ev, view);
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

/* The thread may hold it all the same. */
static bool may_hold(struct misuse *m, uint64_t lock, uint32_t thread)
{
	return thread_of(m, thread)->lost || (thread == m->first && !map_find(&m->at, lock));
}

static void waits(struct object *o, bool unheld, const struct event *ev, const struct view *view,
		  struct findings *out)
{
	if (unheld)
		tell(out, PATTERN_WAIT_NOLOCK, NULL, ev, view);
	if (o->users && o->mutex != ev->arg)
		tell(out, PATTERN_TWO_MUTEXES, &o->user, ev, view);
	o->mutex = ev->arg;
	enter(o, ev, view);
}

static void on_object(struct misuse *m, const struct event *ev, const struct view *view,
		      struct findings *out)
{
	/* What was waited for may be posted by anybody, or never. */
	enum section_change change = kind_class(ev->kind) == TRACE_CLASS_SEM ? SECTION_NONE :
				     sections_event(m->sections, ev, view);
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);
	bool unheld = change == SECTION_UNHELD && !may_hold(m, lock, view->thread);
	struct object *o = object_of(m, ev->addr);

	life(m, o, ev, view, out);
	if (ev->result == EOWNERDEAD) {
		o->orphaned.thread = 0;
		leave(o);
	}
	if (ev->result == EDEADLK)
		tell(out, PATTERN_RELOCK, o->users ? &o->user : NULL, ev, view);
	if (ev->kind == TRACE_COND_WAIT) {
		waits(o, unheld, ev, view, out);
		leave(object_of(m, ev->arg));
	} else if (ev->kind == TRACE_COND_WAKE) {
		leave(o);
		if (ev->result == EPERM)
			tell(out, PATTERN_WAIT_NOLOCK, NULL, ev, view);
		else
			enter(object_of(m, ev->arg), ev, view);
	} else if (change == SECTION_BEGUN || (ev->kind == TRACE_BARRIER_ENTER && !ev->result)) {
		enter(o, ev, view);
	} else if (change == SECTION_ENDED || ev->kind == TRACE_BARRIER_LEAVE) {
		leave(o);
	} else if (unheld || ev->result == EPERM) {
		tell(out, PATTERN_NOT_HELD, o->users ? &o->user : NULL, ev, view);
	}
}

static void on_thread(struct misuse *m, const struct event *ev, const struct view *view,
		      struct findings *out)
{
	struct thread *t = ev->arg ? thread_of(m, (uint32_t)ev->arg) : NULL;

	if (ev->kind == TRACE_THREAD_JOIN) {
		if (ev->result == EDEADLK)
			tell(out, PATTERN_JOIN_SELF, NULL, ev, view);
		else if (t && t->joined.thread)
			tell(out, PATTERN_JOIN_TWICE, &t->joined, ev, view);
		else if (t && t->detached.thread)
			tell(out, PATTERN_JOIN_DETACH, &t->detached, ev, view);
		if (t && !ev->result)
			t->joined = view_event(view, ev);
	} else if (ev->kind == TRACE_THREAD_DETACH) {
		if (t && (t->joined.thread || t->detached.thread))
			tell(out, PATTERN_DETACH_BAD, t->joined.thread ? &t->joined : &t->detached, ev,
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

		/* A robust mutex may still be saved. */
		if (ev->kind == TRACE_THREAD_EXIT) {
			struct object *o = object_of(m, held[i].lock);

			o->orphan = taken;
			o->orphaned = view_event(view, ev);
			o->orphaned.addr = o->addr;
		} else {
			tell(out, PATTERN_EXIT_HELD, &taken, ev, view);
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
			tell(out, PATTERN_RELOCK, &taken, ev, view);
	}
}

static void misuse_event(void *state, const struct event *ev, const struct view *view,
			 struct findings *out)
{
	struct misuse *m = state;

	if (!m->first)
		m->first = view->thread;
	if (view->gone_size)
		memory_gone(m, view->gone_addr, view->gone_size, out);
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
		tell_orphan(&m->objects[i], out);
}

const struct analysis analysis_misuse = {
	.name = "misuse", .summary = "misuse of locks, conditions and threads that the trace shows",
	.open = misuse_open, .event = misuse_event, .finish = misuse_finish, .close = misuse_close,
};
