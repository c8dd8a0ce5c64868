/*
 * Copies and fills of a few bytes in LLVM's code. clang's pass makes calls of them all, also of the
 * assignment of a small structure:
 *
 *   %7 = call i8* @memcpy(i8* %5, i8* %6, i64 16), !dbg !17
 *
 * The runtime tells 1, 2, 4, 8 or 16 bytes as the plain accesses that they are (snarlrt_range). Here they become
 * such accesses, each behind its hook: no call, and what is made of hooks is made of these, too (ir.h, loops.h).
 * Others stay as they are.
 */
#ifndef WRAP_HOOKS_SMALL_COPIES_H
#define WRAP_HOOKS_SMALL_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Transforms a whole module; `pic` changes nothing. Returns how many calls are gone. */
size_t ir_copy_transform(const char *text, size_t size, bool pic, struct buf *out);

#endif
