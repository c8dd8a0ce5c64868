/*
 * Reference of the trace encoder (trace/codec/codec.h defines the format).
 *
 * encode_slowly() writes the bytes of a chunk record by record, without the fast paths, batches and
 * loops of the encoder under test. slow_check() computes the checksum of a chunk word by word. Both
 * must give the same bytes as the tool. It takes from the tool: the state of the predictor and its
 * update (trace/codec/predict.h).
 */
#ifndef REFERENCE_CODEC_H
#define REFERENCE_CODEC_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec/codec.h"

static uint8_t *put_bytes(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*p++ = (uint8_t)(v >> 8 * i);
	return p;
}

static uint8_t *put_slowly(uint8_t *p, uint64_t counted, unsigned token)
{
	for (; counted > 0xffff; counted -= 0xffff)
		p = put_bytes(p, 0xffff << 8 | 15 << 4 | TRACE_TOKEN_COUNT, 3);
	return counted < 15 ? put_bytes(p, counted << 4 | token, 1)
			    : put_bytes(p, counted << 8 | 15 << 4 | token, 3);
}

/*
 * Is the address the one that the slot's other prediction gives? Then the record is a TOGGLE.
 * Otherwise *z is the difference to the predicted address, zigzag-encoded.
 */
static bool toggles(struct trace_slot *s, uint64_t before, uint64_t addr, uint64_t *z)
{
	bool toggle = trace_predicted_addr(s, ~s->relative, before) == addr &&
		      (s->relative || s->last != s->stride);

	if (toggle)
		s->relative = ~s->relative;
	*z = trace_zigzag(addr - trace_predicted_addr(s, s->relative, before));
	trace_slot_advance(s, before, addr);
	return toggle;
}

/* A site has one of two slots, the first if that is free or its own. */
static unsigned slot_of(const struct trace_coder *c, uint64_t site)
{
	unsigned index = (unsigned)trace_slot_hash(site);

	if (trace_site_kind(site) == TRACE_STAMP)
		return TRACE_STAMP_SLOT;
	return c->slot[index].site == 0 || c->slot[index].site == site ? index : index ^ 1;
}

/* Writes a record whose address was not predicted. */
static uint8_t *put_record(struct trace_coder *c, uint8_t *p, uint64_t counted,
			   const struct trace_record *r)
{
	unsigned index = slot_of(c, r->site), n;
	struct trace_slot *s = &c->slot[index], *before = c->before;
	uint64_t z;
	bool toggle;

	if (before->next->site == r->site) {
		s = before->next;
		toggle = toggles(s, before->addr, r->addr, &z);
		n = trace_bytes(z);
		p = put_bytes(put_slowly(p, counted, toggle ? TRACE_TOKEN_TOGGLE : n), z, n);
	} else if (s->site == r->site) {
		toggle = toggles(s, before->addr, r->addr, &z);
		n = trace_bytes(z);
		p = put_slowly(p, counted, TRACE_TOKEN_SLOT);
		p = put_bytes(put_bytes(p, index | (toggle ? 9 : n) << 11, 2), z, n);
	} else {
		trace_slot_take(c, s, r, before->addr);
		p = put_bytes(put_slowly(p, counted, TRACE_TOKEN_NEW), index, 2);
		p = put_bytes(put_bytes(p, r->addr, 8), r->site, 8);
	}
	trace_chain(c, s);
	return p;
}

static uint8_t *put_two(uint8_t *p, uint64_t x, uint64_t y)
{
	p = put_bytes(p, trace_bytes(x) | trace_bytes(y) << 4, 1);
	return put_bytes(put_bytes(p, x, trace_bytes(x)), y, trace_bytes(y));
}

/* Encodes `n` records; returns the number of bytes written. */
static size_t encode_slowly(uint8_t *out, uint64_t time, const struct trace_record *in, size_t n)
{
	struct trace_coder *c = calloc(1, sizeof(*c));
	uint64_t counted = 0;
	uint8_t *p = out;

	trace_coder_init(c, time);
	for (size_t i = 0; i < n; i++) {
		unsigned extra = trace_extra(trace_site_kind(in[i].site));
		struct trace_slot *s = c->before->next;

		if (s->site == in[i].site && !extra &&
		    trace_predicted_addr(s, s->relative, c->before->addr) == in[i].addr) {
			s->addr = in[i].addr;
			s->last = s->stride;
			c->before = s;
			counted++;
			continue;
		}
		p = put_record(c, p, counted, &in[i]);
		counted = 0;
		if (trace_site_kind(in[i].site) == TRACE_STAMP)
			c->time = in[i].addr;
		if (extra > 0) {
			i++;
			p = put_two(p, trace_zigzag(in[i].addr - c->time), in[i].site);
			c->time = in[i].addr;
		}
		if (extra > 1) {
			i++;
			p = put_two(p, in[i].addr, in[i].site);
		}
	}
	if (counted)
		p = put_slowly(p, counted, TRACE_TOKEN_COUNT);
	free(c);
	return (size_t)(p - out);
}

/*
 * The checksum of trace_check(): four lanes of 8-byte words, the rest byte by byte into the first
 * lane.
 */
static uint32_t slow_check(const uint8_t *data, size_t size)
{
	const uint64_t k = 0x9fb21c651e98df25ull;
	uint64_t lane[4] = { size * k, k, k << 1, k << 2 }, words = size / 32 * 4, sum;

	for (size_t i = 0; i < words + size % 32; i++) {
		uint64_t *l = &lane[i < words ? i % 4 : 0], word = data[words * 7 + i];

		if (i < words)
			memcpy(&word, data + i * 8, 8);
		*l = (*l ^ word) * k;
		*l ^= *l >> 29;
	}
	sum = lane[0] ^ (lane[1] << 7 | lane[1] >> 57) ^ (lane[2] << 19 | lane[2] >> 45) ^
	      (lane[3] << 37 | lane[3] >> 27);
	return (uint32_t)(sum * k >> 32);
}

#endif
