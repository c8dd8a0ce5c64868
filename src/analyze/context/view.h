/*
 * What an analysis gets with each event: the state of the thread that performs it. track.h keeps
 * this state.
 */
#ifndef ANALYZE_CONTEXT_VIEW_H
#define ANALYZE_CONTEXT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct locks;
struct reader;
struct stacks;
struct vclock;

/* The event with which a thread acquired a lock that it holds. */
struct view_acquired {
	uint64_t index, time;	/* index: among the thread's events, from 0 */
	uint16_t kind;		/* enum trace_kind; COND_WAKE for a mutex reacquired after a wait */
};

/* How the program uses a semaphore, as far as the trace has shown. */
enum view_sem {
	VIEW_SEM_SIGNAL,	/* posted by threads that did not wait on it: makes strong order */
	VIEW_SEM_LOCK,		/* starts at 1, posted only after a wait: like a mutex */
	VIEW_SEM_POOL,		/* starts above 1, posted only after a wait: several holders */
	VIEW_SEM_TURNS_SIGNAL,	/* first post without a wait: a signal from this event on */
};

struct view {
	uint32_t thread;		/* trace id */
	uint64_t index;			/* of the event among the thread's, from 0 */
	/*
	 * Three vector clocks of the thread; each contains the order of the one before.
	 * strong: creation and join, barriers, conditions, semaphores that signal, once,
	 *         annotations, pipes
	 * order:  and release to acquire of atomics
	 * full:   and release to acquire of locks
	 */
	const struct vclock *strong, *order, *full;
	uint64_t epoch;			/* the thread's own component of `full` */
	uint64_t strong_epoch;		/* its component of `strong` */
	uint64_t order_epoch;		/* its component of `order` */
	uint32_t lockset;		/* locksets.h: number of the set of locks held */
	const struct view_acquired *acquired;	/* for each lock of the set, by its locks_index() */
	/*
	 * A block is one activation of a function, or a user block (snarl.h), which hides the
	 * functions called within. No two blocks of a trace have the same number; 0: outside all.
	 */
	uint32_t block;			/* the innermost user block, else activation */
	const uint32_t *activations;	/* of functions, outermost first */
	uint32_t activation_count;
	uint32_t user_block;		/* the outermost user block; 0: none is open */
	uint32_t stack;			/* call_stacks.h: number of the call stack */
	uint32_t ignore;		/* bits of open IGNORE_BEGINs; also 1|2 in BENIGN memory */
	/*
	 * Memory whose history ends with this event: freed, unmapped or newly allocated memory, or
	 * the stack of a thread that starts or exits. Size 0: none.
	 */
	uint64_t gone_addr, gone_size;
	bool unshared;			/* access to unshared memory (unshared.h), if asked for */
	bool ordered;			/* access to ordered memory (ordered.h), if asked for */
	enum view_sem sem;		/* use of the event's semaphore, if it has one */
};

/* Whether an annotation says to ignore accesses of this kind (enum access). */
static inline bool view_ignores(const struct view *view, unsigned access)
{
	return (view->ignore & access & 3u) != 0;
}

/*
 * Prescans that a run of analyses leaves out, for tests and measurements: they only save time and
 * memory. Their names are in analysis.h.
 */
enum analysis_prescan {
	PRESCAN_UNSHARED = 1,	/* accesses to unshared memory are analysed as well */
	PRESCAN_ORDERED = 2,	/* and those to ordered memory */
};

/* Tables for the numbers of locksets and call stacks in views, candidates and findings. */
struct analysis_context {
	struct locks *locks;
	struct stacks *stacks;
	const struct reader *reader;	/* set by analysis_run() */
	unsigned without;		/* set of enum analysis_prescan */
	const struct deadline *deadline;	/* cuts the analyses short; or NULL */
};

#endif
