/*
 * What is loaded, apart from telling the trace of it (rt.h, process.h).
 */
#ifndef RUNTIME_PROCESS_MODULES_H
#define RUNTIME_PROCESS_MODULES_H

#include "runtime/core/runtime.h"

/* The build-id of the module that the address is in, and its load bias; 0: none, or no room. */
SNARLRT_HIDDEN uint32_t snarlrt_module_id(const void *address, uint8_t *id, uint32_t room,
					  uint64_t *base);

#endif
