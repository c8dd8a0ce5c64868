/*
 * One instruction of a turn: what it reads and writes (dead_code_step.c), for those who take some away (thin.c).
 */
#ifndef WRAP_LOOPS_DEAD_CODE_INTERNAL_H
#define WRAP_LOOPS_DEAD_CODE_INTERNAL_H

#include "wrap/asm/instruction.h"
#include "wrap/loops/dead_code.h"

/* What may be live, as bits: general registers, lower and upper halves of vector registers, flags. */
#define GENERAL(r) (1ull << (r))
#define LOW(r) (1ull << (16 + (r)))
#define HIGH(r) (1ull << (32 + (r)))
#define HIGHS (HIGH(16) - HIGH(0))
#define FLAGS(f) ((uint64_t)(f) << 48)

struct dead_code_step {
	struct asmtext_word text;
	bool code, removed;
	bool after_loop;		/* gone from the turn, and made behind the loop */
	bool clears_upper_after;		/* gone, and the upper half becomes 0 behind the loop */
	char *own;		/* the text, if it was changed */
	bool pure;		/* it does nothing but write registers and flags */
	bool lanes;		/* the upper half is made of upper halves, and of nothing else */
	bool copy;		/* of all 64 bits, or of the lower half, to the last operand */
	bool zeroes;		/* … and the upper half becomes 0 */
	uint64_t reads;
	uint64_t sets;		/* wholly */
	uint64_t writes;	/* these, and those that change in part */
	uint64_t live;		/* behind it */
	size_t value;		/* of a copy, by a number */
	struct insn in;
};

static inline uint64_t dead_code_both_halves(const struct insn_operand *o)
{
	return LOW(o->reg) | HIGH(o->reg);
}

/* All that the operand names; of memory that is its address. */
uint64_t dead_code_named_by(const struct insn_operand *o);

/* Fills in what step->text does. False: the instruction is not known. */
bool dead_code_read(struct dead_code_step *step);

#endif
