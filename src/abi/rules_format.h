/*
 * Rules: what `snarl learn` found in passing runs, for the runtime in modes check and guard. The
 * file is compiled for one set of modules, which it names by build-id, and the runtime maps it. The
 * runtime includes this header, so it uses no libc.
 *
 * Sites are numbered over all modules; 0 means no site. Each site has a list of such numbers: the
 * sites that may come before it. A module whose build-id is not in the file is not watched.
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
	/* PSet: the list has the sites of other threads that this site directly followed. */
	RULES_PSET = 2,
	/*
	 * PSet: some site could precede this one but is not in its list. guard delays the access
	 * after such a site.
	 */
	RULES_OPEN = 4,
	/* PSet: an open site may follow this one, so guard has to see its accesses as well. */
	RULES_SOURCE = 8,
	/* LifeTx: the access belongs to a learnt transaction. */
	RULES_IN_TX = 16,
	/* LifeTx: a transaction ends right before this access, and the next one begins. */
	RULES_CUT = 32,
	/*
	 * check watches the site: it is RULES_BREAKABLE, accesses the same memory as such a site,
	 * or could break its invariant.
	 */
	RULES_CHECK = 256,
	/* The site writes (atomics that read and write, too); without it, the site only reads. */
	RULES_WRITE = 64,
	/* LifeTx: the access may come between two accesses of another thread's transaction. */
	RULES_REMOTE = 128,
	/*
	 * PSet: the access was never the first one to its memory or lock: another thread had always
	 * made one before.
	 */
	RULES_LATE = 512,
	/* No access: the site takes a mutex, which counts as a write of the mutex. */
	RULES_LOCK = 1024,
	/*
	 * No access: the site cancels a thread. With RULES_LATE: in passing runs, the cancelled
	 * thread only left the call that it was in, and did nothing else.
	 */
	RULES_CANCEL = 2048,
	/* Another thread could break the site's invariant: check judges it. */
	RULES_BREAKABLE = 4096,
};

/*
 * The upper 16 bits of the flags of a site in transactions: the number of its gate, or 0. A gate is
 * a lock of guard. Transactions with sites of one gate access the same variables in different
 * orders, so each might wait for the other; guard admits only one of them at a time.
 */
#define RULES_GATE_SHIFT 16

/*
 * Bit of a list entry E in the list of site S: E begins a pair of accesses that S never came
 * between. E reads and its thread will write, or E takes a lock and its thread will take it again.
 * guard delays S after E until that thread has made the second access.
 */
#define RULES_UNFINISHED 0x80000000u

/*
 * Bit of a list entry E in the list of site S: the AVIO invariant of S holds if the thread's own
 * previous access to the memory was at E, as in enough passing runs. After other sites, check does
 * not judge.
 */
#define RULES_OWN 0x40000000u

struct rules_site {
	uint64_t offset;	/* pc (address after the call) minus load bias */
	uint32_t module;
	uint32_t flags;		/* enum rules_flag */
	/*
	 * The list: index of its first entry in the file's numbers, and number of entries. Entries
	 * ascend, and have the bits RULES_UNFINISHED and RULES_OWN.
	 */
	uint32_t before, before_count;
	/*
	 * AVIO: where the thread most often made its previous access to the memory; a site that
	 * reads is preferred. 0: none.
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
 * A function with transactions. A transaction begins with the first access marked RULES_IN_TX in
 * the outermost activation of such a function, and ends with that activation at the latest.
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
