/*
 * The heap of control mode: the same addresses in every run of a schedule, and
 * as far as possible under every schedule.
 *
 * Each thread of the program carves blocks from its own part of the address
 * space, in the order in which it asks. Freed blocks wait in a queue before they
 * are used again, poisoned (control.h), so that a use of them is noticed; so are
 * the bytes around each block. Threads that are not the program's (those that lend
 * their stacks, while they start and end) have a part of their own, and what they
 * free is not used again by others: when they come is not ours to say.
 *
 * Interposers call these in mode control, and for any pointer
 * that ctl_heap_has(). `pc` is the caller's. errno is set as malloc does.
 */
#ifndef RUNTIME_CONTROL_HEAP_HEAP_H
#define RUNTIME_CONTROL_HEAP_HEAP_H

#include "runtime/control/control.h"

/* Far from the program, its libraries, stacks (gate.c) and the shadow. */
#define CTL_HEAP_BASE 0x610000000000ull
#define CTL_HEAP_SPAN 0x180800000000ull

static inline bool ctl_heap_has(const void *p)
{
	return (uintptr_t)p - CTL_HEAP_BASE < CTL_HEAP_SPAN;
}

/* align: 0, or a power of two. NULL: no memory, errno is set. */
SNARLRT_HIDDEN void *ctl_heap_alloc(size_t size, size_t align, bool zero, const void *pc);

/*
 * A point, unless libc itself frees: it may hold a lock of its own then. Reports
 * what is freed already, or was never allocated; then it does nothing.
 */
SNARLRT_HIDDEN void ctl_heap_free(void *p, const void *pc);

/* p is not NULL, size is not 0. */
SNARLRT_HIDDEN void *ctl_heap_realloc(void *p, size_t size, const void *pc);

/* What was asked for, so that the bytes behind stay out of bounds. 0: not a block. */
SNARLRT_HIDDEN size_t ctl_heap_size(const void *p);

/* Around a fork, like arena_fork(). */
SNARLRT_HIDDEN void ctl_heap_fork(bool begin);

/* A block's life, for reports. Thread numbers; CTL_HEAP_OUTSIDE: not one of the program. */
#define CTL_HEAP_UNCONTROLLED SCHED_MAX_THREADS

struct ctl_heap_info {
	uint64_t start, size;
	uint64_t malloc_pc, free_pc;
	uint32_t malloc_thread, free_thread;	/* free_*: if freed */
	uint32_t order;		/* it was that thread's n-th allocation, from 1 */
	bool freed;
};

/*
 * The block that [addr] is in, or lies around: in the bytes between two blocks it
 * is the nearer one that is in use. False: no heap there. Slow.
 */
SNARLRT_HIDDEN bool ctl_heap_find(uint64_t addr, struct ctl_heap_info *out);

/* control_heap_report.c: free or realloc of what is no block in use. */
SNARLRT_HIDDEN void ctl_heap_bad_free(const void *p, const struct ctl_heap_info *block,
				      const void *pc);

#endif
