/*
 * The table that production builds carry (src/wrap writes it, the runtime and the tool
 * read it): section DUAL_SECTION of an executable or shared library, records one
 * behind the other in no particular order.
 */
#ifndef ABI_PRODUCTION_TABLE_H
#define ABI_PRODUCTION_TABLE_H

#include <stdint.h>

#define DUAL_SECTION "snarl_dual"

#define DUAL_COUNT 0	/* `size` functions of a file exist in their plain version only */
#define DUAL_PAIR 1	/* a function that can be switched */
#define DUAL_INNER 2	/* an instrumented one that only the instrumented one at `entry` calls */

/* Addresses are relative to the field that holds them. */
struct dual_record {
	int32_t entry;		/* of the plain version; DUAL_INNER: of an instrumented caller */
	int32_t inst;		/* the instrumented version */
	uint32_t size;		/* of that, in bytes */
	uint32_t kind;
};

#endif
