/*
 * The last moment of a thread, after all destructors of the program's own thread-specific data.
 */
#ifndef RUNTIME_CORE_THREAD_END_H
#define RUNTIME_CORE_THREAD_END_H

#include "runtime/core/runtime.h"

/* Once, before the first thread is armed. */
SNARLRT_HIDDEN void snarlrt_thread_init(void);

/* Has the current thread call the mode's thread_end when it ends. */
SNARLRT_HIDDEN void snarlrt_thread_arm_exit(void);

#endif
