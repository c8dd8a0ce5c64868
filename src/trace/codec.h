/*
 * The payload of an event chunk: raw records squeezed by a predictor.
 *
 * A small table remembers for each site where it went last, by what stride, and
 * which site came next. A record that is just what the table foretells costs
 * nothing but a count, so that loops over arrays take next to no room:
 *
 *   u16: bits 10..13 are n, and the rest says
 *        n = 14: (bits 14..15) << 10 | (bits 0..9) more records as foretold
 *        n = 15: bits 0..9 slot, which is new or another site's; 16 raw bytes follow
 *        n < 9:  bits 0..9 slot; n bytes of zigzag(addr - foretold addr)
 *   an extra record: u8: bits 0..3 n, 4..7 m; n bytes of zigzag(time - last
 *        time), m bytes of arg (the second extra record: two plain values)
 *
 * Only records without extra ones are foretold; stamps are left out of the chain.
 * (After the value predictors of Burtscher's VPC, IEEE ToC 2005, much reduced.)
 * Each chunk starts from an empty table, so it can be read alone. The runtime
 * encodes and the tool decodes with this one file; no libc, no allocation.
 */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define TRACE_SLOTS 1024u
#define TRACE_FORETOLD 14u
#define TRACE_NEW_SLOT 15u
#define TRACE_FORETOLD_MAX 4095u	/* records told by one u16 */
#define TRACE_RECORD_MAX 20u	/* encoded bytes of one record, at most */
#define TRACE_SLACK 8u		/* the encoder may scribble this far past its end */

static inline unsigned trace_extra(unsigned kind)
{
	static const uint8_t extra[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class) extra,
#include "trace/kinds.def"
#undef TRACE_KIND
	};

	return kind < TRACE_KIND_COUNT ? extra[kind] : 0;
}

struct trace_slot {
	uint64_t site, addr;
	uint64_t stride, last;	/* a stride counts when seen twice in a row */
	struct trace_slot *next;	/* the site that came after this one */
	uint64_t pad;
};

struct trace_coder {
	uint64_t time;		/* last one seen in this chunk */
	uint32_t foretold;	/* records counted and not written yet, or still to be read */
	struct trace_slot *before;	/* the last foretellable record's */
	struct trace_slot slot[TRACE_SLOTS + 1];	/* the last one stands before the first record */
};

static inline unsigned trace_slot_of(uint64_t site)
{
	return (site * 0x9e3779b97f4a7c15ull) >> 54;
}

static inline uint64_t trace_zigzag(uint64_t delta)
{
	return delta << 1 ^ -(delta >> 63);
}

static inline uint64_t trace_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

static inline unsigned trace_bytes(uint64_t v)
{
	return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

/* Little-endian on purpose: x86-64 and aarch64 both are. */
static inline void trace_put(uint8_t *p, uint64_t v)
{
	__builtin_memcpy(p, &v, 8);
}

/* `time` is the chunk header's. (No memset: in the runtime that is the program's.) */
static inline void trace_coder_init(struct trace_coder *c, uint64_t time)
{
	struct trace_slot *first = &c->slot[TRACE_SLOTS];

	for (unsigned i = 0; i <= TRACE_SLOTS; i++) {
		c->slot[i].site = 0;
		c->slot[i].next = first;
	}
	c->time = time;
	c->foretold = 0;
	c->before = first;
}

static inline int trace_chained(uint64_t site)
{
	unsigned kind = trace_site_kind(site);

	return kind == TRACE_READ || kind == TRACE_WRITE || kind == TRACE_FUNC_ENTRY ||
	       kind == TRACE_FUNC_EXIT;
}

static inline void trace_slot_advance(struct trace_slot *s, uint64_t addr)
{
	uint64_t stride = addr - s->addr;

	if (stride == s->last)
		s->stride = stride;
	s->last = stride;
	s->addr = addr;
}

/* What both sides do after a record that was not foretold. */
static inline void trace_chain(struct trace_coder *c, struct trace_slot *s)
{
	if (trace_chained(s->site)) {
		c->before->next = s;
		c->before = s;
	}
}

/* Writes the count of foretold records; also to be called at a chunk's end. */
static inline uint8_t *trace_encode_end(struct trace_coder *c, uint8_t *out)
{
	while (c->foretold) {
		unsigned n = c->foretold < TRACE_FORETOLD_MAX ? c->foretold : TRACE_FORETOLD_MAX;
		uint16_t head = (uint16_t)((n & 1023) | TRACE_FORETOLD << 10 | n >> 10 << 14);

		__builtin_memcpy(out, &head, 2);
		out += 2;
		c->foretold -= n;
	}
	return out;
}

static inline uint8_t *trace_encode_primary(struct trace_coder *c, uint8_t *out,
					    const struct trace_record *r)
{
	unsigned index = trace_slot_of(r->site), n;
	struct trace_slot *s = &c->slot[index];
	uint64_t z;
	uint16_t head;

	out = trace_encode_end(c, out);
	if (s->site != r->site) {
		head = (uint16_t)(index | TRACE_NEW_SLOT << 10);
		__builtin_memcpy(out, &head, 2);
		__builtin_memcpy(out + 2, r, sizeof(*r));
		s->site = r->site;
		s->addr = r->addr;
		s->stride = s->last = 0;
		out += 2 + sizeof(*r);
	} else {
		z = trace_zigzag(r->addr - s->addr - s->stride);
		n = trace_bytes(z);
		head = (uint16_t)(index | n << 10);
		__builtin_memcpy(out, &head, 2);
		trace_put(out + 2, z);
		trace_slot_advance(s, r->addr);
		out += 2 + n;
	}
	trace_chain(c, s);
	return out;
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

/* The records at *in that are just as foretold; the encoder's fast path. */
static inline void trace_encode_foretold(struct trace_coder *c, const struct trace_record **in,
					 const struct trace_record *end)
{
	const struct trace_record *r = *in;
	struct trace_slot *s = c->before->next;

	/* An event with extra records may have taken the slot since it was linked. */
	while (r < end && s->site == r->site && s->addr + s->stride == r->addr &&
	       trace_chained(s->site)) {
		s->addr = r->addr;
		s->last = s->stride;
		c->before = s;
		s = s->next;
		r++;
	}
	c->foretold += (uint32_t)(r - *in);
	*in = r;
}

/*
 * Encodes events from *in up to `end` (whole events) and advances *in; stops
 * after at least one. `out` needs room for TRACE_RECORD_MAX for each record and
 * TRACE_SLACK. Finish a chunk with trace_encode_end().
 */
static inline uint8_t *trace_encode(struct trace_coder *c, uint8_t *out,
				    const struct trace_record **in, const struct trace_record *end)
{
	const struct trace_record *r;
	unsigned kind, extra;

	trace_encode_foretold(c, in, end);
	if (*in == end)
		return out;
	r = *in;
	kind = trace_site_kind(r->site);
	extra = trace_extra(kind);
	out = trace_encode_primary(c, out, r++);
	if (kind == TRACE_STAMP)
		c->time = r[-1].addr;
	if (extra > 0) {
		out = trace_put_pair(out, trace_zigzag(r->addr - c->time), r->site);
		c->time = r->addr;
		r++;
	}
	if (extra > 1) {
		out = trace_put_pair(out, r->addr, r->site);
		r++;
	}
	*in = r;
	return out;
}

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

static inline const uint8_t *trace_decode_primary(struct trace_coder *c, const uint8_t *in,
						  const uint8_t *end, struct trace_record *out)
{
	struct trace_slot *s;
	unsigned head, n;

	if (end - in < 2)
		return NULL;
	head = (unsigned)trace_get(in, end, 2);
	in += 2;
	n = head >> 10 & 15;
	if (n == TRACE_FORETOLD) {
		c->foretold = (head & 1023) | head >> 14 << 10;
		return c->foretold ? in : NULL;
	}
	s = &c->slot[head % TRACE_SLOTS];
	if (n == TRACE_NEW_SLOT) {
		if (end - in < (ptrdiff_t)sizeof(*out))
			return NULL;
		__builtin_memcpy(out, in, sizeof(*out));
		in += sizeof(*out);
		s->site = out->site;
		s->addr = out->addr;
		s->stride = s->last = 0;
	} else {
		if (n > 8 || end - in < (ptrdiff_t)n)
			return NULL;
		out->site = s->site;
		out->addr = s->addr + s->stride + trace_unzigzag(trace_get(in, end, n));
		in += n;
		trace_slot_advance(s, out->addr);
	}
	trace_chain(c, s);
	return in;
}

/*
 * Decodes one event into out[0..2] (primary and extra records; *count says how
 * many). Returns where to go on, NULL if the bytes are not an event. A chunk is at
 * its end when in == end and c->foretold == 0.
 */
static inline const uint8_t *trace_decode(struct trace_coder *c, const uint8_t *in,
					  const uint8_t *end,
					  struct trace_record out[3], unsigned *count)
{
	unsigned kind, extra;

	if (!c->foretold) {
		in = trace_decode_primary(c, in, end, out);
		if (!in)
			return NULL;
	}
	if (c->foretold) {
		struct trace_slot *s = c->before->next;

		c->foretold--;
		s->addr += s->stride;
		s->last = s->stride;
		c->before = s;
		out->site = s->site;
		out->addr = s->addr;
		*count = 1;
		/* Only a hostile chunk foretells what was never there, or has extras. */
		return trace_chained(s->site) ? in : NULL;
	}
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

/* A check sum, not a secret: four lanes so that it runs at memory speed. */
static inline uint32_t trace_check(const void *data, size_t size)
{
	const uint64_t k = 0x9fb21c651e98df25ull;
	uint64_t lane[4] = { size * k, k, k << 1, k << 2 }, w = 0;
	const uint8_t *p = data;

	for (; size >= 32; size -= 32, p += 32)
		for (int i = 0; i < 4; i++) {
			__builtin_memcpy(&w, p + 8 * i, 8);
			lane[i] = (lane[i] ^ w) * k;
			lane[i] ^= lane[i] >> 29;
		}
	for (w = 0; size > 0; size--, p++) {
		lane[0] = (lane[0] ^ *p) * k;
		lane[0] ^= lane[0] >> 29;
	}
	w = lane[0] ^ (lane[1] << 7 | lane[1] >> 57) ^ (lane[2] << 19 | lane[2] >> 45) ^
	    (lane[3] << 37 | lane[3] >> 27);
	w *= k;
	return (uint32_t)(w >> 32);
}

#endif
