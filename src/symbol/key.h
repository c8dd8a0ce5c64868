/*
 * Keys by which databases identify a site of a program across builds. A key stays the same as long
 * as the function that contains the site does not change.
 */
#ifndef SYMBOL_KEY_H
#define SYMBOL_KEY_H

#include <stdint.h>

#include "base/buf.h"
#include "symbol/symbol.h"

/*
 * Appends "bank.c deposit +3:9": file, function, line counted from the function's first line,
 * column. Without debug information appends the module and `offset`, the address in it: "libz.so
 * 0x1234". `module` is NULL if unknown.
 */
void symbol_key(const struct symbol_frame *frame, const char *module, uint64_t offset,
		struct buf *out);

#endif
