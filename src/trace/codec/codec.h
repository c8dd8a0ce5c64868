/*
 * The payload of an event chunk: raw records squeezed by a predictor.
 *
 * A small table remembers for each site where it went last, by what stride, how far that
 * was from the record before, and which site came next. An address is foretold by the
 * stride, as in loops over arrays, or by the record before, as for the fields of a structure:
 * each site has one way at a time. A record that is just what the table foretells costs
 * nothing but a count. A chunk is a row of tokens, each a byte and what it asks for:
 *
 *   bits 4..7  how many foretold records come first; 15: a u16 follows that says
 *   bits 0..3  then what follows:
 *     0..8   the site is as foretold, its address is not: so many bytes of
 *            zigzag(addr - foretold addr)
 *     9      nothing: the count is all
 *     10     a u16: bits 0..10 slot, 11..14 n, and n bytes of zigzag as above, or
 *            n is 9 for what 12 says
 *     11     a u16: the slot, which is new or another site's; 16 raw bytes
 *     12     the site is as foretold, and its address is foretold the other way, which is
 *            the site's way from now on
 *   and if that record's kind has extra records, for each a byte (bits 0..3 n, 4..7
 *   m), n bytes of zigzag(time - last time), m bytes of arg; the second extra
 *   record: two plain values
 *
 * Which slot a site has is the encoder's choice: one of two by its hash, since two sites that
 * took the same one from each other all the time would double the size of some chunks.
 *
 * A record whose kind has extra ones is never counted as foretold, even if it is;
 * its stride is always 0. Stamps have a slot of their own
 * (TRACE_CHAINED) and are no part of the chain. (After the value predictors of
 * Burtscher's VPC, IEEE ToC 2005, much reduced.) Each chunk starts
 * from an empty table, so it can be read alone. The runtime encodes and the tool
 * decodes with this one file; no libc, no allocation.
 */
#ifndef TRACE_CODEC_CODEC_H
#define TRACE_CODEC_CODEC_H

#include "trace/codec/decode.h"
#include "trace/codec/encode.h"
#include "trace/codec/predict.h"

/*
 * A check sum, not a secret. Each of four lanes is `lane = (lane ^ word) * k; lane ^= lane >> 29`; what is kept of it here is the product,
 * so that its word need not wait for the shift. Not in vector registers: without a multiplication of 64 bits, which
 * x86-64 has only lately, they take twice as long.
 */
#define TRACE_CHECK_K 0x9fb21c651e98df25ull

static inline __attribute__((always_inline)) uint64_t trace_check_step(uint64_t lane, uint64_t word)
{
	word ^= lane;
	__asm__("" : "+r"(word));	/* else the shift would come first */
	return (word ^ lane >> 29) * TRACE_CHECK_K;
}

static inline uint64_t trace_check_word(const uint8_t *p)
{
	uint64_t word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

/* What becomes v by v ^ v >> 29. */
static inline uint64_t trace_check_before(uint64_t v)
{
	return v ^ v >> 29 ^ v >> 58;
}

static inline uint64_t trace_check_after(uint64_t lane, unsigned turn)
{
	lane ^= lane >> 29;
	return turn ? lane << turn | lane >> (64 - turn) : lane;
}

static inline uint32_t trace_check(const void *data, size_t size)
{
	const uint64_t k = TRACE_CHECK_K;
	uint64_t a = trace_check_before(size * k), b = trace_check_before(k), c = trace_check_before(k << 1),
		 d = trace_check_before(k << 2);
	const uint8_t *p = data;

	for (; size >= 32; size -= 32, p += 32) {
		a = trace_check_step(a, trace_check_word(p));
		b = trace_check_step(b, trace_check_word(p + 8));
		c = trace_check_step(c, trace_check_word(p + 16));
		d = trace_check_step(d, trace_check_word(p + 24));
	}
	for (; size > 0; size--, p++)
		a = trace_check_step(a, *p);
	a = trace_check_after(a, 0) ^ trace_check_after(b, 7) ^ trace_check_after(c, 19) ^ trace_check_after(d, 37);
	return (uint32_t)(a * k >> 32);
}

#endif
