/*
 * The encoder for records that were not predicted; codec.h describes the bytes.
 *
 * The encoder spends most of its time here. Frequent cases have a fast path: trace_residual() and
 * trace_put_residual_timed(). The functions in _any handle every case.
 */
#ifndef TRACE_CODEC_ENCODE_UNPREDICTED_H
#define TRACE_CODEC_ENCODE_UNPREDICTED_H

#include "abi/mix.h"
#include "trace/codec/predict.h"

#define TRACE_INLINE static inline __attribute__((always_inline))
#define TRACE_NOINLINE static __attribute__((noinline, unused))

/* Writes a token behind n predicted records, however many. */
TRACE_NOINLINE uint8_t *trace_put_many(uint8_t *out, uint64_t n, unsigned token)
{
	uint16_t many;

	while (n > UINT16_MAX) {
		out[0] = TRACE_TOKEN_MANY << 4 | TRACE_TOKEN_COUNT;
		out[1] = out[2] = 0xff;
		out += 3;
		n -= UINT16_MAX;
	}
	if (n < TRACE_TOKEN_MANY) {
		*out = (uint8_t)(n << 4 | token);
		return out + 1;
	}
	many = (uint16_t)n;
	*out = (uint8_t)(TRACE_TOKEN_MANY << 4 | token);
	__builtin_memcpy(out + 1, &many, 2);
	return out + 3;
}

/*
 * Writes a token behind `run` bytes of predicted records. A record has 16 bytes, so `run` is the
 * number of records already shifted into bits 4..7.
 */
TRACE_INLINE uint8_t *trace_put_token(uint8_t *out, uint64_t run, unsigned token)
{
	if (__builtin_expect(run >= TRACE_TOKEN_MANY << 4, 0))
		return trace_put_many(out, run >> 4, token);
	*out = (uint8_t)(run | token);
	return out + 1;
}

_Static_assert(sizeof(struct trace_record) == 16, "trace_put_token");

/* Finishes a chunk: writes the count of the last predicted records. */
static inline uint8_t *trace_encode_end(struct trace_coder *c, uint8_t *out)
{
	uint32_t n = c->predicted;

	c->predicted = 0;
	return n ? trace_put_many(out, n, TRACE_TOKEN_COUNT) : out;
}

/* Writes two numbers of variable length behind a byte with both lengths. */
static inline uint8_t *trace_put_pair(uint8_t *out, uint64_t x, uint64_t y)
{
	unsigned n = trace_bytes(x), m = trace_bytes(y);

	*out++ = (uint8_t)(n | m << 4);
	trace_put(out, x);
	out += n;
	trace_put(out, y);
	return out + m;
}

/* Writes the extra records that begin at r. */
TRACE_INLINE uint8_t *trace_encode_extra(struct trace_coder *c, uint8_t *out,
					 const struct trace_record *r, unsigned extra)
{
	uint64_t time = r->addr;

	out = trace_put_pair(out, trace_zigzag(time - c->time), r->site);
	c->time = time;
	return extra > 1 ? trace_put_pair(out, r[1].addr, r[1].site) : out;
}

/*
 * The record behind r and its extra records. Branches let the CPU go on with the next record
 * before the kind's entry in the table is loaded.
 */
TRACE_INLINE const struct trace_record *trace_next_event(const struct trace_record *r)
{
	unsigned extra = trace_extra(trace_site_kind(r->site));

	if (__builtin_expect(extra == 0, 0))
		return r + 1;
	return __builtin_expect(extra == 1, 1) ? r + 2 : r + 3;
}

/* delta == TRACE_NO_DELTA, without loading that constant. */
static inline int trace_is_no_delta(uint64_t delta)
{
	int64_t less;

	return __builtin_sub_overflow((int64_t)delta, 1, &less);
}

/*
 * Sets *z to the zigzag residual of any record and *n to its number of bytes, and updates the slot.
 * Returns *n, or `toggle` if the other predictor is right. A slot whose stride was right the last
 * time is not toggled: probably a matrix row ended, and the stride will be right again.
 */
static inline unsigned trace_residual_any(struct trace_slot *s, uint64_t before, uint64_t addr,
					  unsigned toggle, uint64_t *z, unsigned *n)
{
	uint64_t step = addr - s->addr, offset = addr - before;
	unsigned code;

	if (s->relative ? step == s->stride : offset == s->offset && s->last != s->stride) {
		s->relative = ~s->relative;
		*z = *n = 0;
		code = toggle;
	} else {
		*z = trace_zigzag(s->relative ? offset - s->offset : step - s->stride);
		*n = code = trace_bytes(*z);
	}
	trace_slot_advance(s, before, addr);
	return code;
}

/*
 * Fast path of trace_residual_any(): sets *off to the residual, not yet zigzag. Returns false and
 * changes nothing if the slot may be toggled or get another stride. With `other`, the site was not
 * predicted: the residual may be 0, and the kind may have extra records, which also returns false.
 */
TRACE_INLINE int trace_residual(struct trace_slot *s, uint64_t before, uint64_t addr, int other,
				uint64_t *off)
{
	uint64_t step = addr - s->addr, offset = addr - before, last = s->last, stride = s->stride;

	if (__builtin_expect((other && trace_is_no_delta(s->delta)) || trace_is_no_delta(offset),
			     0))
		return 0;
	if (s->relative) {
		if (step == stride || step == last)
			return 0;
		*off = offset - s->offset;
		s->delta = offset;
	} else {
		int may = (offset == s->offset) | (step == last);

		/* Unpredictable for the CPU if the site was not predicted: one branch in all. */
		if (other)
			may &= last != stride;
		__asm__("" : "+r"(may));
		if (__builtin_expect(may, 0))
			return 0;
		*off = step - stride;
	}
	s->offset = offset;
	s->last = step;
	s->addr = addr;
	return 1;
}

/* Writes a record of the predicted site, of any kind, whose address was not predicted. */
TRACE_NOINLINE uint8_t *trace_put_residual_any(struct trace_coder *c, uint8_t *out, uint64_t run,
					       struct trace_slot *s, uint64_t before,
					       const struct trace_record *r)
{
	unsigned n, token, extra = trace_extra(trace_site_kind(r->site));
	uint64_t z;

	token = trace_residual_any(s, before, r->addr, TRACE_TOKEN_TOGGLE, &z, &n);
	out = trace_put_token(out, run, token);
	trace_put(out, z);
	out += n;
	return extra ? trace_encode_extra(c, out, r + 1, extra) : out;
}

/* trace_bytes() without a branch, for values that are often 0. */
TRACE_INLINE unsigned trace_bytes_any(uint64_t v)
{
	return ((63 - (unsigned)__builtin_clzll(v | 1)) >> 3) + (v != 0);
}

/*
 * Writes one extra record. Its usual form has no argument and a time shortly after the last one:
 * one or two bytes, chosen without a branch.
 */
TRACE_INLINE uint8_t *trace_put_time(struct trace_coder *c, uint8_t *out,
				     const struct trace_record *r)
{
	uint64_t time = r->addr, delta = time - c->time;
	unsigned n = 1 + (delta > 0x7f);
	uint32_t pair = n | (uint32_t)delta << 9;	/* zigzag(delta) is 2 * delta */

	if (__builtin_expect(delta - 1 >= 0x7fff || r->site != 0, 0))
		return trace_encode_extra(c, out, r, 1);
	c->time = time;
	__builtin_memcpy(out, &pair, sizeof(pair));
	return out + 1 + n;
}

/* Writes a record of the predicted site whose kind has one extra record, in the frequent case. */
TRACE_NOINLINE uint8_t *trace_put_residual_timed(struct trace_coder *c, uint8_t *out, uint64_t run,
						 struct trace_slot *s, uint64_t before,
						 const struct trace_record *r)
{
	uint64_t step = r->addr - s->addr, offset = r->addr - before, z = step;
	unsigned n;

	if (__builtin_expect(s->relative ? step == 0 : offset == s->offset && s->last != 0, 0) ||
	    trace_is_no_delta(offset))
		return trace_put_residual_any(c, out, run, s, before, r);
	if (s->relative)
		z = offset - s->offset;
	s->offset = offset;
	s->last = step;
	s->addr = r->addr;
	z = trace_zigzag(z);
	n = trace_bytes_any(z);
	out = trace_put_token(out, run, n);
	trace_put(out, z);
	return trace_put_time(c, out + n, r + 1);
}

/* Fast path of trace_put_residual_any(); *in moves behind the event. */
TRACE_INLINE uint8_t *trace_put_residual(struct trace_coder *c, uint8_t *out, uint64_t run,
					 struct trace_slot *s, uint64_t before,
					 const struct trace_record **in)
{
	const struct trace_record *at = *in;
	uint64_t off;
	unsigned n;

	if (__builtin_expect(trace_is_no_delta(s->delta), 0)) {
		*in = trace_next_event(at);
		return *in == at + 2 ? trace_put_residual_timed(c, out, run, s, before, at)
				     : trace_put_residual_any(c, out, run, s, before, at);
	}
	if (__builtin_expect(!trace_residual(s, before, at->addr, 0, &off), 0)) {
		*in = at + 1;
		return trace_put_residual_any(c, out, run, s, before, at);
	}
	off = trace_zigzag(off);
	n = ((63 - (unsigned)__builtin_clzll(off)) >> 3) + 1;
	out = trace_put_token(out, run, n);
	trace_put(out, off);
	*in = at + 1;
	return out + n;
}

/* Writes what follows TRACE_TOKEN_SLOT; `code` is n or TRACE_SLOT_TOGGLE. */
TRACE_INLINE uint8_t *trace_put_head(uint8_t *out, uint64_t index, unsigned code, uint64_t z,
				     unsigned n)
{
	uint16_t head = (uint16_t)(index | code << 11);

	__builtin_memcpy(out, &head, 2);
	trace_put(out + 2, z);
	return out + 2 + n;
}

static inline int trace_slot_holds(const struct trace_coder *c, const struct trace_slot *s,
				   uint64_t site)
{
	return s->site == site && s->chunk == c->chunk;
}

/* The first of a site's two possible slots; the other one's number differs in bit 0. */
static inline uint64_t trace_slot_hash(uint64_t site)
{
	return mix_spread(site) >> 54;
}

_Static_assert(TRACE_STAMP_SLOT == 1u << (64 - 54), "trace_slot_hash");

/* The slot that the site has, else the one of its two possible slots that it should take. */
static inline uint64_t trace_slot_of(const struct trace_coder *c, uint64_t site)
{
	uint64_t index = trace_slot_hash(site);

	if (!trace_chained(site))
		return TRACE_STAMP_SLOT;
	if (trace_slot_holds(c, &c->slot[index], site) || c->slot[index].chunk != c->chunk)
		return index;
	return index ^ 1;
}

/* Writes a record of another site than predicted, of any kind, and makes it c->before. */
TRACE_NOINLINE uint8_t *trace_put_slot_any(struct trace_coder *c, uint8_t *out, uint64_t run,
					   uint64_t before, const struct trace_record *r)
{
	uint64_t index = trace_slot_of(c, r->site), z;
	unsigned extra = trace_extra(trace_site_kind(r->site)), n, code;
	struct trace_slot *s = &c->slot[index];
	uint16_t head = (uint16_t)index;

	if (trace_slot_holds(c, s, r->site)) {
		code = trace_residual_any(s, before, r->addr, TRACE_SLOT_TOGGLE, &z, &n);
		out = trace_put_token(out, run, TRACE_TOKEN_SLOT);
		out = trace_put_head(out, index, code, z, n);
	} else {
		out = trace_put_token(out, run, TRACE_TOKEN_NEW);
		__builtin_memcpy(out, &head, 2);
		__builtin_memcpy(out + 2, r, sizeof(*r));
		out += 2 + sizeof(*r);
		trace_slot_take(c, s, r, before);
	}
	trace_chain(c, s);
	if (!trace_chained(r->site))
		c->time = r->addr;
	return extra ? trace_encode_extra(c, out, r + 1, extra) : out;
}

#endif
