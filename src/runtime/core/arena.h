/*
 * The runtime's own memory, mapped from the kernel. Nothing is freed: owners of reusable objects
 * keep free lists.
 */
#ifndef RUNTIME_CORE_ARENA_H
#define RUNTIME_CORE_ARENA_H

#include "runtime/core/runtime.h"

/* The arena's addresses, far from those of programs and libraries. */
#define ARENA_BEGIN 0x5a0000000000ull
#define ARENA_END 0x5e0000000000ull

/* Zeroed, 16-byte aligned; NULL when the kernel has none. Any thread may call it. */
SNARLRT_HIDDEN void *arena_alloc(size_t size);

/* Zeroed whole pages; NULL on failure. Only pages that are written take up memory. */
SNARLRT_HIDDEN void *arena_pages(size_t size);

/* Takes the arena's lock before a fork (`begin`); releases it after, in parent and child. */
SNARLRT_HIDDEN void arena_fork(bool begin);

#endif
