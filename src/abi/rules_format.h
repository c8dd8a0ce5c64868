/*
 * What passing runs have taught about a program, as the runtime uses it in the modes
 * check and guard: a file that `snarl learn` compiles for one set of modules (build-ids)
 * and the runtime maps. The runtime includes this file: no libc here.
 *
 * Sites are numbered over all modules; site 0 stands for "none". Numbers in the lists of a
 * site are such numbers. A module whose build-id is not here is not watched.
 */
#ifndef ABI_RULES_FORMAT_H
#define ABI_RULES_FORMAT_H

#include <stdint.h>

#define RULES_MAGIC 0x53454c55524c4e53ull	/* "SNLRULES" */
#define RULES_VERSION 5u
#define RULES_ID_MAX 64u

enum rules_flag {
	/*
	 * AVIO: the thread's access before this one, to the same memory, and this one were
	 * never interleaved unserializably in a passing run.
	 */
	RULES_INVARIANT = 1,
	/* PSet: the places of other threads it has followed immediately are listed. */
	RULES_PSET = 2,
	/* It may follow a place that is not in its list: what check and guard watch. */
	RULES_OPEN = 4,
	/* It is in the list of another one, or missing in an open one's: its accesses must be seen. */
	RULES_SOURCE = 8,
	/* LifeTx: the access belongs to a learnt transaction. */
	RULES_IN_TX = 16,
	/* LifeTx: a transaction ends right before this access, and the next one begins. */
	RULES_CUT = 32,
	/* For check: it touches what a place marked RULES_BREAKABLE does, or could come in between there. */
	RULES_CHECK = 256,
	RULES_WRITE = 64,	/* else it only reads; atomics that do both write */
	/* LifeTx: it may come between two accesses of a transaction of another thread. */
	RULES_REMOTE = 128,
	/* PSet: it was never the first: before it, other threads had always touched the memory, or taken the lock. */
	RULES_LATE = 512,
	RULES_LOCK = 1024,	/* no access: it takes a mutex, which counts as if that were written */
	/* No access either: it cancels a thread. With RULES_LATE: one that did nothing more then, but left the call it was in. */
	RULES_CANCEL = 2048,
	RULES_BREAKABLE = 4096,	/* it has an invariant that another thread could break: what check judges */
};

/*
 * In the upper half of a site's flags, of those in transactions: the number of its gate, or 0. Transactions
 * that come to places of the same gate touch the same variables in different orders, so that each may
 * have one that the other needs: only one is let in at a time.
 */
#define RULES_GATE_SHIFT 16

/*
 * In a list: a place that reads and whose thread is about to write; or one that takes a lock, and whose thread is
 * about to take it again. It may not be followed by this one, which reads, or takes the lock, too: that would be
 * in between.
 */
#define RULES_UNFINISHED 0x80000000u

/*
 * In a list: a place that its own thread came from, in enough of the runs that the invariant rests on. After others
 * nothing is known of it, and check does not judge.
 */
#define RULES_OWN 0x40000000u

struct rules_site {
	uint64_t offset;	/* pc (address after the call) less load bias */
	uint32_t module;
	uint32_t flags;		/* enum rules_flag */
	uint32_t before, before_count;	/* PSet: in the list of numbers, ascending; or with one of the above */
	/*
	 * AVIO: the place that most often had the thread's access before this one; one that reads, if
	 * there are such. 0: none.
	 */
	uint32_t after;
	uint32_t pad;
};

enum rules_function_flag {
	RULES_HOLDS_TX = 1,	/* a transaction begins in it */
	RULES_CUT_ENTRY = 2,	/* its entry ends the transaction under way */
	RULES_CUT_EXIT = 4,	/* its exit does */
};

/*
 * A function that holds a transaction: it begins with the first access marked
 * RULES_IN_TX in an activation of it, and ends with that activation at the latest.
 */
struct rules_function {
	uint64_t offset;	/* within its first bytes: pc of its entry's hook, less load bias */
	uint32_t module;
	uint32_t flags;		/* enum rules_function_flag */
};

struct rules_module {
	uint8_t id[RULES_ID_MAX];
	uint32_t id_size;
	/* Its sites, ascending by offset; of two at one offset (memcpy) the one that reads comes first. */
	uint32_t first_site, sites;
	uint32_t first_function, functions;	/* likewise */
};

/* Offsets are from the start of the file, aligned to 8; counts of elements. */
struct rules_header {
	uint64_t magic;
	uint32_t version;
	uint32_t check;		/* trace_check of all behind the header */
	uint64_t size;		/* of the file */
	uint32_t modules, sites, functions, numbers;	/* sites: with the empty one */
	uint64_t modules_at, sites_at, functions_at, numbers_at;
};

_Static_assert(sizeof(struct rules_site) == 32, "site");
_Static_assert(sizeof(struct rules_header) == 72, "header");

#endif
