/*
 * The debug information of one file: an index of units, functions, lines and variables over libdw.
 *
 * The index is built on demand: the functions of a unit when an address in it is first looked up,
 * the variables of all units when a variable is first looked up. Addresses are those in the file,
 * before the load bias.
 */
#ifndef SYMBOL_DEBUG_H
#define SYMBOL_DEBUG_H

#include <elfutils/libdw.h>

#include "symbol/span.h"
#include "symbol/symbol.h"

struct debug;

/*
 * [low, high) is the file's code. Entries with addresses outside describe code that the linker
 * dropped.
 */
struct debug *debug_open(Dwarf *dwarf, uint64_t low, uint64_t high);
void debug_close(struct debug *d);	/* does not close `dwarf` */

/*
 * Fills the frames at an address, the innermost first, and returns their number; 0 if the address
 * is unknown. A frame's function is NULL if only the line is known.
 */
size_t debug_frames(struct debug *d, uint64_t addr, struct symbol_frame *out, size_t max);

/* Looks up the variable at an address. Returns false if there is none. */
bool debug_variable(struct debug *d, uint64_t addr, struct symbol_variable *out);

/* As symbols_part(). Defined in field.c. */
bool debug_part(struct debug *d, uint64_t addr, uint64_t size, struct symbol_part *out);

#endif
