/*
 * The runtime's own memory, mapped from the kernel. Nothing is freed: owners of reusable objects
 * keep free lists.
 */
#ifndef RUNTIME_CORE_ARENA_H
#define RUNTIME_CORE_ARENA_H

#include "runtime/core/runtime.h"

/* Zeroed, 16-byte aligned; NULL when the kernel has none. Any thread may call it. */
SNARLRT_HIDDEN void *arena_alloc(size_t size);

/* Zeroed whole pages; NULL on failure. The kernel backs only those that are written. */
SNARLRT_HIDDEN void *arena_pages(size_t size);

/* Holds the arena's lock from before a fork (`begin`) to after it, in parent and child. */
SNARLRT_HIDDEN void arena_fork(bool begin);

#endif
