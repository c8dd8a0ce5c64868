/*
 * Spin locks. A thread that would spin is blocked instead. A free lock holds the value that the
 * real init stores, which differs between processors. A held lock holds minus the holder's trace
 * id. Any other value is a lock taken before control began.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"

static int free_value(void)
{
	pthread_spinlock_t fresh;

	REAL(pthread_spin_init)(&fresh, PTHREAD_PROCESS_PRIVATE);
	return fresh;
}

static bool is_free(const struct ctl_wait *w)
{
	return *(pthread_spinlock_t *)(uintptr_t)w->event.object == free_value();
}

static void take(pthread_spinlock_t *lock, const void *pc)
{
	*lock = -(int)ctl_self()->id;
	ctl_changed((const void *)lock);
	ctl_held_add((const void *)lock, pc);
}

int model_spin_lock(pthread_spinlock_t *lock, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, lock, is_free, pc);

	model_wait(&w, TRACE_SPIN_LOCK);
	take(lock, pc);
	snarlrt_note(TRACE_SPIN_LOCK, 0, (const void *)lock, 0, 0, pc);
	return 0;
}

int model_spin_trylock(pthread_spinlock_t *lock, const void *pc)
{
	int result = EBUSY;

	model_point(SCHED_OP_TRY, TRACE_SPIN_TRYLOCK, (const void *)lock, pc);
	if (*lock == free_value()) {
		take(lock, pc);
		result = 0;
	}
	snarlrt_note(TRACE_SPIN_TRYLOCK, 0, (const void *)lock, 0, result, pc);
	return result;
}

int model_spin_unlock(pthread_spinlock_t *lock, const void *pc)
{
	model_point(SCHED_OP_RELEASE, TRACE_SPIN_UNLOCK, (const void *)lock, pc);
	snarlrt_note(TRACE_SPIN_UNLOCK, 0, (const void *)lock, 0, 0, pc);
	if (*lock == free_value())
		ctl_misuse((const void *)lock, pc, "unlock of a spin lock that is not locked");
	else if (*lock < 0 && *lock != -(int)ctl_self()->id)
		ctl_misuse((const void *)lock, pc,
			   "unlock of a spin lock that another thread holds");
	*lock = free_value();
	ctl_held_drop((const void *)lock);
	ctl_changed((const void *)lock);
	return 0;
}

void model_spin_destroying(pthread_spinlock_t *lock, const void *pc)
{
	model_point(SCHED_OP_OTHER, TRACE_SPIN_DESTROY, (const void *)lock, pc);
	if (*lock < 0)
		ctl_misuse((const void *)lock, pc, "destruction of a spin lock that is locked");
}
