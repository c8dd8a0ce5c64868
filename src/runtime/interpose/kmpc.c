/*
 * libomp's critical sections, reductions, ordered blocks and doacross loops, as clang calls them.
 * Each call passes the source location and the thread's number first. ompt.c sees all else.
 */
#ifndef SNARLRT_STATIC

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/control/library_waits.h"
#include "runtime/interpose/gomp.h"

#define WHERE void *location, int thread

SNARLRT_INTERPOSE void __kmpc_critical(WHERE, void *lock)
{
	if (snarlrt_off()) {
		GOMP_REAL(__kmpc_critical)(location, thread, lock);
		return;
	}
	snarlrt_openmp_locking(lock, false, SNARLRT_PC());
	GOMP_REAL(__kmpc_critical)(location, thread, lock);
	snarlrt_openmp_locked(lock, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __kmpc_critical_with_hint(WHERE, void *lock, uint32_t hint)
{
	if (snarlrt_off()) {
		GOMP_REAL(__kmpc_critical_with_hint)(location, thread, lock, hint);
		return;
	}
	snarlrt_openmp_locking(lock, false, SNARLRT_PC());
	GOMP_REAL(__kmpc_critical_with_hint)(location, thread, lock, hint);
	snarlrt_openmp_locked(lock, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __kmpc_end_critical(WHERE, void *lock)
{
	if (snarlrt_off()) {
		GOMP_REAL(__kmpc_end_critical)(location, thread, lock);
		return;
	}
	snarlrt_openmp_unlocking(lock, SNARLRT_PC());
	GOMP_REAL(__kmpc_end_critical)(location, thread, lock);
	snarlrt_openmp_unlocked(lock);
}

/*
 * libomp notes its process id in a file of /dev/shm and removes it at exit. Runs that are killed
 * leave theirs behind, and a later process with the same number aborts. So a run has a file without
 * a name, and none to be found again.
 */
SNARLRT_INTERPOSE int shm_open(const char *name, int flags, mode_t mode)
{
	static const char prefix[] = "/__KMP_REGISTERED_LIB_";

	if (!mode_controls() || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return GOMP_REAL(shm_open)(name, flags, mode);
	if (flags & O_CREAT)
		return memfd_create("libomp", MFD_CLOEXEC);
	errno = ENOENT;
	return -1;
}

/*
 * Reductions. The result 1 makes the caller combine its values: under a lock, or after all others
 * in a barrier, in which case the events of a lock do no harm.
 */
#define REDUCE_FN(start, end)                                                              \
	SNARLRT_INTERPOSE int start(WHERE, int count, size_t size, void *data,             \
				    void (*combine)(void *, void *), void *lock)           \
	{                                                                                  \
		int got = GOMP_REAL(start)(location, thread, count, size, data, combine,   \
					   lock);                                          \
                                                                                           \
		if (got == 1)                                                              \
			snarlrt_note(TRACE_RWLOCK_WRLOCK, 0, lock, 0, 0, SNARLRT_PC());       \
		return got;                                                                \
	}                                                                                  \
	SNARLRT_INTERPOSE void end(WHERE, void *lock)                                      \
	{                                                                                  \
		snarlrt_note(TRACE_RWLOCK_UNLOCK, 0, lock, 0, 0, SNARLRT_PC());             \
		GOMP_REAL(end)(location, thread, lock);                                    \
	}

REDUCE_FN(__kmpc_reduce, __kmpc_end_reduce)
REDUCE_FN(__kmpc_reduce_nowait, __kmpc_end_reduce_nowait)

/* Functions that wait for tasks, and execute some meanwhile. */
#define TASKS_FN(type, name, params, ...)                                                  \
	SNARLRT_INTERPOSE type name params                                                 \
	{                                                                                  \
		type got;                                                                  \
                                                                                           \
		ctl_library_call_begin();                                                  \
		got = GOMP_REAL(name)(__VA_ARGS__);                                        \
		ctl_library_call_end();                                                    \
		return got;                                                                \
	}
#define TASKS_VOID_FN(name, params, ...)                                                   \
	SNARLRT_INTERPOSE void name params                                                 \
	{                                                                                  \
		ctl_library_call_begin();                                                  \
		GOMP_REAL(name)(__VA_ARGS__);                                              \
		ctl_library_call_end();                                                    \
	}

TASKS_FN(int, __kmpc_omp_taskwait, (WHERE), location, thread)
TASKS_VOID_FN(__kmpc_end_taskgroup, (WHERE), location, thread)
TASKS_VOID_FN(__kmpc_omp_wait_deps, (WHERE, int count, void *list, int others, void *more),
	      location, thread, count, list, others, more)
TASKS_VOID_FN(__kmpc_omp_taskwait_deps_51,
	      (WHERE, int count, void *list, int others, void *more, int nowait),
	      location, thread, count, list, others, more, nowait)
TASKS_VOID_FN(__kmpc_taskloop,
	      (WHERE, void *task, int deferred, uint64_t *low, uint64_t *high, int64_t step,
	       int no_group, int kind, uint64_t grain, void *copy),
	      location, thread, task, deferred, low, high, step, no_group, kind, grain, copy)
TASKS_VOID_FN(__kmpc_taskloop_5,
	      (WHERE, void *task, int deferred, uint64_t *low, uint64_t *high, int64_t step,
	       int no_group, int kind, uint64_t grain, int modifier, void *copy),
	      location, thread, task, deferred, low, high, step, no_group, kind, grain, modifier,
	      copy)

/* An object for all ordered blocks (0), or all doacross loops (1). */
static inline uint64_t order_object(unsigned n)
{
	static char objects[2];

	return snarlrt_openmp_writers(&objects[n]);
}

SNARLRT_INTERPOSE void __kmpc_ordered(WHERE)
{
	GOMP_REAL(__kmpc_ordered)(location, thread);
	snarlrt_openmp_after(order_object(0), SNARLRT_PC());
}

SNARLRT_INTERPOSE void __kmpc_end_ordered(WHERE)
{
	snarlrt_openmp_before(order_object(0), SNARLRT_PC());
	GOMP_REAL(__kmpc_end_ordered)(location, thread);
}

SNARLRT_INTERPOSE void __kmpc_doacross_wait(WHERE, const int64_t *iteration)
{
	GOMP_REAL(__kmpc_doacross_wait)(location, thread, iteration);
	snarlrt_openmp_after(order_object(1), SNARLRT_PC());
}

SNARLRT_INTERPOSE void __kmpc_doacross_post(WHERE, const int64_t *iteration)
{
	snarlrt_openmp_before(order_object(1), SNARLRT_PC());
	GOMP_REAL(__kmpc_doacross_post)(location, thread, iteration);
}

#endif
