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
 * Wrong wake-ups: threads wait at two places, and the condition is signalled, not broadcast.
 */
#include <string.h>

#include "analyze/sync/lost_wakeup.h"

/* What the signaller did under the waiter's mutex: wrote this, or took it after `index`. */
static bool wrote_under(const struct side *wake, uint64_t mutex, uint64_t addr)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (wake->under[i].lock == mutex && (wake->under[i].writes & section_granule(addr)))
			return true;
	return false;
}

static bool takes(const struct side *wake, uint64_t mutex)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (wake->under[i].lock == mutex)
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

			if (!touched_overlap(&a->at, &b->at) || !(a->write || b->write))
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

static bool side_before(const struct side *a, const struct side *b)
{
	return vclock_saw(&b->strong, a->at.thread, a->strong_epoch);
}

/* The event is to be held back before the section that the side is in. */
static void hold(struct candidate *c, unsigned which, const struct side *side)
{
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = side->enter;
}

/* `safe`: some signal of the condition goes with state that the waiter checks. */
static void lost_wake(struct wakeups *w, const struct side *wait, const struct side *wake, bool safe,
		      struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_LOST_WAKE, .addr = wake->at.addr, .count = 1 };
	const struct touched *checked, *changed;

	agreed(w, wait, wake, &checked, &changed);
	if (wait->at.thread == wake->at.thread)
		return;
	if (side_before(wake, wait) || side_before(wait, wake)) {
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
	/* Who is stopped right before it waits has the mutex: the signaller may need it. */
	if (takes(wake, wait->mutex))
		hold(&c, (unsigned)c.events - 1, wait);
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
			if (wait->state[i].read && touched_overlap(&wait->state[i].at, &b->at)) {
				*looked = &wait->state[i];
				*changed = b;
			}
	}
	return *changed != NULL;
}

static void late_wake(struct wakeups *w, const struct side *wait, const struct side *wake,
		      struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_LATE_WAKE, .events = 4,
			       .orders = 2, .order = { { 0, 1 }, { 2, 3 } }, .count = 1 };
	const struct touched *looked, *changed;

	if (wait->at.thread == wake->at.thread || !wait->woken || wait->rechecks || !apart(wait, wake, &looked, &changed))
		return;
	if (side_before(wake, wait) || side_before(wait, wake)) {
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
	if (locks_has(w->ctx->locks, changed->at.lockset, wait->mutex))
		hold(&c, 1, wait);
	if (wake->inside)
		hold(&c, 3, wake);
	findings_add(out, &c);
}

/*
 * A signal wakes one: if threads wait at two places, perhaps for two things, it may be the
 * one that cannot go on. Both have to wait when it comes, the wrong one first.
 */
static bool wrong_wake(const struct side *first, const struct side *second, const struct side *wake,
		       struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_WRONG_WAKE, .events = 3,
			       .orders = 2, .order = { { 0, 1 }, { 1, 2 } }, .addr = wake->at.addr,
			       .event = { first->at, second->at, wake->at }, .count = 1 };

	if (wake->at.kind != TRACE_COND_SIGNAL || first->at.pc == second->at.pc ||
	    first->at.thread == second->at.thread || wake->at.thread == first->at.thread ||
	    wake->at.thread == second->at.thread)
		return false;
	/* Who comes after a wait comes after its end. */
	if (side_before(second, first) || side_before(first, second) || side_before(wake, first) ||
	    side_before(wake, second)) {
		findings_pruned(out, PRUNE_HB, 1);
		return false;
	}
	memset(c.hold, -1, sizeof(c.hold));
	hold(&c, 1, second);
	if (wake->inside)
		hold(&c, 2, wake);
	findings_add(out, &c);
	return true;
}

/* With the first signal that can come when both wait. */
static void wrong_wakes(const struct condition *c, const struct side *first,
			const struct side *second, struct findings *out)
{
	for (size_t i = 0; i < c->wake_count; i++)
		if (wrong_wake(first, second, &c->wakes[i], out))
			return;
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
			for (size_t b = 0; b < c->wait_count; b++)
				wrong_wakes(c, &c->waits[a], &c->waits[b], out);
		}
	}
	findings_dropped(out, w->dropped);
}
