/*
 * From the payload of a chunk to raw records; codec.h describes the bytes. The
 * bytes may be anybody's: every length is checked.
 */
#ifndef TRACE_DECODE_H
#define TRACE_DECODE_H

#include "trace/predict.h"

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
	if (*token > TRACE_TOKEN_TURN || (*token == TRACE_TOKEN_COUNT && !c->foretold))
		return NULL;
	return in;
}

/* `n` bytes of difference, or the other way if it is `turn`. */
static inline const uint8_t *trace_decode_delta(const struct trace_coder *c, struct trace_slot *s,
						const uint8_t *in, const uint8_t *end, unsigned n,
						unsigned turn, struct trace_record *out)
{
	uint64_t before = c->before->addr;

	if (n == turn) {
		s->relative = ~s->relative;
		n = 0;
	}
	if (n > 8 || end - in < (ptrdiff_t)n)
		return NULL;
	out->site = s->site;
	out->addr = trace_foretold(s, s->relative, before) + trace_unzigzag(trace_get(in, end, n));
	trace_slot_advance(s, before, out->addr);
	return in + n;
}

/* The record that a token other than COUNT tells. */
static inline const uint8_t *trace_decode_told(struct trace_coder *c, const uint8_t *in,
					       const uint8_t *end, unsigned token,
					       struct trace_record *out)
{
	struct trace_slot *s;
	unsigned head;

	if (token <= 8 || token == TRACE_TOKEN_TURN) {
		s = c->before->next;
		if (s == &c->none)
			return NULL;
		in = trace_decode_delta(c, s, in, end, token, TRACE_TOKEN_TURN, out);
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
		/* A hostile chunk may put a kind where it does not belong. */
		if (trace_chained(out->site) != (s < &c->slot[TRACE_CHAINED]))
			return NULL;
		trace_slot_take(c, s, out, c->before->addr);
	} else {
		if (s->chunk != c->chunk)
			return NULL;
		in = trace_decode_delta(c, s, in, end, head >> 11, TRACE_SLOT_TURN, out);
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
		s->addr = (s->relative ? c->before->addr : s->addr) + s->delta;
		s->last = s->stride;
		c->before = s;
		out->site = s->site;
		out->addr = s->addr;
		return s == &c->none || s->delta == TRACE_NEVER ? NULL : in;
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
		uint64_t addr = s->addr;
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
			bad |= s->delta == TRACE_NEVER;
			addr = (s->relative ? addr : s->addr) + s->delta;
			s->addr = addr;
			s->last = s->stride;
			out[n].addr = addr;
			out[n].site = s->site;
		}
		c->before = s;
		if (bad || s == &c->none)
			return NULL;
	}
	*count = n;
	return in;
}

#endif
