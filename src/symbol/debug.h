/*
 * The debug information of one file: an index of units, functions, lines and
 * variables over libdw, filled as far as look-ups need it.
 *
 * Addresses are those in the file. A unit's functions are indexed when an
 * address in it is first asked for; a variable needs all units.
 */
#ifndef SYMBOL_DEBUG_H
#define SYMBOL_DEBUG_H

#include <elfutils/libdw.h>

#include "symbol/span.h"
#include "symbol/symbol.h"

struct debug;

/* Code lies in [low, high): what claims to be elsewhere was dropped by the linker. */
struct debug *debug_open(Dwarf *dwarf, uint64_t low, uint64_t high);
void debug_close(struct debug *d);	/* leaves `dwarf` to its owner */

/*
 * Innermost frame first; 0 if nothing is known. A frame's function is NULL where
 * only the line is known.
 */
size_t debug_frames(struct debug *d, uint64_t addr, struct symbol_frame *out, size_t max);

bool debug_variable(struct debug *d, uint64_t addr, struct symbol_variable *out);

/* field.c: as symbols_part(). */
bool debug_part(struct debug *d, uint64_t addr, uint64_t size, struct symbol_part *out);

#endif
