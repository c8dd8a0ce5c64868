/*
 * Streams under control.
 *
 * A stream has a lock of libc's. It is held during a call, and longer by flockfile() or by a read
 * that waits for input. A thread must not enter a call that would block on it. So each call is
 * preceded by a point that waits for the lock.
 */
#ifndef RUNTIME_CONTROL_MODEL_STDIO_H
#define RUNTIME_CONTROL_MODEL_STDIO_H

#include "runtime/control/model/external.h"

/* A point before a call on `f` (NULL: on all streams). Waits until the lock is free. */
SNARLRT_HIDDEN void ctl_stdio_point(FILE *f, const void *pc);

/* Waits for the lock, then for input. Returns false with errno set if it was interrupted. */
SNARLRT_HIDDEN bool ctl_stdio_input(FILE *f, const void *pc);

/* As the functions without prefix, with external waits for input. */
SNARLRT_HIDDEN size_t ctl_fread(void *p, size_t size, size_t n, FILE *f, const void *pc);
SNARLRT_HIDDEN char *ctl_fgets(char *s, int n, FILE *f, const void *pc);
SNARLRT_HIDDEN int ctl_getc(FILE *f, const void *pc);

static inline void stdio_turn(FILE *f, const void *pc)
{
	if (unlikely(ctl_on()))
		ctl_stdio_point(f, pc);
}

/* The call is over: the stream's lock may be free. */
static inline void stdio_over(FILE *f)
{
	if (unlikely(ctl_on()))
		ctl_changed(f);
}

#endif
