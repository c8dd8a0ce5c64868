/*
 * The table of a production build (docs/production.md): which functions exist both plain and
 * instrumented. The assembler (src/wrap/dual) writes it, the runtime and the tool read it. It is
 * section DUAL_SECTION of an executable or shared library: records in no particular order.
 */
#ifndef ABI_PRODUCTION_TABLE_H
#define ABI_PRODUCTION_TABLE_H

#include <stdint.h>

#define DUAL_SECTION "snarl_dual"

/* A count, one per object file: `size` of its functions exist in the plain version only. */
#define DUAL_COUNT 0
#define DUAL_PAIR 1	/* a function with both versions */
/* An instrumented function whose only caller is the instrumented version at `entry`. */
#define DUAL_INNER 2

/* Each address is relative to the member that holds it. */
struct dual_record {
	int32_t entry;		/* the plain version; DUAL_INNER: the instrumented caller */
	int32_t inst;		/* the instrumented version */
	/* Bytes of the instrumented version; DUAL_COUNT: number of functions. */
	uint32_t size;
	uint32_t kind;
};

#endif
