/*
 * Interleaving roots (iRoots, abi/iroot.h) of a run: those that the run exposed, and those
 * predicted for other schedules. Profiler of Maple (Yu et al., OOPSLA 2012; thesis of Yu, section
 * 4.2).
 *
 * A fold over the events of a run, in order. The tool applies it to traces, and the runtime to a
 * running program; both get the same iRoots. It is C without libc. All data is in one piece of
 * zeroed memory from the caller, which may be shared with another process that maps it at another
 * address. What does not fit is counted as lost.
 *
 *	struct iroot_profile *p = iroot_profile_init(memory, size, IROOT_WINDOW);
 *	iroot_profile_step(p, &step);		for each event
 *	iroot_profile_finish(p);		in the process that has the memory then
 *	while ((flags = iroot_profile_next(p, &cursor, &root)))
 *		...
 *
 * Example: one variable x, and sites a, b, c, d of two threads. T1 creates T2, then:
 *
 *	1  T1 writes x at a	nothing yet
 *	2  T2 reads x at b	exposed: idiom 1, a -> b
 *	3  T2 writes x at c	nothing: the access before was its own
 *	4  T1 reads x at d	exposed: idiom 1, c -> d; idiom 3, a -> b ... c -> d
 *				predicted: a -> b, b -> a. Step 4 completes a, step 3 completed b:
 *				it is known now what follows them in their threads
 *	finish			completes c and d. Predicted:
 *				idiom 1: c -> d, c -> a, a -> c, d -> c
 *				idiom 2: b -> a -> c (T2, T1, T2), a -> c -> d (T1, T2, T1)
 *				idiom 3: a -> b ... c -> d, b -> a ... d -> c
 *
 * b -> d is no dependency, because neither writes. If T1 held a lock from a to d, and T2 the same
 * lock from b to c, only c -> a would be predicted: a is not the last access of its section.
 *
 * Exposed iRoots: dependencies are found byte by byte. Idioms 2 and 3 need one byte that all of
 * their accesses touch. For idioms 4 to 6 the variable of a dependency is the first byte in a
 * granule (8 aligned bytes) that both of its accesses touch. A new dependency is joined with the
 * last IROOT_RECENT different dependencies (by direction, sites and accesses) between the same two
 * threads. Three instances of each are kept: the last two, and the last one at another variable
 * than the newest. Joins with older instances are missed.
 *
 * Predicted iRoots: a history keeps the different accesses of each thread to each location.
 * Accesses differ by site, strong clock, the strong clocks of the thread's accesses to the location
 * before and after, and annotated lockset: for each lock held, whether the access is the first and
 * the last one to the location in its critical section. A -> B is predicted if
 * - strong order does not put B before A;
 * - strong order puts neither the next access of A's thread before B, nor A before the previous
 *   access of B's thread;
 * - of each lock that both hold, A is the last access of its section and B the first.
 *
 * Compound idioms join predicted dependencies with pairs of accesses that a thread made within the
 * window. Idioms 4 and 5 are not predicted if both threads always hold one lock from their first to
 * their second event. Of two sites, pairs are kept for 16 variables (or pairs of variables), and
 * dependencies for 1024, because loops over memory would make any number.
 */
#ifndef COVERAGE_FOLD_IROOT_FOLD_H
#define COVERAGE_FOLD_IROOT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/iroot.h"

#define IROOT_RECENT 64u	/* kept: dependencies of two threads; accesses of a thread */
#define IROOT_MEMORY (256ull << 20)	/* bytes; pages that are never touched cost nothing */
#define IROOT_PROFILE_VERSION 5u

enum iroot_op {
	IROOT_OP_NONE,		/* ignored */
	IROOT_OP_READ,		/* addr, size */
	IROOT_OP_WRITE,
	IROOT_OP_ACQUIRE,	/* addr: a lock */
	IROOT_OP_ACQUIRE_SHARED,
	IROOT_OP_RELEASE,
	IROOT_OP_FRESH,		/* addr, size: memory that was allocated */
	/*
	 * Strong order: from what came before a SIGNAL on `addr` to what comes after a WAIT on it.
	 */
	IROOT_OP_SIGNAL,
	IROOT_OP_WAIT,
	IROOT_OP_BARRIER_INIT,	/* size: threads that the barrier waits for */
	IROOT_OP_BARRIER_ENTER,
	IROOT_OP_BARRIER_LEAVE,
	IROOT_OP_CREATE,	/* addr: the other thread */
	IROOT_OP_JOIN,
};

struct iroot_step {
	uint32_t thread;	/* any number that names it */
	uint32_t op;		/* enum iroot_op */
	uint64_t addr, size;
	uint64_t site;
};

/* Flags of an iRoot. */
#define IROOT_EXPOSED 1u
#define IROOT_PREDICTED 2u

struct iroot_profile;

/* NULL: too little memory. `window` 0: only predicts idiom 1, which takes less time. */
struct iroot_profile *iroot_profile_init(void *memory, uint64_t size, uint32_t window);

/* A profile that another process made. NULL: there is none, or a kill interrupted a step. */
struct iroot_profile *iroot_profile_open(void *memory, uint64_t size);

/* How many leading bytes of the memory are in use; 0: iroot_profile_open() would return NULL. */
uint64_t iroot_profile_used(const void *memory, uint64_t size);

/*
 * Did other code overwrite the memory? To be called after the last use, which may be what detects
 * it. All functions stay within the memory and terminate even then, but their results mean nothing.
 */
bool iroot_profile_damaged(const struct iroot_profile *p);

void iroot_profile_step(struct iroot_profile *p, const struct iroot_step *step);

/* Has to be called after the last step; may be called again. */
void iroot_profile_finish(struct iroot_profile *p);

/*
 * The next iRoot, in the order of discovery. Returns its flags, 0 at the end. *cursor begins as 0.
 */
uint32_t iroot_profile_next(const struct iroot_profile *p, uint32_t *cursor, struct iroot *out);

/*
 * Adds a flag to a list, or merges it: two different write sites for one read site become 0.
 * Returns its entry; NULL: the list is full.
 */
struct iroot_flag *iroot_flag_add(struct iroot_flag list[IROOT_FLAGS], uint32_t *count,
				  const struct iroot_flag *flag);

/* Adds a flag that other runs found; before the first step. */
void iroot_profile_flag(struct iroot_profile *p, const struct iroot_flag *flag);

/* Copies all known flags; returns their number. */
uint32_t iroot_profile_flags(const struct iroot_profile *p, struct iroot_flag out[IROOT_FLAGS]);

struct iroot_profile_stats {
	uint64_t steps;		/* accesses and lock operations */
	uint64_t dependencies;	/* dynamic instances */
	uint64_t locations;	/* granules and locks */
	uint64_t entries, pairs;	/* of histories; of accesses within the window */
	uint64_t lost;		/* objects that did not fit: iRoots may be missing */
	uint64_t bytes;		/* used of the memory */
};

void iroot_profile_stats(const struct iroot_profile *p, struct iroot_profile_stats *out);

#endif
