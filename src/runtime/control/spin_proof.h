/*
 * Proves that threads spin for ever. Events that change nothing do not tell: a thread may compute
 * for long in registers or in memory of its own, and look at shared memory meanwhile.
 *
 * During a proof, the state of each thread is sampled when it comes back to the program from a
 * scheduling point (program_state.h). A thread whose state repeats, memory included, while nothing
 * else happened is in a cycle that it cannot leave.
 */
#ifndef RUNTIME_CONTROL_SPIN_PROOF_H
#define RUNTIME_CONTROL_SPIN_PROOF_H

#include "runtime/control/control.h"

/*
 * All runnable threads have spun for at least `rounds` rounds, and nothing else can happen. Begins
 * a proof, or ends one that failed. Returns true once all of them are proven to spin.
 */
SNARLRT_HIDDEN bool spin_proof_done(const uint32_t *runnable, size_t count, uint32_t rounds);

/*
 * With ctl.proving: the thread is about to return from a scheduling point; it stops at one, or
 * unwinds its stack. spin_proof_stop() returns true if it is proven to spin: others go first.
 */
SNARLRT_HIDDEN void spin_proof_resume(const struct ctl_thread *t);
SNARLRT_HIDDEN bool spin_proof_stop(const struct ctl_thread *t);

#endif
