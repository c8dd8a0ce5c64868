/*
 * sem_*. They report errors in errno. Named semaphores need no code of their own: sem_open()
 * returns memory that the same functions use.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/interpose/blocking.h"

SNARLRT_INTERPOSE int sem_init(sem_t *sem, int shared, unsigned value)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_SEM_INIT, sem, SNARLRT_PC());
	got = REAL(sem_init)(sem, shared, value);
	snarlrt_note(TRACE_SEM_INIT, 0, sem, value, got ? errno : 0, SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int sem_destroy(sem_t *sem)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		model_sem_destroying(sem, SNARLRT_PC());
	got = REAL(sem_destroy)(sem);
	snarlrt_note(TRACE_SEM_DESTROY, 0, sem, 0, got ? errno : 0, SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int sem_wait(sem_t *sem)
{
	if (ctl_on())
		return model_sem_wait(sem, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_SEM_WAIT,
		.object = sem,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(sem_wait)(sem);
	snarlrt_blocking_begin(&call, TRACE_SEM_WAIT);
	got = REAL(sem_wait)(sem);
	call.result = got ? errno : 0;
	call.returned = true;
	return got;
}

SNARLRT_INTERPOSE int sem_trywait(sem_t *sem)
{
	int got;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(sem_trywait)(sem);
	if (ctl_on())
		return model_sem_trywait(sem, SNARLRT_PC());
	got = REAL(sem_trywait)(sem);
	snarlrt_note(TRACE_SEM_TRYWAIT, 0, sem, 0, got ? errno : 0, SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int sem_timedwait(sem_t *sem, const struct timespec *limit)
{
	if (ctl_on())
		return model_sem_timedwait(sem, CLOCK_REALTIME, limit, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_SEM_TIMEDWAIT,
		.detail = TRACE_TIMED,
		.object = sem,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	snarlrt_blocking_begin(&call, TRACE_SEM_TIMEDWAIT);
	got = REAL(sem_timedwait)(sem, limit);
	call.result = got ? errno : 0;
	call.returned = true;
	return got;
}

SNARLRT_INTERPOSE int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *limit)
{
	if (ctl_on())
		return model_sem_timedwait(sem, clock, limit, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_SEM_TIMEDWAIT,
		.detail = TRACE_TIMED,
		.object = sem,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(sem_clockwait)(sem, clock, limit);
	snarlrt_blocking_begin(&call, TRACE_SEM_TIMEDWAIT);
	got = REAL(sem_clockwait)(sem, clock, limit);
	call.result = got ? errno : 0;
	call.returned = true;
	return got;
}

/* Leaves no event: the value says nothing about order. */
SNARLRT_INTERPOSE int sem_getvalue(sem_t *sem, int *value)
{
	snarlrt_real_ready();
	if (ctl_on())
		model_sem_reading(sem, SNARLRT_PC());
	return REAL(sem_getvalue)(sem, value);
}

SNARLRT_INTERPOSE int sem_post(sem_t *sem)
{
	int got;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(sem_post)(sem);
	if (ctl_on())
		return model_sem_post(sem, SNARLRT_PC());
	snarlrt_note(TRACE_SEM_POST, 0, sem, 0, 0, SNARLRT_PC());
	got = REAL(sem_post)(sem);
	if (unlikely(got))
		snarlrt_note(TRACE_SEM_POST, 0, sem, 0, errno, SNARLRT_PC());
	return got;
}
