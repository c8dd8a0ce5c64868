/*
 * Loops that ran without hooks and are told afterwards (wrap/loops/loops_find.c makes them): one call says
 * which accesses there were, at which addresses, and how many turns. The descriptor is in abi/layout.h.
 *
 * What is private and cut is left out, all else becomes one group of records (abi/loop_group.h); of what may be
 * private, the stash decides later which turns of it are kept. An access whose memory is in part private and cut,
 * in part shared, makes two groups of a loop; of a few turns each access is told by itself in the order of the
 * program, as its hook would have done.
 */
#ifndef RUNTIME_HOOKS_LOOP_H
#define RUNTIME_HOOKS_LOOP_H

#include "abi/loop_group.h"
#include "runtime/core/runtime.h"

#define LOOP_STAMP 256u		/* events of a loop from which on it gets a time of its own */

/* `values` is where loop_x86_64.S was entered: slots are below it, and below these the registers. */
static inline uint64_t loop_value(const uint64_t *values, unsigned place)
{
	return values[~(int64_t)(place ^ LOOP_FIRST_SLOT)];
}

/* Without a branch: no term is 0 times some register. */
static inline uint64_t loop_term(const uint64_t *values, struct loop_term term)
{
	return (uint64_t)term.factor * loop_value(values, term.place);
}

static inline uint64_t loop_first(const struct loop_access *a, const uint64_t *values)
{
	return a->base + loop_term(values, a->term[0]) + loop_term(values, a->term[1]);
}

static inline uint64_t loop_stride(const struct loop_access *a, const uint64_t *values)
{
	return (uint64_t)a->stride + (unlikely(a->stride_term.factor) ? loop_term(values, a->stride_term) : 0);
}

/* How many accesses before there is one of the same memory; 0: none. */
static inline unsigned loop_same_before(const struct loop_access *a)
{
	return a->stride_term.factor ? 0 : a->stride_term.place;
}

/* 0 if the descriptor does not fit the values. */
static inline uint64_t loop_turns(const struct loop *l, const uint64_t *values)
{
	uint64_t way = loop_value(values, l->counter) -
		       loop_value(values, LOOP_FIRST_SLOT + (unsigned)l->counter_slot);
	uint64_t step = (uint64_t)l->step;

	if (l->step < 0) {
		way = -way;
		step = -step;
	}
	if ((step & (step - 1)) == 0) {
		unsigned shift = (unsigned)__builtin_ctzll(step);

		return way & (step - 1) ? 0 : way >> shift;
	}
	return way % step ? 0 : way / step;
}

static inline unsigned loop_access_size(const struct loop_access *a)
{
	return 1u << (a->op >> 8 & TRACE_SIZE_MASK);
}

#define LOOP_MIXED (~0u)

/*
 * Touches the memory that `turns` turns (at most TRACE_LOOP_TURNS), from turn `from` on, of
 * the accesses have touched, and makes a group of those where it is not private and cut. Where one of them comes from private
 * to shared memory, or back, `turns` becomes those before that. Returns the group's
 * records; 0 if there is nothing to tell, LOOP_MIXED if it is not known how many turns could be told at once. So many accesses of the
 * group may be undecided. The thread is one that records now.
 */
SNARLRT_HIDDEN unsigned loop_group(struct trace_record group[TRACE_LOOP_RECORDS], const struct loop *l,
				   const uint64_t *values, uint64_t from, uint64_t *turns, uint32_t *undecided);

static inline uint32_t loop_events(const struct trace_record *group)
{
	return (uint32_t)(group->addr * trace_loop_accesses(group));
}

/* A group of so many records is in the ring; so many of its events are to memory that may be private. */
static inline void loop_count(struct snarlrt_thread *self, const struct trace_record *group, uint32_t records,
			      uint32_t undecided)
{
	self->in_loops += loop_events(group) - records;
	if (undecided) {
		__snarl_tls.undecided += records;
		self->undecided_more += undecided - records;
	}
}

/* It has so many events that they get a time of their own. */
static inline bool loop_is_long(const struct trace_record *group)
{
	return loop_events(group) >= LOOP_STAMP;
}

/*
 * In loop_x86_64.S: whether so many blocks (at least one) of 16 bytes from s on are twice `value`, where
 * `mask` has bits. Keeps the vector registers.
 */
SNARLRT_HIDDEN bool snarlrt_loop_scan(const uint8_t *s, uint64_t blocks, uint64_t value, uint64_t mask);

/* For loop_x86_64.S. */
enum loop_done { LOOP_DONE, LOOP_SLOW, LOOP_DELIVER };

/* These use no vector registers. LOOP_SLOW: nothing was told yet. */
SNARLRT_HIDDEN enum loop_done snarlrt_loop_quick(const struct loop *l, const uint64_t *values);

/* A group that is made already, but for its first record. */
SNARLRT_HIDDEN enum loop_done snarlrt_loop_tell(struct trace_record *group, struct trace_record *end,
						uint64_t turns);

/* NULL: no loop, but signals that waited. */
SNARLRT_HIDDEN void snarlrt_loop_slow(const struct loop *l, const uint64_t *values);

/*
 * LOOPS_ASK, LOOPS_PLAIN or 0, set when the mode is known. With a list of sites a loop is told whole if one of its
 * sites is on; if none is, nothing is left of its end (sites.c).
 */
extern SNARLRT_EXPORT uint8_t __snarl_loops;
SNARLRT_HIDDEN void snarlrt_loops_allow(void);
void __snarl_loop(void);

/*
 * For short loops over memory that is private or shared, whose code looks at it and writes the group itself
 * (wrap/loops/loops_end.c); they have conventions of their own (loop_end_x86_64.S, loop_strided_x86_64.S,
 * loop_nest_x86_64.S). Anything else is __snarl_loop's.
 */
void __snarl_loop_look(void);
void __snarl_loop_look_apart(void);
void __snarl_loop_round(void);
void __snarl_loop_open(void);
void __snarl_loop_close(void);

#endif
