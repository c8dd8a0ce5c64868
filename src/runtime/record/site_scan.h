/*
 * Finds in machine code what wrap/hooks/inline_asm.c put there. A pure function, so that
 * it can be tested outside of a recorded process.
 */
#ifndef RUNTIME_RECORD_SITE_SCAN_H
#define RUNTIME_RECORD_SITE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_JUMP_SIZE 2u
#define SITES_CALL_SIZE 5u	/* a site ends with one */
#define SITES_MAX_SIZE 120u	/* of a site: what a short jump over all of it can do, and a little less */

/* An inlined site: `start` is its first byte, `end` the one behind, which is its pc in traces. */
typedef void sites_found(void *context, size_t start, size_t end);

/* Calls back for each site, in ascending order; returns how many there are. */
size_t sites_scan(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/*
 * The same for loops that are told behind their end (loop.h): `start` is the call, or SITES_PREFIX where an end begins
 * that is written out before it; `end` is where the descriptor is, seen from the text, anywhere.
 */
#define SITES_PREFIX 0x66

size_t sites_scan_loops(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/* The same for whatever looks like a direct call; `end` is where it goes. */
size_t sites_scan_calls(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/* Makes a nop of such a call: e8 and how far, or through a pointer, which is a byte longer. */
static inline void sites_no_call(uint8_t *call)
{
	static const uint8_t nop[SITES_CALL_SIZE] = { 0x0f, 0x1f, 0x44, 0, 0 };

	if (*call != 0xe8)
		*call++ = 0x66;
	for (size_t i = 0; i < sizeof(nop); i++)
		call[i] = nop[i];
}

/* Makes a nop of such a jump as sites_go writes; false: there is none. */
static inline bool sites_no_jump(uint8_t *jump)
{
	if (*jump != 0xe9)
		return false;
	*jump = 0xe8;
	sites_no_call(jump);
	return true;
}

/* Makes a jump of what is at `from`, at least five bytes. */
static inline void sites_go(uint8_t *from, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - from - SITES_CALL_SIZE);

	*from = 0xe9;
	__builtin_memcpy(from + 1, &distance, sizeof(distance));
}

/* The jump to be written over the start of a site to switch it off. */
static inline void sites_jump(uint8_t jump[SITES_JUMP_SIZE], size_t start, size_t end)
{
	jump[0] = 0xeb;
	jump[1] = (uint8_t)(end - start - SITES_JUMP_SIZE);
}

/*
 * Before a site whose alignment is not known there is a jump to its call, for accesses that lie over two
 * granules: it then goes behind the site. No other jump that ends before a site goes there.
 */
static inline void sites_skip_split(uint8_t *text, size_t start, size_t end)
{
	uint8_t *jump = text + start - SITES_JUMP_SIZE;

	if (start >= SITES_JUMP_SIZE && (jump[0] == 0x75 || jump[0] == 0x77) &&
	    jump[1] == end - start - SITES_CALL_SIZE)
		jump[1] += SITES_CALL_SIZE;
}

/* Whether a site that ends at `end` has such a jump. So many bytes before it can be read. */
bool sites_is_off(const uint8_t *end, size_t readable) __attribute__((visibility("hidden")));

#endif
