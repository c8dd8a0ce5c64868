/*
 * Signals that arrive while the thread is inside the runtime wait until it is
 * out again: the handler may be instrumented, may leave by longjmp, may cancel
 * the thread, and the runtime may hold locks.
 *
 * The first one to come blocks all others, by the mask its handler returns to,
 * so that they wait in the kernel; it is sent once more on leaving the runtime
 * (snarlrt_leave of record/ring.h), together with the old mask. Where there is no thread to keep
 * it in, or much to be done, signals are blocked beforehand.
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

/* Those that instructions cause are never blocked: 6, and one other. */
#define DEFERRED_MAX 7u

struct snarlrt_deferred {
	uint64_t mask;			/* as it was before the first one */
	siginfo_t info[DEFERRED_MAX];
};

/*
 * True if the signal was put off: the handler must return at once. Signals the
 * thread caused itself by a bad instruction cannot wait; for them the runtime is
 * left behind as if it had finished. `during`: what the program wants blocked
 * while its handler runs.
 */
SNARLRT_HIDDEN bool snarlrt_defer_signal(int number, const siginfo_t *info,
					 ucontext_t *interrupted, uint64_t during);

/* In kernel form: bit n - 1 is signal n. All are blocked, libc's own too. */
SNARLRT_HIDDEN uint64_t snarlrt_signals_block(void);	/* returns the mask before */
SNARLRT_HIDDEN void snarlrt_signals_set(uint64_t mask);

/* The thread has left the runtime: what was put off is sent again. */
SNARLRT_HIDDEN void snarlrt_deliver_deferred(struct snarlrt_thread *self);

/* Sends again what was put off. Signals are blocked, and stay so. */
SNARLRT_HIDDEN void snarlrt_send_deferred(struct snarlrt_thread *self);

#endif
