/*
 * Entries of functions made jumps and back, while other threads may be running them.
 */
#ifndef RUNTIME_PROCESS_CODE_PATCH_H
#define RUNTIME_PROCESS_CODE_PATCH_H

#include "runtime/core/runtime.h"

/* A batch under way; zero at first. */
struct dual_patch {
	uint64_t low, high;	/* pages that are writable now */
	bool changed;
};

/* True if the entry is as wanted now and was not before. */
SNARLRT_HIDDEN bool dual_patch_entry(struct dual_patch *p, uint64_t entry, uint64_t inst, bool on);

/* After this no thread runs what was there before, but calls that had begun. */
SNARLRT_HIDDEN void dual_patch_end(struct dual_patch *p);

SNARLRT_HIDDEN bool dual_patch_is_on(uint64_t entry);

#endif
