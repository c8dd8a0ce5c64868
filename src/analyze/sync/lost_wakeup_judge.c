/*
 * Compares the waits of each condition with its signals.
 *
 * lost-wake: a thread checks some state under a mutex and waits on a condition. The wake-up can be
 * lost in two cases: the signalling thread changes the state without the mutex, so the change and
 * the signal can come between check and wait; or the threads access no common state, so that a
 * signal before the wait has no effect. Safe are
 * - a change under the mutex, even if the signal comes after unlocking it;
 * - a change after which the signalling thread takes the mutex;
 * - a signalling thread that read, under the mutex, what the waiter wrote before the wait.
 * A condition may be signalled for several reasons. If one signal goes with state that the waiter
 * checks, the others are assumed to do so as well.
 *
 * late-wake: the change and the signal are not in one critical section. A waiter that comes in
 * between may consume the change without waiting, and the signal wakes a later wait. That does harm
 * if the woken thread does not check the state again.
 *
 * wrong-wake: threads wait at two sites, and the condition is signalled, not broadcast.
 */
#include <string.h>

#include "analyze/sync/lost_wakeup.h"

/* The signalling thread wrote to `addr` under the waiter's mutex (by hash: may be wrongly true). */
static bool wrote_under(const struct cond_op *signal, uint64_t mutex, uint64_t addr)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (signal->locks[i].lock == mutex &&
		    (signal->locks[i].writes & section_granule(addr)))
			return true;
	return false;
}

static bool takes(const struct cond_op *signal, uint64_t mutex)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (signal->locks[i].lock == mutex)
			return true;
	return false;
}

/* The signalling thread took the mutex after its event `index`. */
static bool took_after(const struct cond_op *signal, uint64_t mutex, uint64_t index)
{
	for (size_t i = 0; i < LOCKS_MAX; i++)
		if (signal->locks[i].lock == mutex && signal->locks[i].first > index + 1)
			return true;
	return false;
}

/*
 * Returns true if both threads access common state, which one of them writes, and the mutex guards
 * the signalling thread's access: it holds the mutex then, or takes it later. A change of checked
 * state that the mutex does not guard goes to *changed, and its check to *checked.
 */
static bool share_state(const struct lost_wakeups *w, const struct cond_op *wait,
			const struct cond_op *signal, const struct state_access **checked,
			const struct state_access **changed)
{
	bool common = wait->partial;

	*checked = *changed = NULL;
	for (size_t i = 0; i < wait->state_count; i++) {
		const struct state_access *a = &wait->state[i];

		common |= wrote_under(signal, wait->mutex, a->at.addr);
		for (size_t k = 0; k < signal->state_count; k++) {
			const struct state_access *b = &signal->state[k];
			bool guarded = locks_has(w->ctx->locks, b->at.lockset, wait->mutex) ||
				       took_after(signal, wait->mutex, b->at.index);

			if (!state_overlap(&a->at, &b->at) || !(a->write || b->write))
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

static bool op_before(const struct cond_op *a, const struct cond_op *b)
{
	return vclock_saw(&b->strong, a->at.thread, a->strong_epoch);
}

/* A proving run has to stop event `which` before the critical section of operation `side`. */
static void hold_section(struct candidate *c, unsigned which, const struct cond_op *side)
{
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = side->section;
}

/* `safe`: some signal of the condition and the wait share state that the mutex guards. */
static void judge_lost(struct lost_wakeups *w, const struct cond_op *wait,
		       const struct cond_op *signal, bool safe, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_LOST_WAKE, .addr = signal->at.addr, .count = 1 };
	const struct state_access *checked, *changed;

	share_state(w, wait, signal, &checked, &changed);
	if (wait->at.thread == signal->at.thread)
		return;
	if (op_before(signal, wait) || op_before(wait, signal)) {
		findings_pruned(out, PRUNE_HB, 1);
		return;
	}
	/*
	 * The signaller takes the mutex, strongly after the waiter took it: the wait comes first.
	 */
	if (vclock_saw(&signal->strong, wait->at.thread, wait->section_epoch) &&
	    took_after(signal, wait->mutex, 0)) {
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
		c.note = "no shared state records that the signal came before the wait";
	}
	c.order[c.orders++] = (struct candidate_order){ c.events, (uint8_t)(c.events + 1) };
	c.event[c.events++] = signal->at;
	c.event[c.events++] = wait->at;
	/* A waiter stopped right before its wait has the mutex, which the other thread needs. */
	if (takes(signal, wait->mutex))
		hold_section(&c, (unsigned)c.events - 1, wait);
	findings_add(out, &c);
}

/* Finds a change before the signal's critical section, and the waiter's first read of it. */
static bool changes_before_section(const struct cond_op *wait, const struct cond_op *signal,
				   const struct state_access **checked,
				   const struct state_access **changed)
{
	*checked = *changed = NULL;
	for (size_t k = 0; k < signal->state_count && !*changed; k++) {
		const struct state_access *b = &signal->state[k];

		if (!b->write || (signal->in_section && b->at.index > signal->section.index))
			continue;
		for (size_t i = 0; i < wait->state_count; i++)
			if (wait->state[i].read && state_overlap(&wait->state[i].at, &b->at)) {
				*checked = &wait->state[i];
				*changed = b;
			}
	}
	return *changed != NULL;
}

static void judge_late(struct lost_wakeups *w, const struct cond_op *wait,
		       const struct cond_op *signal, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_LATE_WAKE, .events = 4,
			       .orders = 2, .order = { { 0, 1 }, { 2, 3 } }, .count = 1 };
	const struct state_access *checked, *changed;

	if (wait->at.thread == signal->at.thread || !wait->woken || wait->rechecks ||
	    !changes_before_section(wait, signal, &checked, &changed))
		return;
	if (op_before(signal, wait) || op_before(wait, signal)) {
		findings_pruned(out, PRUNE_HB, 1);
		return;
	}
	memset(c.hold, -1, sizeof(c.hold));
	c.addr = changed->at.addr;
	c.size = changed->at.size;
	c.addr2 = signal->at.addr;
	c.event[0] = changed->at;
	c.event[1] = checked->at;
	c.event[2] = wait->at;
	c.event[3] = signal->at;
	c.seen = changed->at.time < checked->at.time && wait->at.time < signal->at.time;
	if (locks_has(w->ctx->locks, changed->at.lockset, wait->mutex))
		hold_section(&c, 1, wait);
	if (signal->in_section)
		hold_section(&c, 3, signal);
	findings_add(out, &c);
}

/*
 * A signal wakes one thread. If threads wait at two sites, perhaps for different state, it may wake
 * the one that cannot proceed. Order wanted: `first` waits, then `second`, then the signal.
 */
static bool judge_wrong(const struct cond_op *first, const struct cond_op *second,
			const struct cond_op *signal, struct findings *out)
{
	struct candidate c = { .pattern = PATTERN_WRONG_WAKE, .events = 3,
			       .orders = 2, .order = { { 0, 1 }, { 1, 2 } },
			       .addr = signal->at.addr,
			       .event = { first->at, second->at, signal->at }, .count = 1 };

	if (signal->at.kind != TRACE_COND_SIGNAL || first->at.pc == second->at.pc ||
	    first->at.thread == second->at.thread || signal->at.thread == first->at.thread ||
	    signal->at.thread == second->at.thread)
		return false;
	/* An operation strongly after a wait comes after the wait has ended. */
	if (op_before(second, first) || op_before(first, second) || op_before(signal, first) ||
	    op_before(signal, second)) {
		findings_pruned(out, PRUNE_HB, 1);
		return false;
	}
	memset(c.hold, -1, sizeof(c.hold));
	hold_section(&c, 1, second);
	if (signal->in_section)
		hold_section(&c, 2, signal);
	findings_add(out, &c);
	return true;
}

/* Emits one candidate: with the first signal that can come while both wait. */
static void judge_wrong_all(const struct condition *c, const struct cond_op *first,
			    const struct cond_op *second, struct findings *out)
{
	for (size_t i = 0; i < c->signal_count; i++)
		if (judge_wrong(first, second, &c->signals[i], out))
			return;
}

void lost_wakeup_finish(struct lost_wakeups *w, struct findings *out)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct condition *c = &w->conditions[i];

		for (size_t a = 0; a < c->wait_count; a++) {
			const struct state_access *checked, *changed;
			bool safe = false;

			for (size_t b = 0; b < c->signal_count; b++)
				safe |= share_state(w, &c->waits[a], &c->signals[b], &checked,
						    &changed);
			for (size_t b = 0; b < c->signal_count; b++)
				judge_lost(w, &c->waits[a], &c->signals[b], safe, out);
			for (size_t b = 0; b < c->signal_count; b++)
				judge_late(w, &c->waits[a], &c->signals[b], out);
			for (size_t b = 0; b < c->wait_count; b++)
				judge_wrong_all(c, &c->waits[a], &c->waits[b], out);
		}
	}
	findings_dropped(out, w->dropped);
}
