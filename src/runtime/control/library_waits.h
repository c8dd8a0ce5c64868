/*
 * Futex system calls and spin loops in the code of libraries that have no hooks.
 *
 * A library such as libgomp makes its futex calls by instructions of its own, not by calls of
 * libc's syscall(), and it spins. Under control either would stop the only running thread. So the
 * instructions `syscall` (of futex calls) and `pause` in such a library's code are replaced by ud2,
 * an instruction of the same two bytes that causes SIGILL. The signal's handler does in the model
 * what the instruction stood for.
 */
#ifndef RUNTIME_CONTROL_LIBRARY_WAITS_H
#define RUNTIME_CONTROL_LIBRARY_WAITS_H

#include "runtime/core/runtime.h"

/* Looks for such code in the libraries loaded since the last call, and replaces it. */
SNARLRT_HIDDEN void ctl_libraries_scan(void);

/* Ends the run as unsupported if code was found that cannot be replaced. */
SNARLRT_HIDDEN void ctl_libraries_check(void);

/*
 * Called by handlers of SIGILL; `context` is their third argument. If the signal was caused by a
 * replaced instruction, does what it stood for, makes the handler return behind it and returns
 * true. Other threads may run meanwhile.
 */
SNARLRT_HIDDEN bool ctl_library_trap(void *context);

/* Is this an address in the code of a searched library with such instructions? */
SNARLRT_HIDDEN bool ctl_library_has(uint64_t pc);

/* In a handler: lets other threads run. `context` is the handler's; `pc` that of the event. */
SNARLRT_HIDDEN void ctl_library_yield(void *context, const void *pc);

/*
 * Around a library's function that may wait in a loop without any of these instructions
 * (library_spin.c). Calls may nest. Nothing happens outside of controlled runs.
 */
SNARLRT_HIDDEN void ctl_library_call_begin(void);
SNARLRT_HIDDEN void ctl_library_call_end(void);

/* In a run that goes on from a snapshot: a forked process does not inherit the timer. */
SNARLRT_HIDDEN void ctl_library_continue(void);

#endif
