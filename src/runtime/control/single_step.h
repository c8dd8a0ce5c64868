/*
 * Single steps: the processor's trap flag stops the running thread after each instruction, in a
 * handler of SIGTRAP. Only one thread steps at a time. The program's handler of SIGTRAP is put back
 * afterwards. Not to be used while a debugger steps (CTL_DEBUG).
 */
#ifndef RUNTIME_CONTROL_SINGLE_STEP_H
#define RUNTIME_CONTROL_SINGLE_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "runtime/core/runtime.h"

/* Called after each instruction; returns false to stop stepping. May switch to other threads. */
typedef bool single_step_fn(ucontext_t *uc);

/* The thread steps once the signal handler with this context has returned. */
SNARLRT_HIDDEN void single_step_after(single_step_fn *each, ucontext_t *uc);

extern SNARLRT_HIDDEN single_step_fn *single_step_each;	/* NULL: no thread steps */
SNARLRT_HIDDEN void single_step_stop(void);

static inline bool single_step_active(void)
{
	return single_step_each != NULL;
}

/* Ends stepping; to be called by the thread that steps, before it leaves for another. */
static inline void single_step_end(void)
{
	if (unlikely(single_step_active()))
		single_step_stop();
}

/* The kernel's struct sigaction. */
typedef void signal_fn(int number, siginfo_t *info, void *context);
struct kernel_action {
	signal_fn *handler;
	uint64_t flags;			/* with KERNEL_RESTORER */
	void (*restorer)(void);		/* snarlrt_signal_return() */
	uint64_t mask;
};

#define KERNEL_RESTORER 0x04000000ull	/* SA_RESTORER */

SNARLRT_HIDDEN void snarlrt_signal_return(void);

/* Installs a handler directly in the kernel, with an empty mask. *old may be NULL. */
SNARLRT_HIDDEN void single_step_handler(int number, signal_fn *handler, struct kernel_action *old);

#endif
