/*
 * A system call of the program, from its interposer's entry to its return (interpose/call.h).
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
	bool open;		/* entered, not left; false also if nobody watches */
	bool control;		/* the thread is under control: ask before the real call */
};

/*
 * The point just before the real call. may waits until that will not block (`events` as for poll);
 * false with errno set: it must not be made.
 */
SNARLRT_HIDDEN bool ctl_call_may(struct snarlrt_call *c, int fd, short events);
SNARLRT_HIDDEN bool ctl_call_point(struct snarlrt_call *c);	/* always true */

#endif
