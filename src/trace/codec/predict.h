/*
 * What both sides of the codec know: the table that foretells the next record.
 * codec.h has the whole picture.
 */
#ifndef TRACE_CODEC_PREDICT_H
#define TRACE_CODEC_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"

#define TRACE_CHAINED 1024u
#define TRACE_SLOTS (TRACE_CHAINED + 1)
#define TRACE_NEVER (1ull << 63)	/* the delta of kinds with extra records; no address fits it */
#define TRACE_RECORD_MAX 22u	/* encoded bytes of one record, at most */
#define TRACE_SLACK 24u		/* the encoder may scribble this far past its end */

enum trace_token {
	TRACE_TOKEN_COUNT = 9,
	TRACE_TOKEN_SLOT = 10,
	TRACE_TOKEN_NEW = 11,
	TRACE_TOKEN_TURN = 12,
	TRACE_TOKEN_MANY = 15,	/* in the upper half: the count is in the next two bytes */
};

#define TRACE_SLOT_TURN 9u	/* TRACE_TOKEN_TURN, in place of TRACE_TOKEN_SLOT's n */

static inline unsigned trace_extra(unsigned kind)
{
	static const uint8_t extra[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class, roles) extra,
#include "abi/kinds.def"
#undef TRACE_KIND
	};

	return kind < TRACE_KIND_COUNT ? extra[kind] : 0;
}

struct trace_slot {
	uint64_t site, addr;
	uint64_t delta;			/* from what it is foretold by: stride or offset */
	struct trace_slot *next;	/* the site that came after this one */
	uint32_t chunk;			/* the slot is empty in any other chunk */
	int32_t relative;		/* 0: foretold by `addr`; -1: by the record before */
	uint64_t stride, last;		/* a stride counts when seen twice in a row */
	uint64_t offset;		/* from the record before, when last not foretold */
};

_Static_assert(sizeof(struct trace_slot) == 64, "a slot is a line of the cache");

/* A loop that the encoder runs along with (cycle.h). */
#define TRACE_CYCLE_MAX 64u

struct trace_place {
	struct trace_slot slot;		/* a copy; `last` counts only if it was missed the last time */
	struct trace_slot *home;
	uint64_t missed;		/* the turn in which it was not foretold */
};

struct trace_cycle {
	struct trace_place place[TRACE_CYCLE_MAX];
	struct trace_place *next, *end;
	uint64_t turn;
	int64_t relative;		/* -1 if any place is */
};

struct trace_coder {
	struct trace_slot slot[TRACE_SLOTS];
	struct trace_slot none;		/* stands where there is no slot; its site is 0 */
	struct trace_slot *before;	/* the last foretellable record's */
	uint64_t time;			/* last one seen in this chunk */
	uint32_t chunk;			/* counts trace_coder_init */
	uint32_t foretold;		/* records counted and not written, or still to be read */
	uint32_t pending, token;	/* reading: what comes after them */
	struct trace_cycle cycle;
};

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

static inline unsigned trace_bytes(uint64_t v)
{
	return v ? ((63 - (unsigned)__builtin_clzll(v)) >> 3) + 1 : 0;
}

/* Little-endian on purpose: x86-64 and aarch64 both are. */
static inline void trace_put(uint8_t *p, uint64_t v)
{
	__builtin_memcpy(p, &v, 8);
}

/* `time` is the chunk header's. The coder is zeroed before its first use. */
static inline void trace_coder_init(struct trace_coder *c, uint64_t time)
{
	c->time = time;
	c->chunk++;
	c->foretold = c->pending = 0;
	c->none.next = &c->none;
	c->none.addr = 0;
	c->before = &c->none;
}

static inline void trace_slot_take(struct trace_coder *c, struct trace_slot *s,
				   const struct trace_record *r, uint64_t before)
{
	s->site = r->site;
	s->addr = r->addr;
	s->delta = trace_extra(trace_site_kind(r->site)) ? TRACE_NEVER : 0;
	s->next = &c->none;
	s->chunk = c->chunk;
	s->relative = 0;
	s->stride = s->last = 0;
	s->offset = r->addr - before == TRACE_NEVER ? 0 : r->addr - before;
}

/* The address foretold by the record before, or else by the stride. */
static inline uint64_t trace_foretold(const struct trace_slot *s, int32_t relative, uint64_t before)
{
	return relative ? before + s->offset : s->addr + s->stride;
}

/* What both sides do after a record that was not foretold. */
static inline void trace_slot_advance(struct trace_slot *s, uint64_t before, uint64_t addr)
{
	uint64_t step = addr - s->addr, offset = addr - before;

	/* A delta no program has, but a hostile chunk may: it would look like none. */
	if (offset != TRACE_NEVER)
		s->offset = offset;
	if (s->delta != TRACE_NEVER) {
		if (step == s->last && step != TRACE_NEVER)
			s->stride = step;
		s->delta = s->relative ? s->offset : s->stride;
	}
	s->last = step;
	s->addr = addr;
}

/* What both sides do after a record of the chain that was not foretold. */
static inline void trace_chain(struct trace_coder *c, struct trace_slot *s)
{
	if (s < &c->slot[TRACE_CHAINED]) {
		c->before->next = s;
		c->before = s;
	}
}

#endif
