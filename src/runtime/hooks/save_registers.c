/*
 * Finds the width of the vector registers that save_registers_x86_64.S must save, and the size of
 * the xsave area that loop_x86_64.S needs. XCR0 lists the registers that the kernel saves for
 * threads; a program cannot use others.
 */
#include <cpuid.h>

#include "runtime/hooks/entry.h"

#define OSXSAVE (1u << 27)	/* cpuid leaf 1, ecx: xgetbv may be used */
#define XCR0_YMM 0x04u
#define XCR0_ZMM 0xe0u		/* zmm registers and mask registers */

#define LEAF_STATES 13u		/* cpuid leaf; subleaf i: size of state i in eax, offset in ebx */
#define LAST_STATE 7u		/* the upper 16 zmm registers */

uint32_t snarlrt_vector_width;
uint32_t snarlrt_xsave_size = XSAVE_LEGACY;

/* The xsave area up to the last enabled state. */
static void find_xsave_size(uint32_t state)
{
	uint32_t a, b, c, d;

	snarlrt_xsave_size = XSAVE_LEGACY + XSAVE_HEADER;
	for (uint32_t i = 2; i <= LAST_STATE; i++)
		if (state >> i & 1 && __get_cpuid_count(LEAF_STATES, i, &a, &b, &c, &d) &&
		    snarlrt_xsave_size < a + b)
			snarlrt_xsave_size = a + b;
}

void snarlrt_vector_width_find(void)
{
	uint32_t a, b, c, d, state, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
	find_xsave_size(state);
	if (state & XCR0_YMM)
		snarlrt_vector_width = (state & XCR0_ZMM) == XCR0_ZMM ? 2 : 1;
}
