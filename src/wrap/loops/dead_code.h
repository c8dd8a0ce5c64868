/*
 * Dead code elimination and copy propagation for the body of a loop whose hooks were left out. The
 * body has instructions that only served hooks: addresses moved to %rdi, and values moved to
 * another register because the call would not have preserved them.
 *
 *	movq	%rbx, %rdi		dropped: nothing reads %rdi
 *	movapd	%xmm0, %xmm8		dropped, if nothing else reads %xmm8:
 *	movapd	%xmm8, %xmm0		dropped: %xmm0 still has the value
 *	leaq	(%rbx,%rbp,8), %rax	becomes leaq (%rbx,%rbp,8), %rcx
 *	movq	%rax, %rcx		dropped, if %rax is dead behind it
 *
 * A copy whose result is needed only behind the loop moves there.
 */
#ifndef WRAP_LOOPS_DEAD_CODE_H
#define WRAP_LOOPS_DEAD_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wrap/asm/asm_text.h"

/* Sets of registers: bit n is register n (asm/instruction.h). */
struct dead_code_live {
	uint16_t general, vector;
	uint16_t lower;		/* vector registers of which only the lower 64 bits are live */
};

#define DEAD_CODE_ALL ((struct dead_code_live){ .general = 0xffff, .vector = 0xffff })

/*
 * Writes `text`, the body of a loop without jumps and calls, with fewer instructions to *out, and
 * instructions that are to be executed once behind the loop to *behind. The effect on memory, flags
 * and the registers in `live` is the same, for the next iteration and behind the loop. If an
 * instruction is not known, `text` is copied unchanged.
 */
void dead_code_write(struct asmtext_word text, struct dead_code_live live, struct buf *out,
		     struct buf *behind);

/* Adds the registers that the instruction reads or writes to *live; false if it is not known. */
bool dead_code_add_names(struct asmtext_word line, struct dead_code_live *live);

#endif
