/*
 * The name of a place in a program that stays the same when the program is built anew, as
 * long as the function that holds it is not changed: what databases know places by.
 */
#ifndef SYMBOL_KEY_H
#define SYMBOL_KEY_H

#include <stdint.h>

#include "base/buf.h"
#include "symbol/symbol.h"

/*
 * Appends "bank.c deposit +3:9", by lines from the function's first; without debug
 * information the module and `offset`, the address within it. `module` NULL: unknown.
 */
void symbol_key(const struct symbol_frame *frame, const char *module, uint64_t offset, struct buf *out);

#endif
