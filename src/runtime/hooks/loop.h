/*
 * Loops that run without hooks and are recorded afterwards.
 *
 * snarl-cc makes a second copy of an inner loop, without hooks (wrap/loops/loops_find.c). Behind
 * this copy stands a call of __snarl_loop with a descriptor (struct loop of abi/layout.h). The
 * descriptor says which accesses the loop made, and how addresses and the number of iterations
 * follow from registers and slots. __snarl_loop updates the shadow of all that memory and appends
 * records.
 *
 * Accesses to memory that is the thread's own and cut are not recorded, as with hooks. All others
 * become one group of records (abi/loop_group.h). Some of them may be undecided; when the window is
 * full, record/undecided_chunks.c decides which of their iterations are kept. Where an access goes
 * from cut to shared memory, or back, the loop becomes several groups; a few iterations around that
 * point may be recorded access by access, in program order (loop_slow.c).
 *
 * The accesses of a loop in which the program crashes are not recorded.
 *
 * Example: for (int i = 0; i < 100; i++) p[i] = 7; where int *p is 0x7c3f80. gcc keeps the pointer
 * in %rbx, and its value before the loop is saved in slot 0. The code, simplified:
 *
 *	cmpb $0, __snarl_loops(%rip)	if 0, jump to the copy with hooks
 *	mov %rbx, -16(%rsp)		slot 0
 *   1:	add $4, %rbx
 *	movl $7, -4(%rbx)		the store; its hook in the other copy has pc 0x469eb2
 *	cmp %rbp, %rbx
 *	jne 1b
 *	call __snarl_loop
 *	nopl descriptor(%rip)		a nop: __snarl_loop finds the descriptor by its operand
 *
 * The descriptor:
 *
 *	accesses 1, counter 3 (%rbx), counter_slot 0, silent 0, step 4
 *	access[0]: site 0x0204000000469eb2, op 0x204 (WRITE, 2^2 bytes), base 0, stride 4,
 *		   term[0] = value 16 (slot 0) * 1
 *
 * After the loop %rbx is 0x7c4110, so there were (0x7c4110 - 0x7c3f80) / 4 = 100 iterations, and
 * the accesses lie from 0x7c3f80 to 0x7c410f. What the ring gets depends on the shadow of that
 * memory:
 *
 *	all own and cut			nothing
 *	all shared			{ 100, LOOP, 1 access, pc 0x469eb2 }
 *					{ 0x7c3f80 | 4 << 48, WRITE of 4 bytes, pc 0x469eb2 }
 *	all untouched			the same two records, which tls.undecided counts; the memory
 *					becomes the thread's own
 *	40 iterations cut, 60 shared	{ 60, LOOP, 1 access, pc 0x469eb2 }
 *					{ 0x7c4020 | 4 << 48, WRITE of 4 bytes, pc 0x469eb2 }
 *
 * The reader expands the group to 100 writes. A group of LOOP_LONG events or more is followed by a
 * time stamp; this one is not.
 */
#ifndef RUNTIME_HOOKS_LOOP_H
#define RUNTIME_HOOKS_LOOP_H

#include "abi/loop_group.h"
#include "runtime/core/mode.h"
#include "abi/layout.h"

#define LOOP_LONG 256u		/* events from which on a group is followed by a time stamp */

/*
 * The value of a register or slot (abi/layout.h). `values` is the stack pointer at the entry of
 * __snarl_loop:
 * slots lie below it, and the saved registers below the slots.
 */
static inline uint64_t loop_value(const uint64_t *values, unsigned number)
{
	return values[~(int64_t)(number ^ LOOP_FIRST_SLOT)];
}

/* No branch for a missing term: it is 0 times some register. */
static inline uint64_t loop_term(const uint64_t *values, struct loop_term term)
{
	return (uint64_t)term.factor * loop_value(values, term.value);
}

/* The address in the first iteration. */
static inline uint64_t loop_first_address(const struct loop_access *a, const uint64_t *values)
{
	return a->base + loop_term(values, a->term[0]) + loop_term(values, a->term[1]);
}

static inline uint64_t loop_stride(const struct loop_access *a, const uint64_t *values)
{
	return (uint64_t)a->stride +
	       (unlikely(a->stride_term.factor) ? loop_term(values, a->stride_term) : 0);
}

/* N if the access N before this one has the same addresses; 0 if none has. */
static inline unsigned loop_equal_before(const struct loop_access *a)
{
	return a->stride_term.factor ? 0 : a->stride_term.value;
}

/* The number of iterations; 0 if the counter did not change by a multiple of the step. */
static inline uint64_t loop_iterations(const struct loop *l, const uint64_t *values)
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

#define LOOP_MIXED (~0u)	/* result of loop_make_group() */

/*
 * Updates the shadow for the accesses of *iterations iterations (at most TRACE_LOOP_ITERATIONS),
 * beginning with iteration `from`, and makes a group of those whose memory is not cut. If an access
 * goes from cut to shared memory, or back, *iterations becomes the number of iterations before
 * that.
 *
 * Returns the number of records in the group, 0 if there is nothing to record, or LOOP_MIXED if an
 * access has both cut and shared memory and it is not known from which iteration on. *undecided
 * becomes the number of events in the group whose memory is undecided. The thread must be
 * recording.
 */
SNARLRT_HIDDEN unsigned loop_make_group(struct trace_record group[TRACE_LOOP_RECORDS],
					const struct loop *l, const uint64_t *values, uint64_t from,
					uint64_t *iterations, uint32_t *undecided);

static inline uint32_t loop_events(const struct trace_record *group)
{
	return (uint32_t)(group->addr * trace_loop_accesses(group));
}

/*
 * Counts a group of `records` records that was appended; `undecided` of its events are undecided.
 */
static inline void loop_count_events(struct snarlrt_thread *self, const struct trace_record *group,
				     uint32_t records, uint32_t undecided)
{
	self->loop_excess += loop_events(group) - records;
	if (undecided) {
		__snarl_tls.undecided += records;
		self->undecided_more += undecided - records;
	}
}

static inline bool loop_is_long(const struct trace_record *group)
{
	return loop_events(group) >= LOOP_LONG;
}

/*
 * In loop_x86_64.S. True if `blocks` blocks of 16 bytes, at least one, from `s` on equal the 8
 * bytes `value` twice, in the bits that `mask` has. Keeps the vector registers.
 */
SNARLRT_HIDDEN bool snarlrt_loop_scan(const uint8_t *s, uint64_t blocks, uint64_t value,
				      uint64_t mask);

/* Results for loop_x86_64.S. */
enum loop_result {
	LOOP_DONE,
	LOOP_SLOW,	/* nothing was recorded yet: snarlrt_loop_slow() has to */
	LOOP_DELIVER,	/* recorded, and deferred signals have to be delivered */
};

/* Records a loop, if it takes one group and the ring has room. Uses no vector registers. */
SNARLRT_HIDDEN enum loop_result snarlrt_loop_fast(const struct loop *l, const uint64_t *values);

/*
 * Appends a group that is complete up to `end` but for its first record. Uses no vector registers.
 */
SNARLRT_HIDDEN enum loop_result snarlrt_loop_append(struct trace_record *group,
						    struct trace_record *end, uint64_t iterations);

/* Records a loop in any number of groups. If `l` is NULL, delivers deferred signals instead. */
SNARLRT_HIDDEN void snarlrt_loop_slow(const struct loop *l, const uint64_t *values);

void __snarl_loop(void);

/*
 * Called by the code that wrap/loops/loops_end.c writes behind a short loop. That code checks the
 * shadow and appends the group itself, and leaves all but simple cases to __snarl_loop. The
 * functions have calling conventions of their own: see loop_end_x86_64.S, loop_strided_x86_64.S and
 * loop_nest_x86_64.S.
 */
void __snarl_loop_look(void);
void __snarl_loop_look_apart(void);
void __snarl_loop_round(void);
void __snarl_loop_open(void);
void __snarl_loop_close(void);

#endif
