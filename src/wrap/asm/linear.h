/*
 * Symbolic execution of one iteration of a loop: how registers depend on their values at the
 * iteration's start, as far as that is linear.
 *
 * A variable is a general register, or 8 bytes of the stack at a fixed offset from %rsp (a stack
 * slot). Slots are followed only if nothing but this function's own accesses by %rsp can reach
 * them. Each variable's value is
 *
 *	symbol + constant + sum of (factor * variable at the iteration's start)
 *
 * or unknown. A variable is tainted if it may depend on memory other than stack slots.
 *
 * Example: one iteration of a loop over an array of 4-byte elements
 *
 *	leaq (%rbx,%rbp,4), %rdi	rdi = rbx + 4 * rbp
 *	movl (%rdi), %eax		rax unknown and tainted
 *	addq $1, %rbp			rbp = rbp + 1
 *
 * At its end, linear_advance() of %rbp is 1, and linear_stride() of the value rbx + 4 * rbp is 4.
 */
#ifndef WRAP_ASM_LINEAR_H
#define WRAP_ASM_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/asm/instruction.h"

#define LINEAR_STACK 16		/* stack slots that are followed; more are unknown */
#define LINEAR_VARIABLES (INSN_REGISTERS + LINEAR_STACK)
#define LINEAR_TERMS 4		/* terms of a value; with more it is unknown */

struct linear_term {
	uint16_t variable;	/* a register's number, or INSN_REGISTERS + index of a stack slot */
	int64_t factor;		/* not 0 */
};

struct linear {
	bool known;			/* false: no other member means anything */
	uint8_t terms;			/* used entries of `term` */
	struct asmtext_word symbol;	/* empty: none */
	int64_t constant;
	struct linear_term term[LINEAR_TERMS];	/* by ascending variable */
};

/* All variables at one point of an iteration. */
struct linear_state {
	struct linear value[LINEAR_VARIABLES];
	bool tainted[LINEAR_VARIABLES];
	uint8_t flags_set;		/* flags that the iteration has set so far */
	bool flags_tainted;
	bool follow_stack;		/* slots have values: only accesses by %rsp reach them */
	uint8_t stack_count;		/* stack slots seen so far */
	int64_t stack[LINEAR_STACK];	/* offsets of the slots from %rsp */
};

/* The state before the first iteration. */
void linear_init(struct linear_state *t, bool follow_stack);

/*
 * Begins another iteration: each variable's value is the variable itself, and taints stay. The
 * caller repeats the iteration until it adds no taint and no stack slot.
 */
void linear_begin_iteration(struct linear_state *t);

/*
 * Executes an instruction. False: the loop cannot run without hooks. Jumps and calls are false, so
 * the caller handles them before.
 */
bool linear_step(struct linear_state *t, const struct insn *in);

/* The operand's value at this point; unknown unless it is 64 bits wide. */
struct linear linear_read(struct linear_state *t, const struct insn_operand *o);

/* Sets *distance to a - b and returns true if that is a constant. */
bool linear_distance(const struct linear *a, const struct linear *b, int64_t *distance);

/* Executes the call of a hook that preserves the general registers in the mask `kept`. */
void linear_call(struct linear_state *t, uint32_t kept);

/* At an iteration's end: whether the iteration adds a constant, *step, to the variable. */
bool linear_advance(const struct linear_state *t, unsigned variable, int64_t *step);

/*
 * At an iteration's end: sets *stride to what each iteration adds to `at`, a value from within the
 * iteration. *stride is made of constants and variables that the loop does not change. False: `at`
 * does not grow linearly.
 */
bool linear_stride(const struct linear_state *t, const struct linear *at, struct linear *stride);

#endif
