/*
 * pthread_barrier_*. Which thread becomes the serial one is chance: BARRIER_LEAVE has this in its
 * argument, and the result 0 for all threads.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"

SNARLRT_INTERPOSE int pthread_barrier_init(pthread_barrier_t *barrier,
					   const pthread_barrierattr_t *attr, unsigned count)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_BARRIER_INIT, barrier, SNARLRT_PC());
	result = REAL(pthread_barrier_init)(barrier, attr, count);
	snarlrt_note(TRACE_BARRIER_INIT, 0, barrier, count, result, SNARLRT_PC());
	return result;
}

/* Blocks while threads are still leaving the barrier. */
SNARLRT_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		return model_barrier_destroy(barrier, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_BARRIER_DESTROY, barrier, SNARLRT_PC());
	result = REAL(pthread_barrier_destroy)(barrier);
	snarlrt_wait_end();
	snarlrt_note(TRACE_BARRIER_DESTROY, 0, barrier, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	bool serial;
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return model_barrier_wait(barrier, SNARLRT_PC());
	snarlrt_note(TRACE_BARRIER_ENTER, 0, barrier, 0, 0, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_BARRIER_ENTER, barrier, SNARLRT_PC());
	got = REAL(pthread_barrier_wait)(barrier);
	snarlrt_wait_end();
	serial = got == PTHREAD_BARRIER_SERIAL_THREAD;
	snarlrt_note(TRACE_BARRIER_LEAVE, 0, barrier, serial, serial ? 0 : got, SNARLRT_PC());
	return got;
}
