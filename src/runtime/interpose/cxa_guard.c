/*
 * Guards of C++ local statics (Itanium C++ ABI 3.3.3).
 *
 * These functions implement the guard instead of calling the C++ library's. A C program may load
 * its first C++ library at any time, and in a static link there might be no real function to wrap.
 * The word has the layout of libstdc++, so that a library with a hidden copy of libstdc++ can share
 * a guard with this file. Compiled code tests only byte 0.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/blocking.h"

#include <limits.h>
#include <linux/futex.h>

#define GUARD_DONE 0x00001u
#define GUARD_PENDING 0x00100u	/* a thread runs the initialiser */
#define GUARD_WAITING 0x10000u	/* other threads sleep until it has finished */

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard);

/* True if the caller must run the initialiser. Pairs with the exchange in guard_finish(). */
static bool guard_acquire(uint32_t *word, const void *pc)
{
	bool waited = false;
	uint32_t seen = 0;

	while (!__atomic_compare_exchange_n(word, &seen, GUARD_PENDING, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_ACQUIRE)) {
		uint32_t asleep = GUARD_PENDING | GUARD_WAITING;

		if (seen & GUARD_DONE)
			break;
		if (seen != asleep && !__atomic_compare_exchange_n(word, &seen, asleep, false,
								   __ATOMIC_ACQUIRE,
								   __ATOMIC_ACQUIRE)) {
			seen = 0;
			continue;
		}
		if (!waited)
			snarlrt_wait_begin(TRACE_GUARD_ACQUIRE, word, pc);
		waited = true;
		sys_call6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, asleep, 0, 0, 0);
		seen = 0;
	}
	if (waited)
		snarlrt_wait_end();
	return seen == 0;
}

static void guard_finish(uint32_t *word, uint32_t value)
{
	if (__atomic_exchange_n(word, value, __ATOMIC_ACQ_REL) & GUARD_WAITING)
		sys_call6(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

SNARLRT_INTERPOSE int __cxa_guard_acquire(uint64_t *guard)
{
	int mine;

	if (ctl_on())
		return model_guard_acquire(guard, SNARLRT_PC());
	mine = guard_acquire((uint32_t *)guard, SNARLRT_PC());
	snarlrt_note(TRACE_GUARD_ACQUIRE, 0, guard, 0, mine, SNARLRT_PC());
	return mine;
}

SNARLRT_INTERPOSE void __cxa_guard_release(uint64_t *guard)
{
	if (ctl_on()) {
		model_guard_release(guard, SNARLRT_PC());
		return;
	}
	snarlrt_note(TRACE_GUARD_RELEASE, 0, guard, 0, 0, SNARLRT_PC());
	guard_finish((uint32_t *)guard, GUARD_DONE);
}

/* Called when the initialiser threw an exception. */
SNARLRT_INTERPOSE void __cxa_guard_abort(uint64_t *guard)
{
	if (ctl_on()) {
		model_guard_abort(guard, SNARLRT_PC());
		return;
	}
	snarlrt_note(TRACE_GUARD_ABORT, 0, guard, 0, 0, SNARLRT_PC());
	guard_finish((uint32_t *)guard, 0);
}
