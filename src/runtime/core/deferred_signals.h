/*
 * Defers signals that arrive while a thread is inside the runtime (tls.busy) until it leaves. The
 * program's handlers must not run there: they may be instrumented, leave by longjmp or cancel the
 * thread, and the runtime may hold locks.
 *
 * In place of the program's handlers, the runtime installs a trampoline that calls
 * snarlrt_defer_signal() (interpose/signal_handler.c).
 * The first deferred signal blocks all others: the trampoline changes the signal mask to which it
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

#define BIT(number) (1ull << ((number) - 1))	/* of a signal, in the kernel's masks */
/* Signals that an instruction of the thread may cause. */
#define BY_INSTRUCTION \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

/* The signal that blocks the rest, and the six of BY_INSTRUCTION, which stay unblocked. */
#define DEFERRED_MAX 7u

struct snarlrt_deferred {
	uint64_t mask;			/* the signal mask before the first stored signal arrived */
	siginfo_t info[DEFERRED_MAX];
};

/*
 * Called by the signal trampoline. True: the signal was stored, and the trampoline returns at once.
 * False: it calls the program's handler. A signal that the thread's own instruction caused, such as
 * SIGSEGV, cannot wait: the runtime abandons what it was doing. `interrupted` is the state to which
 * the trampoline returns, `during` the signal mask that the program wants for its handler.
 */
SNARLRT_HIDDEN bool snarlrt_defer_signal(int number, const siginfo_t *info,
					 ucontext_t *interrupted, uint64_t during);

/*
 * Blocks all signals, also those that libc reserves, and returns the mask before. Masks have the
 * kernel's form: bit n - 1 is signal n.
 */
SNARLRT_HIDDEN uint64_t snarlrt_signals_block(void);
SNARLRT_HIDDEN void snarlrt_signals_set(uint64_t mask);

/* Sends the stored signals again and restores the mask. The thread must have left the runtime. */
SNARLRT_HIDDEN void snarlrt_deliver_deferred(struct snarlrt_thread *self);

/* Sends the stored signals again. All signals are blocked, and stay blocked. */
SNARLRT_HIDDEN void snarlrt_send_deferred(struct snarlrt_thread *self);

#endif
