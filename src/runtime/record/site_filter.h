/*
 * Switches off access sites that a list of sites does not name. The list names the sites that
 * accessed shared memory in an earlier run (docs/trace-format.md, section 6).
 *
 * Inlined checks get a jump over them. With a list, calls of the range hooks in the executable
 * become nops; with a lookup function (modes check and guard) they stay. All other calls of hooks
 * stay.
 */
#ifndef RUNTIME_RECORD_SITE_FILTER_H
#define RUNTIME_RECORD_SITE_FILTER_H

#include <link.h>

#include "runtime/core/runtime.h"

/* What was done to a module's code. */
struct snarlrt_sites {
	uint64_t found, off;	/* number of inlined sites; number of those switched off */
	bool unknown;		/* the list does not name the module: all its sites are on */
	const uint8_t *jump;	/* one of the jumps that were written; NULL: none */
};

/*
 * Reads the list. If that fails, prints a warning, and all sites are recorded. Calls of the two
 * functions in `range_hooks` are sites, too.
 */
SNARLRT_HIDDEN void snarlrt_sites_load(const char *path, const uint64_t range_hooks[2]);

/*
 * Returns the offsets of a module's sites that stay on, ascending. Never NULL, so that all others
 * are switched off.
 */
typedef const uint64_t *sites_lookup(const uint8_t *id, uint32_t id_size, size_t *count);

/* Uses `lookup` instead of a list. */
SNARLRT_HIDDEN void snarlrt_sites_use(sites_lookup *lookup);

/*
 * Switches off a module's sites that are not in the list. Called before the module's code runs, and
 * again if the module was unmapped and mapped anew.
 */
SNARLRT_HIDDEN void snarlrt_sites_apply(struct snarlrt_sites *s, const struct dl_phdr_info *info,
					const uint8_t *id, uint32_t id_size);

/* Writes META chunks: that a list was used, and what was done to a module. */
SNARLRT_HIDDEN void snarlrt_sites_write_meta(void);
SNARLRT_HIDDEN void snarlrt_sites_write_module(const struct snarlrt_sites *s);
/* In a forked child, whose trace is a new one: the first of these chunks is written again. */
SNARLRT_HIDDEN void snarlrt_sites_forked(void);

#endif
