/*
 * The predictor of the trace codec: its table, which encoder and decoder update alike.
 *
 * codec.h explains the method and the bytes.
 */
#ifndef TRACE_CODEC_PREDICT_H
#define TRACE_CODEC_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"

#define TRACE_STAMP_SLOT 1024u	/* slots below it are for sites, this one is for STAMP records */
#define TRACE_SLOTS (TRACE_STAMP_SLOT + 1)
#define TRACE_NO_DELTA (1ull << 63)	/* delta of kinds with extra records: never predicted */
#define TRACE_RECORD_MAX 22u	/* most encoded bytes of one record */
#define TRACE_SLACK 24u		/* bytes behind its output that the encoder may overwrite */

/* Bits 0..3 of a token; 0 to 8 are a number of residual bytes. */
enum trace_token {
	TRACE_TOKEN_COUNT = 9,	/* no record behind the predicted ones */
	TRACE_TOKEN_SLOT = 10,	/* another site than predicted, which has a slot */
	TRACE_TOKEN_NEW = 11,	/* another site than predicted, which gets a slot */
	TRACE_TOKEN_TOGGLE = 12,	/* the predicted site; its other predictor is right */
	TRACE_TOKEN_MANY = 15,	/* in bits 4..7: the count is in the next two bytes */
};

#define TRACE_SLOT_TOGGLE 9u	/* n of TRACE_TOKEN_SLOT: the other predictor is right */

/* Number of extra records that follow the primary record of a kind. */
static inline unsigned trace_extra(unsigned kind)
{
	static const uint8_t extra[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class, roles) extra,
#include "abi/kinds.def"
#undef TRACE_KIND
	};

	return kind < TRACE_KIND_COUNT ? extra[kind] : 0;
}

/* What the predictor knows about one site. */
struct trace_slot {
	uint64_t site, addr;		/* of its last record */
	uint64_t delta;			/* added to the base: stride or offset, or NO_DELTA */
	struct trace_slot *next;	/* slot of the record that last followed this one */
	uint32_t chunk;			/* the slot is empty unless this is the coder's chunk */
	int32_t relative;		/* base: 0 this slot's addr, -1 the previous record's */
	uint64_t stride, last;		/* the step seen twice in a row; the last step */
	uint64_t offset;		/* from the previous record, at the last misprediction */
};

_Static_assert(sizeof(struct trace_slot) == 64, "a slot is a line of the cache");

#define TRACE_CYCLE_MAX 64u	/* most sites of a loop that encode_loop.h recognises */

/* One site of a loop. */
struct trace_cycle_entry {
	struct trace_slot slot;		/* copy of *home; `last` is valid only after a miss */
	struct trace_slot *home;
	uint64_t missed_in;		/* iteration of the last misprediction */
};

/* A loop of records: its sites in the order in which they repeat. */
struct trace_cycle {
	struct trace_cycle_entry entry[TRACE_CYCLE_MAX];
	struct trace_cycle_entry *next, *end;	/* of the next record; behind the last entry */
	uint64_t iteration;			/* from 1 */
	int64_t relative;			/* -1 if any entry's slot is relative, else 0 */
};

/* The state of encoding or decoding one chunk: 70 KB, reused for the next chunk. */
struct trace_coder {
	struct trace_slot slot[TRACE_SLOTS];
	struct trace_slot none;		/* sentinel in place of NULL; its site is 0 */
	struct trace_slot *before;	/* slot of the previous record, stamps not counted */
	uint64_t time;			/* last time in this chunk, at first the chunk's */
	uint32_t chunk;			/* number of this chunk; a new one empties all slots */
	uint32_t predicted;		/* number of predicted records not written or decoded yet */
	uint32_t pending, token;	/* decoder: 1 if the record of `token` follows these */
	struct trace_cycle cycle;
};

/* Whether records of this site take part in the prediction of the next site. */
static inline int trace_chained(uint64_t site)
{
	return trace_site_kind(site) != TRACE_STAMP;
}

static inline uint64_t trace_zigzag(uint64_t delta)
{
	return delta << 1 ^ -(delta >> 63);
}

static inline uint64_t trace_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

/* Number of significant bytes. */
static inline unsigned trace_bytes(uint64_t v)
{
	return v ? ((63 - (unsigned)__builtin_clzll(v)) >> 3) + 1 : 0;
}

/* Stores 8 bytes, of which the caller uses the first few: x86-64 and aarch64 are little-endian. */
static inline void trace_put(uint8_t *p, uint64_t v)
{
	__builtin_memcpy(p, &v, 8);
}

/* Begins a chunk; `time` is its header's. The coder is all zero before its first use. */
static inline void trace_coder_init(struct trace_coder *c, uint64_t time)
{
	c->time = time;
	c->chunk++;
	c->predicted = c->pending = 0;
	c->none.next = &c->none;
	c->none.addr = 0;
	c->before = &c->none;
}

/* Gives a slot to the site of `r`; `before` is the previous record's address. */
static inline void trace_slot_take(struct trace_coder *c, struct trace_slot *s,
				   const struct trace_record *r, uint64_t before)
{
	s->site = r->site;
	s->addr = r->addr;
	s->delta = trace_extra(trace_site_kind(r->site)) ? TRACE_NO_DELTA : 0;
	s->next = &c->none;
	s->chunk = c->chunk;
	s->relative = 0;
	s->stride = s->last = 0;
	s->offset = r->addr - before == TRACE_NO_DELTA ? 0 : r->addr - before;
}

/* The address predicted from the previous record if `relative`, else by the stride. */
static inline uint64_t trace_predicted_addr(const struct trace_slot *s, int32_t relative,
					    uint64_t before)
{
	return relative ? before + s->offset : s->addr + s->stride;
}

/* Updates the slot after a misprediction. Encoder and decoder both call it. */
static inline void trace_slot_advance(struct trace_slot *s, uint64_t before, uint64_t addr)
{
	uint64_t step = addr - s->addr, offset = addr - before;

	/* No program has this offset, but a hostile chunk may: it would read as TRACE_NO_DELTA. */
	if (offset != TRACE_NO_DELTA)
		s->offset = offset;
	if (s->delta != TRACE_NO_DELTA) {
		if (step == s->last && step != TRACE_NO_DELTA)
			s->stride = step;
		s->delta = s->relative ? s->offset : s->stride;
	}
	s->last = step;
	s->addr = addr;
}

/* Notes that a record of slot `s` followed the previous one, and makes it the previous one. */
static inline void trace_chain(struct trace_coder *c, struct trace_slot *s)
{
	if (s < &c->slot[TRACE_STAMP_SLOT]) {
		c->before->next = s;
		c->before = s;
	}
}

#endif
