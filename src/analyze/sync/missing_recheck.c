/*
 * "If" for "while": a thread looks at some state under a mutex, waits for it to change, and
 * takes it that it has when the wait returns. Two orders tell whether that does harm:
 *
 *   stolen     between the signal and the thread's having the mutex again, another one
 *              changes the state back (takes what the signal was for);
 *   no reason  the wait returns before anybody changed the state, as it may.
 *
 * Whether the thread looks again cannot be told for sure: compilers copy the condition of
 * a loop to its end, where it looks like a use of the state. Only one that reads the state
 * again at the same place is known to be in a loop; all others are asked by runs.
 *
 * The instance of a wait (thread, place) that is followed is the first that a signal ended whose
 * thread had changed the state. Bounded: WAITS of them, with READS places looked at each;
 * of a thread, the last RECENT reads under locks are known.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define RECENT 16u
#define READS 6u
#define WAITS 256u

static const char stolen[] =
	"another thread may be faster than the one that is woken, which does not look again";
static const char no_reason[] = "a wait may return for no reason, and the thread does not look again";

/* Something a thread did, and the section of the wait's mutex that it did it in. */
struct act {
	struct candidate_event at, enter;
	bool done, inside;
};

enum state { ASLEEP, SIGNALLED, AWAKE, OVER };

struct wait {
	struct candidate_event at, end;
	struct candidate_event enter;	/* the section it is in */
	struct candidate_event read[READS];	/* before it, under the mutex */
	size_t reads;
	uint64_t mutex, cond;
	uint64_t end_epoch;		/* strong, of its thread when it ended */
	enum state state;
	bool loops;			/* it looked again */
	struct act change, signal, thief;
};

struct thread {
	struct candidate_event recent[RECENT];	/* reads */
	uint64_t count;
	size_t wait;			/* that it is in, or came from and still has the mutex; plus 1 */
};

struct recheck {
	struct sections *sections;
	struct locks *locks;
	struct thread *threads;
	size_t thread_count;
	struct wait waits[WAITS];
	size_t count;
	struct map at;			/* hash of thread and pc to number, plus 1 */
	uint64_t granules;		/* that are looked at, by section_granule() */
	uint64_t ordered;
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

static bool looked_at(const struct wait *w, const struct event *ev)
{
	for (size_t i = 0; i < w->reads; i++)
		if (overlap(&w->read[i], ev))
			return true;
	return false;
}

static void act_set(struct recheck *r, struct act *a, const struct wait *w, const struct event *ev,
		    const struct view *view)
{
	const struct section *in = sections_around(r->sections, view->thread, w->mutex, view->index);
	const struct thread *t = thread_of(r, view->thread);

	a->at = view_event(view, ev);
	a->done = true;
	a->inside = in != NULL;
	if (in)
		a->enter = section_begin(in);
	/* Who waited, too, is to come before it did so: it need not wait then. */
	if (in && t->wait && r->waits[t->wait - 1].mutex == w->mutex)
		a->enter = r->waits[t->wait - 1].enter;
}

/* What the thread read since it has the mutex. */
static void take_reads(struct recheck *r, struct wait *w, const struct thread *t, uint64_t since)
{
	w->reads = 0;
	for (uint64_t i = 1; i <= t->count && i <= RECENT && w->reads < READS; i++) {
		const struct candidate_event *e = &t->recent[(t->count - i) % RECENT];

		if (e->index < since)
			return;
		w->read[w->reads++] = *e;
		r->granules |= section_granule(e->addr);
	}
}

static void wait_begins(struct recheck *r, const struct event *ev, const struct view *view)
{
	const struct section *in = sections_around(r->sections, view->thread, ev->arg, view->index);
	struct thread *t = thread_of(r, view->thread);
	uint64_t *number;
	struct wait *w;

	t->wait = 0;
	if (ev->detail & TRACE_TIMED || !in)
		return;
	number = map_put(&r->at, hash_spread(ev->pc) + view->thread, NULL);
	if (!*number && r->count == WAITS)
		return;
	if (!*number)
		*number = ++r->count;
	w = &r->waits[*number - 1];
	t->wait = *number;
	if (w->state == OVER || w->loops)
		return;
	*w = (struct wait){ .at = view_event(view, ev), .enter = section_begin(in), .mutex = ev->arg,
			     .cond = ev->addr };
	take_reads(r, w, t, in->first);
}

static void signalled(struct recheck *r, const struct event *ev, const struct view *view)
{
	for (size_t i = 0; i < r->count; i++) {
		struct wait *w = &r->waits[i];

		if (w->state != ASLEEP || w->cond != ev->addr || !w->change.done ||
		    w->change.at.thread != view->thread)
			continue;
		act_set(r, &w->signal, w, ev, view);
		w->state = SIGNALLED;
	}
}

static void wait_ends(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	if (!w || w->state == OVER)
		return;
	/* For another reason than a change that is known: the next one may tell more. */
	w->state = w->state == SIGNALLED && ev->result == 0 ? AWAKE : ASLEEP;
	if (w->state != AWAKE)
		return;
	w->end = view_event(view, ev);
	w->end_epoch = view->strong_epoch;
}

static void unlocked(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	if (!w || w->mutex != ev->addr)
		return;
	t->wait = 0;
	if (w->state == AWAKE)
		w->state = OVER;
}

static void reads(struct recheck *r, const struct event *ev, const struct view *view)
{
	struct thread *t = thread_of(r, view->thread);
	struct wait *w = t->wait ? &r->waits[t->wait - 1] : NULL;

	t->recent[t->count++ % RECENT] = view_event(view, ev);
	for (size_t i = 0; w && i < w->reads; i++)
		w->loops |= w->read[i].pc == ev->pc && overlap(&w->read[i], ev);
}

/* A change that a signal may follow, or one that takes back what was signalled. */
static void writes(struct recheck *r, const struct event *ev, const struct view *view)
{
	for (size_t i = 0; i < r->count; i++) {
		struct wait *w = &r->waits[i];

		if (w->at.thread == view->thread || w->loops || w->thief.done || !looked_at(w, ev))
			continue;
		if (w->state == ASLEEP) {
			act_set(r, &w->change, w, ev, view);
		} else if (locks_has(r->locks, view->lockset, w->mutex)) {
			if (w->state != SIGNALLED &&
			    vclock_saw(view->strong, w->at.thread, w->end_epoch))
				r->ordered++;
			else
				act_set(r, &w->thief, w, ev, view);
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
			reads(r, ev, view);
		if (access & ACCESS_WRITE && r->granules & section_granule(ev->addr))
			writes(r, ev, view);
		return;
	}
	switch (ev->kind) {
	case TRACE_COND_WAIT:
		wait_begins(r, ev, view);
		break;
	case TRACE_COND_WAKE:
		wait_ends(r, ev, view);
		break;
	case TRACE_COND_SIGNAL: case TRACE_COND_BROADCAST:
		signalled(r, ev, view);
		break;
	case TRACE_MUTEX_UNLOCK:
		unlocked(r, ev, view);
		break;
	}
	sections_event(r->sections, ev, view);
}

static void add(struct candidate *c, const struct act *a)
{
	c->event[c->events++] = a->at;
}

/* Stopped within the section, it would keep the others out. */
static void hold(struct candidate *c, unsigned which, const struct act *a)
{
	if (!a->inside)
		return;
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = a->enter;
}

static void begin(struct candidate *c, const struct wait *w, const char *note)
{
	*c = (struct candidate){ .pattern = PATTERN_NO_RECHECK, .count = 1,
				 .addr = w->change.at.addr, .size = w->change.at.size,
				 .addr2 = w->cond, .note = note };
	memset(c->hold, -1, sizeof(c->hold));
	c->event[c->events++] = w->at;
}

static void tell_stolen(const struct wait *w, struct findings *out)
{
	struct candidate c;

	begin(&c, w, stolen);
	add(&c, &w->signal);
	add(&c, &w->thief);
	c.event[c.events++] = w->end;
	for (c.orders = 0; c.orders < 3; c.orders++)
		c.order[c.orders] = (struct candidate_order){ c.orders, (uint8_t)(c.orders + 1) };
	c.seen = w->thief.at.time < w->end.time;
	hold(&c, 1, &w->signal);
	hold(&c, 2, &w->thief);
	findings_add(out, &c);
}

static void tell_no_reason(const struct wait *w, struct findings *out)
{
	struct candidate c;

	begin(&c, w, no_reason);
	c.event[c.events++] = w->end;
	add(&c, &w->change);
	c.order[c.orders++] = (struct candidate_order){ 1, 2 };
	c.spurious = true;
	hold(&c, 2, &w->change);
	findings_add(out, &c);
}

static void recheck_finish(void *state, struct findings *out)
{
	struct recheck *r = state;

	for (size_t i = 0; i < r->count; i++) {
		const struct wait *w = &r->waits[i];

		if (w->loops || w->state < AWAKE)
			continue;
		if (w->thief.done)
			tell_stolen(w, out);
		tell_no_reason(w, out);
	}
	findings_pruned(out, PRUNE_HB, r->ordered);
}

const struct analysis analysis_recheck = {
	.name = "recheck", .summary = "waits for a change after which nobody looks again",
	.open = recheck_open, .event = recheck_event, .finish = recheck_finish,
	.close = recheck_close,
};
