/*
 * Signals that arrive while a thread is inside the runtime (tls.busy) are put off until it leaves.
 * The program's handler may be instrumented, may leave by longjmp or cancel the thread, and the
 * runtime may hold locks.
 *
 * The first such signal blocks all others: the trampoline changes the signal mask to which it
 * returns, so further signals wait in the kernel. On leaving the runtime (snarlrt_leave in
 * record/ring.h), the thread sends the stored signals to itself and restores its mask. Code that
 * has no struct snarlrt_thread, or runs for long, blocks all signals beforehand.
 */
#ifndef RUNTIME_CORE_DEFERRED_SIGNALS_H
#define RUNTIME_CORE_DEFERRED_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "runtime/core/runtime.h"

#define BIT(number) (1ull << ((number) - 1))
#define BY_INSTRUCTION \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

/*
 * Signals of BY_INSTRUCTION stay unblocked: up to 6 of them may follow the one that blocks the
 * rest.
 */
#define DEFERRED_MAX 7u

struct snarlrt_deferred {
	uint64_t mask;			/* the signal mask before the first one arrived */
	siginfo_t info[DEFERRED_MAX];
};

/*
 * True if the signal was put off: the trampoline must return at once. A signal that the thread's
 * own instruction caused, such as SIGSEGV, cannot wait: the runtime abandons what it was doing, and
 * the result is false. `during` is the mask that the program wants while its handler runs.
 */
SNARLRT_HIDDEN bool snarlrt_defer_signal(int number, const siginfo_t *info,
					 ucontext_t *interrupted, uint64_t during);

/* Masks in the kernel's form: bit n - 1 is signal n. */
/* Blocks all signals, also those that libc reserves; returns the mask before. */
SNARLRT_HIDDEN uint64_t snarlrt_signals_block(void);
SNARLRT_HIDDEN void snarlrt_signals_set(uint64_t mask);

/* Sends the stored signals again and restores the mask. The thread must have left the runtime. */
SNARLRT_HIDDEN void snarlrt_deliver_deferred(struct snarlrt_thread *self);

/* Sends the stored signals again. All signals are blocked, and stay blocked. */
SNARLRT_HIDDEN void snarlrt_send_deferred(struct snarlrt_thread *self);

#endif
