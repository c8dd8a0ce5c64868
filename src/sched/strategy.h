/*
 * The interface of scheduling strategies: they choose which thread of a controlled run takes the
 * next steps.
 *
 * A strategy runs inside the target process: it must not allocate, do I/O or call anything that the
 * runtime intercepts. Unit tests link the same code. Its state is plain data in memory shared with
 * the tool; the only pointer in it is that to the plan.
 *
 * A strategy without end() is stateless: before each run, its state is cleared and init() called.
 * Several runs may be made at the same time, so a run depends only on sched_params and sched_run. A
 * strategy with end() is stateful: its runs are made one after the other, and its state lasts from
 * run to run. The search clears it and calls init() at its start, and whenever it starts over
 * because it found more memory that threads share.
 *
 * A scheduling point is reached when the running thread stands *before* its next visible event (an
 * access to shared memory, an operation on a lock, ...), or has just blocked or ended. Every other
 * thread stands before an event, too: its pending event. Executing one event is one step.
 */
#ifndef SCHED_STRATEGY_H
#define SCHED_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_MAX_THREADS 1024u	/* thread numbers are below this */
#define SCHED_MAX_DEPTH 32u	/* pct: most orders of a bug; chess: stands for "no bound" */
#define SCHED_NO_LIMIT UINT64_MAX

/* What an event does, as far as strategies distinguish it. */
enum sched_op {
	SCHED_OP_START,		/* a thread's first step; it has no object */
	SCHED_OP_READ,
	SCHED_OP_WRITE,
	SCHED_OP_UPDATE,	/* an atomic that reads and writes */
	SCHED_OP_ACQUIRE,	/* acquires the lock `object` */
	SCHED_OP_RELEASE,
	SCHED_OP_TRY,		/* acquires the lock `object` if it is free, never waits */
	SCHED_OP_WAIT,		/* waits on a condition, semaphore, barrier, ... */
	SCHED_OP_WAKE,		/* signal, broadcast, post */
	SCHED_OP_CREATE,
	SCHED_OP_JOIN,
	SCHED_OP_EXIT,
	SCHED_OP_CALL,		/* a system call; object: its file descriptor */
	SCHED_OP_YIELD,		/* sched_yield, or the thread was found spinning */
	SCHED_OP_OTHER,
};

struct sched_event {
	uint64_t object;	/* address of the memory, lock, ...; 0: none */
	uint64_t site;		/* pc of the call or access */
	uint32_t size;		/* bytes from `object` on; 1 for locks */
	uint8_t op;		/* enum sched_op */
	uint8_t pad[3];
};

/* Does the event access memory (1), or use a lock, condition and the like (2)? 0: neither. */
static inline unsigned sched_target(const struct sched_event *e)
{
	if (e->op >= SCHED_OP_READ && e->op <= SCHED_OP_UPDATE)
		return 1;
	if ((e->op >= SCHED_OP_ACQUIRE && e->op <= SCHED_OP_WAKE) || e->op == SCHED_OP_OTHER)
		return 2;
	return 0;
}

/*
 * Two events are independent if executing them in either order leads to the same state. The free of
 * a block is a write, which a use of a lock in the block depends on.
 */
static inline bool sched_dependent(const struct sched_event *a, const struct sched_event *b)
{
	unsigned target_a = sched_target(a), target_b = sched_target(b);

	if (a->op == SCHED_OP_READ && b->op == SCHED_OP_READ)
		return false;
	if (a->op == SCHED_OP_CALL && b->op == SCHED_OP_CALL)
		return true;	/* the order of output is visible outside the process */
	if ((target_a == 1) != (target_b == 1) && !(target_a && target_b))
		return false;
	if (!a->object || !b->object)
		return false;
	return a->object < b->object + b->size && b->object < a->object + a->size;
}

/* Parameters of a search, the argument of init(). */
struct sched_params {
	uint64_t seed;		/* same seed and program, same schedules */
	/* pct: 1..SCHED_MAX_DEPTH; chess: preemptions; goal: enum goal_then; 0: default */
	uint32_t depth;
	/* Chance per step to leave the running thread; 0: default. */
	uint32_t switch_permille;
	/* struct sched_plan (abi/plan.h) for strategies with `guided`, and feedback; else NULL */
	const void *plan;
};

/* What is known before a run: begin() gets it. All zero if nothing is known yet. */
struct sched_run {
	uint64_t number;	/* number of earlier runs of this search */
	uint64_t length;	/* number of steps of the longest earlier run */
	uint32_t threads;	/* number of threads of that run */
	const uint64_t *events;	/* [threads]: visible events of each in an earlier run; or NULL */
	const uint32_t *parent;	/* [threads]: number of the thread that created it; or NULL */
};

/* A scheduling point; valid only during the call of pick(). */
struct sched_point {
	uint64_t step;			/* number of steps executed so far by all threads */
	uint32_t running;		/* thread that reached the point; may be blocked or gone */
	bool runs;			/* `running` is among the runnable */
	/*
	 * `running` called sched_yield, or was found spinning. It may wait for any other thread, so
	 * a strategy must not let a few yielding threads keep the others from running for ever.
	 */
	bool yields;
	/*
	 * Number of times in a row that `running` was found spinning without any thread having
	 * changed anything in between.
	 */
	uint32_t spin_rounds;
	/* Numbers of the threads that can run: ascending, never empty. */
	const uint32_t *runnable;
	size_t count;			/* of `runnable` */
	size_t threads;			/* number of threads created so far */
	const struct sched_event *pending;	/* by thread number: event before which it stands */
	const uint64_t *name;		/* by thread number: hash of the thread's path */
	/* Hash of the call stack of a thread; NULL if the runtime does not know it. */
	uint64_t (*context)(uint32_t thread);
};

/* The answer of pick(). */
struct sched_choice {
	uint32_t thread;	/* one of the runnable */
	/*
	 * Number of steps, at least 1, that the thread may take before pick() is called again. It
	 * is called earlier if the thread blocks, ends, creates or wakes another, or yields.
	 */
	uint64_t steps;
};

struct strategy {
	const char *name;	/* as typed after --strategy; shorter than 32 bytes */
	const char *summary;	/* one line of --strategy help; shorter than 72 bytes */
	size_t state_size;	/* bytes of `state`, at most 4 MiB; from the caller, zeroed */
	/*
	 * Of a strategy that is useless without a plan: what it does with the plan, and the command
	 * to use instead, for error messages. NULL: the strategy searches without a plan.
	 */
	const char *guided;
	/* The strategy follows the turns of a plan as long as exact_done() is false (exact.h). */
	bool follows;
	/* The next three are called for every strategy; the functions after them may be NULL. */
	void (*init)(void *state, const struct sched_params *params);
	void (*begin)(void *state, const struct sched_run *run);	/* before each run */
	void (*pick)(void *state, const struct sched_point *point, struct sched_choice *out);
	/*
	 * Chooses one of `count` alternatives other than threads, say which waiter a signal wakes.
	 * NULL: the first.
	 */
	uint32_t (*choose)(void *state, uint32_t count);
	/* Chooses which of these threads, given by name, a signal wakes. NULL: choose() does. */
	uint32_t (*wake)(void *state, const uint64_t *names, uint32_t count);
	/*
	 * Called before end() if the run ended in a deadlock: no thread is runnable (count 0), and
	 * `pending` holds the event at which each thread waits.
	 */
	void (*stuck)(void *state, const struct sched_point *point);
	/*
	 * Returns how many leading bytes of `state` are in use, and 0 if a figure in them makes no
	 * sense: the program may have overwritten it, and may still do so during the check. NULL:
	 * nothing outside the runtime reads the state.
	 */
	size_t (*check)(const void *state);
	/*
	 * Called after a run, with a state for which check() was not 0. False: all runs have been
	 * made. NULL: the strategy is stateless.
	 */
	bool (*end)(void *state);
};

/* Whether a flag that a program may have overwritten has one of its two values. */
static inline bool sched_is_bool(const bool *flag)
{
	return *(const unsigned char *)flag <= 1;
}

/* The table, in the order of --help; NULL ends it. */
extern const struct strategy *const strategies[];

/* Returns NULL if no strategy has that name. */
const struct strategy *strategy_find(const char *name);

#endif
