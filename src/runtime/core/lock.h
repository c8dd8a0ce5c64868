/*
 * The runtime's own lock, for short critical sections; never held while the program's code runs.
 * A thread spins 100 times, then sleeps on a futex.
 */
#ifndef RUNTIME_CORE_LOCK_H
#define RUNTIME_CORE_LOCK_H

#include <linux/futex.h>
#include <stdint.h>

#include "runtime/core/sys.h"

struct snarlrt_lock {
	uint32_t state;		/* 0 free, 1 held, 2 held and a thread may sleep on it */
};

static inline void snarlrt_lock(struct snarlrt_lock *l)
{
	for (int i = 0; i < 100; i++) {
		uint32_t expected = 0;

		if (__atomic_compare_exchange_n(&l->state, &expected, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		sys_pause();
	}
	while (__atomic_exchange_n(&l->state, 2, __ATOMIC_ACQUIRE) != 0)
		sys_call6(SYS_futex, (long)&l->state, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static inline void snarlrt_unlock(struct snarlrt_lock *l)
{
	if (__atomic_exchange_n(&l->state, 0, __ATOMIC_RELEASE) == 2)
		sys_call6(SYS_futex, (long)&l->state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

#endif
