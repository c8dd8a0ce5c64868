/*
 * The encoder's main loop: from raw records to the payload of a chunk; codec.h describes the bytes.
 */
#ifndef TRACE_CODEC_ENCODE_H
#define TRACE_CODEC_ENCODE_H

#include "trace/codec/encode_loop.h"

/* The record n behind `in`, at most `end`. */
static inline const struct trace_record *trace_ahead(const struct trace_record *in,
						     const struct trace_record *end, uint32_t n)
{
	/* An integer, because a pointer must not go past the end of the array. */
	uintptr_t ahead = (uintptr_t)in + ((uintptr_t)n << 4);

	return ahead < (uintptr_t)end ? (const struct trace_record *)ahead : end;
}

/*
 * Encodes the records from `in` up to `end`, which are whole events. `out` has room for
 * TRACE_RECORD_MAX bytes for each record and TRACE_SLACK. Returns the end of the output. A chunk
 * may take several calls; trace_encode_end() finishes it.
 */
static inline uint8_t *trace_encode(struct trace_coder *c, uint8_t *out,
				    const struct trace_record *in, const struct trace_record *end)
{
	struct trace_slot *before = c->before, *s;
	/* Records from `from` to `in` were predicted. An integer: it may lie before the array. */
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->predicted << 4);
	uint32_t backoff = TRACE_CYCLE_MIN_RUN;	/* records before the next search for a cycle */
	const struct trace_record *look_at = trace_ahead(in, end, backoff);
	const struct trace_record *at;	/* its address is taken, so that `in` stays in a register */

	for (;;) {
		uint64_t off, index;
		unsigned n;

		for (; __builtin_expect(in < look_at, 1); in++) {
			uint64_t addr = in->addr;

			s = before->next;
			if (__builtin_expect(s->site != in->site, 0))
				goto other_site;
			off = addr - s->delta - (s->relative ? before : s)->addr;
			/*
			 * Without the asm the compiler derives the next address from the
			 * prediction, which is a longer dependency chain than reading it.
			 */
			__asm__("" : "+r"(off));
			if (__builtin_expect(off != 0, 0))
				goto mispredicted;
			s->addr = addr;
			s->last = s->stride;
			before = s;
		}
		if (in >= end)
			break;
		c->before = before;
		c->predicted = (uint32_t)(((uintptr_t)in - from) >> 4);
		at = in;
		out = trace_encode_loop(c, out, &at, end);
		in = at;
		before = c->before;
		from = (uintptr_t)in - ((uintptr_t)c->predicted << 4);
		if (in - look_at < TRACE_CYCLE_WORTH)
			backoff *= 2;
		look_at = trace_ahead(in, end, backoff);
		continue;
mispredicted:
		out = trace_put_residual(c, out, (uintptr_t)in - from, s, before->addr, &in);
		before = s;
		from = (uintptr_t)in;
		continue;
other_site:
		index = trace_slot_hash(in->site);		/* of a site, not of stamps */
		s = &c->slot[index];
		__asm__("" : "+r"(s));			/* computes the address once */
		if (__builtin_expect(trace_slot_holds(c, s, in->site) &&
				     trace_residual(s, before->addr, in->addr, 1, &off), 1)) {
			before->next = s;
			before = s;
			off = trace_zigzag(off);
			n = trace_bytes_any(off);	/* it is often 0: no branch */
			out = trace_put_token(out, (uintptr_t)in - from, TRACE_TOKEN_SLOT);
			out = trace_put_head(out, index, n, off, n);
			look_at = trace_ahead(in, end, backoff);
			in++;
		} else {
			c->before = before;
			if (trace_chained(in->site))
				look_at = trace_ahead(in, end, backoff);
			out = trace_put_slot_any(c, out, (uintptr_t)in - from, before->addr, in);
			in = trace_next_event(in);
			before = c->before;
		}
		from = (uintptr_t)in;
	}
	c->before = before;
	c->predicted = (uint32_t)(((uintptr_t)in - from) >> 4);
	return out;
}

#endif
