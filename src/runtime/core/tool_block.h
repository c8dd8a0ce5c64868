/*
 * The block of memory that the tool shares with a process that it starts (abi/control_block.h).
 */
#ifndef RUNTIME_CORE_TOOL_BLOCK_H
#define RUNTIME_CORE_TOOL_BLOCK_H

#include "abi/control_block.h"
#include "runtime/core/runtime.h"

/* Maps the file; NULL if it is no block. Dies if it is another version's. */
SNARLRT_HIDDEN struct ctl_block *tool_block_map(const char *path);

/* The coverage profile of the run, in `size` bytes of the block: knows what other runs found. NULL: too small. */
SNARLRT_HIDDEN struct iroot_profile *tool_block_profile(struct ctl_block *b, uint64_t size);

#endif
