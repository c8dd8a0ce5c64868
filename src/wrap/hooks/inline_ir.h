/*
 * Inlines the check of memory-access hooks into LLVM IR, for clang. A call
 *
 *	call void @__tsan_read8(i8* %5), !dbg !17
 *
 * becomes inline assembly:
 *
 *	call void asm sideeffect alignstack "...", "{di},..."(i8* %5), !dbg !17
 *
 * The inline assembly names the few registers that it changes, so the compiler keeps values in all
 * others; around a call it would spill them. The machine code is that of inline_asm.h except for
 * the call of the slow path: __snarl_access preserves registers.
 *
 * The input is IR in text form, from after the pass that inserts the hooks. A call that is not
 * fully understood stays as it is: a plain call of the hook works.
 */
#ifndef WRAP_HOOKS_INLINE_IR_H
#define WRAP_HOOKS_INLINE_IR_H

#include <stdbool.h>
#include <stddef.h>

#include "wrap/hooks/inline_asm.h"

/* Whether the text is an LLVM module as clang writes it. */
bool ir_recognise(const char *text, size_t size);

/* Whether some basic block with hooks jumps to itself: a loop that might run without hooks. */
bool ir_has_loop(const char *text, size_t size);

/*
 * Makes clang's own assembly readable for clang: drops the MD5 from all .file lines but number 0.
 * clang may give the main source a second number. If both had the MD5, LLVM would take them for one
 * file and not know the second number.
 */
void ir_repair_files(const char *text, size_t size, const struct inline_sink *sink);

/* Writes the module with inlined checks to `sink`; `pic` as in struct inliner. */
void ir_transform(const char *text, size_t size, bool pic, const struct inline_sink *sink);

#endif
