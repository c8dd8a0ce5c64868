/*
 * Rules: what `snarl learn` found in passing runs, for the runtime in modes check and guard. The
 * file is compiled for one set of modules, which it names by build-id, and the runtime maps it. The
 * runtime includes this header, so it uses no libc.
 *
 * Sites are numbered over all modules; 0 means no site. The lists of a site hold such numbers. A
 * module whose build-id is not in the file is not watched.
 */
#ifndef ABI_RULES_FORMAT_H
#define ABI_RULES_FORMAT_H

#include <stdint.h>

#define RULES_MAGIC 0x53454c55524c4e53ull	/* "SNLRULES" */
#define RULES_VERSION 5u
#define RULES_ID_MAX 64u

enum rules_flag {
	/*
	 * AVIO: no passing run had an unserialisable interleaving between this access and the
	 * thread's previous access to the same memory.
	 */
	RULES_INVARIANT = 1,
	/* PSet: `before` lists the sites of other threads that this site directly followed. */
	RULES_PSET = 2,
	/* Some site could precede this one and is not in its list: check and guard watch it. */
	RULES_OPEN = 4,
	/* In the list of another site, or missing in that of an open one: must be watched, too. */
	RULES_SOURCE = 8,
	/* LifeTx: the access belongs to a learnt transaction. */
	RULES_IN_TX = 16,
	/* LifeTx: a transaction ends right before this access, and the next one begins. */
	RULES_CUT = 32,
	/*
	 * check watches the site: it is RULES_BREAKABLE, accesses the same memory as such a site,
	 * or could come in between there.
	 */
	RULES_CHECK = 256,
	/* The site writes (atomics that read and write, too); without it, the site only reads. */
	RULES_WRITE = 64,
	/* LifeTx: the access may come between two accesses of another thread's transaction. */
	RULES_REMOTE = 128,
	/*
	 * PSet: the access was never the first one. Another thread had always accessed the memory,
	 * or taken the lock, before.
	 */
	RULES_LATE = 512,
	/* No access: the site takes a mutex, which counts as a write of the mutex. */
	RULES_LOCK = 1024,
	/*
	 * No access: the site cancels a thread. With RULES_LATE: in passing runs, the cancelled
	 * thread did nothing more but leave the call it was in.
	 */
	RULES_CANCEL = 2048,
	/* Another thread could break the site's invariant: check judges it. */
	RULES_BREAKABLE = 4096,
};

/*
 * The upper half of the flags of a site in transactions is the number of its gate, or 0.
 * Transactions that reach sites of the same gate access the same variables in different orders.
 * Each may hold one that the other needs, so guard admits only one of them at a time.
 */
#define RULES_GATE_SHIFT 16

/*
 * Bit of a list entry: the site reads and its thread is about to write, or it takes a lock and its
 * thread is about to take it again. The list's own site, which reads or takes the lock, too, must
 * not follow it then: it would come in between.
 */
#define RULES_UNFINISHED 0x80000000u

/*
 * Bit of a list entry: a site of the same thread that preceded this one in enough of the runs on
 * which the invariant rests. After other sites, nothing is known, and check does not judge.
 */
#define RULES_OWN 0x40000000u

struct rules_site {
	uint64_t offset;	/* pc (address after the call) minus load bias */
	uint32_t module;
	uint32_t flags;		/* enum rules_flag */
	/* PSet: first entry in the list of numbers, and count; ascending, with the bits above. */
	uint32_t before, before_count;
	/*
	 * AVIO: the site that most often made the thread's previous access; one that reads is
	 * preferred. 0: none.
	 */
	uint32_t after;
	uint32_t pad;
};

enum rules_function_flag {
	RULES_HOLDS_TX = 1,	/* a transaction may begin in the function */
	RULES_CUT_ENTRY = 2,	/* entering the function ends the current transaction */
	RULES_CUT_EXIT = 4,	/* leaving the function ends the current transaction */
};

/*
 * A function with transactions. In each activation a transaction begins with the first access
 * marked RULES_IN_TX, and ends with the activation at the latest.
 */
struct rules_function {
	uint64_t offset;	/* pc of the hook at the function's entry, minus load bias */
	uint32_t module;
	uint32_t flags;		/* enum rules_function_flag */
};

struct rules_module {
	uint8_t id[RULES_ID_MAX];
	uint32_t id_size;
	/*
	 * Its sites, ascending by offset. If two have the same offset (memcpy), the one that reads
	 * comes first.
	 */
	uint32_t first_site, sites;
	uint32_t first_function, functions;	/* its functions, ascending by offset */
};

/*
 * The file's header. Offsets count from the start of the file, in multiples of 8; the counts are of
 * elements.
 */
struct rules_header {
	uint64_t magic;
	uint32_t version;
	uint32_t check;		/* trace_check() of all bytes behind the header */
	uint64_t size;		/* bytes of the file */
	uint32_t modules, sites, functions, numbers;	/* `sites` includes site 0 */
	uint64_t modules_at, sites_at, functions_at, numbers_at;
};

_Static_assert(sizeof(struct rules_site) == 32, "site");
_Static_assert(sizeof(struct rules_header) == 72, "header");

#endif
