/*
 * Loops in the raw stream: a group of records that stands for the accesses of a whole inner
 * loop, turn by turn, and in each turn in the order of the group.
 *
 *   { turns, LOOP with the number of accesses as detail, pc of the first }
 *   for each access:
 *     { stride, LOOP with detail 0, its pc }	only if the stride needs more than 16 bits
 *     { the address in the first turn, above it 16 bits of stride, a READ or WRITE }
 *
 * Each is a plain record to the codec, which foretells it like any other. A group lies in one
 * chunk, with nothing in it. The runtime writes groups, the reader expands them; no libc here.
 */
#ifndef TRACE_LOOP_H
#define TRACE_LOOP_H

#include <stddef.h>

#include "trace/format.h"

#define TRACE_LOOP_ACCESSES 32u
#define TRACE_LOOP_TURNS 8192u		/* a longer loop is several groups */
#define TRACE_LOOP_RECORDS (1 + 2 * TRACE_LOOP_ACCESSES)
#define TRACE_LOOP_EVENTS (1u << 26)	/* that the groups of a chunk stand for, at most: a full ring's do */

static inline unsigned trace_loop_accesses(const struct trace_record *head)
{
	return (unsigned)(head->site >> 56);
}

static inline int trace_loop_is_stride(const struct trace_record *r)
{
	return trace_site_kind(r->site) == TRACE_LOOP && trace_loop_accesses(r) == 0;
}

/*
 * The records of the group that begins at r[0], of which there are `count`. 0: it is none, or not
 * all of it is here.
 */
static inline size_t trace_loop_size(const struct trace_record *r, size_t count)
{
	unsigned accesses = trace_loop_accesses(r);
	size_t n = 1;

	if (accesses == 0 || accesses > TRACE_LOOP_ACCESSES || r->addr == 0 || r->addr > TRACE_LOOP_TURNS)
		return 0;
	for (; accesses > 0; accesses--) {
		unsigned kind;

		n += n < count && trace_loop_is_stride(&r[n]);
		if (n >= count)
			return 0;
		kind = trace_site_kind(r[n++].site);
		if (kind != TRACE_READ && kind != TRACE_WRITE)
			return 0;
	}
	return n;
}

/* Of a group: the record of an access, a stride that is too long before it. Returns behind it. */
static inline struct trace_record *trace_loop_put(struct trace_record *r, uint64_t addr, uint64_t stride,
						  uint64_t site)
{
	if (__builtin_expect(stride + 0x8000 >= 0x10000, 0)) {
		*r++ = (struct trace_record){ stride, TRACE_SITE(TRACE_LOOP, 0, site) };
		stride = 0;
	}
	*r++ = (struct trace_record){ addr | stride << 48, site };
	return r;
}

/* Its first one, once the second is there. */
static inline void trace_loop_head(struct trace_record *group, uint64_t turns, unsigned accesses)
{
	*group = (struct trace_record){ turns, TRACE_SITE(TRACE_LOOP, accesses, group[1].site) };
}

/* A group, being expanded. */
struct trace_loop {
	struct trace_record at[TRACE_LOOP_ACCESSES];	/* in this turn */
	uint64_t stride[TRACE_LOOP_ACCESSES];
	unsigned accesses, next;
	uint64_t turns;		/* to come, this one included */
};

/* `head` begins a whole group; returns the record behind it. */
static inline const struct trace_record *trace_loop_begin(struct trace_loop *l,
							  const struct trace_record *head)
{
	const struct trace_record *r = head + 1;

	l->accesses = trace_loop_accesses(head);
	l->turns = head->addr;
	l->next = 0;
	for (unsigned i = 0; i < l->accesses; i++) {
		l->stride[i] = (uint64_t)((int64_t)r->addr >> 48);
		if (trace_loop_is_stride(r)) {
			l->stride[i] = r->addr;
			r++;
		}
		l->at[i] = (struct trace_record){ r->addr & TRACE_ADDR_MASK, r->site };
		r++;
	}
	return r;
}

/* The next access. When l->turns is 0 afterwards, it was the last. */
static inline struct trace_record trace_loop_next(struct trace_loop *l)
{
	unsigned i = l->next;
	struct trace_record r = l->at[i];

	l->at[i].addr = (r.addr + l->stride[i]) & TRACE_ADDR_MASK;
	if (++l->next == l->accesses) {
		l->next = 0;
		l->turns--;
	}
	return r;
}

/* So many accesses are to come. */
static inline uint64_t trace_loop_left(const struct trace_loop *l)
{
	return l->turns ? l->turns * l->accesses - l->next : 0;
}

/* As trace_loop_next() so many times, fewer than are left. */
static inline void trace_loop_skip(struct trace_loop *l, uint64_t count)
{
	uint64_t done = l->next + count, turns = done / l->accesses;
	unsigned next = (unsigned)(done % l->accesses);

	for (unsigned i = 0; i < l->accesses; i++) {
		uint64_t times = turns + (i < next) - (i < l->next);

		l->at[i].addr = (l->at[i].addr + times * l->stride[i]) & TRACE_ADDR_MASK;
	}
	l->turns -= turns;
	l->next = next;
}

#endif
