/*
 * Starts the runtime in a process.
 */
#ifndef RUNTIME_PROCESS_INIT_H
#define RUNTIME_PROCESS_INIT_H

#include "runtime/core/runtime.h"

/*
 * Called from .preinit_array, __tsan_init and constructors of production builds; works only once.
 */
SNARLRT_HIDDEN void snarlrt_init(void);

#endif
