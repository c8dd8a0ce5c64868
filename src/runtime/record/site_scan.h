/*
 * Finds the inlined sites that wrap/hooks/inline_asm.c emits, in machine code. Functions without
 * state, so that unit tests can call them. Positions are offsets in `text`.
 */
#ifndef RUNTIME_RECORD_SITE_SCAN_H
#define RUNTIME_RECORD_SITE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_JUMP_SIZE 2u	/* bytes of a short jump */
#define SITES_CALL_SIZE 5u	/* bytes of a direct call; a site ends with one */
#define SITES_MAX_SIZE 120u	/* bytes of a site: less than the 129 that a short jump can skip */

/*
 * Called for an inlined site: `start` is its first byte, `end` the one behind it, which is its pc
 * in traces.
 */
typedef void sites_found(void *context, size_t start, size_t end);

/* Calls `found` for each site, in ascending order. Returns their number, as all scans do. */
size_t sites_scan(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/*
 * Calls `found` for each call of __snarl_loop behind a loop without hooks (abi/layout.h), and for
 * the inlined code that may come before the call. `start` is the call, or the first byte of that
 * code, which is SITES_PREFIX. `end` is the descriptor, which may lie outside the text.
 */
#define SITES_PREFIX 0x66	/* of a nop */

size_t sites_scan_loops(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/* Calls `found` for all bytes that may be a direct call. `end` is the called address. */
size_t sites_scan_calls(const uint8_t *text, size_t size, sites_found *found, void *context)
	__attribute__((visibility("hidden")));

/*
 * Replaces a call by a nop: a direct one (e8 and a distance), or one through a pointer, which is a
 * byte longer.
 */
static inline void sites_no_call(uint8_t *call)
{
	static const uint8_t nop[SITES_CALL_SIZE] = { 0x0f, 0x1f, 0x44, 0, 0 };

	if (*call != 0xe8)
		*call++ = 0x66;
	for (size_t i = 0; i < sizeof(nop); i++)
		call[i] = nop[i];
}

/* Replaces a jump of five bytes by a nop; false: there is none. */
static inline bool sites_no_jump(uint8_t *jump)
{
	if (*jump != 0xe9)
		return false;
	*jump = 0xe8;
	sites_no_call(jump);
	return true;
}

/* Writes a jump to `to` over the code at `from`: five bytes. */
static inline void sites_go(uint8_t *from, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - from - SITES_CALL_SIZE);

	*from = 0xe9;
	__builtin_memcpy(from + 1, &distance, sizeof(distance));
}

/* Makes the short jump that switches a site off. The caller writes it over the site's start. */
static inline void sites_jump(uint8_t jump[SITES_JUMP_SIZE], size_t start, size_t end)
{
	jump[0] = 0xeb;
	jump[1] = (uint8_t)(end - start - SITES_JUMP_SIZE);
}

/*
 * Before a site of unknown alignment there is a jump to the site's call, for accesses that lie in
 * two granules. Redirects that jump behind the site. It is recognised by its target: no other jump
 * right before a site goes to the site's call.
 */
static inline void sites_skip_split(uint8_t *text, size_t start, size_t end)
{
	uint8_t *jump = text + start - SITES_JUMP_SIZE;

	if (start >= SITES_JUMP_SIZE && (jump[0] == 0x75 || jump[0] == 0x77) &&
	    jump[1] == end - start - SITES_CALL_SIZE)
		jump[1] += SITES_CALL_SIZE;
}

/* Whether the site that ends at `end` is off. `readable` bytes before `end` can be read. */
bool sites_is_off(const uint8_t *end, size_t readable) __attribute__((visibility("hidden")));

#endif
