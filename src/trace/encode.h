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

/*
 * How the address is told: *n bytes of *z, or by turning to the other way. Returns what
 * says that, n or TRACE_SLOT_TURN. A stride that was right the last time will be so again:
 * a row of a matrix has ended.
 */
static inline unsigned trace_tell(struct trace_slot *s, uint64_t before, uint64_t addr, uint64_t *z,
				  unsigned *n)
{
	uint64_t step = addr - s->addr, offset = addr - before;
	unsigned told;

	if (s->relative ? step == s->stride : offset == s->offset && s->last != s->stride) {
		s->relative = ~s->relative;
		*n = 0;
		told = TRACE_SLOT_TURN;
	} else {
		*z = trace_zigzag(s->relative ? offset - s->offset : step - s->stride);
		*n = told = trace_bytes(*z);
	}
	trace_slot_advance(s, before, addr);
	return told;
}

/* A record of the foretold site whose address is not the foretold one. */
static inline uint8_t *trace_put_told(struct trace_coder *c, uint8_t *out, uint32_t counted,
				      struct trace_slot *s, uint64_t before, uint64_t addr)
{
	uint64_t z = 0;
	unsigned n, token = trace_tell(s, before, addr, &z, &n);

	if (token == TRACE_SLOT_TURN)
		token = TRACE_TOKEN_TURN;
	if (counted < TRACE_TOKEN_MANY) {
		*out++ = (uint8_t)(counted << 4 | token);
	} else {
		c->foretold = counted;
		out = trace_put_token(c, out, token);
	}
	trace_put(out, z);
	return out + n;
}

/* A record whose site is not the foretold one. */
static inline __attribute__((always_inline)) uint8_t *trace_encode_other(struct trace_coder *c, uint8_t *out,
					  const struct trace_record *r, uint64_t before)
{
	unsigned index = trace_slot_of(r->site), n;
	struct trace_slot *s = &c->slot[index];
	uint16_t head;
	uint64_t z = 0;

	if (s->site != r->site || s->chunk != c->chunk) {
		out = trace_put_token(c, out, TRACE_TOKEN_NEW);
		head = (uint16_t)index;
		__builtin_memcpy(out, &head, 2);
		__builtin_memcpy(out + 2, r, sizeof(*r));
		trace_slot_take(c, s, r, before);
		out += 2 + sizeof(*r);
	} else {
		out = trace_put_token(c, out, TRACE_TOKEN_SLOT);
		head = (uint16_t)(index | trace_tell(s, before, r->addr, &z, &n) << 11);
		__builtin_memcpy(out, &head, 2);
		trace_put(out + 2, z);
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

	cycle->relative = 0;
	do {
		s = s->next;
		*p++ = (struct trace_place){
			.was = { s->addr, s->site },
			.delta = s->delta,
			.slot = s,
			.relative = s->relative,
		};
		cycle->relative |= s->relative;
	} while (s != c->before && p < cycle->place + TRACE_CYCLE_MAX);
	cycle->next = cycle->place;
	cycle->end = p;
	cycle->turn = 1;	/* so what is in `last` counts: it was in turn 0 */
	return s == c->before && s != &c->none;
}

/* What hits have left undone in the slot; it was last here in `turn`. */
static inline void trace_place_sync(const struct trace_place *p, uint64_t turn)
{
	p->slot->addr = p->was.addr;
	if (p->missed != turn)
		p->slot->last = p->slot->stride;
}

/* Back to the slots. */
static inline void trace_cycle_leave(const struct trace_cycle *cycle, struct trace_coder *c)
{
	const struct trace_place *p = cycle->place;

	for (; p < cycle->end; p++)
		trace_place_sync(p, cycle->turn - (p >= cycle->next));
	c->before = (cycle->next > cycle->place ? cycle->next : cycle->end)[-1].slot;
}

/* Encodes as long as sites come in the order of the cycle; *records is moved on. */
static inline __attribute__((always_inline)) uint8_t *
trace_encode_cycle(struct trace_cycle *cycle, struct trace_coder *c, uint8_t *out,
		   const struct trace_record **records, const struct trace_record *end, int relative)
{
	const struct trace_record *in = *records, *from = in;	/* foretold since `from` */
	struct trace_place *p = cycle->place, *const last = cycle->end - 1;
	uint32_t counted = c->foretold;				/* and before it */
	uint64_t turn = cycle->turn, before = c->before->addr;

	for (; in < end; in++) {
		uint64_t addr = in->addr, site = in->site, base = p->was.addr;

		if (__builtin_expect(p->was.site != site, 0)) {
			if (trace_chained(site))
				break;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_other(c, out, in, before);
			c->time = in->addr;
			from = in + 1;
			counted = 0;
			continue;
		}
		if (relative)
			base = (base ^ ((before ^ base) & (uint64_t)p->relative));
		if (__builtin_expect(addr - base != p->delta, 0)) {
			struct trace_slot *s = p->slot;

			counted += (uint32_t)(in - from);
			trace_place_sync(p, turn - 1);
			out = trace_put_told(c, out, counted, s, before, addr);
			p->delta = s->delta;
			p->missed = turn;
			p->relative = s->relative;
			cycle->relative |= s->relative;
			if (s->delta == TRACE_NEVER) {
				const struct trace_record *rest = in + 1;

				out = trace_encode_extra(c, out, &rest,
							 trace_extra(trace_site_kind(site)));
				in = rest - 1;
			}
			if (!relative && s->relative)
				end = in + 1;
			from = in + 1;
			counted = 0;
		}
		p->was.addr = addr;
		before = addr;
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
	struct trace_cycle *cycle = &c->cycle;

	if (!trace_cycle_find(cycle, c))
		return out;
	if (!cycle->relative) {
		out = trace_encode_cycle(cycle, c, out, records, end, 0);
		if (!cycle->relative || !trace_cycle_find(cycle, c))
			return out;
	}
	return trace_encode_cycle(cycle, c, out, records, end, 1);
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
	uint64_t addr = before->addr;			/* of the record before */
	uint32_t counted = c->foretold;			/* before `from`, foretold and not written */
	const struct trace_record *from = in;
	uint32_t patience = TRACE_CYCLE_AFTER;
	const struct trace_record *look = trace_ahead(in, end, patience);	/* for a loop */

	for (;;) {
		struct trace_slot *s = before->next;
		unsigned extra;
		uint64_t site;

		while (in < look && s->site == in->site) {
			uint64_t base = (s->relative ? addr : s->addr);
			uint64_t off = in->addr - base - s->delta;

			/* Not `==`: the next address would be made from this guess, not read. */
			__asm__("" : "+r"(off));
			if (off)
				break;
			s->addr = addr = in->addr;
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
			addr = before->addr;
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
			out = trace_put_told(c, out, counted, s, addr, in->addr);
			before = s;
			addr = in->addr;
		} else {
			c->before = before;
			c->foretold = counted + (uint32_t)(in - from);
			out = trace_encode_other(c, out, in, addr);
			if (trace_site_kind(site) == TRACE_STAMP)
				c->time = in->addr;
			else
				look = trace_ahead(in, end, patience);
			before = c->before;
			addr = before->addr;
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
