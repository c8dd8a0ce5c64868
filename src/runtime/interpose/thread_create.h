/*
 * Creating and cancelling threads, for several interposers.
 */
#ifndef RUNTIME_INTERPOSE_THREAD_CREATE_H
#define RUNTIME_INTERPOSE_THREAD_CREATE_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/core/runtime.h"

/* Does what pthread_create() does; `pc` is the program's call. */
SNARLRT_HIDDEN int snarlrt_thread_create(pthread_t *out, const pthread_attr_t *attr,
					 void *(*routine)(void *), void *arg, const void *pc);

/* Takes (`begin`) and releases pthread_create.c's lock around a fork. */
SNARLRT_HIDDEN void snarlrt_thread_create_fork(bool begin);

/*
 * async_cancel.c. Called before a pthread_cancel(): makes libc's cancellation signal one that the
 * runtime can defer.
 */
SNARLRT_HIDDEN void snarlrt_cancel_prepare(void);

#endif
