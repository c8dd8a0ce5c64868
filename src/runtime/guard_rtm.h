/*
 * LifeTx on hardware transactions (Intel RTM): a learnt transaction runs as one of the processor's where there
 * are any, nothing is in its way and it fits. All else is done in software, as guard_tx.c does.
 *
 * The hook of the first access begins it and returns inside of it; the hook that sees the transaction's end commits.
 * If the processor gives up, all that happened since is undone, the stack and the registers too, and the
 * thread is back in the first hook, which then takes the software's way: the program cannot tell.
 */
#ifndef RUNTIME_GUARD_RTM_H
#define RUNTIME_GUARD_RTM_H

#include "runtime/watch.h"

/* Once, when the rules are known. false: no hardware transactions; then nobody is ever in one. */
SNARLRT_HIDDEN bool rtm_start(enum options_rtm choice);

/* Is the thread in one? It is busy then, so that no hook does what it does otherwise. */
static inline bool rtm_hard(void)
{
	return unlikely(watch_self.busy == WATCH_HARD) && !__snarl_tls.hidden;
}

/*
 * An access is about to be done, between watch_enter() and watch_leave(), no transaction being under way. true: it
 * begins one in hardware, and has been left.
 */
SNARLRT_HIDDEN bool rtm_begin(uint64_t addr, uint64_t size, const struct rules_place *place, bool write);

/* An access in hardware; `place` may be NULL. true: not in hardware any more, and not seen to yet. */
SNARLRT_HIDDEN bool rtm_access(uint64_t addr, uint64_t size, const struct rules_place *place, bool write);

/*
 * What ends a transaction is about to be done; or (`ends` is false) what does not, and cannot be done in hardware: if
 * the last access was foretold to be the last it ends all the same, else it is undone. true: it was in hardware.
 */
SNARLRT_HIDDEN bool rtm_leave(bool ends);

#endif
