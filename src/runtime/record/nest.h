/*
 * The nest that may be at the end of a thread's ring (hooks/loop_nest.h). It ends when the ring is
 * cleared.
 */
#ifndef RUNTIME_RECORD_NEST_H
#define RUNTIME_RECORD_NEST_H

#include "abi/layout.h"
#include "runtime/core/runtime.h"

extern SNARLRT_EXPORT __thread struct snarlrt_nest __snarl_nest
	__attribute__((tls_model("local-exec")));

/* Ends the nest, because the ring was cleared. */
static inline void nest_forget(void)
{
	__snarl_nest.from = 0;
	__snarl_nest.next = NEST_NONE;
	__snarl_nest.end = NULL;
}

#endif
