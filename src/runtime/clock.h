/*
 * The trace clock: the time stamp counter, made causal.
 *
 * Each synchronisation object hashes to a stripe that remembers the latest time
 * given out for it. A new time is later than the counter, than the thread's own
 * last time and than the stripe's, so sorting by time never contradicts the order
 * in which threads met on an object, even where counters of two CPUs disagree.
 * (A hybrid logical clock: Kulkarni et al., OPODIS 2014.) Bit 0 of a stripe is a
 * lock, so that an atomic operation and its time are one step; times are even.
 * Reading the counter costs as much as all the rest, so for frequent kinds a thread
 * looks at it at every CLOCK_LOOK-th event only and counts on in between.
 */
#ifndef RUNTIME_CLOCK_H
#define RUNTIME_CLOCK_H

#include "runtime/rt.h"
#include "runtime/sys.h"

#define CLOCK_STRIPES 1024u
#define CLOCK_LOOK 16u

struct clock_stripe {
	uint64_t time __attribute__((aligned(64)));
};

extern SNARLRT_HIDDEN struct clock_stripe snarlrt_stripes[CLOCK_STRIPES];

SNARLRT_HIDDEN uint64_t clock_stripe_wait(uint64_t *stripe);

static inline uint64_t *clock_stripe_of(const void *object)
{
	return &snarlrt_stripes[((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull >> 54].time;
}

static inline uint64_t clock_after(struct snarlrt_thread *self, uint64_t seen)
{
	uint64_t now = self->last_time + 2;

	if (unlikely(self->unlooked++ % CLOCK_LOOK == 0)) {
		uint64_t counter = sys_ticks() & ~1ull;

		if (now < counter)
			now = counter;
	}
	if (now <= seen)
		now = seen + 2;
	self->last_time = now;
	return now;
}

/* The time as it is: for stamps, and for events that meet nobody. */
static inline uint64_t clock_now(struct snarlrt_thread *self)
{
	self->unlooked = 0;
	return clock_after(self, 0);
}

/* A time for an event on `object`, later than all before on it. */
static inline uint64_t clock_meet(struct snarlrt_thread *self, const void *object)
{
	uint64_t *stripe = clock_stripe_of(object);
	uint64_t seen = __atomic_load_n(stripe, __ATOMIC_RELAXED), now;

	do {
		if (unlikely(seen & 1))
			seen = clock_stripe_wait(stripe);
		now = clock_after(self, seen);
	} while (!__atomic_compare_exchange_n(stripe, &seen, now, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return now;
}

static inline uint64_t clock_stripe_lock(uint64_t *stripe)
{
	uint64_t seen = __atomic_load_n(stripe, __ATOMIC_RELAXED);

	do {
		if (unlikely(seen & 1))
			seen = clock_stripe_wait(stripe);
	} while (!__atomic_compare_exchange_n(stripe, &seen, seen | 1, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return seen;
}

/* One time, later than all before on either; stripes are locked in the order of addresses. */
static inline uint64_t clock_meet_both(struct snarlrt_thread *self, const void *one,
				       const void *other)
{
	uint64_t *a = clock_stripe_of(one), *b = clock_stripe_of(other), seen, seen2, now;

	if (a == b)
		return clock_meet(self, one);
	seen = clock_stripe_lock(a < b ? a : b);
	seen2 = clock_stripe_lock(a < b ? b : a);
	now = clock_after(self, seen > seen2 ? seen : seen2);
	__atomic_store_n(a, now, __ATOMIC_RELEASE);
	__atomic_store_n(b, now, __ATOMIC_RELEASE);
	return now;
}

/* For atomics: lock the stripe, do the operation, unlock with its time. */
static inline uint64_t clock_lock(struct snarlrt_thread *self, const void *object)
{
	uint64_t *stripe = clock_stripe_of(object);
	uint64_t seen = clock_stripe_lock(stripe);

	self->held_stripe = stripe;
	return seen;
}

/* `seen` is what clock_lock returned. Pairs with the exchange above. */
static inline uint64_t clock_unlock(struct snarlrt_thread *self, uint64_t seen)
{
	uint64_t now = clock_after(self, seen);

	__atomic_store_n(self->held_stripe, now, __ATOMIC_RELEASE);
	self->held_stripe = NULL;
	return now;
}

#endif
