/*
 * One instruction of a turn: what it reads and writes (thin_step.c), for those who take some away (thin.c).
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

struct thin_step {
	struct asmtext_word text;
	bool code, gone;
	bool later;		/* gone from the turn, and made behind the loop */
	bool clears;		/* gone, and the upper half becomes 0 behind the loop */
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

static inline uint64_t thin_both(const struct insn_operand *o)
{
	return LOW(o->reg) | HIGH(o->reg);
}

/* All that the operand names; of memory that is its address. */
uint64_t thin_named_by(const struct insn_operand *o);

/* Fills in what step->text does. False: the instruction is not known. */
bool thin_look(struct thin_step *step);

#endif
