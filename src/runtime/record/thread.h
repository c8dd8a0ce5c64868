/*
 * Threads of a recorded process: ids, handles, and their slots in the child of a fork.
 */
#ifndef RUNTIME_RECORD_THREAD_H
#define RUNTIME_RECORD_THREAD_H

#include "runtime/core/runtime.h"

SNARLRT_HIDDEN uint32_t snarlrt_thread_new_id(void);

/* pthread_t to thread id and back; 0 if it was not made through us. */
SNARLRT_HIDDEN void snarlrt_handle_set(uintptr_t handle, uint32_t id);
SNARLRT_HIDDEN uint32_t snarlrt_handle_get(uintptr_t handle);

/* Points the ring, shadow values and clock of the current thread at its slot. */
SNARLRT_HIDDEN void snarlrt_thread_set_slot(struct snarlrt_thread *t, uint64_t seq);
SNARLRT_HIDDEN void snarlrt_thread_start_event(struct snarlrt_thread *t, uint32_t parent,
					       uint32_t ordinal, const void *routine);

/* Around a fork, so that the child finds nothing half done; then in the child: false, no room. */
SNARLRT_HIDDEN void snarlrt_thread_fork(bool begin);
SNARLRT_HIDDEN bool snarlrt_thread_forked(void);

#endif
