/*
 * From raw records to the payload of a chunk; codec.h describes the bytes.
 */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "trace/predict.h"

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
	struct trace_slot *before = c->before;
	uint32_t counted = c->foretold;			/* before `from`, foretold and not written */
	const struct trace_record *from = in;

	for (;;) {
		struct trace_slot *s = before->next;
		unsigned extra;
		uint64_t site;

		while (in < end && s->site == in->site && s->addr + s->stride == in->addr) {
			s->addr = in->addr;
			s->last = s->stride;
			before = s;
			s = s->next;
			in++;
		}
		if (in >= end)
			break;
		site = in->site;
		if (s->site == site) {
			uint64_t z = trace_zigzag(in->addr - trace_foretold(s));
			unsigned n = trace_bytes(z);

			counted += (uint32_t)(in - from);
			if (counted < TRACE_TOKEN_MANY) {
				*out++ = (uint8_t)(counted << 4 | n);
			} else {
				c->foretold = counted;
				out = trace_put_token(c, out, n);
			}
			trace_put(out, z);
			out += n;
			trace_slot_advance(s, in->addr);
			before = s;
		} else {
			c->before = before;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_other(c, out, in);
			if (trace_site_kind(site) == TRACE_STAMP)
				c->time = in->addr;
			before = c->before;
		}
		in++;
		extra = trace_extra(trace_site_kind(site));
		if (extra)
			out = trace_encode_extra(c, out, &in, extra);
		from = in;
		counted = 0;
	}
	c->before = before;
	c->foretold = counted + (uint32_t)(in - from);
	return out;
}

#endif
