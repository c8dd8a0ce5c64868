/*
 * The nest of loops that a thread's ring ends with, if any (hooks/loop_nest.h): it is over once the ring's
 * records are gone.
 */
#ifndef RUNTIME_RECORD_NEST_H
#define RUNTIME_RECORD_NEST_H

#include "abi/layout.h"
#include "runtime/core/runtime.h"

extern SNARLRT_EXPORT __thread struct snarlrt_nest __snarl_nest __attribute__((tls_model("local-exec")));

/* The ring's records are gone. */
static inline void nest_forget(void)
{
	__snarl_nest.from = 0;
	__snarl_nest.next = NEST_NONE;
	__snarl_nest.end = NULL;
}

#endif
