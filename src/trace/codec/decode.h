/*
 * The decoder: from the payload of a chunk to raw records; codec.h describes the bytes.
 *
 * The payload is untrusted input: every length and slot number is checked.
 */
#ifndef TRACE_CODEC_DECODE_H
#define TRACE_CODEC_DECODE_H

#include "trace/codec/predict.h"

/*
 * Reads n bytes; n is at most 8 and at most end - p. A memcpy of n bytes would call libc,
 * which the runtime must not.
 */
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

/* Reads two numbers of variable length: a byte with both lengths, then the bytes. */
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

/* Reads a token and, if it is TRACE_TOKEN_MANY, its count; c->predicted is the count. */
static inline const uint8_t *trace_decode_token(struct trace_coder *c, const uint8_t *in,
						const uint8_t *end, unsigned *token)
{
	if (in >= end)
		return NULL;
	*token = *in & 15;
	c->predicted = *in++ >> 4;
	if (c->predicted == TRACE_TOKEN_MANY) {
		if (end - in < 2)
			return NULL;
		c->predicted = (uint32_t)trace_get(in, end, 2);
		in += 2;
	}
	if (*token > TRACE_TOKEN_TOGGLE || (*token == TRACE_TOKEN_COUNT && !c->predicted))
		return NULL;
	return in;
}

/* Decodes a record of slot `s` from n bytes of residual; n == toggle switches its predictor. */
static inline const uint8_t *trace_decode_residual(const struct trace_coder *c,
						   struct trace_slot *s, const uint8_t *in,
						   const uint8_t *end, unsigned n, unsigned toggle,
						   struct trace_record *out)
{
	uint64_t before = c->before->addr;

	if (n == toggle) {
		s->relative = ~s->relative;
		n = 0;
	}
	if (n > 8 || end - in < (ptrdiff_t)n)
		return NULL;
	out->site = s->site;
	out->addr = trace_predicted_addr(s, s->relative, before) +
		    trace_unzigzag(trace_get(in, end, n));
	trace_slot_advance(s, before, out->addr);
	return in + n;
}

/* Decodes the primary record that follows any token but TRACE_TOKEN_COUNT. */
static inline const uint8_t *trace_decode_unpredicted(struct trace_coder *c, const uint8_t *in,
						      const uint8_t *end, unsigned token,
						      struct trace_record *out)
{
	struct trace_slot *s;
	unsigned head;

	if (token <= 8 || token == TRACE_TOKEN_TOGGLE) {
		s = c->before->next;
		if (s == &c->none)
			return NULL;
		in = trace_decode_residual(c, s, in, end, token, TRACE_TOKEN_TOGGLE, out);
		c->before = s;
		return in;
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
		/* A hostile chunk may put a STAMP into a site's slot, or the reverse. */
		if (trace_chained(out->site) != (s < &c->slot[TRACE_STAMP_SLOT]))
			return NULL;
		trace_slot_take(c, s, out, c->before->addr);
	} else {
		if (s->chunk != c->chunk)
			return NULL;
		in = trace_decode_residual(c, s, in, end, head >> 11, TRACE_SLOT_TOGGLE, out);
	}
	trace_chain(c, s);
	return in;
}

/*
 * Decodes one event into *count records: the primary one and up to two extra ones. Returns the
 * next byte to read, or NULL if the bytes are no event. The chunk is at its end when that is
 * `end` and trace_decode_done().
 */
static inline const uint8_t *trace_decode(struct trace_coder *c, const uint8_t *in,
					  const uint8_t *end,
					  struct trace_record out[3], unsigned *count)
{
	unsigned kind, extra;

	if (!c->predicted && !c->pending) {
		in = trace_decode_token(c, in, end, &c->token);
		if (!in)
			return NULL;
		c->pending = c->token != TRACE_TOKEN_COUNT;
	}
	*count = 1;
	if (c->predicted) {
		struct trace_slot *s = c->before->next;

		c->predicted--;
		s->addr = (s->relative ? c->before->addr : s->addr) + s->delta;
		s->last = s->stride;
		c->before = s;
		out->site = s->site;
		out->addr = s->addr;
		return s == &c->none || s->delta == TRACE_NO_DELTA ? NULL : in;
	}
	c->pending = 0;
	in = trace_decode_unpredicted(c, in, end, c->token, out);
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

/* Whether no record of the last token is left to be delivered. */
static inline int trace_decode_done(const struct trace_coder *c)
{
	return !c->predicted && !c->pending;
}

/*
 * Fills in `run` records as predicted after one of slot `s`. Returns the slot of the last one,
 * or NULL if the table predicts none.
 */
static inline struct trace_slot *trace_decode_run(const struct trace_coder *c, struct trace_slot *s,
						  uint32_t run, struct trace_record *out)
{
	uint64_t addr = s->addr;
	int bad = 0;

	for (; run > 0; run--, out++) {
		s = s->next;
		bad |= s->delta == TRACE_NO_DELTA;
		addr = (s->relative ? addr : s->addr) + s->delta;
		s->addr = addr;
		s->last = s->stride;
		out->addr = addr;
		out->site = s->site;
	}
	return bad || s == &c->none ? NULL : s;
}

/*
 * Bytes of payload from which one token and all its records can be read without checking each
 * length: 3 of the token, 18 of a record, 34 of two extra records, and 8 for a load too long.
 */
#define TRACE_TOKEN_BYTES 64

/* trace_get() where at least 8 bytes are left. */
static inline uint64_t trace_get_unchecked(const uint8_t *p, unsigned n)
{
	static const uint64_t mask[] = {
		0,	    0xff,	  0xffff,	  0xffffff,
		0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
		~0ull,
	};
	uint64_t v;

	__builtin_memcpy(&v, p, 8);
	return v & mask[n];
}

/* trace_get_pair() where all its bytes are left. */
static inline const uint8_t *trace_get_pair_unchecked(const uint8_t *in, uint64_t *x, uint64_t *y)
{
	unsigned n = *in & 15, m = *in >> 4;

	if (__builtin_expect(n > 8 || m > 8, 0))
		return NULL;
	*x = trace_get_unchecked(in + 1, n);
	*y = trace_get_unchecked(in + 1 + n, m);
	return in + 1 + n + m;
}

/* Decodes the extra records of an event of slot `s` to *out, which moves behind them. */
static inline const uint8_t *trace_decode_extra(struct trace_coder *c, const struct trace_slot *s,
						const uint8_t *in, struct trace_record **out)
{
	struct trace_record *r = *out;

	in = trace_get_pair_unchecked(in, &r->addr, &r->site);
	if (!in)
		return NULL;
	r->addr = c->time += trace_unzigzag(r->addr);
	*out = ++r;
	if (trace_extra(trace_site_kind(s->site)) > 1) {
		in = trace_get_pair_unchecked(in, &r->addr, &r->site);
		*out = r + 1;
	}
	return in;
}

/*
 * Reads the slot number after TRACE_TOKEN_SLOT or TRACE_TOKEN_NEW, and a new slot's record. *n is
 * the number of residual bytes or TRACE_TOKEN_TOGGLE. Returns NULL if the bytes are not valid.
 */
static inline struct trace_slot *trace_decode_slot(struct trace_coder *c, struct trace_slot *before,
						   unsigned token, const uint8_t **in, unsigned *n)
{
	unsigned head = (unsigned)trace_get_unchecked(*in, 2), kind;
	struct trace_record raw;
	struct trace_slot *s;

	*in += 2;
	if ((head & 2047) >= TRACE_SLOTS)
		return NULL;
	s = &c->slot[head & 2047];
	*n = head >> 11;
	if (token == TRACE_TOKEN_NEW) {
		__builtin_memcpy(&raw, *in, sizeof(raw));
		*in += sizeof(raw);
		kind = trace_site_kind(raw.site);
		if (trace_chained(raw.site) != (s < &c->slot[TRACE_STAMP_SLOT]) ||
		    kind == TRACE_NONE || kind >= TRACE_KIND_COUNT)
			return NULL;
		trace_slot_take(c, s, &raw, before->addr);
	} else if (s->chunk != c->chunk) {
		return NULL;
	} else if (*n == TRACE_SLOT_TOGGLE) {
		*n = TRACE_TOKEN_TOGGLE;
	} else if (*n > 8) {
		return NULL;
	}
	return s;
}

/* trace_decode_residual() where n bytes are left; n is at most 8, or TRACE_TOKEN_TOGGLE. */
static inline const uint8_t *trace_decode_residual_unchecked(struct trace_slot *s, uint64_t before,
							     const uint8_t *in, unsigned n)
{
	if (n == TRACE_TOKEN_TOGGLE) {
		s->relative = ~s->relative;
		n = 0;
	}
	trace_slot_advance(s, before, trace_predicted_addr(s, s->relative, before) +
				      trace_unzigzag(trace_get_unchecked(in, n)));
	return in + n;
}

/*
 * The fast path of trace_decode_many(): decodes tokens while TRACE_TOKEN_BYTES of payload are left
 * and the records fit, which is most of a chunk. It begins between two tokens. A slot's kind was
 * checked when the slot was taken; TRACE_NO_DELTA marks the kinds with extra records.
 */
static inline const uint8_t *trace_decode_unchecked(struct trace_coder *c, const uint8_t *in,
						    const uint8_t *end, struct trace_record *out,
						    size_t room, size_t *count)
{
	struct trace_record *o = out + *count, *const full = out + room;
	struct trace_slot *before = c->before, *s;

	while (end - in >= TRACE_TOKEN_BYTES) {
		unsigned token = *in & 15, run = *in >> 4, n = token;
		const uint8_t *at = in + 1;

		if (run == TRACE_TOKEN_MANY) {
			run = (unsigned)trace_get_unchecked(at, 2);
			at += 2;
		}
		if (full - o < (ptrdiff_t)run + 3)
			break;
		if (token > TRACE_TOKEN_TOGGLE || (token == TRACE_TOKEN_COUNT && !run))
			return NULL;
		in = at;
		if (run && !(before = trace_decode_run(c, before, run, o)))
			return NULL;
		o += run;
		if (token == TRACE_TOKEN_COUNT)
			continue;
		if (token <= 8 || token == TRACE_TOKEN_TOGGLE) {
			s = before->next;
			if (s == &c->none)
				return NULL;
		} else if (!(s = trace_decode_slot(c, before, token, &in, &n))) {
			return NULL;
		}
		if (__builtin_expect(token != TRACE_TOKEN_NEW, 1))
			in = trace_decode_residual_unchecked(s, before->addr, in, n);
		o->site = s->site;
		o++->addr = s->addr;
		if (s == &c->slot[TRACE_STAMP_SLOT]) {
			c->time = s->addr;
			continue;
		}
		before->next = s;
		before = s;
		if (s->delta == TRACE_NO_DELTA && !(in = trace_decode_extra(c, s, in, &o)))
			return NULL;
	}
	c->before = before;
	*count = (size_t)(o - out);
	return in;
}

/*
 * Decodes whole events into *count consecutive records, until the chunk is at its end or fewer than
 * three more records would fit into `room`. Much faster than trace_decode() for each event.
 * Returns the next byte to read, or NULL if the bytes are no events.
 */
static inline const uint8_t *trace_decode_many(struct trace_coder *c, const uint8_t *in,
					       const uint8_t *end, struct trace_record *out,
					       size_t room, size_t *count)
{
	size_t n = 0;

	while (room - n >= 3 && (in < end || !trace_decode_done(c))) {
		uint32_t run = c->predicted;
		unsigned one;

		if (run > room - n)
			run = (uint32_t)(room - n);
		if (run) {
			c->predicted -= run;
			c->before = trace_decode_run(c, c->before, run, &out[n]);
			if (!c->before)
				return NULL;
			n += run;
			continue;
		}
		if (!c->pending && !(in = trace_decode_unchecked(c, in, end, out, room, &n)))
			return NULL;
		if (room - n < 3 || (in == end && trace_decode_done(c)))
			break;
		in = trace_decode(c, in, end, &out[n], &one);
		if (!in)
			return NULL;
		n += one;
	}
	*count = n;
	return in;
}

#endif
