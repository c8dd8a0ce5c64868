/*
 * Life of threads: creation, join, detach, exit, cancellation.
 *
 * pthread_create() passes its arguments to thread_main() in a struct start_args. The new thread
 * copies it, gives itself its id (thread_begin) and calls the program's routine.
 */
#include <errno.h>
#include <pthread.h>

#include "runtime/control/control.h"
#include "runtime/core/arena.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/lock.h"
#include "runtime/core/real.h"
#include "runtime/interpose/thread_create.h"
#include "runtime/monitor/monitor.h"
#include "runtime/record/thread.h"

/* What a new thread needs. Freed entries are kept in a list: arena memory is never returned. */
struct start_args {
	void *(*routine)(void *);
	void *arg;
	struct mode_thread thread;	/* argument of the mode's thread_begin */
	bool masked;		/* the thread starts with all signals blocked */
	uint64_t mask;		/* if `masked`: the mask that it then sets */
	struct start_args *next_free;
};

static struct snarlrt_lock start_lock;
static struct start_args *free_starts;

static struct start_args *start_alloc(void)
{
	struct start_args *start;

	snarlrt_lock(&start_lock);
	start = free_starts;
	if (start)
		free_starts = start->next_free;
	snarlrt_unlock(&start_lock);
	return start ? start : arena_alloc(sizeof(*start));
}

static void start_free(struct start_args *start)
{
	snarlrt_lock(&start_lock);
	start->next_free = free_starts;
	free_starts = start;
	snarlrt_unlock(&start_lock);
}

void snarlrt_thread_create_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&start_lock);
	else
		snarlrt_unlock(&start_lock);
}

static void *thread_main(void *v)
{
	struct start_args start = *(struct start_args *)v;

	start_free(v);
	snarlrt_handle_set((uintptr_t)pthread_self(), start.thread.id);
	snarlrt_ops->thread_begin(&start.thread);
	if (start.masked)
		snarlrt_signals_set(start.mask);
	return start.routine(start.arg);
}

/*
 * A signal handler that ran in a new thread before thread_begin would attach it as one that
 * pthread_create did not make. Threads therefore start with all signals blocked, unless `attr` has
 * a signal mask.
 */
static bool inherits_mask(const pthread_attr_t *attr)
{
	sigset_t set;

	return !attr || pthread_attr_getsigmask_np(attr, &set) != 0;
}

int snarlrt_thread_create(pthread_t *out, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *arg, const void *pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct start_args *start;
	uint64_t mask;
	uint32_t id;
	int error;

	snarlrt_real_ready();
	if (ctl_on())
		return ctl_thread_create(out, attr, routine, arg, pc);
	if (!mode_records() && !mode_monitors())
		return REAL(pthread_create)(out, attr, routine, arg);
	mask = snarlrt_signals_block();
	start = start_alloc();
	if (!start) {
		snarlrt_signals_set(mask);
		return REAL(pthread_create)(out, attr, routine, arg);
	}
	snarlrt.threaded = true;
	start->masked = inherits_mask(attr);
	start->mask = mask;
	start->routine = routine;
	start->arg = arg;
	id = snarlrt_thread_new_id();
	/* Noted before the real call, so that the new thread's first event is later. */
	snarlrt_note(TRACE_THREAD_CREATE, 0, (const void *)(uintptr_t)id, id, 0, pc);
	start->thread = (struct mode_thread){
		.id = id,
		.parent = tls->self ? tls->self->id : 0,
		.ordinal = tls->self
				   ? tls->self->children + 1
				   : __atomic_add_fetch(&snarlrt.next_foreign, 1, __ATOMIC_RELAXED),
		.routine = (const void *)(uintptr_t)routine,
	};
	__atomic_fetch_add(&monitor.unattached, 1, __ATOMIC_SEQ_CST);
	snarlrt_hide();
	error = REAL(pthread_create)(out, attr, thread_main, start);
	snarlrt_unhide();
	if (error) {
		__atomic_fetch_sub(&monitor.unattached, 1, __ATOMIC_SEQ_CST);
		snarlrt_note(TRACE_THREAD_CREATE, 0, (const void *)(uintptr_t)id, id, error, pc);
		start_free(start);
		snarlrt_signals_set(mask);
		return error;
	}
	/*
	 * Set here too: the thread may be joined before it ran. From the real call on, the new
	 * thread owns `start`.
	 */
	snarlrt_handle_set((uintptr_t)*out, id);
	if (tls->self)
		tls->self->children++;
	snarlrt_signals_set(mask);
	return 0;
}

SNARLRT_INTERPOSE int pthread_create(pthread_t *out, const pthread_attr_t *attr,
				     void *(*routine)(void *), void *arg)
{
	return snarlrt_thread_create(out, attr, routine, arg, SNARLRT_PC());
}

static void join_end(void *unused)
{
	(void)unused;
	snarlrt_wait_end();
}

/*
 * The id is looked up first: after the join, the handle may belong to another thread. `call` is a
 * cancellation point.
 */
#define JOIN(call)                                                                                 \
	do {                                                                                       \
		uint32_t id = snarlrt_handle_get((uintptr_t)thread);                               \
		int error;                                                                         \
		snarlrt_real_ready();                                                              \
		snarlrt_wait_begin(TRACE_THREAD_JOIN, (void *)(uintptr_t)id, SNARLRT_PC());        \
		pthread_cleanup_push(join_end, NULL);                                              \
		error = call;                                                                      \
		pthread_cleanup_pop(1);                                                            \
		snarlrt_note(TRACE_THREAD_JOIN, 0, (void *)(uintptr_t)id, id, error,               \
			     SNARLRT_PC());                                                        \
		return error;                                                                      \
	} while (0)

SNARLRT_INTERPOSE int pthread_join(pthread_t thread, void **value)
{
	if (ctl_on())
		return ctl_thread_join(thread, value, true, CTL_NEVER, SNARLRT_PC());
	JOIN(REAL(pthread_join)(thread, value));
}

SNARLRT_INTERPOSE int pthread_tryjoin_np(pthread_t thread, void **value)
{
	if (ctl_on())
		return ctl_thread_join(thread, value, false, CTL_NEVER, SNARLRT_PC());
	JOIN(REAL(pthread_tryjoin_np)(thread, value));
}

SNARLRT_INTERPOSE int pthread_timedjoin_np(pthread_t thread, void **value,
					   const struct timespec *limit)
{
	if (ctl_on())
		return ctl_thread_join(thread, value, true, ctl_deadline(CLOCK_REALTIME, limit),
				       SNARLRT_PC());
	JOIN(REAL(pthread_timedjoin_np)(thread, value, limit));
}

SNARLRT_INTERPOSE int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
					   const struct timespec *limit)
{
	if (ctl_on())
		return ctl_thread_join(thread, value, true, ctl_deadline(clock, limit),
				       SNARLRT_PC());
	JOIN(REAL(pthread_clockjoin_np)(thread, value, clock, limit));
}

SNARLRT_INTERPOSE int pthread_detach(pthread_t thread)
{
	uint32_t id = snarlrt_handle_get((uintptr_t)thread);
	int error;

	snarlrt_real_ready();
	if (ctl_on())
		return ctl_thread_detach(thread, SNARLRT_PC());
	error = REAL(pthread_detach)(thread);
	snarlrt_note(TRACE_THREAD_DETACH, 0, (void *)(uintptr_t)id, id, error, SNARLRT_PC());
	return error;
}

SNARLRT_INTERPOSE int pthread_cancel(pthread_t thread)
{
	uint32_t id = snarlrt_handle_get((uintptr_t)thread);

	snarlrt_real_ready();
	if (ctl_on())
		return ctl_thread_cancel(thread, SNARLRT_PC());
	snarlrt_cancel_prepare();
	if (mode_monitors())
		monitor_cancel((uint64_t)thread, (uint64_t)SNARLRT_PC());
	snarlrt_note(TRACE_THREAD_CANCEL, 0, (void *)(uintptr_t)id, id, 0, SNARLRT_PC());
	return REAL(pthread_cancel)(thread);
}

SNARLRT_INTERPOSE void pthread_exit(void *result)
{
	snarlrt_real_ready();
	if (ctl_on())
		ctl_thread_exit(result);
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

/* In mode control the runtime implements cancellation, including its state and type. */
SNARLRT_INTERPOSE int pthread_setcancelstate(int state, int *old)
{
	struct ctl_thread *t = ctl_self();

	snarlrt_real_ready();
	if (!ctl_on())
		return REAL(pthread_setcancelstate)(state, old);
	if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
		return EINVAL;
	if (old)
		*old = t->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	t->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
	if (t->cancel_async)
		ctl_cancel_act();
	return 0;
}

SNARLRT_INTERPOSE int pthread_setcanceltype(int type, int *old)
{
	struct ctl_thread *t = ctl_self();

	snarlrt_real_ready();
	if (!ctl_on())
		return REAL(pthread_setcanceltype)(type, old);
	if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
		return EINVAL;
	if (old)
		*old = t->cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
	t->cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	if (t->cancel_async)
		ctl_cancel_act();
	return 0;
}

SNARLRT_INTERPOSE void pthread_testcancel(void)
{
	snarlrt_real_ready();
	if (!ctl_on()) {
		REAL(pthread_testcancel)();
		return;
	}
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	ctl_cancel_act();
}
