/*
 * Signals that arrive while the thread is inside the runtime wait until it is
 * out again: the handler may be instrumented, and may leave by longjmp.
 */
#ifndef RUNTIME_DEFERRED_H
#define RUNTIME_DEFERRED_H

#include <signal.h>
#include <stdbool.h>

#include "runtime/rt.h"

/*
 * True if the signal was put off: the handler must return at once. Signals the
 * thread caused itself by a bad instruction cannot wait; for them the runtime is
 * left behind as if it had finished.
 */
SNARLRT_HIDDEN bool snarlrt_defer_signal(int number, const siginfo_t *info);

#endif
