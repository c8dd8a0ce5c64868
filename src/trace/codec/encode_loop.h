/*
 * The encoder's second loop, for records that repeat.
 *
 * Where the chain of predicted slots forms a cycle of up to TRACE_CYCLE_MAX sites, the slots are
 * copied into an array in that order. Comparing records with an array is faster than following
 * the pointer of each slot to the next. The encoded bytes are the same. When the records leave
 * the cycle, the copies are written back.
 */
#ifndef TRACE_CODEC_ENCODE_LOOP_H
#define TRACE_CODEC_ENCODE_LOOP_H

#include "trace/codec/encode_unpredicted.h"

#define TRACE_CYCLE_MIN_RUN 24u	/* records with predicted sites before the search for a cycle */
#define TRACE_CYCLE_WORTH 128u	/* records; a shorter run in a cycle doubles the wait above */

/* Copies the slots of the cycle that contains c->before. False if it is in none. */
static inline int trace_cycle_find(struct trace_cycle *cycle, const struct trace_coder *c)
{
	struct trace_slot *s = c->before;
	struct trace_cycle_entry *p = cycle->entry;
	unsigned n = 0;

	do
		s = s->next;
	while (s != c->before && ++n < TRACE_CYCLE_MAX);
	if (s != c->before || s == &c->none)
		return 0;
	cycle->relative = 0;
	do {
		s = s->next;
		*p++ = (struct trace_cycle_entry){ .slot = *s, .home = s };
		cycle->relative |= s->relative;
	} while (s != c->before);
	cycle->next = cycle->entry;
	cycle->end = p;
	cycle->iteration = 1;	/* after missed_in, which is 0: the copied `last` is valid */
	return 1;
}

/* Makes `last` valid; the entry's latest record was in `iteration`. Hits do not update it. */
static inline void trace_cycle_sync(struct trace_cycle_entry *p, uint64_t iteration)
{
	if (p->missed_in != iteration)
		p->slot.last = p->slot.stride;
}

/* Writes the copies back to their slots. */
static inline void trace_cycle_leave(struct trace_cycle *cycle, struct trace_coder *c)
{
	struct trace_cycle_entry *p = cycle->entry;

	cycle->relative = 0;
	for (; p < cycle->end; p++) {
		trace_cycle_sync(p, cycle->iteration - (p >= cycle->next));
		*p->home = p->slot;
		cycle->relative |= p->slot.relative;
	}
	c->before = (cycle->next > cycle->entry ? cycle->next : cycle->end)[-1].home;
}

/*
 * Encodes records while their sites follow the cycle; *records moves behind them. A constant
 * `relative` of 0 makes the loop cheaper, and it ends when a slot becomes relative.
 */
TRACE_INLINE uint8_t *trace_encode_cycle(struct trace_cycle *cycle, struct trace_coder *c,
					 uint8_t *out, const struct trace_record **records,
					 const struct trace_record *end, int relative)
{
	const struct trace_record *in = *records;
	struct trace_cycle_entry *p = cycle->entry, *const last = cycle->end - 1;
	/* as in trace_encode() */
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->predicted << 4);
	uint64_t iteration = cycle->iteration, before = c->before->addr;

	while (__builtin_expect(in < end, 1)) {
		struct trace_slot *s = &p->slot;
		uint64_t addr = in->addr, base = s->addr;

		if (__builtin_expect(s->site != in->site, 0)) {
			if (trace_chained(in->site))
				break;
			out = trace_put_slot_any(c, out, (uintptr_t)in - from, before, in);
			from = (uintptr_t)++in;
			continue;
		}
		if (relative)
			base = s->relative ? before : base;
		if (__builtin_expect(addr - base != s->delta, 0)) {
			trace_cycle_sync(p, iteration - 1);
			out = trace_put_residual(c, out, (uintptr_t)in - from, s, before, &in);
			p->missed_in = iteration;
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
		p = cycle->entry;
		iteration++;
	}
	c->predicted = (uint32_t)(((uintptr_t)in - from) >> 4);
	cycle->next = p;
	cycle->iteration = iteration;
	trace_cycle_leave(cycle, c);
	*records = in;
	return out;
}

/* Encodes a loop of one site, that of c->before. It is its own previous record: one base serves. */
TRACE_NOINLINE uint8_t *trace_encode_one_site(struct trace_coder *c, uint8_t *out,
					      const struct trace_record **records,
					      const struct trace_record *end)
{
	const struct trace_record *in = *records;
	/* as in trace_encode() */
	uintptr_t from = (uintptr_t)in - ((uintptr_t)c->predicted << 4);
	struct trace_slot *s = c->before;
	uint64_t site = s->site;

	while (in < end) {
		uint64_t addr = s->addr, delta = s->delta;

		if (in->site != site) {
			if (trace_chained(in->site))
				break;
			out = trace_put_slot_any(c, out, (uintptr_t)in - from, addr, in);
			from = (uintptr_t)++in;
			continue;
		}
		if (in->addr - addr != delta) {
			out = trace_put_residual(c, out, (uintptr_t)in - from, s, addr, &in);
			from = (uintptr_t)in;
			continue;
		}
		do
			addr += delta;
		while (++in < end && in->site == site && in->addr - addr == delta);
		s->addr = addr;
		s->last = s->stride;
	}
	c->predicted = (uint32_t)(((uintptr_t)in - from) >> 4);
	*records = in;
	return out;
}

/* Looks for a cycle and encodes records while they follow it. */
static __attribute__((noinline, unused)) uint8_t *
trace_encode_loop(struct trace_coder *c, uint8_t *out, const struct trace_record **records,
		  const struct trace_record *end)
{
	struct trace_cycle *cycle = &c->cycle;

	if (c->before->next == c->before && c->before != &c->none)
		return trace_encode_one_site(c, out, records, end);
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
