/*
 * What is loaded: executable and shared libraries.
 */
#ifndef RUNTIME_PROCESS_MODULES_H
#define RUNTIME_PROCESS_MODULES_H

#include "runtime/core/runtime.h"

/* Looks for modules that were loaded or unmapped, and tells those that the mode writes to. */
SNARLRT_HIDDEN void snarlrt_modules_scan(void);

/* Around a fork, and in the child, which tells all modules anew. */
SNARLRT_HIDDEN void snarlrt_modules_fork(bool begin);
SNARLRT_HIDDEN void snarlrt_modules_forked(void);

/* The build-id of the module that the address is in, and its load bias; 0: none, or no room. */
SNARLRT_HIDDEN uint32_t snarlrt_module_id(const void *address, uint8_t *id, uint32_t room,
					  uint64_t *base);

#endif
