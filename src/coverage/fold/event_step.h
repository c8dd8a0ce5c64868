/*
 * Events of a trace, or those that the runtime would write to one, as steps of
 * coverage/fold/iroot_fold.h. For both, so that they say the same; no libc here.
 */
#ifndef COVERAGE_FOLD_EVENT_STEP_H
#define COVERAGE_FOLD_EVENT_STEP_H

#include <errno.h>

#include "abi/trace_format.h"
#include "coverage/fold/iroot_fold.h"

#define TRACE_STEPS 2u	/* of one event, at most */

static inline bool step_acquired(unsigned result)
{
	return result == 0 || result == EOWNERDEAD;
}

static inline uint32_t step_of_atomic(unsigned kind)
{
	return kind == TRACE_ATOMIC_LOAD || kind == TRACE_ATOMIC_CAS_FAIL ? IROOT_OP_READ : IROOT_OP_WRITE;
}

/* What takes, gives back or orders if it succeeds. */
static inline uint32_t step_of_sync(unsigned kind, unsigned result)
{
	switch (kind) {
	case TRACE_MUTEX_LOCK: case TRACE_MUTEX_TRYLOCK: case TRACE_MUTEX_TIMEDLOCK:
	case TRACE_RWLOCK_WRLOCK: case TRACE_RWLOCK_TRYWRLOCK: case TRACE_RWLOCK_TIMEDWRLOCK:
	case TRACE_SPIN_LOCK: case TRACE_SPIN_TRYLOCK:
		return step_acquired(result) ? IROOT_OP_ACQUIRE : IROOT_OP_NONE;
	case TRACE_RWLOCK_RDLOCK: case TRACE_RWLOCK_TRYRDLOCK: case TRACE_RWLOCK_TIMEDRDLOCK:
		return step_acquired(result) ? IROOT_OP_ACQUIRE_SHARED : IROOT_OP_NONE;
	}
	if (result != 0)
		return IROOT_OP_NONE;
	switch (kind) {
	case TRACE_MUTEX_UNLOCK: case TRACE_RWLOCK_UNLOCK: case TRACE_SPIN_UNLOCK:
		return IROOT_OP_RELEASE;
	case TRACE_COND_SIGNAL: case TRACE_COND_BROADCAST: case TRACE_SEM_POST: case TRACE_ONCE_END:
	case TRACE_GUARD_RELEASE: case TRACE_HB_BEFORE:
		return IROOT_OP_SIGNAL;
	case TRACE_SEM_WAIT: case TRACE_SEM_TRYWAIT: case TRACE_SEM_TIMEDWAIT: case TRACE_ONCE_PASS:
	case TRACE_GUARD_ACQUIRE: case TRACE_HB_AFTER:
		return IROOT_OP_WAIT;
	case TRACE_BARRIER_INIT:
		return IROOT_OP_BARRIER_INIT;
	case TRACE_BARRIER_ENTER:
		return IROOT_OP_BARRIER_ENTER;
	case TRACE_BARRIER_LEAVE:
		return IROOT_OP_BARRIER_LEAVE;
	case TRACE_THREAD_CREATE:
		return IROOT_OP_CREATE;
	case TRACE_THREAD_JOIN:
		return IROOT_OP_JOIN;
	case TRACE_MALLOC: case TRACE_MMAP:
		return IROOT_OP_FRESH;
	}
	return IROOT_OP_NONE;
}

/* `size`: of what has one; `result`: 0 for atomics. Returns how many are in `out`. */
static inline unsigned trace_steps(struct iroot_step out[TRACE_STEPS], uint32_t thread, unsigned kind,
				   uint64_t addr, uint64_t size, uint64_t arg, unsigned result,
				   uint64_t pc)
{
	struct iroot_step s = { .thread = thread, .addr = addr, .size = size, .site = pc };

	if (kind == TRACE_READ || kind == TRACE_READ_RANGE) {
		s.op = IROOT_OP_READ;
	} else if (kind == TRACE_WRITE || kind == TRACE_WRITE_RANGE) {
		s.op = IROOT_OP_WRITE;
	} else if (kind >= TRACE_ATOMIC_LOAD && kind <= TRACE_ATOMIC_CAS_FAIL) {
		s.op = step_of_atomic(kind);
	} else if (kind == TRACE_COND_WAIT || kind == TRACE_COND_WAKE) {
		s.op = kind == TRACE_COND_WAIT ? IROOT_OP_RELEASE : IROOT_OP_ACQUIRE;
		s.addr = arg;
		out[1] = (struct iroot_step){ .thread = thread, .op = IROOT_OP_WAIT, .addr = addr };
		out[0] = s;
		return kind == TRACE_COND_WAKE && result == 0 ? 2 : 1;
	} else {
		s.op = step_of_sync(kind, result);
		if (s.op == IROOT_OP_CREATE || s.op == IROOT_OP_JOIN)
			s.addr = arg;
		/* No two blocks share the last 8 bytes of one. */
		s.size = kind == TRACE_MALLOC && arg < UINT64_MAX - 7 ? (arg + 7) & ~7ull : arg;
	}
	out[0] = s;
	return s.op != IROOT_OP_NONE;
}

#endif
