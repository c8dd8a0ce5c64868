/*
 * Interleaving roots: a small pattern of dependencies between two threads, on static
 * places of a program ("idioms" of Maple: Yu et al., OOPSLA 2012). Runs expose them;
 * which of them are exposed is what `snarl cover` counts.
 *
 * A dependency A → B: A and B are of different threads and touch the same memory, one of
 * them writes (or the same lock: its acquisition follows its release), and nobody touched that
 * memory in between. Compound idioms join two of them by what each thread did in between:
 *
 *   1  A → B
 *   2  A → B → C             A, C in one thread; one variable
 *   3  A → B … C → D         A, D in one thread, B … C in the other; one variable
 *   4  A → B … C → D         the same; B and C are of different variables
 *   5  A → B and C → D       one thread does A … D, the other C … B; two variables
 *   6  A → B and C → D       one thread does A … C, the other B … D; two variables
 *
 * The two events of a thread are at most a window of its own events apart; where they are
 * of one variable, that thread does not touch it in between (3: B … C may).
 */
#ifndef ABI_IROOT_H
#define ABI_IROOT_H

#include <stdint.h>

#define IROOT_IDIOMS 6u
#define IROOT_EVENTS 4u
#define IROOT_WINDOW 3000u	/* events of a thread between two of its own; as in the paper */

enum iroot_access {
	IROOT_READ,
	IROOT_WRITE,		/* or an atomic that reads and writes */
	IROOT_ACQUIRE,
	IROOT_RELEASE,
};

struct iroot_event {
	uint64_t site;		/* as its user knows sites: pc in a process, id in a table, … */
	uint64_t access;	/* enum iroot_access */
};

/* Unused events are all zero, so that two are the same if their bytes are. */
struct iroot {
	uint64_t idiom;		/* 1 … IROOT_IDIOMS */
	struct iroot_event event[IROOT_EVENTS];	/* A, B, C, D */
};

/*
 * Synchronisation of the program's own: a thread reads at one place again and again until another one has
 * written. That orders the two as strongly as a semaphore does, also in runs in which nobody has to wait. A word
 * that those who wait for it write as well is no flag, but a lock or the like: then either may come first.
 */
#define IROOT_FLAGS 64u

struct iroot_flag {
	uint64_t read, write;	/* sites; write 0: nothing is waited for there, or not one write, or a lock */
};

/* What an idiom asks of its events; all numbers are places in `event`. */
struct iroot_shape {
	uint8_t events;		/* 2 … 4 */
	uint8_t thread[IROOT_EVENTS];	/* 0 or 1 */
	uint8_t variable[IROOT_EVENTS];	/* 0 or 1 */
	uint8_t dependencies;	/* 1 or 2, each from [0] to [1]; 5, 6: they come about in any order */
	uint8_t dependency[2][2];
	uint8_t pairs;		/* of events of one thread, [0] before [1], within the window */
	uint8_t pair[2][2];
};

/* By idiom; [0] is empty. */
extern const struct iroot_shape iroot_shapes[IROOT_IDIOMS + 1];

#endif
