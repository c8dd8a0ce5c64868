/*
 * A real call that may block, and that cancellation or an exception may leave
 * by unwinding our frame instead of returning.
 *
 *	struct snarlrt_blocking call SNARLRT_BLOCKING = { … };
 *
 *	snarlrt_blocking_begin(&call, TRACE_SEM_WAIT);
 *	call.result = …;	the real call
 *	call.returned = true;
 *
 * The event is noted where the scope ends, one way or the other.
 */
#ifndef RUNTIME_INTERPOSE_BLOCKING_H
#define RUNTIME_INTERPOSE_BLOCKING_H

#include <errno.h>

#include "runtime/core/mode.h"

struct snarlrt_blocking {
	enum trace_kind kind;	/* noted at the end */
	unsigned detail;
	const void *object;
	uint64_t arg;
	const void *pc;
	int result;
	bool returned;
};

static inline void snarlrt_blocking_end(struct snarlrt_blocking *call)
{
	snarlrt_wait_end();
	if (unlikely(!call->returned)) {
		call->detail |= TRACE_UNWOUND;
		call->result = ECANCELED;
	}
	snarlrt_note(call->kind, call->detail, call->object, call->arg, call->result, call->pc);
}

#define SNARLRT_BLOCKING __attribute__((cleanup(snarlrt_blocking_end)))

/* `waiting_in`: what a killed run is to show. */
static inline void snarlrt_blocking_begin(const struct snarlrt_blocking *call,
					  enum trace_kind waiting_in)
{
	snarlrt_wait_begin(waiting_in, call->object, call->pc);
}

#endif
