/*
 * <threads.h>: threads, mutexes and conditions of C11.
 *
 * Events are those of the pthread functions, with the detail TRACE_C11. glibc's functions call its
 * internal ones and not the interposed pthread functions, so no event is noted twice. call_once()
 * is in pthread_once.c.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/interpose/blocking.h"
#include "runtime/interpose/thread_create.h"
#include "runtime/record/thread.h"

/* Returns the errno that stands for a result of <threads.h> in the trace (abi/trace_format.h). */
static int errno_of(int c11)
{
	switch (c11) {
	case thrd_success: return 0;
	case thrd_busy: return EBUSY;
	case thrd_nomem: return ENOMEM;
	case thrd_timedout: return ETIMEDOUT;
	default: return EINVAL;
	}
}

static int c11_of(int error)
{
	switch (error) {
	case 0: return thrd_success;
	case EBUSY: return thrd_busy;
	case ENOMEM: return thrd_nomem;
	case ETIMEDOUT: return thrd_timedout;
	default: return thrd_error;
	}
}

/* In glibc mtx_t and cnd_t have the layout of pthread_mutex_t and pthread_cond_t. */
static inline pthread_mutex_t *mutex_of(mtx_t *mutex)
{
	return (pthread_mutex_t *)(void *)mutex;
}

static inline pthread_cond_t *cond_of(cnd_t *cond)
{
	return (pthread_cond_t *)(void *)cond;
}

/*
 * thrd_t is pthread_t. thrd_join() keeps only the low 32 bits of the result register, so
 * pthread_create() can call a routine that returns int.
 */
SNARLRT_INTERPOSE int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
	void *(*start)(void *) = (void *(*)(void *))(void (*)(void))routine;

	snarlrt_real_ready();
	return c11_of(snarlrt_thread_create(thread, NULL, start, arg, SNARLRT_PC()));
}

static int join_controlled(thrd_t thread, int *value, const void *pc)
{
	void *result = NULL;
	int error = ctl_thread_join(thread, &result, true, CTL_NEVER, pc);

	if (!error && value)
		*value = (int)(intptr_t)result;
	return c11_of(error);
}

SNARLRT_INTERPOSE int thrd_join(thrd_t thread, int *value)
{
	if (ctl_on())
		return join_controlled(thread, value, SNARLRT_PC());

	uint32_t id = snarlrt_handle_get(thread);
	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_THREAD_JOIN,
		.detail = TRACE_C11,
		.object = (const void *)(uintptr_t)id,
		.arg = id,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	snarlrt_blocking_begin(&call, TRACE_THREAD_JOIN);
	got = REAL(thrd_join)(thread, value);
	call.result = errno_of(got);
	call.returned = true;
	return got;
}

/* Looks the id up first: once detached, the thread may end, and its handle may become another's. */
SNARLRT_INTERPOSE int thrd_detach(thrd_t thread)
{
	uint32_t id = snarlrt_handle_get(thread);
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(ctl_thread_detach(thread, SNARLRT_PC()));
	got = REAL(thrd_detach)(thread);
	snarlrt_note(TRACE_THREAD_DETACH, TRACE_C11, (const void *)(uintptr_t)id, id, errno_of(got),
		     SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE void thrd_exit(int value)
{
	pthread_exit((void *)(intptr_t)value);
}

SNARLRT_INTERPOSE void thrd_yield(void)
{
	snarlrt_real_ready();
	snarlrt_note(TRACE_YIELD, TRACE_C11, NULL, 0, 0, SNARLRT_PC());
	if (ctl_on()) {
		ctl_yield(SNARLRT_PC());
		return;
	}
	REAL(thrd_yield)();
}

static int sleep_controlled(uint64_t deadline, struct timespec *left, const void *pc)
{
	uint64_t ns_left = ctl_sleep(deadline, pc);

	if (ns_left && left)
		*left = ctl_timespec(ns_left);
	return ns_left ? -1 : 0;
}

SNARLRT_INTERPOSE int thrd_sleep(const struct timespec *duration, struct timespec *left)
{
	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_SLEEP,
		.detail = TRACE_C11,
		.arg = duration ? (uint64_t)duration->tv_sec * 1000000000u +
				  (uint64_t)duration->tv_nsec : 0,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	snarlrt_blocking_begin(&call, TRACE_SLEEP);
	if (ctl_on() && duration->tv_sec >= 0 && model_limit_valid(duration)) {
		got = sleep_controlled(ctl_after(ctl_time_ns(duration)), left, SNARLRT_PC());
		call.result = got ? EINTR : 0;
		call.returned = true;
		return got;
	}
	got = REAL(thrd_sleep)(duration, left);
	call.result = got == 0 ? 0 : got == -1 ? EINTR : EINVAL;
	call.returned = true;
	return got;
}

SNARLRT_INTERPOSE int mtx_init(mtx_t *mutex, int type)
{
	uint64_t posix = type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_MUTEX_INIT, mutex, SNARLRT_PC());
	got = REAL(mtx_init)(mutex, type);
	snarlrt_note(TRACE_MUTEX_INIT, TRACE_C11, mutex, posix, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE void mtx_destroy(mtx_t *mutex)
{
	snarlrt_real_ready();
	if (ctl_on())
		model_mutex_destroying(mutex_of(mutex), SNARLRT_PC());
	REAL(mtx_destroy)(mutex);
	snarlrt_note(TRACE_MUTEX_DESTROY, TRACE_C11, mutex, 0, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE int mtx_lock(mtx_t *mutex)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_mutex_lock(mutex_of(mutex), TRACE_C11, SNARLRT_PC()));
	snarlrt_wait_begin(TRACE_MUTEX_LOCK, mutex, SNARLRT_PC());
	got = REAL(mtx_lock)(mutex);
	snarlrt_wait_end();
	snarlrt_note(TRACE_MUTEX_LOCK, TRACE_C11, mutex, 0, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int mtx_trylock(mtx_t *mutex)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_mutex_trylock(mutex_of(mutex), TRACE_C11, SNARLRT_PC()));
	got = REAL(mtx_trylock)(mutex);
	snarlrt_note(TRACE_MUTEX_TRYLOCK, TRACE_C11, mutex, 0, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int mtx_timedlock(mtx_t *mutex, const struct timespec *limit)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_mutex_timedlock(mutex_of(mutex), CLOCK_REALTIME, limit,
						    TRACE_C11, SNARLRT_PC()));
	snarlrt_wait_begin(TRACE_MUTEX_TIMEDLOCK, mutex, SNARLRT_PC());
	got = REAL(mtx_timedlock)(mutex, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_MUTEX_TIMEDLOCK, TRACE_C11 | TRACE_TIMED, mutex, 0, errno_of(got),
		     SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int mtx_unlock(mtx_t *mutex)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_mutex_unlock(mutex_of(mutex), TRACE_C11, SNARLRT_PC()));
	snarlrt_note(TRACE_MUTEX_UNLOCK, TRACE_C11, mutex, 0, 0, SNARLRT_PC());
	got = REAL(mtx_unlock)(mutex);
	if (unlikely(got != thrd_success))
		snarlrt_note(TRACE_MUTEX_UNLOCK, TRACE_C11, mutex, 0, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int cnd_init(cnd_t *cond)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_COND_INIT, cond, SNARLRT_PC());
	got = REAL(cnd_init)(cond);
	snarlrt_note(TRACE_COND_INIT, TRACE_C11, cond, 0, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE void cnd_destroy(cnd_t *cond)
{
	snarlrt_real_ready();
	if (ctl_on())
		model_cond_destroying(cond_of(cond), SNARLRT_PC());
	snarlrt_wait_begin(TRACE_COND_DESTROY, cond, SNARLRT_PC());
	REAL(cnd_destroy)(cond);
	snarlrt_wait_end();
	snarlrt_note(TRACE_COND_DESTROY, TRACE_C11, cond, 0, 0, SNARLRT_PC());
}

static inline void wait_begin(const struct snarlrt_blocking *call)
{
	snarlrt_note(TRACE_COND_WAIT, call->detail, call->object, call->arg, 0, call->pc);
	snarlrt_blocking_begin(call, TRACE_COND_WAIT);
}

SNARLRT_INTERPOSE int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	if (ctl_on())
		return c11_of(model_cond_wait(cond_of(cond), mutex_of(mutex), TRACE_C11,
					      SNARLRT_PC()));

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_COND_WAKE,
		.detail = TRACE_C11,
		.object = cond,
		.arg = (uintptr_t)mutex,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	wait_begin(&call);
	got = REAL(cnd_wait)(cond, mutex);
	call.result = errno_of(got);
	call.returned = true;
	return got;
}

SNARLRT_INTERPOSE int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *limit)
{
	if (ctl_on())
		return c11_of(model_cond_timedwait(cond_of(cond), mutex_of(mutex), CLOCK_REALTIME,
						   limit, TRACE_C11, SNARLRT_PC()));

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_COND_WAKE,
		.detail = TRACE_C11 | TRACE_TIMED,
		.object = cond,
		.arg = (uintptr_t)mutex,
		.pc = SNARLRT_PC(),
	};
	int got;

	snarlrt_real_ready();
	wait_begin(&call);
	got = REAL(cnd_timedwait)(cond, mutex, limit);
	call.result = errno_of(got);
	call.returned = true;
	return got;
}

SNARLRT_INTERPOSE int cnd_signal(cnd_t *cond)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_cond_signal(cond_of(cond), TRACE_C11, SNARLRT_PC()));
	snarlrt_note(TRACE_COND_SIGNAL, TRACE_C11, cond, 0, 0, SNARLRT_PC());
	got = REAL(cnd_signal)(cond);
	if (unlikely(got != thrd_success))
		snarlrt_note(TRACE_COND_SIGNAL, TRACE_C11, cond, 0, errno_of(got), SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE int cnd_broadcast(cnd_t *cond)
{
	int got;

	snarlrt_real_ready();
	if (ctl_on())
		return c11_of(model_cond_broadcast(cond_of(cond), TRACE_C11, SNARLRT_PC()));
	snarlrt_note(TRACE_COND_BROADCAST, TRACE_C11, cond, 0, 0, SNARLRT_PC());
	got = REAL(cnd_broadcast)(cond);
	if (unlikely(got != thrd_success))
		snarlrt_note(TRACE_COND_BROADCAST, TRACE_C11, cond, 0, errno_of(got), SNARLRT_PC());
	return got;
}
