/*
 * Notes the event of a call of libc that may block, when it returns or is unwound by cancellation
 * or an exception.
 *
 *	struct snarlrt_blocking call SNARLRT_BLOCKING = { .kind = TRACE_SEM_WAIT, .object = sem };
 *
 *	snarlrt_blocking_begin(&call, TRACE_SEM_WAIT);
 *	got = REAL(sem_wait)(sem);
 *	call.result = got ? errno : 0;
 *	call.returned = true;
 *	return got;
 *
 * The event is noted at the end of the scope, with `result` or, if `returned` is false, with
 * ECANCELED and TRACE_UNWOUND. System calls use SNARLRT_CALL of call.h instead, which also notes
 * their start.
 */
#ifndef RUNTIME_INTERPOSE_BLOCKING_H
#define RUNTIME_INTERPOSE_BLOCKING_H

#include <errno.h>

#include "runtime/core/mode.h"

struct snarlrt_blocking {
	/* The event, as snarlrt_note() takes it; `result` is set before the scope ends. */
	enum trace_kind kind;
	unsigned detail;
	const void *object;
	uint64_t arg;
	const void *pc;
	int result;
	bool returned;		/* false: the frame is being unwound */
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

/* `waiting_in`: the kind of event that the trace shows as blocked if the program is killed here. */
static inline void snarlrt_blocking_begin(const struct snarlrt_blocking *call,
					  enum trace_kind waiting_in)
{
	snarlrt_wait_begin(waiting_in, call->object, call->pc);
}

#endif
