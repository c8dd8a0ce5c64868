/*
 * What libgomp's and libomp's events have in common (openmp.h).
 *
 * Locks become events of rwlocks, as other locks that the runtime does not know do: those of
 * mutexes store their time in the mutex.
 */
#include <errno.h>

#include "runtime/control/model/models.h"
#include "runtime/interpose/openmp.h"

#define FIRST_KEY 0x6f0000000000ull	/* nothing is mapped here */
#define KEYS (1u << 16)			/* bounds the analysis's memory */

bool snarlrt_ompt_active;

uint64_t snarlrt_openmp_key(void)
{
	static uint32_t used;
	uint32_t n = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);

	return FIRST_KEY + (uint64_t)(n % KEYS) * OPENMP_KEY_SIZE;
}

void snarlrt_openmp_depends(const void *variable, bool writes, bool ends, const void *pc)
{
	uint64_t writers = snarlrt_openmp_writers(variable);
	uint64_t readers = snarlrt_openmp_readers(variable);

	if (ends) {
		snarlrt_openmp_before(writes ? writers : readers, pc);
		return;
	}
	snarlrt_openmp_after(writers, pc);
	if (writes)
		snarlrt_openmp_after(readers, pc);
}

#define NESTS 8u	/* nestable locks that a thread holds; deeper ones are noted each time */

/* Nestable locks that the thread holds: only the first time that it takes one is an event. */
static __thread struct {
	const void *lock;
	uint32_t depth;
} nests[NESTS];

bool snarlrt_openmp_nest(const void *lock, bool enter)
{
	uint32_t i = 0;

	while (i < NESTS && !(nests[i].depth && nests[i].lock == lock))
		i++;
	if (i < NESTS)
		return enter ? nests[i].depth++ == 0 : --nests[i].depth == 0;
	for (i = 0; enter && i < NESTS; i++)
		if (!nests[i].depth) {
			nests[i].lock = lock;
			nests[i].depth = 1;
			break;
		}
	return true;
}

void snarlrt_openmp_locking(const void *lock, bool nests, const void *pc)
{
	if (ctl_on())
		model_library_lock(lock, nests, pc);
	else
		snarlrt_wait_begin(TRACE_RWLOCK_WRLOCK, lock, pc);
}

void snarlrt_openmp_locked(const void *lock, const void *pc)
{
	if (!ctl_on())
		snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_WRLOCK, 0, lock, 0, 0, pc);
}

void snarlrt_openmp_unlocking(const void *lock, const void *pc)
{
	if (ctl_on())
		ctl_point(SCHED_OP_RELEASE, lock, pc);
	snarlrt_note(TRACE_RWLOCK_UNLOCK, 0, lock, 0, 0, pc);
}

void snarlrt_openmp_unlocked(const void *lock)
{
	if (ctl_on())
		model_library_unlocked(lock);
}

void snarlrt_openmp_trying(const void *lock, const void *pc)
{
	if (ctl_on())
		ctl_point(SCHED_OP_TRY, lock, pc);
}

void snarlrt_openmp_tried(const void *lock, int times, const void *pc)
{
	if (times && ctl_on())
		model_library_locked(lock, pc);
	if (times <= 1)
		snarlrt_note(TRACE_RWLOCK_TRYWRLOCK, 0, lock, 0, times ? 0 : EBUSY, pc);
}
