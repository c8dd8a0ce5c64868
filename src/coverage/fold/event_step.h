/*
 * Converts events to steps of coverage/fold/iroot_fold.h. The tool does so with events of a trace,
 * and the runtime with the events that it would write to one. No libc.
 */
#ifndef COVERAGE_FOLD_EVENT_STEP_H
#define COVERAGE_FOLD_EVENT_STEP_H

#include "abi/trace_roles.h"
#include "coverage/fold/iroot_fold.h"

#define TRACE_STEPS 2u	/* maximum number of steps of one event */

/* The step of an event that is neither an access nor the begin or end of a wait on a condition. */
static inline uint32_t step_of_sync(unsigned kind, unsigned roles, unsigned result)
{
	if (roles & ROLE_ACQUIRE) {
		if (!trace_acquired(kind, result))
			return IROOT_OP_NONE;
		return roles & ROLE_SHARED ? IROOT_OP_ACQUIRE_SHARED : IROOT_OP_ACQUIRE;
	}
	if (result != 0)
		return IROOT_OP_NONE;
	if (roles & ROLE_RELEASE)
		return IROOT_OP_RELEASE;
	if (roles & ROLE_SIGNAL)
		return IROOT_OP_SIGNAL;
	if (roles & ROLE_PASS)
		return IROOT_OP_WAIT;
	if (roles & ROLE_ALLOC)
		return IROOT_OP_FRESH;
	switch (kind) {
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
	}
	return IROOT_OP_NONE;
}

/* `size`: of accesses; `result`: 0 for atomics. Returns the number of steps in `out`. */
static inline unsigned trace_steps(struct iroot_step out[TRACE_STEPS], uint32_t thread,
				   unsigned kind,
				   uint64_t addr, uint64_t size, uint64_t arg, unsigned result,
				   uint64_t pc)
{
	unsigned roles = trace_roles(kind);
	struct iroot_step s = { .thread = thread, .addr = addr, .size = size, .site = pc };

	if (roles & (ROLE_READ | ROLE_WRITE)) {
		s.op = roles & ROLE_WRITE ? IROOT_OP_WRITE : IROOT_OP_READ;
	} else if (roles & (ROLE_WAIT_BEGIN | ROLE_WAIT_END)) {
		s.op = roles & ROLE_WAIT_BEGIN ? IROOT_OP_RELEASE : IROOT_OP_ACQUIRE;
		s.addr = arg;
		out[1] = (struct iroot_step){ .thread = thread, .op = IROOT_OP_WAIT, .addr = addr };
		out[0] = s;
		return roles & ROLE_WAIT_END && result == 0 ? 2 : 1;
	} else {
		s.op = step_of_sync(kind, roles, result);
		if (s.op == IROOT_OP_CREATE || s.op == IROOT_OP_JOIN)
			s.addr = arg;
		/* Rounded up to end the last granule's history, too: malloc's blocks share none. */
		s.size = kind == TRACE_MALLOC && arg < UINT64_MAX - 7 ? (arg + 7) & ~7ull : arg;
	}
	out[0] = s;
	return s.op != IROOT_OP_NONE;
}

#endif
