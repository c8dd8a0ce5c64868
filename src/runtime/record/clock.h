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
 *
 * A locked instruction costs most of what is left. So a thread that comes to a stripe leaves there a time some
 * events ahead, and as long as the stripe still has it, nobody else was there: times up to it are the thread's own
 * to give out, an unlock's mostly, without writing anything. Whoever comes next is later than all of them. If he
 * comes just then, he does not know of the thread's event, nor the thread of his, unless by some other object.
 */
#ifndef RUNTIME_RECORD_CLOCK_H
#define RUNTIME_RECORD_CLOCK_H

#include "runtime/core/runtime.h"
#include "runtime/core/sys.h"

#define CLOCK_STRIPES 1024u
#define CLOCK_STEP 2u		/* times are multiples of it */
#define CLOCK_LOOK 16u
#define CLOCK_AHEAD 16u	/* less than it takes to hand an object from one thread to another, so that the counter keeps up */
#define CLOCK_BELIEVED (1ull << 30)	/* some tenths of a second: no need to look at the counter */

#define CLOCK_BIRTHS 4u

struct clock_stripe {
	uint64_t time __attribute__((aligned(64)));
	uint64_t birth[CLOCK_BIRTHS];	/* birth.c's: asked for when the block's event is noted, too */
};

extern SNARLRT_HIDDEN struct clock_stripe snarlrt_stripes[CLOCK_STRIPES];

SNARLRT_HIDDEN uint64_t clock_stripe_wait(uint64_t *stripe);

static inline uint64_t clock_hash(const void *object)
{
	return ((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull;
}

static inline uint64_t *clock_stripe_of(const void *object)
{
	return &snarlrt_stripes[clock_hash(object) >> 54].time;
}

static inline uint64_t *clock_birth_of(const void *object)
{
	uint64_t hash = clock_hash(object);

	return &snarlrt_stripes[hash >> 54].birth[hash >> 52 & (CLOCK_BIRTHS - 1)];
}

/* An event on it is to come: to read the stripe first and write it then would bring its cache line here twice. */
static inline void clock_expect(const void *object)
{
	__asm__ volatile("prefetchw %0" : : "m"(*clock_stripe_of(object)));
}

static inline uint64_t clock_after(struct snarlrt_thread *self, uint64_t seen)
{
	uint64_t now = self->last_time + CLOCK_STEP;

	if (unlikely(self->unlooked++ % CLOCK_LOOK == 0)) {
		uint64_t counter = sys_ticks() & -(uint64_t)CLOCK_STEP;

		if (now < counter)
			now = counter;
	}
	if (now <= seen)
		now = seen + CLOCK_STEP;
	self->last_time = now;
	return now;
}

/* What follows is later than `seen`. */
static inline void clock_raise(struct snarlrt_thread *self, uint64_t seen)
{
	if (self->last_time < seen)
		self->last_time = seen;
}

SNARLRT_HIDDEN uint64_t clock_doubt(uint64_t seen);

static inline bool clock_believes(const struct snarlrt_thread *self, uint64_t seen)
{
	return likely(seen <= self->last_time + CLOCK_BELIEVED);
}

/* A time from memory of the program: 0 if it cannot be one. */
static inline uint64_t clock_credible(const struct snarlrt_thread *self, uint64_t seen)
{
	return clock_believes(self, seen) ? seen & ~1ull : clock_doubt(seen);
}

/* The time as it is: for stamps, and for events that meet nobody. */
static inline uint64_t clock_now(struct snarlrt_thread *self)
{
	self->unlooked = 0;
	return clock_after(self, 0);
}

/* … after all that the thread has read: whoever waited for a plain flag is later than the write that it saw. */
static inline uint64_t clock_now_behind(struct snarlrt_thread *self)
{
	sys_loads_done();
	return clock_now(self);
}

static inline struct snarlrt_ahead *clock_ahead_of(struct snarlrt_thread *self, const uint64_t *stripe)
{
	return &self->ahead[(uintptr_t)stripe / sizeof(struct clock_stripe) % SNARLRT_AHEADS];
}

/* A time for an event on `object`, later than all before on it. */
static inline uint64_t clock_meet(struct snarlrt_thread *self, const void *object)
{
	uint64_t *stripe = clock_stripe_of(object);
	struct snarlrt_ahead *ahead = clock_ahead_of(self, stripe);
	uint64_t seen = __atomic_load_n(stripe, __ATOMIC_RELAXED), now;
	bool mine = ahead->stripe == stripe && ahead->until == seen;

	now = clock_after(self, mine ? 0 : seen);
	if (mine && now <= seen)
		return now;
	while (unlikely(seen & 1) ||
	       !__atomic_compare_exchange_n(stripe, &seen, now + CLOCK_AHEAD, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED)) {
		if (seen & 1)
			seen = clock_stripe_wait(stripe);
		now = clock_after(self, seen);
	}
	*ahead = (struct snarlrt_ahead){ stripe, now + CLOCK_AHEAD };
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
