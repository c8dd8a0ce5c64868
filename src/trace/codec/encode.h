/*
 * From raw records to the payload of a chunk; codec.h describes the bytes.
 */
#ifndef TRACE_CODEC_ENCODE_H
#define TRACE_CODEC_ENCODE_H

#include "trace/codec/encode_loop.h"

static inline const struct trace_record *trace_ahead(const struct trace_record *in,
						     const struct trace_record *end, uint32_t n)
{
	uintptr_t ahead = (uintptr_t)in + ((uintptr_t)n << 4);	/* no addition to a pointer, which may go too far */

	return ahead < (uintptr_t)end ? (const struct trace_record *)ahead : end;
}

/*
 * Encodes the records from `in` up to `end`, which are whole events. `out` needs
 * room for TRACE_RECORD_MAX for each record and TRACE_SLACK. Finish a chunk with
 * trace_encode_end().
 */
static inline uint8_t *trace_encode(struct trace_coder *c, uint8_t *out,
				    const struct trace_record *in, const struct trace_record *end)
{
	struct trace_slot *before = c->before, *s;
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);		/* all foretold since */
	uint32_t patience = TRACE_CYCLE_AFTER;
	const struct trace_record *look = trace_ahead(in, end, patience);	/* for a loop */
	const struct trace_record *at;		/* so that `in` itself stays in a register */

	for (;;) {
		uint64_t off, index;
		unsigned n;

		for (; __builtin_expect(in < look, 1); in++) {
			uint64_t addr = in->addr;

			s = before->next;
			if (__builtin_expect(s->site != in->site, 0))
				goto other;
			off = addr - s->delta - (s->relative ? before : s)->addr;
			/* Not `==`: the next address would be made from this guess, not read. */
			__asm__("" : "+r"(off));
			if (__builtin_expect(off != 0, 0))
				goto told;
			s->addr = addr;
			s->last = s->stride;
			before = s;
		}
		if (in >= end)
			break;
		c->before = before;
		c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
		at = in;
		out = trace_encode_loop(c, out, &at, end);
		in = at;
		before = c->before;
		from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);
		if (in - look < TRACE_CYCLE_SHORT)
			patience *= 2;
		look = trace_ahead(in, end, patience);
		continue;
told:
		out = trace_put_told(c, out, (uintptr_t)in - from, s, before->addr, &in);
		before = s;
		from = (uintptr_t)in;
		continue;
other:
		index = trace_slot_hash(in->site);		/* no stamp is there */
		s = &c->slot[index];
		__asm__("" : "+r"(s));			/* else it is made from `index` again and again */
		if (__builtin_expect(trace_slot_known(c, s, in->site) &&
				     trace_tell(s, before->addr, in->addr, 1, &off), 1)) {
			before->next = s;
			before = s;
			off = trace_zigzag(off);
			n = trace_bytes_any(off);	/* whether there is a difference is hard to foretell */
			out = trace_put_token(out, (uintptr_t)in - from, TRACE_TOKEN_SLOT);
			out = trace_put_head(out, index, n, off, n);
			look = trace_ahead(in, end, patience);
			in++;
		} else {
			c->before = before;
			if (trace_chained(in->site))
				look = trace_ahead(in, end, patience);
			out = trace_put_other_any(c, out, (uintptr_t)in - from, before->addr, in);
			in = trace_behind(in);
			before = c->before;
		}
		from = (uintptr_t)in;
	}
	c->before = before;
	c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
	return out;
}

#endif
