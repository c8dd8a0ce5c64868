#include "analyze/context/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "base/mem.h"

#define SECTIONS_AHEAD 64u	/* ended sections that a search for an outer one looks at */

struct thread {
	struct section *held;	/* that the thread is in, outermost first */
	size_t count, capacity;
	struct section *left;	/* that it left: grows to SECTIONS_KEPT, then a ring */
	size_t ended;		/* number of sections ever put into `left` */
	size_t left_capacity;
};

struct sections {
	struct thread *threads;
	size_t count;
};

struct sections *sections_new(void)
{
	return xcalloc(1, sizeof(struct sections));
}

void sections_free(struct sections *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->threads[i].held);
		free(s->threads[i].left);
	}
	free(s->threads);
	free(s);
}

static struct thread *thread_of(struct sections *s, uint32_t id)
{
	s->threads = xreach(s->threads, id, &s->count, sizeof(*s->threads));
	return &s->threads[id];
}

static enum section_change begin(struct thread *t, uint64_t lock, bool shared, bool patient,
				 const struct event *ev, const struct view *view)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->held[i].lock != lock)
			continue;
		t->held[i].depth++;
		return SECTION_REENTERED;
	}
	t->held = xgrow(t->held, t->count, &t->capacity, sizeof(*t->held));
	t->held[t->count++] = (struct section){
		.lock = lock, .first = view->index, .last = UINT64_MAX, .time = ev->time,
		.pc = ev->pc, .strong_epoch = view->strong_epoch, .thread = view->thread,
		.stack = view->stack, .lockset = view->lockset, .depth = 1,
		.kind = ev->kind, .shared = shared, .patient = patient,
	};
	return SECTION_BEGUN;
}

/* Adds a section to thread.left. */
static void keep(struct thread *t, const struct section *done)
{
	if (t->ended < SECTIONS_KEPT)
		t->left = xgrow(t->left, t->ended, &t->left_capacity, sizeof(*t->left));
	t->left[t->ended++ % SECTIONS_KEPT] = *done;
}

/* `wholly`: however often the lock was acquired. */
static enum section_change end(struct thread *t, uint64_t lock, bool wholly,
			       const struct event *ev, const struct view *view)
{
	for (size_t i = t->count; i-- > 0; ) {
		if (t->held[i].lock != lock)
			continue;
		if (!wholly && --t->held[i].depth)
			return SECTION_REENTRY_LEFT;
		t->held[i].last = view->index;
		t->held[i].end_time = ev->time;
		t->held[i].end_pc = ev->pc;
		t->held[i].end_kind = ev->kind;
		keep(t, &t->held[i]);
		t->count--;
		memmove(t->held + i, t->held + i + 1, (t->count - i) * sizeof(*t->held));
		return SECTION_ENDED;
	}
	return SECTION_UNHELD;
}

/* Drops the open sections of a semaphore that is no lock after all. */
static void forget(struct sections *s, uint64_t lock)
{
	for (size_t n = 0; n < s->count; n++) {
		struct thread *t = &s->threads[n];
		size_t kept = 0;

		for (size_t i = 0; i < t->count; i++)
			if (t->held[i].lock != lock)
				t->held[kept++] = t->held[i];
		t->count = kept;
	}
}

/* Whether the acquisition waits without limit. */
static bool waits_for_it(const struct event *ev)
{
	return !(trace_roles(ev->kind) & ROLE_TRY) && !(ev->detail & TRACE_TIMED);
}

/* Begins or ends a section if the semaphore is used as a lock. */
static enum section_change semaphore(struct sections *s, struct thread *t, const struct event *ev,
				     const struct view *view)
{
	bool shared = view->sem == VIEW_SEM_POOL;

	if (view->sem == VIEW_SEM_TURNS_SIGNAL)
		forget(s, ev->addr);
	if (ev->result || (!shared && view->sem != VIEW_SEM_LOCK))
		return SECTION_NONE;
	if (trace_roles(ev->kind) & ROLE_SIGNAL)
		return end(t, ev->addr, false, ev, view);
	return begin(t, ev->addr, shared, waits_for_it(ev), ev, view);
}

enum section_change sections_event(struct sections *s, const struct event *ev,
				   const struct view *view)
{
	struct thread *t = thread_of(s, view->thread);
	unsigned roles = trace_roles(ev->kind);
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);

	if (roles & ROLE_ACQUIRE && !trace_acquired(ev->kind, ev->result))
		return SECTION_NONE;
	if (roles & ROLE_ACQUIRE)
		return begin(t, lock, roles & ROLE_SHARED, waits_for_it(ev), ev, view);
	if (roles & ROLE_WAIT_END)	/* EPERM: the wait began without the mutex, too */
		return ev->result == EPERM ? SECTION_NONE : begin(t, lock, false, true, ev, view);
	if (roles & ROLE_RELEASE)
		return ev->result == 0 ? end(t, lock, false, ev, view) : SECTION_NONE;
	if (roles & ROLE_WAIT_BEGIN)
		return end(t, lock, true, ev, view);
	return roles & ROLE_SEM ? semaphore(s, t, ev, view) : SECTION_NONE;
}

const struct section *sections_held(const struct sections *s, uint32_t thread, size_t *count)
{
	*count = thread < s->count ? s->threads[thread].count : 0;
	return *count ? s->threads[thread].held : NULL;
}

static size_t left_known(const struct thread *t)
{
	return t->ended < SECTIONS_KEPT ? t->ended : SECTIONS_KEPT;
}

/* The n-th of the sections kept, oldest first. */
static const struct section *left_at(const struct thread *t, size_t n)
{
	return &t->left[(t->ended - left_known(t) + n) % SECTIONS_KEPT];
}

const struct section *sections_around(const struct sections *s, uint32_t thread, uint64_t lock,
				      uint64_t index)
{
	const struct thread *t;
	size_t low = 0, high;

	if (thread >= s->count)
		return NULL;
	t = &s->threads[thread];
	for (size_t i = 0; i < t->count; i++)
		if (t->held[i].lock == lock && t->held[i].first <= index)
			return &t->held[i];
	/* `left` is in the order of ends: a section around another comes after it. */
	for (high = left_known(t); low < high; ) {
		size_t middle = low + (high - low) / 2;

		if (left_at(t, middle)->last < index)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < left_known(t) && i < low + SECTIONS_AHEAD; i++) {
		const struct section *c = left_at(t, i);

		if (c->lock == lock && c->first <= index)
			return c;
	}
	return NULL;
}

const struct section *sections_left(const struct sections *s, uint32_t thread, uint64_t lock,
				    size_t back)
{
	const struct thread *t;

	if (thread >= s->count)
		return NULL;
	t = &s->threads[thread];
	if (!lock)
		return back < left_known(t) ? left_at(t, left_known(t) - 1 - back) : NULL;
	for (size_t i = left_known(t); i-- > 0; ) {
		const struct section *c = left_at(t, i);

		if (c->lock == lock && back-- == 0)
			return c;
	}
	return NULL;
}

/* Whether the event's thread is or was in a section that cannot overlap `mine`. */
static bool passes(const struct sections *s, const struct locks *locks,
		   const struct candidate_event *e, const struct section *mine)
{
	size_t index = locks_index(locks, e->lockset, mine->lock);
	const struct section *left = sections_left(s, e->thread, mine->lock, 0);
	struct locks_held held;

	if (left && !(left->shared && mine->shared))
		return true;
	if (index == LOCKS_ABSENT)
		return false;
	locks_at(locks, e->lockset, index, &held);
	return !(held.shared && mine->shared);
}

const struct section *sections_to_stop_before(const struct sections *s, const struct locks *locks,
					      const struct candidate_event *stopped,
					      const struct candidate_event *other)
{
	const struct section *outer = NULL;

	for (size_t i = 0; i < locks_count(locks, stopped->lockset); i++) {
		const struct section *around;
		struct locks_held held;

		locks_at(locks, stopped->lockset, i, &held);
		around = sections_around(s, stopped->thread, held.lock, stopped->index);
		if (around && passes(s, locks, other, around) &&
		    around->first < (outer ? outer->first : stopped->index))
			outer = around;
	}
	return outer;
}

void sections_access(struct sections *s, const struct event *ev)
{
	unsigned access = access_of(ev->kind);
	uint64_t granules = 0;
	struct thread *t;

	if (ev->thread >= s->count || !s->threads[ev->thread].count)
		return;
	t = &s->threads[ev->thread];
	/* Stops at a range so long that all bits are set. */
	for (uint64_t a = ev->addr & ~7ull; a < ev->addr + ev->size && ~granules; a += 8)
		granules |= section_granule(a);
	for (size_t i = 0; i < t->count; i++) {
		t->held[i].writes |= access & ACCESS_WRITE ? granules : 0;
		t->held[i].reads |= access & ACCESS_READ ? granules : 0;
	}
}

struct candidate_event section_begin(const struct section *s)
{
	return (struct candidate_event){
		.thread = s->thread, .kind = s->kind, .index = s->first, .time = s->time,
		.addr = s->lock, .pc = s->pc, .lockset = s->lockset,
		.stack = s->stack,
	};
}

struct candidate_event section_end(const struct section *s)
{
	struct candidate_event e = section_begin(s);

	e.kind = s->end_kind;
	e.index = s->last;
	e.time = s->end_time;
	e.pc = s->end_pc;
	return e;
}
