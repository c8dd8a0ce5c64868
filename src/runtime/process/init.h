/*
 * The start of the runtime in a process.
 */
#ifndef RUNTIME_PROCESS_INIT_H
#define RUNTIME_PROCESS_INIT_H

#include "runtime/core/runtime.h"

/* Idempotent; called from preinit_array, __tsan_init and the constructors of production builds. */
SNARLRT_HIDDEN void snarlrt_init(void);

#endif
