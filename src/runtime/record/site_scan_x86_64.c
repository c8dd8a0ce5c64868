/*
 * The scan for inlined sites. It recognises a site by the check of the shadow at its start and the
 * call at its end, which no other code has. The append in between is not compared.
 */
#include "runtime/record/site_scan.h"

#include <emmintrin.h>

#define SHIFT_AT 4u	/* offset in a site of the bytes c1 e8, which belong to the shift */
#define BLOCK 16u
#define NOP_SIZE 7u	/* bytes of the nop that names a loop's descriptor */

struct bytes {
	const uint8_t *at, *end;
};

/* Skips the bytes `code` and an operand of `operand` bytes. False: the code does not come next. */
static bool take(struct bytes *b, const char *code, size_t size, size_t operand)
{
	if ((size_t)(b->end - b->at) < size + operand)
		return false;
	for (size_t i = 0; i < size; i++)
		if (b->at[i] != (uint8_t)code[i])
			return false;
	b->at += size + operand;
	return true;
}

#define TAKE(b, code, operand) take((b), code, sizeof(code) - 1, operand)

/* Takes the cmp of the shadow word with tls.own, in the form of an executable or a library. */
static bool take_compare(struct bytes *b, bool wide)
{
	bool pic;

	if (wide ? TAKE(b, "\x64\x39\x04\x25", 4) : TAKE(b, "\x64\x66\x39\x04\x25", 4))
		return true;
	/* mov __snarl_tls@gottpoff(%rip),%rcx; the linker makes mov $number,%rcx of it. */
	pic = TAKE(b, "\x48\x8b\x0d", 4) || TAKE(b, "\x48\xc7\xc1", 4);
	return pic && (wide ? TAKE(b, "\x64\x39\x41", 1) : TAKE(b, "\x64\x66\x39\x41", 1));
}

/* The size of the site that begins here, 0 if none does. */
static size_t site_size(const uint8_t *text, size_t left)
{
	struct bytes b = { text, text + left };
	const uint8_t *end;
	bool wide;

	/* mov %rdi,%rax; shr $3,%rax; then mov or movzwl shadow(,%rax,2),%eax */
	if (!TAKE(&b, "\x48\x89\xf8\x48\xc1\xe8\x03", 0))
		return 0;
	wide = TAKE(&b, "\x8b\x04\x45\x00\x80\xff\x7f", 0);
	if (!wide && !TAKE(&b, "\x0f\xb7\x04\x45\x00\x80\xff\x7f", 0))
		return 0;
	/* je to the end, before which there is a call */
	if (!take_compare(&b, wide) || !TAKE(&b, "\x74", 1) || b.at[-1] > 0x7f)
		return 0;
	if ((size_t)(b.end - b.at) < b.at[-1] || b.at[-1] < SITES_CALL_SIZE)
		return 0;
	end = b.at + b.at[-1];
	if (end[-(int)SITES_CALL_SIZE] != 0xe8 || end - text > (ptrdiff_t)SITES_MAX_SIZE)
		return 0;
	return (size_t)(end - text);
}

/* A bit for each of the 16 bytes at p at which this pair of bytes begins. */
static unsigned pairs(const uint8_t *p, uint8_t first, uint8_t second)
{
	__m128i one = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i two = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
	__m128i both = _mm_and_si128(_mm_cmpeq_epi8(one, _mm_set1_epi8((char)first)),
				     _mm_cmpeq_epi8(two, _mm_set1_epi8((char)second)));

	return (unsigned)_mm_movemask_epi8(both);
}

size_t sites_scan(const uint8_t *text, size_t size, sites_found *found, void *context)
{
	size_t count = 0, at = SHIFT_AT;

	/* A site is longer than a block: none begins in the bytes left out at the end. */
	for (; size > BLOCK && at < size - BLOCK; at += BLOCK) {
		for (unsigned mask = pairs(text + at, 0xc1, 0xe8); mask; mask &= mask - 1) {
			size_t start = at + (unsigned)__builtin_ctz(mask) - SHIFT_AT;
			size_t length = site_size(text + start, size - start);

			if (length == 0)
				continue;
			found(context, start, start + length);
			count++;
		}
	}
	return count;
}

/*
 * For a nop at `end`: returns the call before it, or the nop's prefix; NULL: there is neither. At
 * least six bytes precede `end`. No call goes so far that the last byte of its distance could be
 * the prefix.
 */
static const uint8_t *call_before(const uint8_t *end)
{
	if (end[-1] == SITES_PREFIX)
		return end - 1;
	if (end[-5] == 0xe8)
		return end - 5;
	return end[-6] == 0xff && end[-5] == 0x15 ? end - 6 : NULL;	/* call *...(%rip) */
}

size_t sites_scan_loops(const uint8_t *text, size_t size, sites_found *found, void *context)
{
	size_t count = 0, at = 7;	/* a call and one byte */

	for (; size > BLOCK && at < size - BLOCK; at += BLOCK) {
		/* call ...; nopl ...(%rip), which is 0f 1f 05 and the distance from its end */
		for (unsigned mask = pairs(text + at, 0x1f, 0x05); mask; mask &= mask - 1) {
			size_t nop = at + (unsigned)__builtin_ctz(mask) - 1;
			const uint8_t *call = call_before(text + nop);
			int32_t distance;

			if (!call || text[nop] != 0x0f || size - nop < NOP_SIZE)
				continue;
			__builtin_memcpy(&distance, text + nop + 3, sizeof(distance));
			found(context, (size_t)(call - text),
			      nop + NOP_SIZE + (size_t)(int64_t)distance);
			count++;
		}
	}
	return count;
}

size_t sites_scan_calls(const uint8_t *text, size_t size, sites_found *found, void *context)
{
	size_t count = 0;

	for (size_t at = 0; at + SITES_CALL_SIZE <= size; at++) {
		int32_t distance;

		if (text[at] != 0xe8)
			continue;
		__builtin_memcpy(&distance, text + at + 1, sizeof(distance));
		found(context, at, at + SITES_CALL_SIZE + (size_t)(int64_t)distance);
		count++;
	}
	return count;
}

bool sites_is_off(const uint8_t *end, size_t readable)
{
	for (size_t size = SHIFT_AT; size <= SITES_MAX_SIZE && size <= readable; size++) {
		struct bytes b = { end - size, end };
		uint8_t jump[SITES_JUMP_SIZE];

		sites_jump(jump, 0, size);
		if (b.at[0] != jump[0] || b.at[1] != jump[1])
			continue;
		b.at += SITES_JUMP_SIZE;
		if (TAKE(&b, "\xf8\x48\xc1\xe8\x03", 0))
			return true;
	}
	return false;
}
