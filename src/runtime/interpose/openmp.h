/*
 * The order that OpenMP makes, as events: happens-before annotations and locks.
 *
 * libgomp is seen by interposing its entry points (gomp_*.c), libomp by its tool interface
 * (ompt.c). Both libraries still do the work and the waiting. A team, a task and a taskgroup each
 * get a key, a number that stands for an object's address in events. `key + OPENMP_...` are its
 * objects. No memory is at these addresses.
 */
#ifndef RUNTIME_INTERPOSE_OPENMP_H
#define RUNTIME_INTERPOSE_OPENMP_H

#include "runtime/core/mode.h"

enum {
	OPENMP_START,		/* team: its creator, then the start of each member */
	OPENMP_END,		/* team: the end of each member, then its creator */
	OPENMP_BARRIER,		/* team: two objects, for barriers with an even and an odd number */
	OPENMP_TASKS = 4,	/* team: tasks ending before such a barrier is left; two objects */
	OPENMP_ORDERED = 6,	/* team: ordered blocks, one iteration after the other */
	OPENMP_POSTED,		/* team: iterations on which others depend */
	OPENMP_COPY,		/* team: the value of copyprivate */
	OPENMP_CREATED,		/* task: its creator, then its start */
	OPENMP_CHILD,		/* task: the end of each child, then a taskwait */
	OPENMP_MEMBER,		/* taskgroup: the end of each task, then the group's end */
	OPENMP_KEY_SIZE = 16
};

/* A new key. Keys come back after some ten thousand; that may only add order. */
SNARLRT_HIDDEN uint64_t snarlrt_openmp_key(void);

static inline void snarlrt_openmp_before(uint64_t object, const void *pc)
{
	snarlrt_note(TRACE_HB_BEFORE, 0, (const void *)object, 0, 0, pc);
}

static inline void snarlrt_openmp_after(uint64_t object, const void *pc)
{
	snarlrt_note(TRACE_HB_AFTER, 0, (const void *)object, 0, 0, pc);
}

/* The objects of a variable in depend clauses: writers of it, readers of it. */
static inline uint64_t snarlrt_openmp_writers(const void *variable)
{
	return (uint64_t)variable ^ 1ull << 46;
}

static inline uint64_t snarlrt_openmp_readers(const void *variable)
{
	return (uint64_t)variable ^ 1ull << 45;
}

/* A task that depends on the variable starts or ends. */
SNARLRT_HIDDEN void snarlrt_openmp_depends(const void *variable, bool writes, bool ends,
					   const void *pc);

/* The library reports its events through the tool interface: wrappers note nothing. */
extern SNARLRT_HIDDEN bool snarlrt_ompt_active;

/*
 * Locks and critical sections. In mode control, _locking() waits until the lock is free and makes
 * the calling thread its holder, so that the library's own lock is free, too; `nests`: it may be
 * its holder before. _locked() notes the event. _unlocking() is called before the library's unlock,
 * _unlocked() after it.
 */
SNARLRT_HIDDEN void snarlrt_openmp_locking(const void *lock, bool nests, const void *pc);
SNARLRT_HIDDEN void snarlrt_openmp_locked(const void *lock, const void *pc);
SNARLRT_HIDDEN void snarlrt_openmp_unlocking(const void *lock, const void *pc);
SNARLRT_HIDDEN void snarlrt_openmp_unlocked(const void *lock);
/* The thread takes or leaves a nestable lock: for the first time, or for good? */
SNARLRT_HIDDEN bool snarlrt_openmp_nest(const void *lock, bool enter);
/* Around an attempt to lock; `times`: how often the thread has the lock now, 0 if it failed. */
SNARLRT_HIDDEN void snarlrt_openmp_trying(const void *lock, const void *pc);
SNARLRT_HIDDEN void snarlrt_openmp_tried(const void *lock, int times, const void *pc);

#endif
