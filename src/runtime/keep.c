/*
 * Finds out how wide the registers are that keep_x86_64.S has to save. XCR0 says which ones
 * the system keeps for us; nobody can use others.
 */
#include <cpuid.h>

#include "runtime/entry.h"

#define OSXSAVE (1u << 27)	/* leaf 1, ecx */
#define XCR0_YMM 0x04u
#define XCR0_ZMM 0xe0u		/* with their masks */

uint32_t snarlrt_vectors;

void snarlrt_vectors_find(void)
{
	uint32_t a, b, c, d, state, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
	if (state & XCR0_YMM)
		snarlrt_vectors = (state & XCR0_ZMM) == XCR0_ZMM ? 2 : 1;
}
