/*
 * The codec of event chunks: raw records, compressed by predicting the next record.
 *
 * A table has a slot for each site. The slot keeps the address of the site's last record, its
 * stride, its offset from the previous record of the thread, and the slot of the record that came
 * next. From the previous record's slot the codec predicts the site of the next record and its
 * address: the site's last address plus the stride, as in loops over arrays, or the previous
 * record's address plus the offset, as for the fields of a structure. A slot uses one of the two
 * predictors at a time and is toggled when the other one would have been right. The residual is
 * the address minus the predicted address. Records predicted correctly cost only a count.
 *
 * A chunk is a sequence of tokens, each a byte and what it asks for:
 *
 *   bits 4..7  number of correctly predicted records that come first; 15: it is in the next u16
 *   bits 0..3  what follows them:
 *     0..8   a record of the predicted site; that many bytes of zigzag(residual)
 *     9      nothing
 *     10     a record of another site: a u16 with bits 0..10 the slot, 11..14 n; n bytes of
 *            zigzag(residual), or n is 9 for a toggle as in token 12
 *     11     a record whose site has no slot yet: a u16 with the slot, which is empty or taken
 *            over, then the record's 16 bytes
 *     12     a record of the predicted site, toggled: its other predictor is right
 *   Then, if that record's kind has extra records, two for each of them: a byte (bits 0..3 n,
 *   4..7 m), n bytes and m bytes. For the first extra record these are zigzag(time - last time)
 *   and the argument, for the second its two words.
 *
 * Example: a loop reads 4 bytes of every 8 at pc 0x401, in slot 105 (0x69):
 *
 *   addr   site                 bytes                     prediction
 *   0x1000 0x0203000000000401   0b 6900 addr, site        miss: no slot yet; the record itself
 *   0x1008 0x0203000000000401   0a 6908 10                miss: site not predicted; address
 *                                                         predicted 0x1000, residual 8, zigzag 16
 *   0x1010 0x0203000000000401   0c                        site hit; stride 8 was seen only once,
 *                                                         but previous + offset 8 is right: toggle
 *   0x1018 0x0203000000000401   19                        hit: one record counted, then nothing
 *
 * A fifth record at 0x1020 makes the last byte 29; 65535 such records take 3 bytes.
 *
 * The encoder chooses one of two slots for a site by its hash. With a single candidate, two sites
 * that alternate in one slot would double the size of some chunks. Records of kinds with extra
 * records are never counted as predicted, and their stride is always 0. STAMP records have the
 * slot TRACE_STAMP_SLOT and do not count as the previous record of anything. The encoder has a
 * second loop for records that repeat (encode_loop.h), which makes the same bytes faster.
 *
 * Each chunk starts from an empty table, so it can be decoded alone. The runtime encodes and the
 * tool decodes with these headers; they use no libc and allocate nothing. The method is that of
 * the value predictors of VPC (Burtscher et al., IEEE Transactions on Computers, 2005), with two
 * predictors instead of many.
 */
#ifndef TRACE_CODEC_CODEC_H
#define TRACE_CODEC_CODEC_H

#include "trace/codec/decode.h"
#include "trace/codec/encode.h"
#include "trace/codec/predict.h"

/*
 * The check sum of chunks and headers: finds damage, does not resist an attacker.
 *
 * Each of four lanes is defined by `lane = (lane ^ word) * k; lane ^= lane >> 29`. The code keeps
 * the product and shifts it in the next step, which shortens the dependency chain. Vector
 * registers would take twice as long without a 64-bit multiplication, which needs AVX-512.
 */
#define TRACE_CHECK_K 0x9fb21c651e98df25ull

static inline __attribute__((always_inline)) uint64_t trace_check_step(uint64_t lane, uint64_t word)
{
	word ^= lane;
	__asm__("" : "+r"(word));	/* keeps the compiler from doing the shift first */
	return (word ^ lane >> 29) * TRACE_CHECK_K;
}

static inline uint64_t trace_check_word(const uint8_t *p)
{
	uint64_t word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

/* Inverse of v ^ v >> 29: the start value of a lane whose first step shifts it. */
static inline uint64_t trace_check_seed(uint64_t v)
{
	return v ^ v >> 29 ^ v >> 58;
}

/* Makes up for the last shift and rotates the lane left. */
static inline uint64_t trace_check_finish(uint64_t lane, unsigned rotate)
{
	lane ^= lane >> 29;
	return rotate ? lane << rotate | lane >> (64 - rotate) : lane;
}

static inline uint32_t trace_check(const void *data, size_t size)
{
	const uint64_t k = TRACE_CHECK_K;
	uint64_t a = trace_check_seed(size * k), b = trace_check_seed(k),
		 c = trace_check_seed(k << 1), d = trace_check_seed(k << 2);
	const uint8_t *p = data;

	for (; size >= 32; size -= 32, p += 32) {
		a = trace_check_step(a, trace_check_word(p));
		b = trace_check_step(b, trace_check_word(p + 8));
		c = trace_check_step(c, trace_check_word(p + 16));
		d = trace_check_step(d, trace_check_word(p + 24));
	}
	for (; size > 0; size--, p++)
		a = trace_check_step(a, *p);
	a = trace_check_finish(a, 0) ^ trace_check_finish(b, 7) ^ trace_check_finish(c, 19) ^
	    trace_check_finish(d, 37);
	return (uint32_t)(a * k >> 32);
}

#endif
