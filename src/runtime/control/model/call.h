/*
 * A system call of the program, between entry and return of its interposer (interpose/call.h).
 */
#ifndef RUNTIME_CONTROL_MODEL_CALL_H
#define RUNTIME_CONTROL_MODEL_CALL_H

#include "runtime/core/mode.h"

static inline const void *snarlrt_fd(int fd)
{
	return (const void *)(intptr_t)fd;
}

struct snarlrt_call {
	const void *object, *pc;
	uint8_t what;		/* enum trace_call */
	bool open;		/* CALL_ENTER was recorded, CALL_LEAVE was not yet */
	bool control;		/* under control: the real call needs a point before it */
};

/*
 * The scheduling point just before the real call. ctl_call_may() waits until the call will not
 * block (`events` as for poll). It returns false with errno set if the call must not be made.
 * ctl_call_point() does not wait and returns true.
 */
SNARLRT_HIDDEN bool ctl_call_may(struct snarlrt_call *c, int fd, short events);
SNARLRT_HIDDEN bool ctl_call_point(struct snarlrt_call *c);

#endif
