/*
 * Streams under control.
 *
 * A stream's lock is libc's own, held while a call is in it, and for longer by
 * flockfile() or by a read that waits for input. Nobody may be let into a call
 * that would block on it: so each call waits its turn first.
 */
#ifndef RUNTIME_CONTROL_MODEL_STDIO_H
#define RUNTIME_CONTROL_MODEL_STDIO_H

#include "runtime/control/model/external.h"

/* A point before a call on `f` (NULL: all of them); goes on when its lock is free. */
SNARLRT_HIDDEN void ctl_stdio_point(FILE *f, const void *pc);

/* Like that, and when there is input, too; false with errno set: interrupted. */
SNARLRT_HIDDEN bool ctl_stdio_input(FILE *f, const void *pc);

/* What the functions do, waiting outside for what is missing. */
SNARLRT_HIDDEN size_t ctl_fread(void *p, size_t size, size_t n, FILE *f, const void *pc);
SNARLRT_HIDDEN char *ctl_fgets(char *s, int n, FILE *f, const void *pc);
SNARLRT_HIDDEN int ctl_getc(FILE *f, const void *pc);

static inline void stdio_turn(FILE *f, const void *pc)
{
	if (unlikely(ctl_on()))
		ctl_stdio_point(f, pc);
}

/* The call is over, and with it perhaps the lock. */
static inline void stdio_over(FILE *f)
{
	if (unlikely(ctl_on()))
		ctl_changed(f);
}

#endif
