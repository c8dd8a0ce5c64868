/*
 * What the other files of the runtime need of thread.c and interpose_thread.c.
 */
#ifndef RUNTIME_PROCESS_THREAD_H
#define RUNTIME_PROCESS_THREAD_H

#include <pthread.h>

#include "runtime/core/runtime.h"

SNARLRT_HIDDEN uint32_t snarlrt_thread_new_id(void);

/* pthread_t to thread id and back; 0 if it was not made through us. */
SNARLRT_HIDDEN void snarlrt_handle_set(uintptr_t handle, uint32_t id);
SNARLRT_HIDDEN uint32_t snarlrt_handle_get(uintptr_t handle);

/* Points the ring, shadow values and clock of the current thread at its slot. */
SNARLRT_HIDDEN void snarlrt_thread_place(struct snarlrt_thread *t, uint64_t seq);
SNARLRT_HIDDEN void snarlrt_thread_start_event(struct snarlrt_thread *t, uint32_t parent,
					       uint32_t ordinal, const void *routine);

/* Before the first attach. */
SNARLRT_HIDDEN void snarlrt_thread_main_stack(uint64_t low, uint64_t high);

/* Around a fork, so that the child finds nothing half done; then in the child: false, no room. */
SNARLRT_HIDDEN void snarlrt_thread_fork(bool begin);
SNARLRT_HIDDEN void snarlrt_birth_fork(bool begin);
SNARLRT_HIDDEN bool snarlrt_thread_forked(void);

/* Has the current thread call snarlrt_thread_exit after all other destructors. */
SNARLRT_HIDDEN void snarlrt_thread_arm_exit(void);

/* interpose_cancel.c: cancellation is a signal too, and must wait like any other. */
SNARLRT_HIDDEN void snarlrt_cancel_guard(void);
SNARLRT_HIDDEN void snarlrt_thread_init(void);

/* pthread_create for all front ends; detail goes into the event. */
SNARLRT_HIDDEN int snarlrt_thread_create(pthread_t *out, const pthread_attr_t *attr,
					 void *(*routine)(void *), void *arg, const void *pc);

#endif
