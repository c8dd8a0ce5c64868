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

/* A record of the foretold site that is `step` further, not `stride` as was foretold. */
static inline uint8_t *trace_put_delta(struct trace_coder *c, uint8_t *out, uint32_t counted,
				       uint64_t stride, uint64_t step)
{
	uint64_t z = trace_zigzag(stride == TRACE_NO_STRIDE ? step : step - stride);
	unsigned n = trace_bytes(z);

	if (counted < TRACE_TOKEN_MANY) {
		*out++ = (uint8_t)(counted << 4 | n);
	} else {
		c->foretold = counted;
		out = trace_put_token(c, out, n);
	}
	trace_put(out, z);
	return out + n;
}

/* A record whose site is not the foretold one. */
static inline __attribute__((always_inline)) uint8_t *trace_encode_other(struct trace_coder *c, uint8_t *out,
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
 * Loops. Where the chain of slots comes back to its start, the records to come are
 * known beforehand, all sites in a row: they are compared with an array, which is faster
 * than going from slot to slot, each of which says where the next one is. The bytes are
 * the same.
 */
#define TRACE_CYCLE_AFTER 24u	/* records whose sites were foretold: worth a look */
#define TRACE_CYCLE_SHORT 128u	/* records in a cycle that were not worth it */

/* Whether the chain behind c->before comes back to it. */
static inline int trace_cycle_find(struct trace_cycle *cycle, const struct trace_coder *c)
{
	struct trace_slot *s = c->before;
	struct trace_place *p = cycle->place;

	do {
		s = s->next;
		*p++ = (struct trace_place){
			.was = { s->addr, s->site },
			.stride = s->stride,
			.last = s->last,
			.slot = s,
			.extra = trace_extra(trace_site_kind(s->site)),
		};
	} while (s != c->before && p < cycle->place + TRACE_CYCLE_MAX);
	cycle->next = cycle->place;
	cycle->end = p;
	cycle->turn = 1;	/* so what is in `last` counts: it was in turn 0 */
	return s == c->before && s != &c->none;
}

/* Back to the slots. */
static inline void trace_cycle_leave(const struct trace_cycle *cycle, struct trace_coder *c)
{
	const struct trace_place *p = cycle->place;

	for (; p < cycle->end; p++) {
		p->slot->addr = p->was.addr;
		p->slot->stride = p->stride;
		p->slot->last = p->missed + (p >= cycle->next) == cycle->turn ? p->last
									      : p->stride;
	}
	c->before = (cycle->next > cycle->place ? cycle->next : cycle->end)[-1].slot;
}

/* As trace_slot_advance: a stride counts when seen twice in a row. */
static inline void trace_cycle_step(struct trace_place *p, uint64_t turn, uint64_t step)
{
	if (step == p->last && p->missed + 1 == turn && p->stride != TRACE_NO_STRIDE &&
	    step != TRACE_NO_STRIDE)
		p->stride = step;
	p->last = step;
	p->missed = turn;
}

/* Encodes as long as sites come in the order of the cycle; *records is moved on. */
static inline uint8_t *trace_encode_cycle(struct trace_cycle *cycle, struct trace_coder *c,
					  uint8_t *out, const struct trace_record **records,
					  const struct trace_record *end)
{
	const struct trace_record *in = *records, *from = in;	/* foretold since `from` */
	struct trace_place *p = cycle->place, *const last = cycle->end - 1;
	uint32_t counted = c->foretold;				/* and before it */
	uint64_t turn = cycle->turn;

	for (; in < end; in++) {
		uint64_t step = in->addr - p->was.addr, site = in->site;

		if (__builtin_expect(p->was.site != site, 0)) {
			if (trace_chained(site))
				break;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_other(c, out, in);
			c->time = in->addr;
			from = in + 1;
			counted = 0;
			continue;
		}
		p->was.addr = in->addr;
		if (__builtin_expect(step != p->stride, 0)) {
			counted += (uint32_t)(in - from);
			out = trace_put_delta(c, out, counted, p->stride, step);
			trace_cycle_step(p, turn, step);
			if (p->extra) {
				const struct trace_record *extra = in + 1;

				out = trace_encode_extra(c, out, &extra, (unsigned)p->extra);
				in = extra - 1;
			}
			from = in + 1;
			counted = 0;
		}
		if (p == last) {
			p = cycle->place;
			turn++;
		} else {
			p++;
		}
	}
	c->foretold = counted + (uint32_t)(in - from);
	cycle->next = p;
	cycle->turn = turn;
	trace_cycle_leave(cycle, c);
	*records = in;
	return out;
}

/* The loop is looked for, and encoded if it is one: where the main loop goes on. */
static __attribute__((noinline, unused)) uint8_t *
trace_encode_loop(struct trace_coder *c, uint8_t *out, const struct trace_record **records,
		  const struct trace_record *end)
{
	if (trace_cycle_find(&c->cycle, c))
		out = trace_encode_cycle(&c->cycle, c, out, records, end);
	return out;
}

static inline const struct trace_record *trace_ahead(const struct trace_record *in,
						     const struct trace_record *end, uint32_t n)
{
	return (size_t)(end - in) > n ? in + n : end;
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
	uint32_t patience = TRACE_CYCLE_AFTER;
	const struct trace_record *look = trace_ahead(in, end, patience);	/* for a loop */

	for (;;) {
		struct trace_slot *s = before->next;
		unsigned extra;
		uint64_t site;

		while (in < look && s->site == in->site && s->addr + s->stride == in->addr) {
			s->addr = in->addr;
			s->last = s->stride;
			before = s;
			s = s->next;
			in++;
		}
		if (in >= end)
			break;
		if (in >= look) {
			const struct trace_record *at = in;	/* `in` itself stays in a register */

			c->before = before;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_loop(c, out, &at, end);
			in = at;
			before = c->before;
			counted = c->foretold;
			if (in - look < TRACE_CYCLE_SHORT)
				patience *= 2;
			from = in;
			look = trace_ahead(in, end, patience);
			continue;
		}
		site = in->site;
		if (s->site == site) {
			counted += (uint32_t)(in - from);
			out = trace_put_delta(c, out, counted, s->stride, in->addr - s->addr);
			trace_slot_advance(s, in->addr);
			before = s;
		} else {
			c->before = before;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_other(c, out, in);
			if (trace_site_kind(site) == TRACE_STAMP)
				c->time = in->addr;
			else
				look = trace_ahead(in, end, patience);
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
