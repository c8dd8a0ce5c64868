/*
 * Memory of the runtime's own, straight from the kernel. Nothing is given
 * back: what can be used again is kept in free lists by its owner.
 */
#ifndef RUNTIME_CORE_ARENA_H
#define RUNTIME_CORE_ARENA_H

#include "runtime/core/runtime.h"

/* Zeroed, 16-byte aligned; NULL when the kernel has none. Any thread may call it. */
SNARLRT_HIDDEN void *arena_alloc(size_t size);

/* The same for whole pages that are only touched as far as they are used. */
SNARLRT_HIDDEN void *arena_pages(size_t size);

/* Around a fork. */
SNARLRT_HIDDEN void arena_fork(bool begin);

#endif
