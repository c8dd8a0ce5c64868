/*
 * Switches function entries between a NOP and a jump while other threads may execute them.
 */
#ifndef RUNTIME_PROCESS_CODE_PATCH_H
#define RUNTIME_PROCESS_CODE_PATCH_H

#include "runtime/core/runtime.h"

/* A batch of changes; starts zeroed. */
struct code_patch {
	uint64_t low, high;	/* addresses of the pages that are writable now; high 0: none */
	bool changed;		/* an entry was changed */
};

/*
 * Makes the NOP at `entry` a jump to the instrumented version `inst` (`on`), or a NOP again.
 * Returns true if this changed the entry.
 */
SNARLRT_HIDDEN bool code_patch_entry(struct code_patch *p, uint64_t entry, uint64_t inst, bool on);

/* Ends the batch: all calls from now on use the new entries. Calls under way keep their version. */
SNARLRT_HIDDEN void code_patch_end(struct code_patch *p);

/* True if the entry is a jump. */
SNARLRT_HIDDEN bool code_patch_is_on(uint64_t entry);

#endif
