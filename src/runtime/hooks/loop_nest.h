/*
 * Loops in loops: the group of an inner one comes again and again, each time somewhat further on. Such rounds become one
 * nest in the ring (abi/loop_group.h), and all but the first two cost little more than a comparison for each memory that is
 * looked at (wrap/loops/loops_end.c, loop_end_x86_64.S).
 *
 * The second group that the same code tells, of as many turns and the same memory shared, right behind the first or behind as
 * many plain accesses of shared memory as that, begins a nest. Before code tells a loop it looks whether it is the
 * round that is expected; if so, the nest has one more, and accesses before it are taken from the ring. Anything else
 * that comes to the ring ends the nest.
 */
#ifndef RUNTIME_HOOKS_LOOP_NEST_H
#define RUNTIME_HOOKS_LOOP_NEST_H

#include "runtime/core/runtime.h"

extern SNARLRT_EXPORT __thread struct snarlrt_nest __snarl_nest __attribute__((tls_model("local-exec")));

/* The ring's records are gone. */
static inline void nest_forget(void)
{
	__snarl_nest.from = 0;
	__snarl_nest.next = NEST_NONE;
	__snarl_nest.end = NULL;
}

/*
 * In place of __snarl_loop_close: a group whose accesses the code has written, up to `end`, may be the second of a nest. `turns` is one less.
 * Signals wait. No vector registers.
 */
SNARLRT_HIDDEN void snarlrt_nest_second(struct trace_record *end, uint32_t turns);

/* It has as many rounds as it may have. */
SNARLRT_HIDDEN void snarlrt_nest_full(void);

#endif
