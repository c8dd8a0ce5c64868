/*
 * Straight-line code that was copied without its hooks has instructions that were there for them: addresses
 * put into %rdi, values that went to another register because a call would not have kept them.
 *
 * What nobody reads goes, and so does the way back of a value that is still where it came from. What is made for
 * a copy alone is made where that goes.
 */
#ifndef WRAP_LOOPS_DEAD_CODE_H
#define WRAP_LOOPS_DEAD_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wrap/asm/asm_text.h"

/* Registers by their numbers, as in insn.h. */
struct dead_code_live {
	uint16_t general, vector;
	uint16_t lower;		/* of vector registers, the lower half */
};

#define DEAD_CODE_ALL ((struct dead_code_live){ .general = 0xffff, .vector = 0xffff })

/*
 * Appends the lines of `text`, a turn of a loop without jumps and calls, to *out, and to *behind what is to be done once behind
 * the loop, so that what they do to memory and to the registers that live on from turn to turn and there is unchanged; flags live on, too. All
 * of it is copied as it is where an instruction is not known.
 */
void dead_code_write(struct asmtext_word text, struct dead_code_live live, struct buf *out, struct buf *behind);

/* Adds what the instruction names; false if it is not known. */
bool dead_code_add_names(struct asmtext_word line, struct dead_code_live *live);

#endif
