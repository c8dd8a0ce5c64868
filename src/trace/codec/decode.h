/*
 * From the payload of a chunk to raw records; codec.h describes the bytes. The
 * bytes may be anybody's: every length is checked.
 */
#ifndef TRACE_CODEC_DECODE_H
#define TRACE_CODEC_DECODE_H

#include "trace/codec/predict.h"

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

/* So many records as foretold behind that of slot `s`; the last one's slot, NULL if there are none such. */
static inline struct trace_slot *trace_decode_run(const struct trace_coder *c, struct trace_slot *s,
						  uint32_t run, struct trace_record *out)
{
	uint64_t addr = s->addr;
	int bad = 0;

	for (; run > 0; run--, out++) {
		s = s->next;
		bad |= s->delta == TRACE_NEVER;
		addr = (s->relative ? addr : s->addr) + s->delta;
		s->addr = addr;
		s->last = s->stride;
		out->addr = addr;
		out->site = s->site;
	}
	return bad || s == &c->none ? NULL : s;
}

/* Behind a token so many bytes are no more than it and its record can have, and eight are there to be loaded. */
#define TRACE_TOLD_MOST 64

static inline uint64_t trace_get_inside(const uint8_t *p, unsigned n)
{
	static const uint64_t mask[] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~0ull,
	};
	uint64_t v;

	__builtin_memcpy(&v, p, 8);
	return v & mask[n];
}

/* trace_get_pair(), TRACE_TOLD_MOST bytes before the end. */
static inline const uint8_t *trace_get_pair_inside(const uint8_t *in, uint64_t *x, uint64_t *y)
{
	unsigned n = *in & 15, m = *in >> 4;

	if (__builtin_expect(n > 8 || m > 8, 0))
		return NULL;
	*x = trace_get_inside(in + 1, n);
	*y = trace_get_inside(in + 1 + n, m);
	return in + 1 + n + m;
}

/* The extra records of what was decoded into slot `s`; *out is moved behind them. */
static inline const uint8_t *trace_decode_extra(struct trace_coder *c, const struct trace_slot *s,
						const uint8_t *in, struct trace_record **out)
{
	struct trace_record *r = *out;

	in = trace_get_pair_inside(in, &r->addr, &r->site);
	if (!in)
		return NULL;
	r->addr = c->time += trace_unzigzag(r->addr);
	*out = ++r;
	if (trace_extra(trace_site_kind(s->site)) > 1) {
		in = trace_get_pair_inside(in, &r->addr, &r->site);
		*out = r + 1;
	}
	return in;
}

/* The slot of a record that is not as foretold, which begins at *in; NULL if it is none. */
static inline struct trace_slot *trace_decode_slot(struct trace_coder *c, struct trace_slot *before,
						   unsigned token, const uint8_t **in, unsigned *n)
{
	unsigned head = (unsigned)trace_get_inside(*in, 2), kind;
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
		if (trace_chained(raw.site) != (s < &c->slot[TRACE_CHAINED]) || kind == TRACE_NONE ||
		    kind >= TRACE_KIND_COUNT)
			return NULL;
		trace_slot_take(c, s, &raw, before->addr);
	} else if (s->chunk != c->chunk) {
		return NULL;
	} else if (*n == TRACE_SLOT_TURN) {
		*n = TRACE_TOKEN_TURN;
	} else if (*n > 8) {
		return NULL;
	}
	return s;
}

/* trace_decode_delta(), n is at most 8 or TRACE_TOKEN_TURN. */
static inline const uint8_t *trace_decode_delta_inside(struct trace_slot *s, uint64_t before,
						       const uint8_t *in, unsigned n)
{
	if (n == TRACE_TOKEN_TURN) {
		s->relative = ~s->relative;
		n = 0;
	}
	trace_slot_advance(s, before, trace_foretold(s, s->relative, before) +
				      trace_unzigzag(trace_get_inside(in, n)));
	return in + n;
}

/*
 * trace_decode_many() as long as there are tokens whose records are here for sure and fit, with
 * nothing under way: most of a chunk. What a slot has was checked when it was taken, and that its
 * kind has extra records shows in `delta`.
 */
static inline const uint8_t *trace_decode_inside(struct trace_coder *c, const uint8_t *in,
						 const uint8_t *end, struct trace_record *out,
						 size_t room, size_t *count)
{
	struct trace_record *o = out + *count, *const full = out + room;
	struct trace_slot *before = c->before, *s;

	while (end - in >= TRACE_TOLD_MOST) {
		unsigned token = *in & 15, run = *in >> 4, n = token;
		const uint8_t *at = in + 1;

		if (run == TRACE_TOKEN_MANY) {
			run = (unsigned)trace_get_inside(at, 2);
			at += 2;
		}
		if (full - o < (ptrdiff_t)run + 3)
			break;
		if (token > TRACE_TOKEN_TURN || (token == TRACE_TOKEN_COUNT && !run))
			return NULL;
		in = at;
		if (run && !(before = trace_decode_run(c, before, run, o)))
			return NULL;
		o += run;
		if (token == TRACE_TOKEN_COUNT)
			continue;
		if (token <= 8 || token == TRACE_TOKEN_TURN) {
			s = before->next;
			if (s == &c->none)
				return NULL;
		} else if (!(s = trace_decode_slot(c, before, token, &in, &n))) {
			return NULL;
		}
		if (__builtin_expect(token != TRACE_TOKEN_NEW, 1))
			in = trace_decode_delta_inside(s, before->addr, in, n);
		o->site = s->site;
		o++->addr = s->addr;
		if (s == &c->slot[TRACE_CHAINED]) {
			c->time = s->addr;
			continue;
		}
		before->next = s;
		before = s;
		if (s->delta == TRACE_NEVER && !(in = trace_decode_extra(c, s, in, &o)))
			return NULL;
	}
	c->before = before;
	*count = (size_t)(o - out);
	return in;
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

	while (room - n >= 3 && (in < end || !trace_decode_done(c))) {
		uint32_t run = c->foretold;
		unsigned one;

		if (run > room - n)
			run = (uint32_t)(room - n);
		if (run) {
			c->foretold -= run;
			c->before = trace_decode_run(c, c->before, run, &out[n]);
			if (!c->before)
				return NULL;
			n += run;
			continue;
		}
		if (!c->pending && !(in = trace_decode_inside(c, in, end, out, room, &n)))
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
