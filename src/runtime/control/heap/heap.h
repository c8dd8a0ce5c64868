/*
 * The heap of control mode. Addresses are equal in every run of a schedule, and mostly under every
 * schedule.
 *
 * Each thread of the program allocates from its own region of the address space, in program order.
 * Freed blocks wait in a quarantine before they are used again. They and the red zones around each
 * block are poisoned (control.h), so that an access to them fails the run. Host threads
 * (context_switch.c) have a region of their own. Blocks that they free are not used by other
 * threads, since the schedule does not say when they run.
 *
 * Interposers call these functions in mode control, and for each pointer with ctl_heap_has(). `pc`
 * is the caller's. They set errno as malloc does.
 */
#ifndef RUNTIME_CONTROL_HEAP_HEAP_H
#define RUNTIME_CONTROL_HEAP_HEAP_H

#include "runtime/control/control.h"

/* Far from the program, its libraries, the stacks (context_switch.c) and the shadow. */
#define CTL_HEAP_BASE 0x610000000000ull
#define CTL_HEAP_SPAN 0x180800000000ull

extern SNARLRT_HIDDEN bool ctl_heap_ready;	/* a block was allocated */

/*
 * Outside of mode control, libraries and other heaps may lie in this range: with the most address
 * randomisation (vm.mmap_rnd_bits) mappings begin anywhere in the upper eighth.
 */
static inline bool ctl_heap_has(const void *p)
{
	return (uintptr_t)p - CTL_HEAP_BASE < CTL_HEAP_SPAN && ctl_heap_ready;
}

/* `align` is 0 or a power of two. Returns NULL and sets errno if there is no memory. */
SNARLRT_HIDDEN void *ctl_heap_alloc(size_t size, size_t align, bool zero, const void *pc);

/*
 * A scheduling point, unless libc itself frees: it may hold a lock of its own then. A pointer that
 * is freed already or was never allocated is reported, and nothing is freed.
 */
SNARLRT_HIDDEN void ctl_heap_free(void *p, const void *pc);

/* `p` must not be NULL, and `size` must not be 0. */
SNARLRT_HIDDEN void *ctl_heap_realloc(void *p, size_t size, const void *pc);

/* The size that the program asked for: bytes behind it are out of bounds. 0: no block. */
SNARLRT_HIDDEN size_t ctl_heap_size(const void *p);

/* Called before (`begin`) and after a fork, like arena_fork(). */
SNARLRT_HIDDEN void ctl_heap_fork(bool begin);

/* History of a block, for reports. Threads are numbers; CTL_HEAP_UNCONTROLLED: a host thread. */
#define CTL_HEAP_UNCONTROLLED SCHED_MAX_THREADS

struct ctl_heap_info {
	uint64_t start, size;
	uint64_t malloc_pc, free_pc;
	uint32_t malloc_thread, free_thread;	/* free_thread and free_pc: only if freed */
	uint32_t order;		/* this was the thread's n-th allocation, from 1 */
	bool freed;
};

/*
 * Finds the block at `addr`. Between two blocks this is the one in use, or else the nearer.
 * Returns false if no heap is there. Walks all slots of the area: slow.
 */
SNARLRT_HIDDEN bool ctl_heap_find(uint64_t addr, struct ctl_heap_info *out);

/* Fails the run: free or realloc of a pointer that is no block in use (heap_report.c). */
SNARLRT_HIDDEN void ctl_heap_bad_free(const void *p, const struct ctl_heap_info *block,
				      const void *pc);

#endif
