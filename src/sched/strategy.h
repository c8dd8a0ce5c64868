/*
 * How the controlled scheduler chooses the thread to run next.
 *
 * A strategy runs inside the target process: it must not allocate, do I/O or
 * call anything the runtime intercepts. Unit tests link the same code. Its
 * state lives in memory that outlives a run, so that a search may go on from
 * run to run; all of it is plain data without pointers into the process.
 *
 * A point is a moment at which the running thread stands *before* its next
 * visible event (an access to shared memory, an operation on a lock, …), or
 * has just blocked or ended. Every other thread stands before one too: its
 * `pending`. Executing that event is one step.
 */
#ifndef SCHED_STRATEGY_H
#define SCHED_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_MAX_THREADS 1024u	/* thread numbers are below this */
#define SCHED_MAX_DEPTH 32u
#define SCHED_NO_LIMIT UINT64_MAX

/* What a step does, as far as it matters for choosing. */
enum sched_op {
	SCHED_OP_START,		/* a thread's first step; object: none */
	SCHED_OP_READ,
	SCHED_OP_WRITE,
	SCHED_OP_UPDATE,	/* an atomic that reads and writes */
	SCHED_OP_ACQUIRE,	/* of the lock `object` */
	SCHED_OP_RELEASE,
	SCHED_OP_TRY,		/* may acquire `object`, never waits */
	SCHED_OP_WAIT,		/* on a condition, semaphore, barrier, … */
	SCHED_OP_WAKE,		/* signal, broadcast, post */
	SCHED_OP_CREATE,
	SCHED_OP_JOIN,
	SCHED_OP_EXIT,
	SCHED_OP_CALL,		/* a system call; object: descriptor */
	SCHED_OP_YIELD,		/* sched_yield, or found spinning */
	SCHED_OP_OTHER,
};

struct sched_event {
	uint64_t object;	/* address of memory, lock, …; 0: none */
	uint64_t site;		/* the pc of the call or access */
	uint32_t size;		/* bytes from `object`; locks: 1 */
	uint8_t op;		/* enum sched_op */
	uint8_t pad[3];
};

/* Two events that may be swapped without anybody noticing are independent. */
static inline bool sched_dependent(const struct sched_event *a, const struct sched_event *b)
{
	bool memory_a = a->op >= SCHED_OP_READ && a->op <= SCHED_OP_UPDATE;
	bool memory_b = b->op >= SCHED_OP_READ && b->op <= SCHED_OP_UPDATE;

	if (a->op == SCHED_OP_READ && b->op == SCHED_OP_READ)
		return false;
	if (a->op == SCHED_OP_CALL && b->op == SCHED_OP_CALL)
		return true;	/* the order of output is seen */
	if (memory_a != memory_b || !a->object || !b->object)
		return false;
	return a->object < b->object + b->size && b->object < a->object + a->size;
}

/* Once for a search. */
struct sched_params {
	uint64_t seed;		/* same seed and program, same schedules */
	uint32_t depth;		/* pct: 1..SCHED_MAX_DEPTH; chess: preemptions; 0: default */
	uint32_t switch_permille;	/* random: chance to leave the running thread; 0: default */
	const void *plan;	/* exact, goal: struct sched_plan of plan.h; others NULL */
};

/* Once for a run; all zero if nothing is known yet. */
struct sched_run {
	uint64_t number;	/* runs made before this one in this search */
	uint64_t length;	/* steps the longest earlier run took */
	uint32_t threads;	/* … and threads it had */
	const uint64_t *events;	/* [threads]: visible events of each, from an earlier run; or NULL */
	const uint32_t *parent;	/* [threads]: who created it; or NULL */
};

/* A scheduling point; valid only during the call. */
struct sched_point {
	uint64_t step;			/* steps executed so far, of all threads */
	uint32_t running;		/* who got here; may be blocked or gone */
	bool runs;			/* `running` is among the runnable */
	bool yields;			/* it asked to let others go first, or spins */
	uint32_t idle;			/* … how often so far, while nobody changed anything */
	const uint32_t *runnable;	/* ascending, never empty */
	size_t count;
	size_t threads;			/* numbers given out so far */
	const struct sched_event *pending;	/* by thread number */
	const uint64_t *name;		/* by thread number: hash of the thread's path */
	uint64_t (*context)(uint32_t thread);	/* hash of the calls that a thread is in; or NULL */
};

/*
 * `steps`: how many steps the thread may take, at least 1, before the next
 * question. It comes earlier when the thread blocks, ends, creates or wakes
 * another, or yields.
 */
struct sched_choice {
	uint32_t thread;	/* one of the runnable */
	uint64_t steps;
};

struct strategy {
	const char *name;	/* as typed after --strategy */
	const char *summary;	/* one line of --help */
	size_t state_size;	/* the caller provides it, zeroed */
	/* What it does with a plan, without which it is of no use, and the command that makes one. NULL: searches. */
	const char *guided;
	bool follows;		/* a plan's turns, as long as exact_done() is false; exact.h */
	void (*init)(void *state, const struct sched_params *params);
	void (*begin)(void *state, const struct sched_run *run);
	void (*pick)(void *state, const struct sched_point *point, struct sched_choice *out);
	/*
	 * One of `count` things other than a thread (which waiter a signal wakes):
	 * NULL: the first, always.
	 */
	uint32_t (*choose)(void *state, uint32_t count);
	/* Which of these threads, by name, a signal wakes. NULL: choose() says. */
	uint32_t (*wake)(void *state, const uint64_t *names, uint32_t count);
	/*
	 * The run ends in a deadlock: nobody is runnable (count 0), and `pending` says
	 * what each thread waits for. Comes before end(). NULL: does not care.
	 */
	void (*stuck)(void *state, const struct sched_point *point);
	/* After a run. False: nothing is left to try. NULL: there always is. */
	bool (*end)(void *state);
};

/* The table, in the order of --help; NULL ends it. */
extern const struct strategy *const strategies[];

/* Returns NULL if no strategy has that name. */
const struct strategy *strategy_find(const char *name);

#endif
