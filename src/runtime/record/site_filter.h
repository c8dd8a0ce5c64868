/*
 * Records only at access sites that an earlier run found to touch shared memory:
 * the other inlined ones get a jump over them. Calls for ranges become nops, in the program only;
 * any other plain call stays on.
 */
#ifndef RUNTIME_RECORD_SITE_FILTER_H
#define RUNTIME_RECORD_SITE_FILTER_H

#include <link.h>

#include "runtime/core/runtime.h"

/* What was done to a module. */
struct snarlrt_sites {
	uint64_t found, off;
	bool unknown;		/* the list does not name the module: all are on */
	const uint8_t *jump;	/* one that was written; NULL: none */
};

/*
 * Reads the list. If that fails, says so, and everything is recorded. Plain calls of the two functions in
 * `range_hooks` are sites, too.
 */
SNARLRT_HIDDEN void snarlrt_sites_load(const char *path, const uint64_t range_hooks[2]);

/* The sites of a module that stay on: offsets, ascending; never NULL, so that all others are switched off. */
typedef const uint64_t *sites_lookup(const uint8_t *id, uint32_t id_size, size_t *count);

/* Instead of a list. */
SNARLRT_HIDDEN void snarlrt_sites_use(sites_lookup *lookup);

/*
 * Switches off what is not in the list; before the module's code runs. Does it
 * again if the module was unmapped meanwhile and mapped anew.
 */
SNARLRT_HIDDEN void snarlrt_sites_apply(struct snarlrt_sites *s, const struct dl_phdr_info *info,
					const uint8_t *id, uint32_t id_size);

/* META: that there is a list, and then what was done to a module. */
SNARLRT_HIDDEN void snarlrt_sites_tell(void);
SNARLRT_HIDDEN void snarlrt_sites_tell_module(const struct snarlrt_sites *s);
SNARLRT_HIDDEN void snarlrt_sites_forked(void);

#endif
