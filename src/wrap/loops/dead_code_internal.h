/*
 * What one instruction of a loop's body reads and writes: dead_code_step.c finds out, and
 * dead_code.c uses it to drop instructions.
 */
#ifndef WRAP_LOOPS_DEAD_CODE_INTERNAL_H
#define WRAP_LOOPS_DEAD_CODE_INTERNAL_H

#include "wrap/asm/instruction.h"
#include "wrap/loops/dead_code.h"

/* Bits for what may be live: general registers, halves of vector registers, groups of flags. */
#define GENERAL(r) (1ull << (r))
#define LOW(r) (1ull << (16 + (r)))
#define HIGH(r) (1ull << (32 + (r)))
#define HIGHS (HIGH(16) - HIGH(0))
#define FLAGS(f) ((uint64_t)(f) << 48)

/* One line of the body. */
struct dead_code_step {
	struct asmtext_word text;
	bool code;		/* it is an instruction; else no other member matters */
	bool removed;		/* it is dropped from the body */
	bool after_loop;	/* removed, but executed behind the loop */
	bool clears_upper_after;	/* removed, but the upper half is cleared behind the loop */
	char *own;		/* from malloc: the changed text; NULL: it is the original */
	bool pure;		/* its only effect is on registers and flags */
	bool lanes;		/* the result's upper half depends only on upper halves */
	bool copy;		/* copies a general register, or a lower half, to operand 1 */
	bool zeroes;		/* a copy that clears the upper half of operand 1 */
	uint64_t reads;
	uint64_t sets;		/* what it overwrites completely */
	uint64_t writes;	/* `sets`, and what it changes in part */
	uint64_t live;		/* what is live behind it */
	size_t value;		/* the value that it copies, as a value number */
	struct insn in;
};

/* Both halves of a vector register. */
static inline uint64_t dead_code_both_halves(const struct insn_operand *o)
{
	return LOW(o->reg) | HIGH(o->reg);
}

/* The registers that the operand names: for memory, those of its address. */
uint64_t dead_code_named_by(const struct insn_operand *o);

/* Decodes step->text and fills the other members. False: the instruction is not known. */
bool dead_code_read(struct dead_code_step *step);

#endif
