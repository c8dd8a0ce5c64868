/*
 * Turns copies and fills of 1, 2, 4, 8 or 16 bytes in LLVM IR into plain accesses with hooks.
 * clang's pass makes calls of all of them, also of the assignment of a small structure:
 *
 *	%7 = call i8* @memcpy(i8* %5, i8* %6, i64 16), !dbg !17
 *
 * becomes
 *
 *	call void @__tsan_unaligned_read16(i8* %6), !dbg !17
 *	%snarl.from.0 = bitcast i8* %6 to <2 x i64>*, !dbg !17
 *	%snarl.value.0 = load <2 x i64>, <2 x i64>* %snarl.from.0, align 1, !dbg !17
 *	call void @__tsan_unaligned_write16(i8* %5), !dbg !17
 *	%snarl.to.0 = bitcast i8* %5 to <2 x i64>*, !dbg !17
 *	store <2 x i64> %snarl.value.0, <2 x i64>* %snarl.to.0, align 1, !dbg !17
 *	%7 = bitcast i8* %5 to i8*, !dbg !17
 *
 * The events stay the same, since the runtime records calls of these sizes as plain accesses too
 * (snarlrt_range). But there is no call, the hooks are inlined (inline_ir.h), and a loop of them
 * may run without hooks (wrap/loops/loops.h). Copies and fills of other sizes stay calls.
 */
#ifndef WRAP_HOOKS_SMALL_COPIES_H
#define WRAP_HOOKS_SMALL_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends the transformed module to *out; ignores `pic`. Returns the number of replaced calls. */
size_t small_copies_transform(const char *text, size_t size, bool pic, struct buf *out);

#endif
