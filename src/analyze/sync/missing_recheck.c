/*
 * Waits in an "if" instead of a "while": a thread checks some state under a mutex, waits on a
 * condition, and assumes that the state has changed when the wait returns. Two orders show whether
 * that does harm:
 *
 *   stolen     between the signal and the waiter's return, another thread changes the state back
 *              (a stolen wake-up);
 *   spurious   the wait returns before any thread changed the state (a spurious wake-up).
 *
 * The trace does not say for sure whether the thread checks again: compilers copy the condition of
 * a loop to its end, where it looks like a use of the state. Only a thread that reads the state
 * again at the same site is known to be in a loop. All others are tried by controlled runs.
 *
 * Of each wait (thread and site) one instance is judged: the first that was ended by the signal of
 * a thread that had changed the state. Bounded: MAX_WAITS waits with WAIT_READS reads each; the
 * last RECENT_READS reads under locks of each thread.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define RECENT_READS 16u
#define WAIT_READS 6u
#define MAX_WAITS 256u

static const char note_stolen[] =
	"another thread may change the state before the woken thread runs, which does not check "
	"it again";
static const char note_spurious[] =
	"a wait may return without a signal, and the thread does not check the state again";

/* An event of a thread, and the critical section of the wait's mutex around it. */
struct action {
	struct candidate_event at, section;
	bool done;		/* it happened */
	bool in_section;
};

enum wait_state {
	WAIT_ASLEEP,
	WAIT_SIGNALLED,		/* by a thread that changed the state before */
	WAIT_AWAKE,		/* it returned; the thread still has the mutex */
	WAIT_OVER,
};

struct wait {
	struct candidate_event at, end;
	struct candidate_event section;	/* the section it is in */
	struct candidate_event read[WAIT_READS];	/* before it, under the mutex */
	size_t reads;
	uint64_t mutex, cond;
	uint64_t end_epoch;		/* strong, of its thread when it ended */
	enum wait_state state;
	bool rechecks;			/* the thread checked the state again: it is in a loop */
	struct action change, signal, thief;	/* thief: the write that changes the state back */
};

struct thread {
	struct candidate_event recent[RECENT_READS];	/* reads */
	uint64_t count;
	/* 1 + index of the wait it is in, or came from and still has the mutex; 0: none. */
	size_t wait;
};

struct recheck {
	struct sections *sections;
	struct locks *locks;
	struct thread *threads;
	size_t thread_count;
	struct wait waits[MAX_WAITS];
	size_t count;
	struct map at;			/* hash of thread and pc -> 1 + index in waits */
	uint64_t granules;		/* section_granule() of all wait.read */
	uint64_t ordered;		/* number of writes strongly after the wait's end */
};

static void *recheck_open(const struct analysis_context *ctx)
{
	struct recheck *r = xcalloc(1, sizeof(*r));

	r->sections = sections_new();
	r->locks = ctx->locks;
	return r;
}

static void recheck_close(void *state)
{
	struct recheck *r = state;

	sections_free(r->sections);
	free(r->threads);
	map_free(&r->at);
	free(r);
}

static struct thread *thread_of(struct recheck *r, uint32_t id)
{
	r->threads = xreach(r->threads, id, &r->thread_count, sizeof(*r->threads));
	return &r->threads[id];
}

static bool overlap(const struct candidate_event *a, const struct event *ev)
{
	return a->addr < ev->addr + ev->size && ev->addr < a->addr + a->size;
}

static bool is_read_by(const struct wait *w, const struct event *ev)
{
	for (size_t i = 0; i < w->reads; i++)
		if (overlap(&w->read[i], ev))
			return true;
	return false;
}

static void action_set(struct recheck *r, struct action *a, const struct wait *w,
		       const struct event *ev, const struct view *view)
{
	const struct section *in = sections_around(r->sections, view->thread, w->mutex,
						   view->index);
	const struct thread *t = thread_of(r, view->thread);

	a->at = view_event(view, ev);
	a->done = true;
	a->in_section = in != NULL;
	if (in)
		a->section = section_begin(in);
	/*
	 * A thread that waited itself is stopped before its wait's section, so that it need not
	 * wait.
	 */
	if (in && t->wait && r->waits[t->wait - 1].mutex == w->mutex)
		a->section = r->waits[t->wait - 1].section;
}

/* The wait's reads: the newest of the thread since its event `since`, which took the mutex. */
static void take_reads(struct recheck *r, struct wait *w, const struct thread *t, uint64_t since)
{
	w->reads = 0;
	for (uint64_t i = 1; i <= t->count && i <= RECENT_READS && w->reads < WAIT_READS; i++) {
		const struct candidate_event *e = &t->recent[(t->count - i) % RECENT_READS];

		if (e->index < since)
			return;
		w->read[w->reads++] = *e;
		r->granules |= section_granule(e->addr);
	}
}

static void note_wait(struct recheck *r, const struct event *ev, const struct view *view)
{
	const struct section *in = sections_around(r->sections, view->thread, ev->arg, view->index);
	struct thread *t = thread_of(r, view->thread);
	uint64_t *number;
	struct wait *w;

	t->wait = 0;
	if (ev->detail & TRACE_TIMED || !in)
		return;
	number = map_put(&r->at, hash_spread(ev->pc) + view->thread, NULL);
	if (!*number && r->count == MAX_WAITS)
		return;
	if (!*number)
		*number = ++r->count;
	w = &r->waits[*number - 1];
	t->wait = *number;
	if (w->state == WAIT_OVER || w->rechecks)
		return;
	*w = (struct wait){ .at = view_event(view, ev), .section = section_begin(in),
			     .mutex = ev->arg,
			     .cond = ev->addr };
	take_reads(r, w, t, in->first);
}

static void note_signal(struct recheck *r, const struct event *ev, const struct view *view)
{
	for (size_t i = 0; i < r->count; i++) {
		struct wait *w = &r->waits[i];

		if (w->state != WAIT_ASLEEP || w->cond != ev->addr || !w->change.done ||
		    w->change.at.thread != view->thread)
			continue;
		action_set(r, &w->signal, w, ev, view);
		w->state = WAIT_SIGNALLED;
	}
}

static void note_wait_end(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	if (!w || w->state == WAIT_OVER)
		return;
	/* If no known change ended this instance, a later one is judged. */
	w->state = w->state == WAIT_SIGNALLED && ev->result == 0 ? WAIT_AWAKE : WAIT_ASLEEP;
	if (w->state != WAIT_AWAKE)
		return;
	w->end = view_event(view, ev);
	w->end_epoch = view->strong_epoch;
}

static void note_unlock(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	if (!w || w->mutex != ev->addr)
		return;
	t->wait = 0;
	if (w->state == WAIT_AWAKE)
		w->state = WAIT_OVER;
}

static void note_read(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	t->recent[t->count++ % RECENT_READS] = view_event(view, ev);
	for (size_t i = 0; w && i < w->reads; i++)
		w->rechecks |= w->read[i].pc == ev->pc && overlap(&w->read[i], ev);
}

/* The write changes state that a wait checks: before the signal, or after it as the thief. */
static void note_write(struct recheck *r, const struct event *ev, const struct view *view)
{
	for (size_t i = 0; i < r->count; i++) {
		struct wait *w = &r->waits[i];

		if (w->at.thread == view->thread || w->rechecks || w->thief.done ||
		    !is_read_by(w, ev))
			continue;
		if (w->state == WAIT_ASLEEP) {
			action_set(r, &w->change, w, ev, view);
		} else if (locks_has(r->locks, view->lockset, w->mutex)) {
			if (w->state != WAIT_SIGNALLED &&
			    vclock_saw(view->strong, w->at.thread, w->end_epoch))
				r->ordered++;
			else
				action_set(r, &w->thief, w, ev, view);
		}
	}
}

static void recheck_event(void *state, const struct event *ev, const struct view *view,
			  struct findings *out)
{
	unsigned access = access_of(ev->kind);
	struct recheck *r = state;

	(void)out;
	if (access) {
		if (view_ignores(view, access))
			return;
		if (access & ACCESS_READ && view->lockset != LOCKS_NONE)
			note_read(r, ev, view);
		if (access & ACCESS_WRITE && r->granules & section_granule(ev->addr))
			note_write(r, ev, view);
		return;
	}
	switch (ev->kind) {
	case TRACE_COND_WAIT:
		note_wait(r, ev, view);
		break;
	case TRACE_COND_WAKE:
		note_wait_end(r, ev, view);
		break;
	case TRACE_COND_SIGNAL: case TRACE_COND_BROADCAST:
		note_signal(r, ev, view);
		break;
	case TRACE_MUTEX_UNLOCK:
		note_unlock(r, ev, view);
		break;
	}
	sections_event(r->sections, ev, view);
}

static void add_event(struct candidate *c, const struct action *a)
{
	c->event[c->events++] = a->at;
}

/*
 * A proving run has to stop event `which` before its critical section: stopped within, it would
 * block the other threads.
 */
static void hold_section(struct candidate *c, unsigned which, const struct action *a)
{
	if (!a->in_section)
		return;
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = a->section;
}

static void begin(struct candidate *c, const struct wait *w, const char *note)
{
	*c = (struct candidate){ .pattern = PATTERN_NO_RECHECK, .count = 1,
				 .addr = w->change.at.addr, .size = w->change.at.size,
				 .addr2 = w->cond, .note = note };
	memset(c->hold, -1, sizeof(c->hold));
	c->event[c->events++] = w->at;
}

static void emit_stolen(const struct wait *w, struct findings *out)
{
	struct candidate c;

	begin(&c, w, note_stolen);
	add_event(&c, &w->signal);
	add_event(&c, &w->thief);
	c.event[c.events++] = w->end;
	for (c.orders = 0; c.orders < 3; c.orders++)
		c.order[c.orders] = (struct candidate_order){ c.orders, (uint8_t)(c.orders + 1) };
	c.seen = w->thief.at.time < w->end.time;
	hold_section(&c, 1, &w->signal);
	hold_section(&c, 2, &w->thief);
	findings_add(out, &c);
}

static void emit_spurious(const struct wait *w, struct findings *out)
{
	struct candidate c;

	begin(&c, w, note_spurious);
	c.event[c.events++] = w->end;
	add_event(&c, &w->change);
	c.order[c.orders++] = (struct candidate_order){ 1, 2 };
	c.spurious = true;
	hold_section(&c, 2, &w->change);
	findings_add(out, &c);
}

static void recheck_finish(void *state, struct findings *out)
{
	struct recheck *r = state;

	for (size_t i = 0; i < r->count; i++) {
		const struct wait *w = &r->waits[i];

		if (w->rechecks || w->state < WAIT_AWAKE)
			continue;
		if (w->thief.done)
			emit_stolen(w, out);
		emit_spurious(w, out);
	}
	findings_pruned(out, PRUNE_HB, r->ordered);
}

const struct analysis analysis_recheck = {
	.name = "recheck",
	.summary = "waits whose thread does not check the state again when it is woken",
	.open = recheck_open, .event = recheck_event, .finish = recheck_finish,
	.close = recheck_close,
};
