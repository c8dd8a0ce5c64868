/*
 * One instruction of a compiler's assembly (x86-64, AT&T syntax), as far as loops.h
 * must know it: what it writes, and whether flags matter.
 *
 * Only what is known for certain is accepted. An instruction that may write something
 * its last operand does not tell is refused, but for those listed here by name.
 */
#ifndef WRAP_ASM_INSTRUCTION_H
#define WRAP_ASM_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/asm/asm_text.h"

/* General registers have the numbers of the machine: rax rcx rdx rbx rsp rbp rsi rdi r8 … */
enum { INSN_RAX, INSN_RCX, INSN_RDX, INSN_RBX, INSN_RSP, INSN_RBP, INSN_RSI, INSN_RDI };
#define INSN_REGISTERS 16
#define INSN_RIP 16
#define INSN_NONE 0xff

enum insn_operand_kind {
	INSN_IMMEDIATE,		/* symbol and number */
	INSN_REGISTER,
	INSN_VECTOR,
	INSN_MEMORY,
};

struct insn_operand {
	uint8_t kind;		/* enum insn_operand_kind */
	uint8_t size;		/* bytes of a register */
	uint8_t reg;		/* the register, of vectors its number, or the base of an address */
	uint8_t index, scale;
	bool opaque;		/* the address depends on more than is told here */
	bool got;		/* symbol@GOTPCREL(%rip): what is there is the symbol's address */
	struct asmtext_word symbol;
	int64_t number;
};

enum insn_kind {
	INSN_MOVE,		/* all bytes of the source */
	INSN_LEA,
	INSN_ADD,
	INSN_SUB,
	INSN_INC,
	INSN_DEC,
	INSN_NEG,
	INSN_SHL,
	INSN_XOR,
	INSN_COMPARE,		/* writes flags only */
	INSN_SET,		/* the last operand becomes something that it need not have been before */
	INSN_CHANGE,		/* the last operand becomes something, of what it was */
	INSN_WIDE,		/* %rax and %rdx become something: mul, div */
	INSN_ACC,		/* %rax becomes something of itself: cltq */
	INSN_SIGN,		/* %rdx becomes the sign of %rax: cqto */
	INSN_NOTHING,
	INSN_BRANCH,		/* a conditional jump to operand 0 */
	INSN_JUMP,		/* to operand 0 */
	INSN_LEAVE,		/* call or ret */
};

#define INSN_CARRY 1u
#define INSN_OTHER_FLAGS 2u
#define INSN_ALL_FLAGS 3u

struct insn {
	uint8_t kind;		/* enum insn_kind */
	uint8_t sets;		/* flags that do not depend on what they were */
	bool maybe_sets;	/* others may change too */
	uint8_t reads;		/* flags */
	uint8_t size;		/* of the operation in bytes, or 64 if that is not clear */
	uint8_t count;
	struct insn_operand operand[4];
};

/* False: not known well enough. Comments behind the instruction are fine. */
bool insn_read(struct asmtext_word line, struct insn *in);

#endif
