/*
 * Threads that run without reaching a scheduling point: they compute, or they spin on memory that
 * no other thread has touched yet, or that inline assembly reads.
 *
 * A timer ticks with the CPU time of the process, so nothing that sleeps is disturbed. A thread
 * that has reached no point since the last tick is looked at: it takes single steps, and its state
 * is compared (program_state.h). If the state repeats, the thread spins. It lets others go first,
 * and stops again after each round of its loop. A thread that is not found to spin computes. It is
 * left alone at first, and later lets others go first now and then.
 *
 * None of this is a step, so schedules do not depend on when the timer ticks: a replay switches
 * when the thread's turn is over.
 */
#ifndef RUNTIME_CONTROL_WATCHDOG_H
#define RUNTIME_CONTROL_WATCHDOG_H

#include "runtime/control/control.h"

/* The run begins, or goes on in a new process. */
SNARLRT_HIDDEN void ctl_watchdog_begin(void);

/* The program installs a handler of its own for CTL_TICK_SIGNAL. */
SNARLRT_HIDDEN void ctl_watchdog_end(void);

/*
 * The current thread has run up to `pc` without a point (point.c): others go first. `spins`: it is
 * proven to spin. Returns when it is chosen again.
 */
SNARLRT_HIDDEN void ctl_yield_silent(uint64_t pc, bool spins);

#endif
