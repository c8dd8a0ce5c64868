/* Threads of a recorded process: ids, handles, and their slots in live memory. */
#ifndef RUNTIME_RECORD_THREAD_H
#define RUNTIME_RECORD_THREAD_H

#include "runtime/core/runtime.h"

SNARLRT_HIDDEN uint32_t snarlrt_thread_new_id(void);

/* Sets and returns the id of a pthread_t; 0: the runtime did not see the thread's creation. */
SNARLRT_HIDDEN void snarlrt_handle_set(uintptr_t handle, uint32_t id);
SNARLRT_HIDDEN uint32_t snarlrt_handle_get(uintptr_t handle);

/* Sets the current thread's ring and shadow words. Its next chunk gets the number `seq`. */
SNARLRT_HIDDEN void snarlrt_thread_set_slot(struct snarlrt_thread *t, uint64_t seq);
SNARLRT_HIDDEN void snarlrt_thread_start_event(struct snarlrt_thread *t, uint32_t parent,
					       uint32_t ordinal, const void *routine);

/*
 * Takes the lock before a fork (`begin`); releases it after, in parent and child. The child then
 * calls snarlrt_thread_forked(), which returns false if there is no room for its ring.
 */
SNARLRT_HIDDEN void snarlrt_thread_fork(bool begin);
SNARLRT_HIDDEN bool snarlrt_thread_forked(void);

#endif
