/*
 * From raw records to the payload of a chunk; codec.h describes the bytes.
 *
 * What is foretold costs little; most of the time goes where something is not. So there is a
 * short way for records without extra ones whose site has a slot (trace_tell), and one that knows everything.
 */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "trace/predict.h"

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
 * The same for kinds without extra records, with fewer instructions; n is at least `least`. All of the slot is read
 * before anything is written: to the compiler, bytes of the chunk might be part of it.
 */
TRACE_INLINE unsigned trace_tell(struct trace_slot *s, uint64_t before, uint64_t addr, unsigned turn,
				 unsigned least, uint64_t *z, unsigned *n)
{
	uint64_t stride = s->stride, last = s->last, step = addr - s->addr, offset = addr - before;
	uint64_t off = step - stride, other = offset - s->offset, delta = stride;
	unsigned told;

	if (s->relative) {
		uint64_t by_stride = off;

		off = other;
		other = by_stride;
		delta = offset;
	}
	*z = trace_zigzag(off);
	/* No branch: whether there is a difference is hard to foretell. */
	*n = told = ((63 - (unsigned)__builtin_clzll(*z | 1)) >> 3) + (least || *z != 0);
	if (__builtin_expect(other == 0, 0) && (s->relative || last != stride)) {
		s->relative = ~s->relative;
		*n = 0;
		told = turn;
		trace_slot_advance(s, before, addr);
	} else if ((step == last && step != stride) || trace_is_never(offset)) {
		trace_slot_advance(s, before, addr);
	} else {
		s->offset = offset;
		s->delta = delta;
		s->last = step;
		s->addr = addr;
	}
	return told;
}

/* A record of the foretold site whose address is not the foretold one; *in is moved behind it and its extra ones. */
TRACE_INLINE uint8_t *trace_put_told(struct trace_coder *c, uint8_t *out, uint64_t run, struct trace_slot *s,
				     uint64_t before, const struct trace_record **in)
{
	const struct trace_record *r = *in, *rest = r + 1;
	unsigned n, token;
	uint64_t z;

	*in = rest;
	if (!trace_is_never(s->delta)) {
		token = trace_tell(s, before, r->addr, TRACE_TOKEN_TURN, 1, &z, &n);
		out = trace_put_token(out, run, token);
		trace_put(out, z);
		return out + n;
	}
	token = trace_tell_any(s, before, r->addr, TRACE_TOKEN_TURN, &z, &n);
	out = trace_put_token(out, run, token);
	trace_put(out, z);
	out = trace_encode_extra(c, out + n, &rest, trace_extra(trace_site_kind(r->site)));
	*in = rest;
	return out;
}

TRACE_INLINE uint8_t *trace_put_head(uint8_t *out, unsigned index, unsigned told, uint64_t z, unsigned n)
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

/* A record of another site, of any kind, without its extra ones. */
TRACE_NOINLINE uint8_t *trace_put_other(struct trace_coder *c, uint8_t *out, uint64_t run, uint64_t before,
					const struct trace_record *r)
{
	unsigned index = trace_slot_of(r->site), n, told;
	struct trace_slot *s = &c->slot[index];
	uint16_t head = (uint16_t)index;
	uint64_t z;

	if (trace_slot_known(c, s, r->site)) {
		told = trace_tell_any(s, before, r->addr, TRACE_SLOT_TURN, &z, &n);
		out = trace_put_token(out, run, TRACE_TOKEN_SLOT);
		return trace_put_head(out, index, told, z, n);
	}
	out = trace_put_token(out, run, TRACE_TOKEN_NEW);
	__builtin_memcpy(out, &head, 2);
	__builtin_memcpy(out + 2, r, sizeof(*r));
	trace_slot_take(c, s, r, before);
	return out + 2 + sizeof(*r);
}

/* A record of another site, whose slot is s, as trace_put_told(). */
TRACE_INLINE uint8_t *trace_put_slot(struct trace_coder *c, uint8_t *out, uint64_t run, struct trace_slot *s,
				     unsigned index, uint64_t before, const struct trace_record **in)
{
	const struct trace_record *r = *in, *rest = r + 1;
	unsigned n, told;
	uint64_t z;

	*in = rest;
	if (!trace_is_never(s->delta)) {
		told = trace_tell(s, before, r->addr, TRACE_SLOT_TURN, 0, &z, &n);
		out = trace_put_token(out, run, TRACE_TOKEN_SLOT);
		return trace_put_head(out, index, told, z, n);
	}
	out = trace_put_other(c, out, run, before, r);
	out = trace_encode_extra(c, out, &rest, trace_extra(trace_site_kind(r->site)));
	*in = rest;
	return out;
}

/* A stamp, or a record whose site is new: *in and c->before are moved on. */
TRACE_NOINLINE uint8_t *trace_encode_new(struct trace_coder *c, uint8_t *out, uint64_t run,
					 const struct trace_record **in)
{
	const struct trace_record *r = (*in)++;
	unsigned extra = trace_extra(trace_site_kind(r->site));

	out = trace_put_other(c, out, run, c->before->addr, r);
	trace_chain(c, &c->slot[trace_slot_of(r->site)]);
	if (!trace_chained(r->site))
		c->time = r->addr;
	return extra ? trace_encode_extra(c, out, in, extra) : out;
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
TRACE_INLINE uint8_t *trace_encode_cycle(struct trace_cycle *cycle, struct trace_coder *c, uint8_t *out,
					 const struct trace_record **records, const struct trace_record *end,
					 int relative)
{
	const struct trace_record *in = *records;
	struct trace_place *p = cycle->place, *const last = cycle->end - 1;
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);	/* all foretold since */
	uint64_t turn = cycle->turn, before = c->before->addr;

	while (in < end) {
		uint64_t addr = in->addr, base = p->was.addr;

		if (__builtin_expect(p->was.site != in->site, 0)) {
			if (trace_chained(in->site))
				break;
			out = trace_put_other(c, out, (uintptr_t)in - from, before, in);
			c->time = addr;
			from = (uintptr_t)++in;
			continue;
		}
		if (relative)
			base = (base ^ ((before ^ base) & (uint64_t)p->relative));
		if (__builtin_expect(addr - base != p->delta, 0)) {
			struct trace_slot *s = p->slot;

			trace_place_sync(p, turn - 1);
			out = trace_put_told(c, out, (uintptr_t)in - from, s, before, &in);
			p->delta = s->delta;
			p->missed = turn;
			p->relative = s->relative;
			cycle->relative |= s->relative;
			if (!relative && s->relative)
				end = in;
			from = (uintptr_t)in;
		} else {
			in++;
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
	c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
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
	return (uintptr_t)end - (uintptr_t)in > (uint64_t)n << 4 ? in + n : end;
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
	uint64_t addr = before->addr;						/* of the record before */
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);		/* all foretold since */
	uint32_t patience = TRACE_CYCLE_AFTER;
	const struct trace_record *look = trace_ahead(in, end, patience);	/* for a loop */

	for (;;) {
		struct trace_slot *s = before->next;
		const struct trace_record *at;	/* so that `in` itself stays in a register */
		uint64_t was = addr, off, site;
		unsigned index;

		if (__builtin_expect(in >= look, 0)) {
			if (in >= end)
				break;
			c->before = before;
			c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
			at = in;
			out = trace_encode_loop(c, out, &at, end);
			in = at;
			before = c->before;
			addr = before->addr;
			from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);
			if (in - look < TRACE_CYCLE_SHORT)
				patience *= 2;
			look = trace_ahead(in, end, patience);
			continue;
		}
		site = in->site;
		addr = in->addr;
		if (s->site == site) {
			off = addr - (s->relative ? was : s->addr) - s->delta;
			/* Not `==`: the next address would be made from this guess, not read. */
			__asm__("" : "+r"(off));
			before = s;
			if (__builtin_expect(!off, 1)) {
				s->addr = addr;
				s->last = s->stride;
				in++;
				continue;
			}
			out = trace_put_told(c, out, (uintptr_t)in - from, s, was, &in);
			from = (uintptr_t)in;
			continue;
		}
		index = trace_slot_hash(site);		/* no stamp is there */
		s = &c->slot[index];
		__asm__("" : "+r"(s));			/* else it is made from `index` again and again */
		if (trace_slot_known(c, s, site)) {
			look = trace_ahead(in, end, patience);
			before->next = s;
			before = s;
			out = trace_put_slot(c, out, (uintptr_t)in - from, s, index, was, &in);
		} else {
			c->before = before;
			if (trace_chained(site))
				look = trace_ahead(in, end, patience);
			at = in;
			out = trace_encode_new(c, out, (uintptr_t)in - from, &at);
			in = at;
			before = c->before;
			addr = before->addr;
		}
		from = (uintptr_t)in;
	}
	c->before = before;
	c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
	return out;
}

#endif
