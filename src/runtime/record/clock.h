/*
 * The trace clock: the time stamp counter (TSC), made causal. It is a hybrid logical clock
 * (Kulkarni et al., OPODIS 2014).
 *
 * Each synchronisation object hashes to a stripe, which holds the latest time given out for it. A
 * new time is at least the TSC, and greater than the thread's last time and the stripe's. So the
 * order of times never contradicts the order in which threads used an object, even if the TSCs of
 * two CPUs disagree. Times are even; bit 0 of a stripe is a lock, so that an atomic operation and
 * its time are one step. Reading the TSC costs as much as the rest of recording an event. So for
 * frequent kinds of events, a thread reads it only at every CLOCK_TSC_INTERVAL-th event, and adds
 * CLOCK_STEP in between.
 *
 * The largest remaining cost is a locked instruction per event. So a thread that updates a stripe
 * reserves times: it stores a time CLOCK_AHEAD later than its own. While the stripe holds that
 * value, no other thread has used the object. The thread then takes times up to it without writing
 * the stripe, for example for the unlock after a lock. The next thread that uses the object gets a
 * later time than all of these. If it does so while the first thread takes a reserved time, the two
 * events overlap, and nothing but other objects orders them.
 */
#ifndef RUNTIME_RECORD_CLOCK_H
#define RUNTIME_RECORD_CLOCK_H

#include "abi/mix.h"
#include "runtime/core/runtime.h"
#include "runtime/core/sys.h"

#define CLOCK_STRIPES 1024u	/* each in a cache line of its own */
#define CLOCK_STEP 2u		/* times are multiples of this */
#define CLOCK_TSC_INTERVAL 16u	/* events of a thread from one reading of the TSC to the next */
/* Ticks; less than passing an object between threads takes, or times would outrun the TSC. */
#define CLOCK_AHEAD 16u
/* Ticks, some tenths of a second: times closer than this are plausible without reading the TSC. */
#define CLOCK_NEAR (1ull << 30)

#define CLOCK_BLOCKS 4u		/* block words of a stripe, which fit into its cache line */

struct clock_stripe {
	uint64_t time __attribute__((aligned(64)));
	/* Block words (allocation_sites.c), in a cache line that the block's events use anyway. */
	uint64_t block[CLOCK_BLOCKS];
};

extern SNARLRT_HIDDEN struct clock_stripe snarlrt_stripes[CLOCK_STRIPES];

/* Waits until the stripe is not locked, and returns its time. */
SNARLRT_HIDDEN uint64_t clock_stripe_wait(uint64_t *stripe);

static inline uint64_t clock_hash(const void *object)
{
	return mix_spread((uintptr_t)object >> 3);
}

static inline uint64_t *clock_stripe_of(const void *object)
{
	return &snarlrt_stripes[clock_hash(object) >> 54].time;
}

static inline uint64_t *clock_block_of(const void *object)
{
	uint64_t hash = clock_hash(object);

	return &snarlrt_stripes[hash >> 54].block[hash >> 52 & (CLOCK_BLOCKS - 1)];
}

/*
 * Prefetches the object's stripe for writing, before an event. Reading it first and writing it
 * later would transfer its cache line twice.
 */
static inline void clock_expect(const void *object)
{
	__asm__ volatile("prefetchw %0" : : "m"(*clock_stripe_of(object)));
}

/* Returns the thread's next time, later than `seen`. */
static inline uint64_t clock_after(struct snarlrt_thread *self, uint64_t seen)
{
	uint64_t now = self->last_time + CLOCK_STEP;

	if (unlikely(self->since_tsc++ % CLOCK_TSC_INTERVAL == 0)) {
		uint64_t counter = sys_ticks() & -(uint64_t)CLOCK_STEP;

		if (now < counter)
			now = counter;
	}
	if (now <= seen)
		now = seen + CLOCK_STEP;
	self->last_time = now;
	return now;
}

/* Makes the thread's next times later than `seen`. */
static inline void clock_raise(struct snarlrt_thread *self, uint64_t seen)
{
	if (self->last_time < seen)
		self->last_time = seen;
}

/* call_events.c */
SNARLRT_HIDDEN uint64_t clock_plausible_far(uint64_t seen);

static inline bool clock_is_near(const struct snarlrt_thread *self, uint64_t seen)
{
	return likely(seen <= self->last_time + CLOCK_NEAR);
}

/* A time read from the program's memory, which may hold anything; 0 if it cannot be a time. */
static inline uint64_t clock_plausible(const struct snarlrt_thread *self, uint64_t seen)
{
	return clock_is_near(self, seen) ? seen & ~1ull : clock_plausible_far(seen);
}

/* The current time by the TSC: for stamps, and for events without an object. */
static inline uint64_t clock_now(struct snarlrt_thread *self)
{
	self->since_tsc = 0;
	return clock_after(self, 0);
}

/*
 * clock_now() after all earlier loads of the thread have completed. So a thread that spun on a
 * plain flag gets a later time than the write that it saw.
 */
static inline uint64_t clock_now_behind(struct snarlrt_thread *self)
{
	sys_loads_done();
	return clock_now(self);
}

static inline struct snarlrt_ahead *clock_ahead_of(struct snarlrt_thread *self,
						   const uint64_t *stripe)
{
	return &self->ahead[(uintptr_t)stripe / sizeof(struct clock_stripe) % SNARLRT_AHEADS];
}

/* A time for an event on `object`, later than all earlier events on it. */
static inline uint64_t clock_event(struct snarlrt_thread *self, const void *object)
{
	uint64_t *stripe = clock_stripe_of(object);
	struct snarlrt_ahead *ahead = clock_ahead_of(self, stripe);
	uint64_t seen = __atomic_load_n(stripe, __ATOMIC_RELAXED), now;
	bool mine = ahead->stripe == stripe && ahead->until == seen;

	now = clock_after(self, mine ? 0 : seen);
	if (mine && now <= seen)
		return now;
	while (unlikely(seen & 1) ||
	       !__atomic_compare_exchange_n(stripe, &seen, now + CLOCK_AHEAD, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		if (seen & 1)
			seen = clock_stripe_wait(stripe);
		now = clock_after(self, seen);
	}
	*ahead = (struct snarlrt_ahead){ stripe, now + CLOCK_AHEAD };
	return now;
}

/* Locks the stripe, and returns its time. */
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

/*
 * A time later than all earlier events on either object. Stripes are locked in the order of
 * addresses.
 */
static inline uint64_t clock_event_both(struct snarlrt_thread *self, const void *one,
				       const void *other)
{
	uint64_t *a = clock_stripe_of(one), *b = clock_stripe_of(other), seen, seen2, now;

	if (a == b)
		return clock_event(self, one);
	seen = clock_stripe_lock(a < b ? a : b);
	seen2 = clock_stripe_lock(a < b ? b : a);
	now = clock_after(self, seen > seen2 ? seen : seen2);
	__atomic_store_n(a, now, __ATOMIC_RELEASE);
	__atomic_store_n(b, now, __ATOMIC_RELEASE);
	return now;
}

/*
 * For atomics: locks the object's stripe and returns its time. The caller does the operation and
 * calls clock_unlock().
 */
static inline uint64_t clock_lock(struct snarlrt_thread *self, const void *object)
{
	uint64_t *stripe = clock_stripe_of(object);
	uint64_t seen = clock_stripe_lock(stripe);

	self->held_stripe = stripe;
	return seen;
}

/*
 * Unlocks the stripe with the time of the operation. `seen` is what clock_lock() returned. The
 * store pairs with the exchange in clock_stripe_lock().
 */
static inline uint64_t clock_unlock(struct snarlrt_thread *self, uint64_t seen)
{
	uint64_t now = clock_after(self, seen);

	__atomic_store_n(self->held_stripe, now, __ATOMIC_RELEASE);
	self->held_stripe = NULL;
	return now;
}

#endif
