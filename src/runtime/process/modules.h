/*
 * Loaded modules: the executable and shared libraries.
 */
#ifndef RUNTIME_PROCESS_MODULES_H
#define RUNTIME_PROCESS_MODULES_H

#include "runtime/core/runtime.h"

/*
 * Finds modules that were loaded or unmapped since the last scan. Reports new ones: to the trace,
 * to the monitor, or in a controlled run to the tool.
 */
SNARLRT_HIDDEN void snarlrt_modules_scan(void);

/* Takes the lock before a fork (`begin`); releases it after, in parent and child. */
SNARLRT_HIDDEN void snarlrt_modules_fork(bool begin);
/* In a forked child that is recorded: the next scan reports all modules, to the child's trace. */
SNARLRT_HIDDEN void snarlrt_modules_forked(void);

/*
 * Copies the build-id of the module at `address` to `id`, which has `room` bytes, and sets *base to
 * its load bias. Returns the size of the build-id, or 0 if there is none or it does not fit.
 */
SNARLRT_HIDDEN uint32_t snarlrt_module_id(const void *address, uint8_t *id, uint32_t room,
					  uint64_t *base);

#endif
