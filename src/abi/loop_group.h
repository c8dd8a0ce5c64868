/*
 * Loop groups: a few raw records that stand for all accesses of an inner loop, iteration by
 * iteration, and in each iteration in program order.
 *
 *   { iterations, LOOP with the number of accesses as detail, pc of the first access }
 *   for each access:
 *     { stride, LOOP with detail 0, its pc }	only if the stride needs more than 16 bits
 *     { address in the first iteration, above it 16 bits of stride, a READ or WRITE }
 *
 * Example: `for (i = 0; i < 100; i++) a[i] = b[i];` with int arrays at 0x601000 and 0x602000 is
 *   { 100,                        LOOP, detail 2, pc of the read }
 *   { 4 << 48 | 0x602000,         READ of 4 bytes, its pc }
 *   { 4 << 48 | 0x601000,         WRITE of 4 bytes, its pc }
 * and stands for 200 events: read 0x602000, write 0x601000, read 0x602004, write 0x601004, and so
 * on.
 *
 * A nest is a group that is repeated in several rounds, as by the inner one of two loops. Each
 * round adds a fixed amount to each address. A round may begin with some accesses before the group:
 *
 *   { rounds, LOOP with detail TRACE_NEST + number of accesses before the group, any pc }
 *   the READ or WRITE of each access before the group, in the first round
 *   the group, in the first round
 *   for each four accesses, those before the group first:
 *     { what a round adds to their addresses, 16 bits each, LOOP with detail 0, any pc }
 *
 * Example: 50 rounds of `n = len[i]; for (j = 0; j < 4; j++) m[i][j] = n;` where len (at 0x602000)
 * and m (at 0x601000) hold ints, and a row of m has 4. A round adds 4 to the address of len[i] and
 * 16 to that of m[i][0]:
 *   { 50,                         LOOP, detail TRACE_NEST + 1, any pc }
 *   { 0x602000,                   READ of 4 bytes, its pc }
 *   { 4,                          LOOP, detail 1, pc of the write }
 *   { 4 << 48 | 0x601000,         WRITE of 4 bytes, its pc }
 *   { 16 << 16 | 4,               LOOP, detail 0, any pc }
 * This stands for 50 * (1 + 4) events.
 *
 * To the codec these are plain records, which it predicts like any other. A group or nest lies in
 * one chunk, with no other record in it. The runtime writes groups, the reader expands them. This
 * header uses no libc.
 */
#ifndef ABI_LOOP_GROUP_H
#define ABI_LOOP_GROUP_H

#include <stddef.h>

#include "abi/trace_format.h"

#define TRACE_LOOP_ACCESSES 32u		/* most accesses of an iteration */
#define TRACE_LOOP_ITERATIONS 8192u	/* most iterations; a longer loop becomes several groups */
#define TRACE_LOOP_RECORDS (1 + 2 * TRACE_LOOP_ACCESSES)	/* most records of a group */
#define TRACE_NEST 0x40u		/* bit of the detail: the record begins a nest */
#define TRACE_NEST_BEFORE 3u		/* most accesses before the group in each round */
#define TRACE_NEST_ROUNDS 8192u
#define TRACE_NEST_RECORDS                                                                         \
	(1 + TRACE_NEST_BEFORE + TRACE_LOOP_RECORDS +                                              \
	 (TRACE_NEST_BEFORE + TRACE_LOOP_ACCESSES + 3) / 4)
/* Most events of the groups of one chunk; a full ring has fewer. */
#define TRACE_LOOP_EVENTS (1u << 26)

static inline unsigned trace_loop_accesses(const struct trace_record *head)
{
	return (unsigned)(head->site >> 56);
}

static inline int trace_loop_is_stride(const struct trace_record *r)
{
	return trace_site_kind(r->site) == TRACE_LOOP && trace_loop_accesses(r) == 0;
}

static inline int trace_loop_is_nest(const struct trace_record *head)
{
	return (trace_loop_accesses(head) & TRACE_NEST) != 0;
}

static inline unsigned trace_nest_before(const struct trace_record *head)
{
	return trace_loop_accesses(head) & ~TRACE_NEST;
}

/* Number of records at a nest's end, which hold what a round adds to the addresses. */
static inline unsigned trace_nest_adds(unsigned accesses)
{
	return (accesses + 3) / 4;
}

static inline int trace_loop_is_access(const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site);

	return kind == TRACE_READ || kind == TRACE_WRITE;
}

/* trace_loop_size() of a group. */
static inline size_t trace_group_size(const struct trace_record *r, size_t count)
{
	unsigned accesses = trace_loop_accesses(r);
	size_t n = 1;

	if (accesses == 0 || accesses > TRACE_LOOP_ACCESSES || r->addr == 0 ||
	    r->addr > TRACE_LOOP_ITERATIONS)
		return 0;
	for (; accesses > 0; accesses--) {
		n += n < count && trace_loop_is_stride(&r[n]);
		if (n >= count || !trace_loop_is_access(&r[n++]))
			return 0;
	}
	return n;
}

/* trace_loop_size() of a nest. */
static inline size_t trace_nest_size(const struct trace_record *r, size_t count)
{
	unsigned before = trace_nest_before(r), adds;
	size_t n = 1 + before, group;

	if (before > TRACE_NEST_BEFORE || r->addr == 0 || r->addr > TRACE_NEST_ROUNDS ||
	    n >= count || trace_site_kind(r[n].site) != TRACE_LOOP)
		return 0;
	for (unsigned i = 1; i <= before; i++)
		if (!trace_loop_is_access(&r[i]))
			return 0;
	group = trace_group_size(&r[n], count - n);
	if (!group)
		return 0;
	adds = trace_nest_adds(before + trace_loop_accesses(&r[n]));
	n += group;
	for (; adds > 0; adds--)
		if (n >= count || !trace_loop_is_stride(&r[n++]))
			return 0;
	return n;
}

/*
 * The number of records of the group or nest that begins at r[0], where `count` records are. 0: no
 * group begins there, or a part of it is missing.
 */
static inline size_t trace_loop_size(const struct trace_record *r, size_t count)
{
	return trace_loop_is_nest(r) ? trace_nest_size(r, count) : trace_group_size(r, count);
}

/* The number of events that a whole group or nest stands for. */
static inline uint64_t trace_loop_events(const struct trace_record *r)
{
	const struct trace_record *group = r;

	if (!trace_loop_is_nest(r))
		return r->addr * trace_loop_accesses(r);
	group += 1 + trace_nest_before(r);
	return r->addr * (trace_nest_before(r) + group->addr * trace_loop_accesses(group));
}

/*
 * Writes an access of a group to `r`, with a stride record before it if the stride needs one.
 * Returns the record behind it.
 */
static inline struct trace_record *trace_loop_put(struct trace_record *r, uint64_t addr,
						  uint64_t stride, uint64_t site)
{
	if (__builtin_expect(stride + 0x8000 >= 0x10000, 0)) {
		*r++ = (struct trace_record){ stride, TRACE_SITE(TRACE_LOOP, 0, site) };
		stride = 0;
	}
	*r++ = (struct trace_record){ addr | stride << 48, site };
	return r;
}

/* Writes the first record of a group, whose accesses have been written already. */
static inline void trace_loop_head(struct trace_record *group, uint64_t iterations,
				   unsigned accesses)
{
	*group = (struct trace_record){ iterations,
					TRACE_SITE(TRACE_LOOP, accesses, group[1].site) };
}

/*
 * The state of a nest that is being expanded. In these arrays and those of struct trace_loop, the
 * accesses before the group follow those of the group.
 */
struct trace_nest {
	uint64_t rounds;	/* rounds that follow the current one */
	uint64_t iterations;		/* iterations of the group in each round */
	unsigned before;
	/* Addresses in the first iteration of this round, and what the next round adds to them. */
	uint64_t first[TRACE_LOOP_ACCESSES + TRACE_NEST_BEFORE];
	uint64_t add[TRACE_LOOP_ACCESSES + TRACE_NEST_BEFORE];
};

/* A group or nest that is being expanded. */
struct trace_loop {
	/* Each access, with its address in the current iteration. */
	struct trace_record at[TRACE_LOOP_ACCESSES + TRACE_NEST_BEFORE];
	uint64_t stride[TRACE_LOOP_ACCESSES + TRACE_NEST_BEFORE];
	unsigned accesses;	/* of the group */
	/* Index of the next access, and the end of this iteration or of the part before it. */
	unsigned next, end;
	uint64_t iterations;		/* iterations left, including the current one */
	struct trace_nest nest;
};

static inline const struct trace_record *trace_group_begin(struct trace_loop *l,
							   const struct trace_record *head)
{
	const struct trace_record *r = head + 1;

	l->accesses = l->end = trace_loop_accesses(head);
	l->iterations = head->addr;
	l->next = 0;
	l->nest.rounds = l->nest.before = 0;
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

static inline void trace_nest_round(struct trace_loop *l)
{
	struct trace_nest *n = &l->nest;

	for (unsigned i = 0; i < l->accesses + n->before; i++)
		l->at[i].addr = n->first[i];
	l->iterations = n->iterations;
	l->next = n->before ? l->accesses : 0;
	l->end = l->accesses + n->before;
}

static inline const struct trace_record *trace_nest_begin(struct trace_loop *l,
							  const struct trace_record *head)
{
	unsigned before = trace_nest_before(head);
	const struct trace_record *r = trace_group_begin(l, head + 1 + before);
	struct trace_nest *n = &l->nest;

	n->rounds = head->addr - 1;
	n->iterations = l->iterations;
	n->before = before;
	for (unsigned i = 0; i < before; i++) {
		l->at[l->accesses + i] = (struct trace_record){ head[1 + i].addr & TRACE_ADDR_MASK,
								head[1 + i].site };
		l->stride[l->accesses + i] = 0;
	}
	for (unsigned i = 0; i < l->accesses + before; i++) {
		unsigned index = i < l->accesses ? i + before : i - l->accesses;

		n->first[i] = l->at[i].addr;
		n->add[i] = (uint64_t)(int16_t)(r[index / 4].addr >> 16 * (index % 4));
	}
	trace_nest_round(l);
	return r + trace_nest_adds(before + l->accesses);
}

/* Begins to expand the whole group or nest at `head`. Returns the record behind it. */
static inline const struct trace_record *trace_loop_begin(struct trace_loop *l,
							  const struct trace_record *head)
{
	return trace_loop_is_nest(head) ? trace_nest_begin(l, head) : trace_group_begin(l, head);
}

/* Begins the next round. */
static inline void trace_nest_next(struct trace_loop *l)
{
	struct trace_nest *n = &l->nest;

	n->rounds--;
	for (unsigned i = 0; i < l->accesses + n->before; i++)
		n->first[i] = (n->first[i] + n->add[i]) & TRACE_ADDR_MASK;
	trace_nest_round(l);
}

/* Returns the next access. It was the last one if l->iterations is 0 afterwards. */
static inline struct trace_record trace_loop_next(struct trace_loop *l)
{
	unsigned i = l->next;
	struct trace_record r = l->at[i];

	l->at[i].addr = (r.addr + l->stride[i]) & TRACE_ADDR_MASK;
	if (++l->next == l->end) {
		l->next = 0;
		if (i >= l->accesses)
			l->end = l->accesses;	/* the accesses before the group are done */
		else if (--l->iterations == 0 && l->nest.rounds)
			trace_nest_next(l);
	}
	return r;
}

/*
 * Number of accesses left in the group. Of a nest: in the current round's group, or in the part
 * before it.
 */
static inline uint64_t trace_loop_left(const struct trace_loop *l)
{
	if (l->next >= l->accesses)
		return l->end - l->next;
	return l->iterations ? l->iterations * l->accesses - l->next : 0;
}

/* Skips `count` accesses, fewer than trace_loop_left(). */
static inline void trace_loop_skip(struct trace_loop *l, uint64_t count)
{
	uint64_t done = l->next + count, iterations = done / l->accesses;
	unsigned next = (unsigned)(done % l->accesses);

	if (l->next >= l->accesses) {
		l->next = (unsigned)done;
		return;
	}
	for (unsigned i = 0; i < l->accesses; i++) {
		uint64_t times = iterations + (i < next) - (i < l->next);

		l->at[i].addr = (l->at[i].addr + times * l->stride[i]) & TRACE_ADDR_MASK;
	}
	l->iterations -= iterations;
	l->next = next;
}

#endif
