/*
 * Calls the mode's thread_end in each thread, after the destructors of the program's
 * thread-specific data.
 */
#ifndef RUNTIME_CORE_THREAD_END_H
#define RUNTIME_CORE_THREAD_END_H

#include "runtime/core/runtime.h"

/* Creates the pthread key; called once, before snarlrt_thread_arm_exit(). */
SNARLRT_HIDDEN void snarlrt_thread_end_init(void);

/* Makes the current thread call the mode's thread_end when it ends. */
SNARLRT_HIDDEN void snarlrt_thread_arm_exit(void);

#endif
