/*
 * The payload of an event chunk: raw records squeezed by a predictor.
 *
 * A small table remembers for each site where it went last, by what stride, and
 * which site came next. A record that is just what the table foretells costs
 * nothing but a count, so that loops over arrays take next to no room. A chunk is a
 * row of tokens, each a byte and what it asks for:
 *
 *   bits 4..7  how many foretold records come first; 15: a u16 follows that says
 *   bits 0..3  then what follows:
 *     0..8   the site is as foretold, its address is not: so many bytes of
 *            zigzag(addr - foretold addr)
 *     9      nothing: the count is all
 *     10     a u16: bits 0..10 slot, 11..14 n, and n bytes of zigzag as above
 *     11     a u16: the slot, which is new or another site's; 16 raw bytes
 *   and if that record's kind has extra records, for each a byte (bits 0..3 n, 4..7
 *   m), n bytes of zigzag(time - last time), m bytes of arg; the second extra
 *   record: two plain values
 *
 * A record whose kind has extra ones is never counted as foretold, even if it is;
 * for it the foretold address is simply the last. Stamps have a slot of their own
 * (TRACE_CHAINED) and are no part of the chain. (After the value predictors of
 * Burtscher's VPC, IEEE ToC 2005, much reduced.) Each chunk starts
 * from an empty table, so it can be read alone. The runtime encodes and the tool
 * decodes with this one file; no libc, no allocation.
 */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define TRACE_CHAINED 1024u
#define TRACE_SLOTS (TRACE_CHAINED + 1)
#define TRACE_NO_STRIDE (1ull << 63)	/* the stride of kinds with extra records; no address fits it */
#define TRACE_RECORD_MAX 22u	/* encoded bytes of one record, at most */
#define TRACE_SLACK 24u		/* the encoder may scribble this far past its end */

enum trace_token {
	TRACE_TOKEN_COUNT = 9,
	TRACE_TOKEN_SLOT = 10,
	TRACE_TOKEN_NEW = 11,
	TRACE_TOKEN_MANY = 15,	/* in the upper half: the count is in the next two bytes */
};

static inline unsigned trace_extra(unsigned kind)
{
	static const uint8_t extra[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class) extra,
#include "trace/kinds.def"
#undef TRACE_KIND
	};

	return kind < TRACE_KIND_COUNT ? extra[kind] : 0;
}

struct trace_slot {
	uint64_t site, addr;
	uint64_t stride, last;		/* a stride counts when seen twice in a row */
	struct trace_slot *next;	/* the site that came after this one */
	uint64_t chunk;			/* the slot is empty in any other chunk */
};

struct trace_coder {
	uint64_t time;			/* last one seen in this chunk */
	uint64_t chunk;			/* counts trace_coder_init */
	uint32_t foretold;		/* records counted and not written, or still to be read */
	uint32_t pending, token;	/* reading: what comes after them */
	struct trace_slot *before;	/* the last foretellable record's */
	struct trace_slot none;		/* stands where there is no slot; its site is 0 */
	struct trace_slot slot[TRACE_SLOTS];
};

static inline int trace_chained(uint64_t site)
{
	return trace_site_kind(site) != TRACE_STAMP;
}

static inline unsigned trace_slot_of(uint64_t site)
{
	return trace_chained(site) ? (unsigned)(site * 0x9e3779b97f4a7c15ull >> 54)
				   : TRACE_CHAINED;
}

static inline uint64_t trace_zigzag(uint64_t delta)
{
	return delta << 1 ^ -(delta >> 63);
}

static inline uint64_t trace_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

static inline unsigned trace_bytes(uint64_t v)
{
	return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

/* Little-endian on purpose: x86-64 and aarch64 both are. */
static inline void trace_put(uint8_t *p, uint64_t v)
{
	__builtin_memcpy(p, &v, 8);
}

/* `time` is the chunk header's. The coder is zeroed before its first use. */
static inline void trace_coder_init(struct trace_coder *c, uint64_t time)
{
	c->time = time;
	c->chunk++;
	c->foretold = c->pending = 0;
	c->none.next = &c->none;
	c->before = &c->none;
}

static inline void trace_slot_take(struct trace_coder *c, struct trace_slot *s,
				   const struct trace_record *r)
{
	s->site = r->site;
	s->addr = r->addr;
	s->stride = trace_extra(trace_site_kind(r->site)) ? TRACE_NO_STRIDE : 0;
	s->last = 0;
	s->next = &c->none;
	s->chunk = c->chunk;
}

static inline uint64_t trace_foretold(const struct trace_slot *s)
{
	return s->stride == TRACE_NO_STRIDE ? s->addr : s->addr + s->stride;
}

static inline void trace_slot_advance(struct trace_slot *s, uint64_t addr)
{
	uint64_t stride = addr - s->addr;

	/* A stride no program has, but a hostile chunk may: it would look like none. */
	if (stride == s->last && s->stride != TRACE_NO_STRIDE && stride != TRACE_NO_STRIDE)
		s->stride = stride;
	s->last = stride;
	s->addr = addr;
}

/* What both sides do after a record of the chain that was not foretold. */
static inline void trace_chain(struct trace_coder *c, struct trace_slot *s)
{
	if (s < &c->slot[TRACE_CHAINED]) {
		c->before->next = s;
		c->before = s;
	}
}

static inline uint8_t *trace_put_token(struct trace_coder *c, uint8_t *out, unsigned token)
{
	uint32_t n = c->foretold;
	uint16_t many;

	c->foretold = 0;
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

/* Writes what is still only counted; a chunk ends with it. */
static inline uint8_t *trace_encode_end(struct trace_coder *c, uint8_t *out)
{
	return c->foretold ? trace_put_token(c, out, TRACE_TOKEN_COUNT) : out;
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

/* A record whose site is not the foretold one. */
static inline uint8_t *trace_encode_other(struct trace_coder *c, uint8_t *out,
					  const struct trace_record *r)
{
	unsigned index = trace_slot_of(r->site), n;
	struct trace_slot *s = &c->slot[index];
	uint16_t head;
	uint64_t z;

	if (s->site != r->site || s->chunk != c->chunk) {
		out = trace_put_token(c, out, TRACE_TOKEN_NEW);
		head = (uint16_t)index;
		__builtin_memcpy(out, &head, 2);
		__builtin_memcpy(out + 2, r, sizeof(*r));
		trace_slot_take(c, s, r);
		out += 2 + sizeof(*r);
	} else {
		z = trace_zigzag(r->addr - trace_foretold(s));
		n = trace_bytes(z);
		out = trace_put_token(c, out, TRACE_TOKEN_SLOT);
		head = (uint16_t)(index | n << 11);
		__builtin_memcpy(out, &head, 2);
		trace_put(out + 2, z);
		trace_slot_advance(s, r->addr);
		out += 2 + n;
	}
	trace_chain(c, s);
	return out;
}

static inline uint8_t *trace_encode_extra(struct trace_coder *c, uint8_t *out,
					  const struct trace_record **in, unsigned extra)
{
	const struct trace_record *r = *in;

	out = trace_put_pair(out, trace_zigzag(r->addr - c->time), r->site);
	c->time = r->addr;
	r++;
	if (extra > 1) {
		out = trace_put_pair(out, r->addr, r->site);
		r++;
	}
	*in = r;
	return out;
}

/*
 * Encodes the records from `in` up to `end`, which are whole events. `out` needs
 * room for TRACE_RECORD_MAX for each record and TRACE_SLACK. Finish a chunk with
 * trace_encode_end().
 */
static inline uint8_t *trace_encode(struct trace_coder *c, uint8_t *out,
				    const struct trace_record *in, const struct trace_record *end)
{
	while (in < end) {
		const struct trace_record *from = in;
		struct trace_slot *before = c->before, *s = before->next;
		unsigned kind, extra, n;

		while (in < end && s->site == in->site && s->addr + s->stride == in->addr) {
			s->addr = in->addr;
			s->last = s->stride;
			before = s;
			s = s->next;
			in++;
		}
		c->before = before;
		c->foretold += (uint32_t)(in - from);
		if (in == end)
			break;
		kind = trace_site_kind(in->site);
		extra = trace_extra(kind);
		if (s->site == in->site) {
			uint64_t z = trace_zigzag(in->addr - trace_foretold(s));

			n = trace_bytes(z);
			out = trace_put_token(c, out, n);
			trace_put(out, z);
			out += n;
			trace_slot_advance(s, in->addr);
			c->before = s;
		} else {
			out = trace_encode_other(c, out, in);
			if (kind == TRACE_STAMP)
				c->time = in->addr;
		}
		in++;
		if (extra)
			out = trace_encode_extra(c, out, &in, extra);
	}
	return out;
}

/* n is at most 8 and at most end - p. (A memcpy of n bytes would call libc's.) */
static inline uint64_t trace_get(const uint8_t *p, const uint8_t *end, unsigned n)
{
	uint64_t v = 0;

	if (n == 0)
		return 0;
	if (__builtin_expect(end - p >= 8, 1)) {
		__builtin_memcpy(&v, p, 8);
		return v & ~0ull >> (64 - 8 * n);
	}
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static inline const uint8_t *trace_get_pair(const uint8_t *in, const uint8_t *end,
					    uint64_t *x, uint64_t *y)
{
	unsigned n, m;

	if (in == end)
		return NULL;
	n = *in & 15;
	m = *in++ >> 4;
	if (n > 8 || m > 8 || (size_t)(end - in) < n + m)
		return NULL;
	*x = trace_get(in, end, n);
	*y = trace_get(in + n, end, m);
	return in + n + m;
}

/* Reads a token and the record behind its count, unless the count is all. */
static inline const uint8_t *trace_decode_token(struct trace_coder *c, const uint8_t *in,
						const uint8_t *end, unsigned *token)
{
	if (in >= end)
		return NULL;
	*token = *in & 15;
	c->foretold = *in++ >> 4;
	if (c->foretold == TRACE_TOKEN_MANY) {
		if (end - in < 2)
			return NULL;
		c->foretold = (uint32_t)trace_get(in, end, 2);
		in += 2;
	}
	if (*token > TRACE_TOKEN_NEW || (*token == TRACE_TOKEN_COUNT && !c->foretold))
		return NULL;
	return in;
}

static inline const uint8_t *trace_decode_delta(struct trace_slot *s, const uint8_t *in,
						const uint8_t *end, unsigned n,
						struct trace_record *out)
{
	if (n > 8 || end - in < (ptrdiff_t)n)
		return NULL;
	out->site = s->site;
	out->addr = trace_foretold(s) + trace_unzigzag(trace_get(in, end, n));
	trace_slot_advance(s, out->addr);
	return in + n;
}

/* The record that a token other than COUNT tells. */
static inline const uint8_t *trace_decode_told(struct trace_coder *c, const uint8_t *in,
					       const uint8_t *end, unsigned token,
					       struct trace_record *out)
{
	struct trace_slot *s;
	unsigned head;

	if (token <= 8) {
		s = c->before->next;
		c->before = s;
		return s == &c->none ? NULL : trace_decode_delta(s, in, end, token, out);
	}
	if (end - in < 2)
		return NULL;
	head = (unsigned)trace_get(in, end, 2);
	in += 2;
	if ((head & 2047) >= TRACE_SLOTS)
		return NULL;
	s = &c->slot[head & 2047];
	if (token == TRACE_TOKEN_NEW) {
		if (end - in < (ptrdiff_t)sizeof(*out))
			return NULL;
		__builtin_memcpy(out, in, sizeof(*out));
		in += sizeof(*out);
		/* A hostile chunk may put a kind where it does not belong. */
		if (trace_chained(out->site) != (s < &c->slot[TRACE_CHAINED]))
			return NULL;
		trace_slot_take(c, s, out);
	} else {
		if (s->chunk != c->chunk)
			return NULL;
		in = trace_decode_delta(s, in, end, head >> 11, out);
	}
	trace_chain(c, s);
	return in;
}

/*
 * Decodes one event into out[0..2] (primary and extra records; *count says how
 * many). Returns where to go on, NULL if the bytes are not an event. A chunk is at
 * its end when in == end and trace_decode_done().
 */
static inline const uint8_t *trace_decode(struct trace_coder *c, const uint8_t *in,
					  const uint8_t *end,
					  struct trace_record out[3], unsigned *count)
{
	unsigned kind, extra;

	if (!c->foretold && !c->pending) {
		in = trace_decode_token(c, in, end, &c->token);
		if (!in)
			return NULL;
		c->pending = c->token != TRACE_TOKEN_COUNT;
	}
	*count = 1;
	if (c->foretold) {
		struct trace_slot *s = c->before->next;

		c->foretold--;
		s->addr += s->stride;
		s->last = s->stride;
		c->before = s;
		out->site = s->site;
		out->addr = s->addr;
		return s == &c->none || s->stride == TRACE_NO_STRIDE ? NULL : in;
	}
	c->pending = 0;
	in = trace_decode_told(c, in, end, c->token, out);
	if (!in)
		return NULL;
	kind = trace_site_kind(out->site);
	if (kind == TRACE_NONE || kind >= TRACE_KIND_COUNT)
		return NULL;
	if (kind == TRACE_STAMP)
		c->time = out->addr;
	extra = trace_extra(kind);
	*count = 1 + extra;
	if (extra > 0) {
		in = trace_get_pair(in, end, &out[1].addr, &out[1].site);
		if (!in)
			return NULL;
		out[1].addr = c->time + trace_unzigzag(out[1].addr);
		c->time = out[1].addr;
	}
	if (extra > 1)
		in = trace_get_pair(in, end, &out[2].addr, &out[2].site);
	return in;
}

static inline int trace_decode_done(const struct trace_coder *c)
{
	return !c->foretold && !c->pending;
}

/*
 * Decodes whole events, as raw records one behind the other, until fewer than
 * three would fit into `room` or the chunk is at its end; *count says how many.
 * Much faster than one at a time. Returns where to go on, NULL as above.
 */
static inline const uint8_t *trace_decode_many(struct trace_coder *c, const uint8_t *in,
					       const uint8_t *end, struct trace_record *out,
					       size_t room, size_t *count)
{
	size_t n = 0;
	int bad = 0;

	while (room - n >= 3 && (in < end || !trace_decode_done(c))) {
		struct trace_slot *s = c->before;
		uint32_t run = c->foretold;
		unsigned one;

		if (run > room - n)
			run = (uint32_t)(room - n);
		if (run == 0) {
			in = trace_decode(c, in, end, &out[n], &one);
			if (!in)
				return NULL;
			n += one;
			continue;
		}
		c->foretold -= run;
		for (; run > 0; run--, n++) {
			s = s->next;
			bad |= s->stride == TRACE_NO_STRIDE;
			s->addr += s->stride;
			s->last = s->stride;
			out[n].addr = s->addr;
			out[n].site = s->site;
		}
		c->before = s;
		if (bad || s == &c->none)
			return NULL;
	}
	*count = n;
	return in;
}

/* A check sum, not a secret: four lanes so that it runs at memory speed. */
static inline uint32_t trace_check(const void *data, size_t size)
{
	const uint64_t k = 0x9fb21c651e98df25ull;
	uint64_t lane[4] = { size * k, k, k << 1, k << 2 }, w = 0;
	const uint8_t *p = data;

	for (; size >= 32; size -= 32, p += 32)
		for (int i = 0; i < 4; i++) {
			__builtin_memcpy(&w, p + 8 * i, 8);
			lane[i] = (lane[i] ^ w) * k;
			lane[i] ^= lane[i] >> 29;
		}
	for (w = 0; size > 0; size--, p++) {
		lane[0] = (lane[0] ^ *p) * k;
		lane[0] ^= lane[0] >> 29;
	}
	w = lane[0] ^ (lane[1] << 7 | lane[1] >> 57) ^ (lane[2] << 19 | lane[2] >> 45) ^
	    (lane[3] << 37 | lane[3] >> 27);
	w *= k;
	return (uint32_t)(w >> 32);
}

#endif
