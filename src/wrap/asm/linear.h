/*
 * What one turn of a loop does to registers, as far as that is linear.
 *
 * A variable is a general register, or eight bytes of the stack at a fixed distance
 * from %rsp that nothing but this function's own plain accesses can reach. The value of
 * each is followed through the turn as symbol + constant + a few (variable at the start of
 * the turn × factor), or is unknown. What is tainted depends on what was read from other
 * memory.
 */
#ifndef WRAP_ASM_LINEAR_H
#define WRAP_ASM_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/asm/instruction.h"

#define LINEAR_STACK 16		/* places of the stack that are followed */
#define LINEAR_VARIABLES (INSN_REGISTERS + LINEAR_STACK)
#define LINEAR_TERMS 4

struct linear_term {
	uint16_t variable;
	int64_t factor;		/* not 0 */
};

struct linear {
	bool known;
	uint8_t terms;			/* ascending variables */
	struct asmtext_word symbol;	/* empty: none */
	int64_t constant;
	struct linear_term term[LINEAR_TERMS];
};

struct linear_state {
	struct linear value[LINEAR_VARIABLES];
	bool tainted[LINEAR_VARIABLES];
	uint8_t flags_set;		/* within the turn */
	bool flags_tainted;
	bool follow_stack;		/* no other way leads to the stack: its values are known */
	uint8_t stack_count;
	int64_t stack[LINEAR_STACK];	/* distances from %rsp */
};

/* Before the first turn. `follow_stack` as in the struct. */
void linear_init(struct linear_state *t, bool follow_stack);

/*
 * The next turn begins: every variable is itself again, what was tainted stays so. As long
 * as a turn taints more, or finds more of the stack, it must be walked once more.
 */
void linear_begin_iteration(struct linear_state *t);

/* False: the loop cannot be told. Jumps and calls are the caller's business. */
bool linear_step(struct linear_state *t, const struct insn *in);

/* What the operand is at this point of the turn, if it is all 64 bits of something. */
struct linear linear_read(struct linear_state *t, const struct insn_operand *o);

/* By how much a is more than b, if that is always the same. */
bool linear_distance(const struct linear *a, const struct linear *b, int64_t *distance);

/* A hook is called that keeps the registers of the mask. */
void linear_call(struct linear_state *t, uint32_t kept);

/* At the end of a turn: whether it adds a constant to the variable, maybe 0. */
bool linear_advance(const struct linear_state *t, unsigned variable, int64_t *step);

/*
 * At the end of a turn: by how much `at`, a value within the turn, grows from turn to
 * turn. Only constants and variables that do not change are in *stride. False: not
 * linear.
 */
bool linear_stride(const struct linear_state *t, const struct linear *at, struct linear *stride);

#endif
