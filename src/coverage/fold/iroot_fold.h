/*
 * What a run tells about interleaving roots: which of them it exposed, and which others it
 * lets one expect of other schedules.
 *
 * One fold over the events of a run in their order, for traces and for programs under
 * control alike, so that both give the same answer: plain C without libc, all in one piece of
 * memory that the caller gives (zeroed; it may be shared with another process, mapped
 * elsewhere). What does not fit is lost, and counted.
 *
 *	struct iroot_profile *p = iroot_profile_init(memory, size, IROOT_WINDOW);
 *	… iroot_profile_step(p, &step) for each event …
 *	iroot_profile_finish(p);		by whoever has the memory then
 *	while ((flags = iroot_profile_next(p, &cursor, &root)))
 *		…
 *
 * Exposed, exactly: dependencies are found byte by byte, and idioms 2 and 3 need one byte that
 * all of their accesses touch. For idioms 4 to 6 the variable of a dependency is the first byte that
 * both of its accesses touch in 8 aligned bytes. Of the dependencies between two threads, the
 * IROOT_RECENT different ones (by direction, sites and accesses) that came about last are
 * remembered, each with its last two instances and the last that was of another variable than the last
 * one: what a new one is joined with.
 *
 * Predicted (§4.2 of Yu's thesis): of every location and thread the different accesses are kept,
 * by site, strong clock, the strong clocks of the thread's accesses to it before and after,
 * and the locks held, each with whether this was the first and the last access to the location in its
 * critical section. A → B is expected if B does not come before A by strong order; if none of A's
 * thread's later accesses to it comes before B so, and none of B's thread's earlier ones after A; and
 * if of each lock that both hold A is the last and B the first. Compound idioms join these
 * with pairs of accesses that threads made within the window; not idioms 4 and 5, if there is a lock that
 * both threads always keep from the first to the second event of theirs. Of two sites that walk through memory, pairs
 * are kept for the first 16 variables or two, dependencies for the first 1024.
 */
#ifndef COVERAGE_FOLD_IROOT_FOLD_H
#define COVERAGE_FOLD_IROOT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/iroot.h"

#define IROOT_RECENT 64u	/* different dependencies of two threads, accesses of a thread */
#define IROOT_MEMORY (256ull << 20)	/* is plenty; pages that are not touched cost nothing */
#define IROOT_PROFILE_VERSION 5u

enum iroot_op {
	IROOT_OP_NONE,		/* nothing that matters */
	IROOT_OP_READ,		/* addr, size */
	IROOT_OP_WRITE,
	IROOT_OP_ACQUIRE,	/* addr: a lock */
	IROOT_OP_ACQUIRE_SHARED,
	IROOT_OP_RELEASE,
	IROOT_OP_FRESH,		/* addr, size: memory that begins anew */
	/* Strong order: from what came before a SIGNAL on `addr` to what comes after a WAIT on it. */
	IROOT_OP_SIGNAL,
	IROOT_OP_WAIT,
	IROOT_OP_BARRIER_INIT,	/* size: threads that make a round */
	IROOT_OP_BARRIER_ENTER,
	IROOT_OP_BARRIER_LEAVE,
	IROOT_OP_CREATE,	/* addr: the other thread */
	IROOT_OP_JOIN,
};

struct iroot_step {
	uint32_t thread;	/* any number */
	uint32_t op;		/* enum iroot_op */
	uint64_t addr, size;
	uint64_t site;
};

/* Flags of an iRoot. */
#define IROOT_EXPOSED 1u
#define IROOT_PREDICTED 2u

struct iroot_profile;

/* NULL if that is too little memory. Without a window: predictions of idiom 1 alone, which takes less time. */
struct iroot_profile *iroot_profile_init(void *memory, uint64_t size, uint32_t window);

/* What another process began there; NULL if nothing is there, or it was killed in the middle of a step. */
struct iroot_profile *iroot_profile_open(void *memory, uint64_t size);

/*
 * Did somebody else write into the memory? It may show only when all was done with it; nothing
 * that is done then reads or writes outside of it, or takes for ever, but the answers mean nothing.
 */
bool iroot_profile_damaged(const struct iroot_profile *p);

void iroot_profile_step(struct iroot_profile *p, const struct iroot_step *step);

/* No step follows. May be called again. */
void iroot_profile_finish(struct iroot_profile *p);

/* In the order in which they were first met: flags of the next one, 0 at the end. *cursor is 0 at first. */
uint32_t iroot_profile_next(const struct iroot_profile *p, uint32_t *cursor, struct iroot *out);

/* Adds one to a list; two that do not agree mean that there are several writes. Returns its place; NULL: no room. */
struct iroot_flag *iroot_flag_add(struct iroot_flag list[IROOT_FLAGS], uint32_t *count, const struct iroot_flag *flag);

/* Known from other runs; before the first step. */
void iroot_profile_flag(struct iroot_profile *p, const struct iroot_flag *flag);

/* What is known now, with that. Returns how many. */
uint32_t iroot_profile_flags(const struct iroot_profile *p, struct iroot_flag out[IROOT_FLAGS]);

struct iroot_profile_stats {
	uint64_t steps;		/* accesses and lock operations */
	uint64_t dependencies;	/* dynamic ones */
	uint64_t places;	/* granules and locks */
	uint64_t entries, pairs;	/* of the histories */
	uint64_t lost;		/* what did not fit: then iRoots may be missing */
	uint64_t bytes;		/* of the memory that are used */
};

void iroot_profile_stats(const struct iroot_profile *p, struct iroot_profile_stats *out);

#endif
