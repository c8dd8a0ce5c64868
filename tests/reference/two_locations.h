/*
 * Reference of the atomicity analysis of two locations (analyze/atomicity/two_locations.c).
 *
 * It is an analysis itself: it keeps all accesses of a short trace. A location pair is two accesses
 * of one thread to different addresses, without a later access of the same kind to the first
 * address in between (is_location_pair()). breaks() says whether two location pairs of different
 * threads conflict on both addresses, whether strong happens-before lets them overlap, and whether
 * compatible locksets let them. any_breaks() tries all pairs of location pairs.
 *
 * It takes from the tool: vector clocks, locksets and acquisition histories (analyze/context/).
 */
#ifndef REFERENCE_TWO_LOCATIONS_H
#define REFERENCE_TWO_LOCATIONS_H

#include "analyze_atomicity_util.h"

#define MAX_EVENTS 256
#define MAX_THREADS 5

struct touched {
	uint64_t index, addr, strong_epoch;
	uint64_t clock[MAX_THREADS];
	uint32_t thread, lockset;
	bool write;
};

/* The lockset that a thread holds after one of its events. */
struct step {
	uint64_t index;
	uint32_t thread, lockset;
};

/* The state of the analysis. Static, so that the test can read it after the run. */
static struct slow {
	struct locks *locks;
	struct touched at[MAX_EVENTS];
	size_t count;
	struct step step[2 * MAX_EVENTS];
	size_t steps;
} slow;

static void *slow_open(const struct analysis_context *ctx)
{
	memset(&slow, 0, sizeof(slow));
	slow.locks = ctx->locks;
	return &slow;
}

static void slow_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	struct touched *t = &slow.at[slow.count];

	(void)state;
	(void)out;
	slow.step[slow.steps++] = (struct step){ view->index, view->thread, view->lockset };
	if (ev->kind == TRACE_MUTEX_UNLOCK)
		slow.step[slow.steps - 1].lockset =
			locks_release(slow.locks, view->lockset, ev->addr);
	if (!access_of(ev->kind))
		return;
	*t = (struct touched){ .index = view->index, .addr = ev->addr, .thread = view->thread,
			       .strong_epoch = view->strong_epoch, .lockset = view->lockset,
			       .write = ev->kind == TRACE_WRITE };
	for (uint32_t i = 0; i < MAX_THREADS; i++)
		t->clock[i] = vclock_get(view->strong, i);
	slow.count++;
}

static void slow_finish(void *state, struct findings *out)
{
	(void)state;
	(void)out;
}

static void slow_close(void *state)
{
	(void)state;
}

static const struct analysis analysis_slow = {
	.name = "slow", .summary = "", .open = slow_open, .event = slow_event,
	.finish = slow_finish, .close = slow_close,
};

/* Does strong happens-before order a before b? */
static bool before(const struct touched *a, const struct touched *b)
{
	return a->strong_epoch <= b->clock[a->thread];
}

/* Can two threads hold these locksets at one time? */
static bool go_together(uint32_t a, uint32_t b)
{
	return !locks_exclude(slow.locks, a, b) && locks_compatible(slow.locks, a, b);
}

static bool between(const struct step *s, const struct touched *a, const struct touched *b)
{
	return s->thread == a->thread && s->index >= a->index && s->index < b->index;
}

/* Can a thread with lockset `set` run while the thread of a1 and a2 is between them? */
static bool lets(const struct touched *a1, const struct touched *a2, uint32_t set)
{
	for (size_t k = 0; k < slow.steps; k++)
		if (between(&slow.step[k], a1, a2) && go_together(slow.step[k].lockset, set))
			return true;
	return false;
}

/* Can one thread be between b1 and b2 while the other is between a1 and a2? */
static bool lets_amid(const struct touched *a1, const struct touched *a2, const struct touched *b1,
		      const struct touched *b2)
{
	for (size_t k = 0; k < slow.steps; k++)
		if (between(&slow.step[k], b1, b2) && lets(a1, a2, slow.step[k].lockset))
			return true;
	return false;
}

/* Are these a location pair? */
static bool is_location_pair(const struct touched *first, const struct touched *second)
{
	if (first->thread != second->thread || first->index >= second->index ||
	    first->addr == second->addr)
		return false;
	for (const struct touched *t = first + 1; t < second; t++)
		if (t->thread == first->thread && t->addr == first->addr &&
		    t->write == first->write)
			return false;
	return true;
}

/* Can a1 come before the b to its address and the other b before a2? b1 comes before b2 in their
 * thread. */
static bool breaks(const struct touched *a1, const struct touched *a2, const struct touched *b1,
		   const struct touched *b2)
{
	bool crossing = b1->addr == a2->addr;
	const struct touched *bx = crossing ? b2 : b1, *by = crossing ? b1 : b2;

	if (a1->thread == b1->thread || bx->addr != a1->addr || by->addr != a2->addr ||
	    !(a1->write || bx->write) || !(a2->write || by->write))
		return false;
	if (before(bx, a1) || before(a2, by) || (before(a1, bx) && before(by, a2)))
		return false;
	if (crossing)
		return lets_amid(a1, a2, b1, b2);
	return lets(a1, a2, b1->lockset) && lets(a1, a2, b2->lockset);
}

static const struct touched *find(const struct candidate_event *e)
{
	for (size_t i = 0; i < slow.count; i++)
		if (slow.at[i].thread == e->thread && slow.at[i].index == e->index)
			return &slow.at[i];
	fail_msg("no such access");
	return NULL;
}

static bool any_breaks(void)
{
	for (size_t n = 0; n < slow.count * slow.count; n++) {
		const struct touched *a1 = &slow.at[n / slow.count], *a2 = &slow.at[n % slow.count];

		for (size_t m = 0; is_location_pair(a1, a2) && m < slow.count * slow.count; m++) {
			const struct touched *b1 = &slow.at[m / slow.count],
					     *b2 = &slow.at[m % slow.count];

			if (is_location_pair(b1, b2) && breaks(a1, a2, b1, b2))
				return true;
		}
	}
	return false;
}

#endif
