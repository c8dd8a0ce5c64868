/* Pseudo-random numbers from a seed, the same on every machine. */
#ifndef TESTS_TOOLS_ROLL_H
#define TESTS_TOOLS_ROLL_H

#include <stdint.h>

static uint64_t state;

static unsigned roll(unsigned sides)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * UINT64_C(2685821657736338717)) >> 33) % sides;
}

#endif
