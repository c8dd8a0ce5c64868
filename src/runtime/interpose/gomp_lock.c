/*
 * libgomp's critical sections, atomics that need a lock, and omp_lock_t. libomp's lock functions
 * have the same names; for them ompt.c notes the events.
 */
#ifndef SNARLRT_STATIC

#include "runtime/interpose/gomp.h"

/* Stand for locks inside the library. */
static char unnamed_critical, atomics;

/* Defines the wrappers of a pair of functions that lock and unlock `lock`. */
#define PAIR_FN(start, end, params, args, lock, nests)                                     \
	SNARLRT_INTERPOSE void start params                                                \
	{                                                                                  \
		if (snarlrt_off()) {                                                       \
			GOMP_REAL(start) args;                                             \
			return;                                                            \
		}                                                                          \
		snarlrt_openmp_locking(lock, nests, SNARLRT_PC());                         \
		GOMP_REAL(start) args;                                                     \
		if (!(nests) || snarlrt_openmp_nest(lock, true))                           \
			snarlrt_openmp_locked(lock, SNARLRT_PC());                         \
		else                                                                       \
			snarlrt_wait_end();                                                \
	}                                                                                  \
	SNARLRT_INTERPOSE void end params                                                  \
	{                                                                                  \
		if (snarlrt_off()) {                                                       \
			GOMP_REAL(end) args;                                               \
			return;                                                            \
		}                                                                          \
		if (!(nests) || snarlrt_openmp_nest(lock, false))                          \
			snarlrt_openmp_unlocking(lock, SNARLRT_PC());                      \
		GOMP_REAL(end) args;                                                       \
		snarlrt_openmp_unlocked(lock);                                             \
	}

PAIR_FN(GOMP_critical_start, GOMP_critical_end, (void), (), &unnamed_critical, false)
PAIR_FN(GOMP_critical_name_start, GOMP_critical_name_end, (void **lock), (lock), lock, false)
PAIR_FN(GOMP_atomic_start, GOMP_atomic_end, (void), (), &atomics, false)
PAIR_FN(omp_set_lock, omp_unset_lock, (void *lock), (lock), lock, false)
PAIR_FN(omp_set_nest_lock, omp_unset_nest_lock, (void *lock), (lock), lock, true)

/* Returns how often the thread has the lock; 0: it did not get it. */
#define TEST_FN(name, nests)                                                               \
	SNARLRT_INTERPOSE int name(void *lock)                                             \
	{                                                                                  \
		int got;                                                                   \
                                                                                           \
		if (snarlrt_off())                                                            \
			return GOMP_REAL(name)(lock);                                      \
		snarlrt_openmp_trying(lock, SNARLRT_PC());                                 \
		got = GOMP_REAL(name)(lock);                                               \
		snarlrt_openmp_tried(lock, got, SNARLRT_PC());                             \
		if (got && (nests))                                                        \
			snarlrt_openmp_nest(lock, true);                                   \
		return got;                                                                \
	}

TEST_FN(omp_test_lock, false)
TEST_FN(omp_test_nest_lock, true)

#endif
