/*
 * Finds out how wide the registers are that save_registers_x86_64.S has to save, and how much room all of them
 * need (loop_x86_64.S). XCR0 says which ones the system keeps for us; nobody can use others.
 */
#include <cpuid.h>

#include "runtime/hooks/entry.h"

#define OSXSAVE (1u << 27)	/* leaf 1, ecx */
#define XCR0_YMM 0x04u
#define XCR0_ZMM 0xe0u		/* with their masks */

#define LEAF_STATES 13u		/* of each: size in eax, offset in ebx */
#define LAST_STATE 7u

uint32_t snarlrt_vectors;
uint32_t snarlrt_state_size = XSAVE_LEGACY;

/* xsave's area up to the last of the states that are on. */
static void find_size(uint32_t state)
{
	uint32_t a, b, c, d;

	snarlrt_state_size = XSAVE_LEGACY + XSAVE_HEADER;
	for (uint32_t i = 2; i <= LAST_STATE; i++)
		if (state >> i & 1 && __get_cpuid_count(LEAF_STATES, i, &a, &b, &c, &d) &&
		    snarlrt_state_size < a + b)
			snarlrt_state_size = a + b;
}

void snarlrt_vectors_find(void)
{
	uint32_t a, b, c, d, state, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
	find_size(state);
	if (state & XCR0_YMM)
		snarlrt_vectors = (state & XCR0_ZMM) == XCR0_ZMM ? 2 : 1;
}
