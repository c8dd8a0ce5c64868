/*
 * Loops of records, for the encoder. Where the chain of slots comes back to its start, the
 * records to come are known beforehand, all sites in a row: they are compared with an array,
 * which is faster than going from slot to slot, each of which says where the next one is. The
 * bytes are the same.
 */
#ifndef TRACE_CODEC_ENCODE_LOOP_H
#define TRACE_CODEC_ENCODE_LOOP_H

#include "trace/codec/encode_unpredicted.h"

#define TRACE_CYCLE_AFTER 24u	/* records whose sites were foretold: worth a look */
#define TRACE_CYCLE_SHORT 128u	/* records in a cycle that were not worth it */

/* Whether the chain behind c->before comes back to it; then its slots are copied. */
static inline int trace_cycle_find(struct trace_cycle *cycle, const struct trace_coder *c)
{
	struct trace_slot *s = c->before;
	struct trace_place *p = cycle->place;
	unsigned n = 0;

	do
		s = s->next;
	while (s != c->before && ++n < TRACE_CYCLE_MAX);
	if (s != c->before || s == &c->none)
		return 0;
	cycle->relative = 0;
	do {
		s = s->next;
		*p++ = (struct trace_place){ .slot = *s, .home = s };
		cycle->relative |= s->relative;
	} while (s != c->before);
	cycle->next = cycle->place;
	cycle->end = p;
	cycle->turn = 1;	/* so what is in `last` counts: it was in turn 0 */
	return 1;
}

/* What hits have left undone; it was last here in `turn`. */
static inline void trace_place_sync(struct trace_place *p, uint64_t turn)
{
	if (p->missed != turn)
		p->slot.last = p->slot.stride;
}

/* Back to the slots. */
static inline void trace_cycle_leave(struct trace_cycle *cycle, struct trace_coder *c)
{
	struct trace_place *p = cycle->place;

	cycle->relative = 0;
	for (; p < cycle->end; p++) {
		trace_place_sync(p, cycle->turn - (p >= cycle->next));
		*p->home = p->slot;
		cycle->relative |= p->slot.relative;
	}
	c->before = (cycle->next > cycle->place ? cycle->next : cycle->end)[-1].home;
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

	while (__builtin_expect(in < end, 1)) {
		struct trace_slot *s = &p->slot;
		uint64_t addr = in->addr, base = s->addr;

		if (__builtin_expect(s->site != in->site, 0)) {
			if (trace_chained(in->site))
				break;
			out = trace_put_other_any(c, out, (uintptr_t)in - from, before, in);
			from = (uintptr_t)++in;
			continue;
		}
		if (relative)
			base = s->relative ? before : base;
		if (__builtin_expect(addr - base != s->delta, 0)) {
			trace_place_sync(p, turn - 1);
			out = trace_put_told(c, out, (uintptr_t)in - from, s, before, &in);
			p->missed = turn;
			if (!relative && s->relative)
				end = in;
			from = (uintptr_t)in;
		} else {
			s->addr = addr;
			in++;
		}
		before = addr;
		if (p++ != last)
			continue;
		p = cycle->place;
		turn++;
	}
	c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
	cycle->next = p;
	cycle->turn = turn;
	trace_cycle_leave(cycle, c);
	*records = in;
	return out;
}

/* A loop of one site, which is that of c->before: the record before and the last one here are the same. */
TRACE_NOINLINE uint8_t *trace_encode_same(struct trace_coder *c, uint8_t *out, const struct trace_record **records,
					  const struct trace_record *end)
{
	const struct trace_record *in = *records;
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->foretold << 4);	/* all foretold since */
	struct trace_slot *s = c->before;
	uint64_t site = s->site;

	while (in < end) {
		uint64_t addr = s->addr, delta = s->delta;

		if (in->site != site) {
			if (trace_chained(in->site))
				break;
			out = trace_put_other_any(c, out, (uintptr_t)in - from, addr, in);
			from = (uintptr_t)++in;
			continue;
		}
		if (in->addr - addr != delta) {
			out = trace_put_told(c, out, (uintptr_t)in - from, s, addr, &in);
			from = (uintptr_t)in;
			continue;
		}
		do
			addr += delta;
		while (++in < end && in->site == site && in->addr - addr == delta);
		s->addr = addr;
		s->last = s->stride;
	}
	c->foretold = (uint32_t)(((uintptr_t)in - from) >> 4);
	*records = in;
	return out;
}

/* The loop is looked for, and encoded if it is one: where the main loop goes on. */
static __attribute__((noinline, unused)) uint8_t *
trace_encode_loop(struct trace_coder *c, uint8_t *out, const struct trace_record **records,
		  const struct trace_record *end)
{
	struct trace_cycle *cycle = &c->cycle;

	if (c->before->next == c->before && c->before != &c->none)
		return trace_encode_same(c, out, records, end);
	if (!trace_cycle_find(cycle, c))
		return out;
	if (!cycle->relative) {
		out = trace_encode_cycle(cycle, c, out, records, end, 0);
		if (!cycle->relative || !trace_cycle_find(cycle, c))
			return out;
	}
	return trace_encode_cycle(cycle, c, out, records, end, 1);
}

#endif
