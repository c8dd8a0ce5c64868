/*
 * Interleaving roots (iRoots): small patterns of dependencies between two threads at static sites
 * of a program, the "idioms" of Maple (Yu et al., OOPSLA 2012). `snarl cover` counts which of them
 * runs have exposed.
 *
 * A dependency A -> B: A and B are of different threads and access the same memory, at least one
 * writes, and no thread accessed that memory in between. On a lock: A releases it, and B is the
 * next to acquire it. Compound idioms (2 to 6) join two dependencies between the same two threads:
 *
 *   1  A -> B
 *   2  A -> B -> C             A, C in one thread; one variable
 *   3  A -> B ... C -> D       A, D in one thread, B ... C in the other; one variable
 *   4  A -> B ... C -> D       threads as in 3; B and C access different variables
 *   5  A -> B and C -> D       one thread does A ... D, the other C ... B; two variables
 *   6  A -> B and C -> D       one thread does A ... C, the other B ... D; two variables
 *
 * The two events of a thread are at most IROOT_WINDOW of its events apart. If they access the same
 * variable, the thread does not access it in between, except in B ... C of idiom 3.
 */
#ifndef ABI_IROOT_H
#define ABI_IROOT_H

#include <stdint.h>

#define IROOT_IDIOMS 6u
#define IROOT_EVENTS 4u
/* Most events of a thread between its two events in a root; the paper's value. */
#define IROOT_WINDOW 3000u

enum iroot_access {
	IROOT_READ,
	IROOT_WRITE,		/* or an atomic that reads and writes */
	IROOT_ACQUIRE,
	IROOT_RELEASE,
};

struct iroot_event {
	/* pc in a process, or id in a table of sites: the user of the struct decides. */
	uint64_t site;
	uint64_t access;	/* enum iroot_access */
};

/* An iRoot. Unused events are all zero bytes, so equal iRoots have equal bytes. */
struct iroot {
	uint64_t idiom;		/* 1 to IROOT_IDIOMS */
	struct iroot_event event[IROOT_EVENTS];	/* A, B, C, D */
};

/*
 * Spin flags: synchronisation that the program implements itself. A thread reads at one site in a
 * loop until another thread has written. This orders write and read as strongly as a semaphore,
 * even in runs in which the reader does not have to wait. A word that waiting threads write, too,
 * is a lock instead of a flag: it orders nothing.
 */
#define IROOT_FLAGS 64u

struct iroot_flag {
	/*
	 * Sites. `write` 0: the word that `read` reads is no flag, because several sites write it,
	 * no thread waits for it, or it is a lock.
	 */
	uint64_t read, write;
};

/* What an idiom requires of the events of an iRoot. */
struct iroot_shape {
	uint8_t events;		/* 2 to 4 */
	uint8_t thread[IROOT_EVENTS];	/* of each event: 0 or 1 */
	uint8_t variable[IROOT_EVENTS];	/* of each event: 0 or 1 */
	/*
	 * 1 or 2 dependencies, each from event number [0] to [1]. In idioms 5 and 6 either one may
	 * come about first.
	 */
	uint8_t dependencies;
	uint8_t dependency[2][2];
	/* Pairs of events of one thread: number [0] comes before [1], within the window. */
	uint8_t pairs;
	uint8_t pair[2][2];
};

/* Indexed by idiom; [0] is unused. */
extern const struct iroot_shape iroot_shapes[IROOT_IDIOMS + 1];

#endif
