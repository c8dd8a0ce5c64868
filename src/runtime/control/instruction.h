/*
 * Lengths of machine instructions, for the search of library code (library_waits.c).
 */
#ifndef RUNTIME_CONTROL_INSTRUCTION_H
#define RUNTIME_CONTROL_INSTRUCTION_H

#include "runtime/core/runtime.h"

/* The longest instruction of x86-64, in bytes. */
#define INSTRUCTION_MAX 15u

/*
 * Returns the length of the instruction at `code`, of which `size` bytes are readable; 0 if these
 * bytes are no instruction of 64-bit mode that compilers emit.
 */
SNARLRT_HIDDEN size_t instruction_length(const uint8_t *code, size_t size);

#endif
