/*
 * What an analysis is given with each event: the state of the thread that performs it, as track.h keeps it.
 */
#ifndef ANALYZE_CONTEXT_VIEW_H
#define ANALYZE_CONTEXT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct locks;
struct reader;
struct stacks;
struct vclock;

/* Where a lock of the thread's set was taken: an event of the thread. */
struct view_acquired {
	uint64_t index, time;
	uint16_t kind;		/* enum trace_kind; COND_WAKE takes its mutex again */
};

/* What a semaphore is used for, as far as the trace knows. */
enum view_sem {
	VIEW_SEM_SIGNAL,	/* posted by who did not wait on it: strong order */
	VIEW_SEM_LOCK,		/* begins with 1, posted by who waited: as good as a mutex */
	VIEW_SEM_POOL,		/* begins with more, used so: held by several at once */
	VIEW_SEM_TURNED,	/* this post shows that it is no lock: nobody holds it */
};

struct view {
	uint32_t thread;		/* trace id */
	uint64_t index;			/* of the thread's events, from 0 */
	const struct vclock *strong;	/* create/join, barrier, cond, sem, once, annotations, pipes */
	const struct vclock *order;	/* … and atomics release → acquire: not critical sections */
	const struct vclock *full;	/* … and lock release → acquire */
	uint64_t epoch;			/* the thread's own component of `full` now */
	uint64_t strong_epoch;		/* … of `strong` */
	uint64_t order_epoch;		/* … and of `order` */
	uint32_t lockset;		/* locks.h: interned, with modes and acquisition history */
	const struct view_acquired *acquired;	/* of each of the set, as locks_at() numbers them */
	/*
	 * Which code it is in: a number that no other activation or user block of any
	 * thread has; 0: outside all. User blocks (snarl.h) hide the functions within.
	 */
	uint32_t block;			/* the innermost user block, else function activation */
	const uint32_t *activations;	/* of functions, outermost first */
	uint32_t activation_count;
	uint32_t user_block;		/* the outermost, which has all of the others; 0: none is open */
	uint32_t stack;			/* stacks.h: interned call stack */
	uint32_t ignore;		/* bits of IGNORE_BEGIN in force; 1|2 within BENIGN memory */
	/*
	 * Memory whose history ends here: freed or unmapped, newly given out, the stack
	 * of a thread that ends or begins. Size 0: none.
	 */
	uint64_t gone_addr, gone_size;
	bool alone;			/* an access where none can conflict (alone.h), if that was asked for */
	bool settled;			/* … or where all that do are strongly ordered (handed.h) */
	enum view_sem sem;		/* of the event's semaphore, if it has one */
};

/* An annotation says that this access does not count. */
static inline bool view_ignores(const struct view *view, unsigned access)
{
	return (view->ignore & access & 3u) != 0;
}

/* The tables that numbers of locksets and call stacks, also those in findings, refer to. */
struct analysis_context {
	struct locks *locks;		/* interned locksets */
	struct stacks *stacks;
	const struct reader *reader;	/* analysis_run() sets it */
};

#endif
