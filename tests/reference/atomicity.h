/*
 * Reference of the atomicity analysis of one location (analyze/atomicity/atomicity.c).
 *
 * It is an analysis itself: it keeps all accesses of a short trace, in granules of 8 bytes, and at
 * the end tries all triples (p, r, i). p and i are neighbours among the accesses of one thread to
 * the same bytes, r is an access of another thread to them. A triple counts if the kinds of the
 * accesses make a pattern (two writes may have reads of their own thread between them), if strong
 * happens-before lets r come between p and i, and if r's lockset is compatible with a lockset that
 * the thread of p and i has on its way. The definition is at the top of atomicity.c.
 *
 * It takes from the tool: vector clocks, locksets and acquisition histories (analyze/context/).
 */
#ifndef REFERENCE_ATOMICITY_H
#define REFERENCE_ATOMICITY_H

#include "analyze_atomicity_util.h"

#define MAX_EVENTS 512
#define MAX_TRIPLES 65536
#define MAX_THREADS 5

struct touched {
	uint64_t index, time, granule, pc;
	uint64_t taken[4];	/* pcs of the locks held, outermost first */
	uint64_t lock[4];
	uint64_t strong_epoch;
	uint64_t clock[MAX_THREADS];
	uint32_t thread, lockset, locks, releases;
	unsigned access;
	uint8_t bytes;
	bool own;
};

/* The lockset that a thread holds after one of its events. */
struct step {
	uint64_t index;
	uint32_t thread, lockset;
};

struct triple {
	uint32_t thread, other;
	uint64_t p, r, i;		/* indices */
	uint64_t unit[3], pc[3];
	bool reported;
};

/* The state of the analysis. Static, so that the test can read it after the run. */
static struct slow {
	struct locks *locks;
	struct touched access[2 * MAX_EVENTS];
	size_t accesses;
	struct step step[2 * MAX_EVENTS];
	size_t steps;
	uint32_t releases[MAX_THREADS];
	struct triple triple[MAX_TRIPLES];
	size_t triples;
} slow;

static void *slow_open(const struct analysis_context *ctx)
{
	memset(&slow, 0, sizeof(slow));
	slow.locks = ctx->locks;
	return &slow;
}

static void slow_step(const struct view *view, uint64_t index, uint32_t lockset)
{
	slow.step[slow.steps++] = (struct step){ index, view->thread, lockset };
}

static void slow_access(const struct event *ev, const struct view *view, uint64_t granule,
			uint8_t bytes)
{
	struct touched *a = &slow.access[slow.accesses++];
	struct locks_held held;

	*a = (struct touched){ .index = view->index, .time = ev->time, .granule = granule,
			      .pc = ev->pc, .strong_epoch = view->strong_epoch,
			      .thread = view->thread, .lockset = view->lockset,
			      .locks = (uint32_t)locks_count(slow.locks, view->lockset),
			      .releases = slow.releases[view->thread],
			      .access = access_of(ev->kind), .bytes = bytes };
	for (uint32_t i = 0; i < a->locks; i++) {
		locks_at(slow.locks, view->lockset, i, &held);
		a->taken[i] = held.acquired_pc;
		a->lock[i] = held.lock;
	}
	for (uint32_t i = 0; i < MAX_THREADS; i++)
		a->clock[i] = vclock_get(view->strong, i);
}

static void slow_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	(void)state;
	(void)out;
	slow_step(view, view->index, view->lockset);
	if (ev->kind == TRACE_MUTEX_UNLOCK) {
		slow.releases[view->thread]++;
		slow_step(view, view->index, locks_release(slow.locks, view->lockset, ev->addr));
	}
	for (uint64_t b = 0; access_of(ev->kind) && b < ev->size;) {
		uint64_t addr = ev->addr + b, granule = addr / 8;
		uint8_t bytes = 0;

		for (; b < ev->size && (ev->addr + b) / 8 == granule; b++)
			bytes |= (uint8_t)(1u << (ev->addr + b) % 8);
		slow_access(ev, view, granule, bytes);
	}
}

/* Does strong happens-before order a before b? */
static bool before(const struct touched *a, const struct touched *b)
{
	return a->strong_epoch <= b->clock[a->thread];
}

/* Does the thread of p and i hold a lockset between them that lets r in? */
static bool can_meet(const struct touched *p, const struct touched *i, const struct touched *r)
{
	for (size_t k = 0; k < slow.steps; k++) {
		const struct step *s = &slow.step[k];

		if (s->thread == p->thread && s->index >= p->index && s->index < i->index &&
		    !locks_exclude(slow.locks, s->lockset, r->lockset) &&
		    locks_compatible(slow.locks, s->lockset, r->lockset))
			return true;
	}
	return false;
}

/* Does a thread with lockset `set` hold `lock`, or did it take it while it held what it holds? */
static bool needs(uint32_t set, uint64_t lock)
{
	struct locks_held held;

	for (size_t i = 0; i < locks_count(slow.locks, set); i++) {
		locks_at(slow.locks, set, i, &held);
		if (held.lock == lock)
			return true;
		for (size_t k = 0; k < held.history_count; k++)
			if (held.history[k] == lock)
				return true;
	}
	return false;
}

/* The pc that stands for `a` against `meets`: of the outermost lock they contend for, else of the
 * access. */
static uint64_t unit(const struct touched *a, const struct touched *meets)
{
	for (uint32_t i = 0; i < a->locks; i++)
		if (needs(meets->lockset, a->lock[i]))
			return a->taken[i];
	return a->pc;
}

/* `wide`: p and i are writes that have reads of their own thread between them. */
static void slow_try(const struct touched *p, const struct touched *i, const struct touched *r,
		     bool wide)
{
	bool writes = (r->access & ACCESS_WRITE) && !wide;
	bool read = (p->access & ACCESS_WRITE) && (i->access & ACCESS_WRITE) &&
		    (r->access & ACCESS_READ);

	if (r->thread == p->thread || r->granule != p->granule ||
	    !(r->bytes & p->bytes & i->bytes) || !(writes || read))
		return;
	if (before(r, p) || before(i, r) || (before(p, r) && before(r, i)) || !can_meet(p, i, r))
		return;
	if (!writes && r->own && locks_exclude(slow.locks, p->lockset, r->lockset))
		return;
	assert_true(slow.triples < MAX_TRIPLES);
	slow.triple[slow.triples++] = (struct triple){
		p->thread, r->thread, p->index, r->index, i->index,
		{ unit(p, r), unit(r, p), unit(i, r) }, { p->pc, r->pc, i->pc }, false,
	};
}

/*
 * Returns the last access before number `n` of its thread to its granule that touches some of
 * `bytes`
 * (`exact`: exactly these), and is a write if `write`. NULL: none.
 */
static const struct touched *last_before(size_t n, uint8_t bytes, bool exact, bool write)
{
	const struct touched *i = &slow.access[n];

	while (n-- > 0) {
		const struct touched *a = &slow.access[n];

		if (a->thread == i->thread && a->granule == i->granule &&
		    (exact ? a->bytes == bytes : a->bytes & bytes) &&
		    (!write || (a->access & ACCESS_WRITE)))
			return a;
	}
	return NULL;
}

static void slow_finish(void *state, struct findings *out)
{
	const struct touched *p, *w;

	(void)state;
	(void)out;
	for (size_t n = 0; n < slow.accesses; n++) {
		struct touched *r = &slow.access[n];

		p = last_before(n, r->bytes, false, false);
		r->own = p && r->locks && !(r->access & ACCESS_WRITE) && p->locks &&
			 p->releases == r->releases && (p->own || (p->access & ACCESS_WRITE));
	}
	for (size_t n = 0; n < slow.accesses; n++) {
		const struct touched *i = &slow.access[n];

		p = last_before(n, i->bytes, false, false);
		if (!p)
			continue;
		w = last_before(n, p->bytes, true, true);
		for (size_t k = 0; k < slow.accesses; k++) {
			slow_try(p, i, &slow.access[k], false);
			if (w && !(p->access & ACCESS_WRITE) && (i->access & ACCESS_WRITE))
				slow_try(w, i, &slow.access[k], true);
		}
	}
}

static void slow_close(void *state)
{
	(void)state;
}

static const struct analysis analysis_slow = {
	.name = "slow", .summary = "", .open = slow_open, .event = slow_event,
	.finish = slow_finish, .close = slow_close,
};

#endif
