/*
 * How the encoder puts what was not foretold; codec.h describes the bytes.
 *
 * Most of the time goes here. So there is a short way for what comes often (trace_tell, trace_put_timed), and one
 * that knows everything (trace_put_told_any, trace_put_other_any).
 */
#ifndef TRACE_CODEC_ENCODE_UNPREDICTED_H
#define TRACE_CODEC_ENCODE_UNPREDICTED_H

#include "abi/mix.h"
#include "trace/codec/predict.h"

#define TRACE_INLINE static inline __attribute__((always_inline))
#define TRACE_NOINLINE static __attribute__((noinline, unused))

/* A token, and how many records were foretold before it. */
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

/* The same; `run` is the bytes of these records: 16 each, so the number is where the token has it. */
TRACE_INLINE uint8_t *trace_put_token(uint8_t *out, uint64_t run, unsigned token)
{
	if (__builtin_expect(run >= TRACE_TOKEN_MANY << 4, 0))
		return trace_put_many(out, run >> 4, token);
	*out = (uint8_t)(run | token);
	return out + 1;
}

_Static_assert(sizeof(struct trace_record) == 16, "trace_put_token");

/* Writes what is still only counted; a chunk ends with it. */
static inline uint8_t *trace_encode_end(struct trace_coder *c, uint8_t *out)
{
	uint32_t n = c->foretold;

	c->foretold = 0;
	return n ? trace_put_many(out, n, TRACE_TOKEN_COUNT) : out;
}

static inline uint8_t *trace_put_pair(uint8_t *out, uint64_t x, uint64_t y)
{
	unsigned n = trace_bytes(x), m = trace_bytes(y);

	*out++ = (uint8_t)(n | m << 4);
	trace_put(out, x);
	out += n;
	trace_put(out, y);
	return out + m;
}

TRACE_INLINE uint8_t *trace_encode_extra(struct trace_coder *c, uint8_t *out,
					 const struct trace_record *r, unsigned extra)
{
	uint64_t time = r->addr;

	out = trace_put_pair(out, trace_zigzag(time - c->time), r->site);
	c->time = time;
	return extra > 1 ? trace_put_pair(out, r[1].addr, r[1].site) : out;
}

/* Behind r and its extra records. By a branch, so that the next one need not wait for what is read here. */
TRACE_INLINE const struct trace_record *trace_behind(const struct trace_record *r)
{
	unsigned extra = trace_extra(trace_site_kind(r->site));

	if (__builtin_expect(extra == 0, 0))
		return r + 1;
	return __builtin_expect(extra == 1, 1) ? r + 2 : r + 3;
}

/* Without the constant, which would be an instruction more. */
static inline int trace_is_never(uint64_t delta)
{
	int64_t less;

	return __builtin_sub_overflow((int64_t)delta, 1, &less);
}

/*
 * How the address is told: *n bytes of *z, or by turning to the other way. Returns what
 * says that, n or `turn`. A stride that was right the last time will be so again:
 * a row of a matrix has ended.
 */
static inline unsigned trace_tell_any(struct trace_slot *s, uint64_t before, uint64_t addr, unsigned turn,
				      uint64_t *z, unsigned *n)
{
	uint64_t step = addr - s->addr, offset = addr - before;
	unsigned told;

	if (s->relative ? step == s->stride : offset == s->offset && s->last != s->stride) {
		s->relative = ~s->relative;
		*z = *n = 0;
		told = turn;
	} else {
		*z = trace_zigzag(s->relative ? offset - s->offset : step - s->stride);
		*n = told = trace_bytes(*z);
	}
	trace_slot_advance(s, before, addr);
	return told;
}

/*
 * The same, where nothing is special: *off is what is to be told. False, and nothing is done, if the kind has extra
 * records, or if the slot may turn or get another stride. With `other`, the address may well be the foretold one.
 */
TRACE_INLINE int trace_tell(struct trace_slot *s, uint64_t before, uint64_t addr, int other, uint64_t *off)
{
	uint64_t step = addr - s->addr, offset = addr - before, last = s->last, stride = s->stride;

	if (__builtin_expect((other && trace_is_never(s->delta)) || trace_is_never(offset), 0))
		return 0;
	if (s->relative) {
		if (step == stride || step == last)
			return 0;
		*off = offset - s->offset;
		s->delta = offset;
	} else {
		int may = (offset == s->offset) | (step == last);

		/* Often so with a site that was not foretold, and hard to guess: one branch on all of it. */
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

/* A record of the foretold site, of any kind, whose address is not the foretold one. */
TRACE_NOINLINE uint8_t *trace_put_told_any(struct trace_coder *c, uint8_t *out, uint64_t run, struct trace_slot *s,
					   uint64_t before, const struct trace_record *r)
{
	unsigned n, token, extra = trace_extra(trace_site_kind(r->site));
	uint64_t z;

	token = trace_tell_any(s, before, r->addr, TRACE_TOKEN_TURN, &z, &n);
	out = trace_put_token(out, run, token);
	trace_put(out, z);
	out += n;
	return extra ? trace_encode_extra(c, out, r + 1, extra) : out;
}

/* How many bytes v has; no branch, for what may well be 0. */
TRACE_INLINE unsigned trace_bytes_any(uint64_t v)
{
	return ((63 - (unsigned)__builtin_clzll(v | 1)) >> 3) + (v != 0);
}

/*
 * One extra record, which mostly is nothing but a time soon after the last one: one byte or two, which
 * is hard to guess, and no argument.
 */
TRACE_INLINE uint8_t *trace_put_time(struct trace_coder *c, uint8_t *out, const struct trace_record *r)
{
	uint64_t time = r->addr, delta = time - c->time;
	unsigned n = 1 + (delta > 0x7f);
	uint32_t soon = n | (uint32_t)delta << 9;	/* the delta's zigzag is twice as much */

	if (__builtin_expect(delta - 1 >= 0x7fff || r->site != 0, 0))
		return trace_encode_extra(c, out, r, 1);
	c->time = time;
	__builtin_memcpy(out, &soon, sizeof(soon));
	return out + 1 + n;
}

/* The same for kinds with one extra record, where nothing is special. */
TRACE_NOINLINE uint8_t *trace_put_timed(struct trace_coder *c, uint8_t *out, uint64_t run, struct trace_slot *s,
					uint64_t before, const struct trace_record *r)
{
	uint64_t step = r->addr - s->addr, offset = r->addr - before, z = step;
	unsigned n;

	if (__builtin_expect(s->relative ? step == 0 : offset == s->offset && s->last != 0, 0) || trace_is_never(offset))
		return trace_put_told_any(c, out, run, s, before, r);
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

/* The same, quickly; *in is moved behind it and its extra ones. */
TRACE_INLINE uint8_t *trace_put_told(struct trace_coder *c, uint8_t *out, uint64_t run, struct trace_slot *s,
				     uint64_t before, const struct trace_record **in)
{
	const struct trace_record *at = *in;
	uint64_t off;
	unsigned n;

	if (__builtin_expect(trace_is_never(s->delta), 0)) {
		*in = trace_behind(at);
		return *in == at + 2 ? trace_put_timed(c, out, run, s, before, at)
				     : trace_put_told_any(c, out, run, s, before, at);
	}
	if (__builtin_expect(!trace_tell(s, before, at->addr, 0, &off), 0)) {
		*in = at + 1;
		return trace_put_told_any(c, out, run, s, before, at);
	}
	off = trace_zigzag(off);
	n = ((63 - (unsigned)__builtin_clzll(off)) >> 3) + 1;
	out = trace_put_token(out, run, n);
	trace_put(out, off);
	*in = at + 1;
	return out + n;
}

TRACE_INLINE uint8_t *trace_put_head(uint8_t *out, uint64_t index, unsigned told, uint64_t z, unsigned n)
{
	uint16_t head = (uint16_t)(index | told << 11);

	__builtin_memcpy(out, &head, 2);
	trace_put(out + 2, z);
	return out + 2 + n;
}

static inline int trace_slot_known(const struct trace_coder *c, const struct trace_slot *s, uint64_t site)
{
	return s->site == site && s->chunk == c->chunk;
}

static inline uint64_t trace_slot_hash(uint64_t site)
{
	return mix_spread(site) >> 54;
}

_Static_assert(TRACE_CHAINED == 1u << (64 - 54), "trace_slot_hash");

/* Of two slots a site may have, the one that it has, or should take. */
static inline uint64_t trace_slot_of(const struct trace_coder *c, uint64_t site)
{
	uint64_t index = trace_slot_hash(site);

	if (!trace_chained(site))
		return TRACE_CHAINED;
	if (trace_slot_known(c, &c->slot[index], site) || c->slot[index].chunk != c->chunk)
		return index;
	return index ^ 1;
}

/* A record of another site than foretold, of any kind; c->before is moved on. */
TRACE_NOINLINE uint8_t *trace_put_other_any(struct trace_coder *c, uint8_t *out, uint64_t run, uint64_t before,
					    const struct trace_record *r)
{
	uint64_t index = trace_slot_of(c, r->site), z;
	unsigned extra = trace_extra(trace_site_kind(r->site)), n, told;
	struct trace_slot *s = &c->slot[index];
	uint16_t head = (uint16_t)index;

	if (trace_slot_known(c, s, r->site)) {
		told = trace_tell_any(s, before, r->addr, TRACE_SLOT_TURN, &z, &n);
		out = trace_put_token(out, run, TRACE_TOKEN_SLOT);
		out = trace_put_head(out, index, told, z, n);
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
