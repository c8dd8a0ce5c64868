/*
 * The rules of abi/rules_format.h in the runtime: mapped, checked, and found by pc.
 *
 * Only places with one of the wanted flags are active. The others are switched off where
 * they are inlined (sites.h), or their functions are not even switched on (dual.h).
 */
#ifndef RUNTIME_MONITOR_RULES_H
#define RUNTIME_MONITOR_RULES_H

#include "abi/rules_format.h"
#include "runtime/core/runtime.h"

/* An active place. */
struct active_site {
	uint64_t key;		/* pc * 2, 1 more if it writes; 0: none */
	uint32_t number;	/* of the site in the rules */
	uint32_t flags;
};

/* How many sites have one of the flags `wanted`; -1 with *trouble: the file is not used. */
SNARLRT_HIDDEN long rules_load(const char *path, uint32_t wanted, const char **trouble);
SNARLRT_HIDDEN const struct rules_header *rules_header(void);	/* NULL: none */

SNARLRT_HIDDEN bool rules_any(uint32_t flag);	/* does a site have it? */

/* Makes the places of a loaded module known; which number it has in the rules, or -1. */
SNARLRT_HIDDEN int rules_add_module(const uint8_t *id, uint32_t id_size, uint64_t base);

/* Active offsets of a module, ascending; never NULL, so that all others are off. */
SNARLRT_HIDDEN const uint64_t *rules_offsets(const uint8_t *id, uint32_t id_size, size_t *count);

/* Does [start, end) of instrumented code hold one, or begin a transaction's function? */
SNARLRT_HIDDEN bool rules_matter(const uint8_t *id, uint32_t id_size, uint64_t base,
				 uint64_t start, uint64_t end);

/* The active place of an access; NULL: none. */
SNARLRT_HIDDEN const struct active_site *rules_find(uint64_t pc, bool write);

/*
 * May `later` follow `earlier` of another thread? With RULES_UNFINISHED: or not, as the other one is? With RULES_OWN: did it
 * follow it in the same thread, as a rule?
 */
SNARLRT_HIDDEN bool rules_follows(uint32_t earlier, uint32_t later);

/* rules_function.flags of the function that has `pc` right behind its entry hook. */
SNARLRT_HIDDEN uint32_t rules_function_flags(uint64_t pc);

/* rules_site.after, and whether it writes. */
SNARLRT_HIDDEN uint32_t rules_usual_predecessor(uint32_t site, bool *write);

/* Is the site in a function whose transaction writes at another one? */
SNARLRT_HIDDEN bool rules_tx_writes(uint32_t site);

#endif
