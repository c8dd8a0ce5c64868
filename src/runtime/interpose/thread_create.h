/*
 * The making and cancelling of threads, for the other interposers.
 */
#ifndef RUNTIME_INTERPOSE_THREAD_CREATE_H
#define RUNTIME_INTERPOSE_THREAD_CREATE_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/core/runtime.h"

/* pthread_create for all front ends. */
SNARLRT_HIDDEN int snarlrt_thread_create(pthread_t *out, const pthread_attr_t *attr,
					 void *(*routine)(void *), void *arg, const void *pc);

/* Around a fork, so that the child finds nothing half done. */
SNARLRT_HIDDEN void snarlrt_thread_create_fork(bool begin);

/* async_cancel.c: cancellation is a signal too, and must wait like any other. */
SNARLRT_HIDDEN void snarlrt_cancel_prepare(void);

#endif
