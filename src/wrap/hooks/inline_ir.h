/*
 * Inlines the hot check of memory-access hooks into LLVM's code (clang), which is where
 * it costs least: as inline assembly that names the few registers it needs, it lets the
 * compiler keep all others, where around a call it would spill them. It is the same
 * machine code that inline.h makes, but for the call that is made for all else, whose
 * callee keeps the registers.
 *
 * Works on the text form, after the pass that puts in the hooks. What is not fully
 * understood is left as it was: a plain call works.
 */
#ifndef WRAP_HOOKS_INLINE_IR_H
#define WRAP_HOOKS_INLINE_IR_H

#include <stdbool.h>
#include <stddef.h>

#include "wrap/hooks/inline_asm.h"

/* Whether this is the text of an LLVM module as clang writes it. */
bool ir_recognise(const char *text, size_t size);

/* Whether a basic block with hooks jumps to itself. */
bool ir_has_loop(const char *text, size_t size);

/*
 * clang's assembly, so that clang can read it: a file that is there twice loses the MD5 in
 * one place, or LLVM takes it for the first one and knows nothing of its other number.
 */
void ir_repair_files(const char *text, size_t size, const struct inline_sink *sink);

/* Transforms a whole module. */
void ir_transform(const char *text, size_t size, bool pic, const struct inline_sink *sink);

#endif
