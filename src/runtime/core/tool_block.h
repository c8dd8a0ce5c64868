/*
 * The control block: memory that the tool shares with a process that it starts
 * (abi/control_block.h).
 */
#ifndef RUNTIME_CORE_TOOL_BLOCK_H
#define RUNTIME_CORE_TOOL_BLOCK_H

#include "abi/control_block.h"
#include "runtime/core/runtime.h"

/* Maps the file; NULL if it is no control block. Ends the process if the versions differ. */
SNARLRT_HIDDEN struct ctl_block *tool_block_map(const char *path);

/*
 * Begins the run's coverage profile in `size` bytes of the block, with the spin flags that the tool
 * knows from earlier runs. NULL if `size` is too small.
 */
SNARLRT_HIDDEN struct iroot_profile *tool_block_profile(struct ctl_block *b, uint64_t size);

#endif
