/*
 * The rules (abi/rules_format.h) in the runtime: a mapped file, and a hash of its active sites by
 * pc.
 *
 * A site is active if it has one of the wanted flags. runtime/record/site_filter.c switches off the
 * inlined hooks of all other sites. In production builds, functions without an active site run
 * uninstrumented (has_rule_site() in runtime/process/init.c).
 */
#ifndef RUNTIME_MONITOR_RULES_H
#define RUNTIME_MONITOR_RULES_H

#include "abi/rules_format.h"
#include "runtime/core/runtime.h"

/* A site of the rules in a loaded module. */
struct active_site {
	uint64_t key;		/* pc * 2, plus 1 if it writes; 0: the slot is free */
	uint32_t number;	/* of the site in the rules */
	uint32_t flags;
};

/*
 * Returns the number of sites that have one of the flags `wanted`; -1 and *trouble if the file
 * cannot be used.
 */
SNARLRT_HIDDEN long rules_load(const char *path, uint32_t wanted, const char **trouble);
SNARLRT_HIDDEN const struct rules_header *rules_header(void);	/* NULL: no rules */

SNARLRT_HIDDEN bool rules_any(uint32_t flag);	/* does any site have the flag? */

/*
 * Activates the sites of a loaded module. Returns its number in the rules; -1: it is not in
 * them, or loaded too often.
 */
SNARLRT_HIDDEN int rules_add_module(const uint8_t *id, uint32_t id_size, uint64_t base);

/*
 * Offsets of a module's active sites, ascending. Never NULL: without any, all sites are switched
 * off.
 */
SNARLRT_HIDDEN const uint64_t *rules_offsets(const uint8_t *id, uint32_t id_size, size_t *count);

/* Does the code [start, end) contain an active site, or the start of a function with rules? */
SNARLRT_HIDDEN bool rules_matter(const uint8_t *id, uint32_t id_size, uint64_t base,
				 uint64_t start, uint64_t end);

/* The active site of an access; NULL: none. */
SNARLRT_HIDDEN const struct active_site *rules_find(uint64_t pc, bool write);

/*
 * Is `earlier` in the list of predecessors of `later`? Without a flag: did `later` ever immediately
 * follow this site of another thread? With RULES_UNFINISHED: must it wait until that thread has
 * done the second access of its pair? With RULES_OWN: did it often follow this site in its own
 * thread?
 */
SNARLRT_HIDDEN bool rules_follows(uint32_t earlier, uint32_t later);

/* rules_function.flags of the function whose entry hook returns to `pc`. */
SNARLRT_HIDDEN uint32_t rules_function_flags(uint64_t pc);

/* Returns rules_site.after, and in *write whether that site writes. */
SNARLRT_HIDDEN uint32_t rules_usual_predecessor(uint32_t site, bool *write);

/* Is the site in a function with a transaction that writes at any site? */
SNARLRT_HIDDEN bool rules_tx_writes(uint32_t site);

#endif
