/*
 * The addresses of the runtime's own code and variables in the executable.
 */
#ifndef RUNTIME_CORE_BOUNDS_H
#define RUNTIME_CORE_BOUNDS_H

#include "runtime/core/runtime.h"

extern SNARLRT_HIDDEN const char snarlrt_text_begin[], snarlrt_text_end[];
extern SNARLRT_HIDDEN const char snarlrt_cold_begin[], snarlrt_cold_end[];
extern SNARLRT_HIDDEN const char snarlrt_data_begin[], snarlrt_data_end[];
extern SNARLRT_HIDDEN const char snarlrt_data_local_begin[], snarlrt_data_local_end[];
extern SNARLRT_HIDDEN const char snarlrt_bss_begin[], snarlrt_bss_end[];
extern SNARLRT_HIDDEN const char snarlrt_big_begin[], snarlrt_big_end[];

/* Is `pc` in the runtime's code? */
static inline bool bounds_has_code(uint64_t pc)
{
	return (pc >= (uintptr_t)snarlrt_text_begin && pc < (uintptr_t)snarlrt_text_end) ||
	       (pc >= (uintptr_t)snarlrt_cold_begin && pc < (uintptr_t)snarlrt_cold_end);
}

#endif
