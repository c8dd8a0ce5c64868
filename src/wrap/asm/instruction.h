/*
 * Decodes one instruction of a compiler's assembly (x86-64, AT&T syntax) as far as the passes over
 * loops need it: its operands, what it writes, and which flags it reads and sets.
 *
 * An instruction is accepted only if it is known to write nothing but its last operand and flags,
 * or if an enum insn_kind below says what else it writes. All others are rejected.
 *
 * Example: "addq $4, %rbx" is kind INSN_ADD, size 8, sets INSN_ALL_FLAGS, with operand 0 an
 * immediate of number 4 and operand 1 the register 3 of 8 bytes.
 */
#ifndef WRAP_ASM_INSTRUCTION_H
#define WRAP_ASM_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/asm/asm_text.h"

/* General registers, numbered as in machine code; 8 to 15 are r8 to r15. */
enum { INSN_RAX, INSN_RCX, INSN_RDX, INSN_RBX, INSN_RSP, INSN_RBP, INSN_RSI, INSN_RDI };
#define INSN_REGISTERS 16	/* general registers, and vector registers without AVX-512 */
#define INSN_RIP 16		/* as the base of an address */
#define INSN_NONE 0xff		/* the address has no base, or no index */

enum insn_operand_kind {
	INSN_IMMEDIATE,		/* symbol + number */
	INSN_REGISTER,
	INSN_VECTOR,
	INSN_MEMORY,		/* at symbol + number + reg + index * scale */
};

struct insn_operand {
	uint8_t kind;		/* enum insn_operand_kind */
	uint8_t size;		/* bytes, if it is a register */
	uint8_t reg;		/* number of the register, or base of an address */
	uint8_t index, scale;	/* of an address */
	bool opaque;		/* the value or address depends on more than these members */
	bool got;		/* symbol@GOTPCREL(%rip): memory that holds the symbol's address */
	struct asmtext_word symbol;	/* empty: none */
	int64_t number;
};

enum insn_kind {
	INSN_MOVE,		/* copies all bytes of operand 0 */
	INSN_LEA,
	INSN_ADD,
	INSN_SUB,
	INSN_INC,
	INSN_DEC,
	INSN_NEG,
	INSN_SHL,
	INSN_XOR,
	INSN_COMPARE,		/* writes flags only */
	INSN_SET,		/* writes the last operand; its old value does not matter */
	INSN_CHANGE,		/* computes the last operand from its old value and others */
	INSN_WIDE,		/* writes %rax and %rdx: mul, div */
	INSN_ACC,		/* computes %rax from %rax: cltq */
	INSN_SIGN,		/* fills %rdx with the sign of %rax: cqto */
	INSN_NOTHING,		/* nop, endbr64, vzeroupper */
	INSN_BRANCH,		/* conditional jump to operand 0 */
	INSN_JUMP,		/* jump to operand 0 */
	INSN_LEAVE,		/* call or ret */
};

/* Groups of flags: inc and dec set all but the carry. */
#define INSN_CARRY 1u
#define INSN_OTHER_FLAGS 2u
#define INSN_ALL_FLAGS 3u

struct insn {
	uint8_t kind;		/* enum insn_kind */
	uint8_t sets;		/* flags that it always sets, whatever they were before */
	bool maybe_sets;	/* it may change further flags, or leave them undefined */
	uint8_t reads;		/* flags that it depends on */
	uint8_t size;		/* bytes of the operation; 64, an upper limit, if unclear */
	uint8_t count;		/* operands; 0 for jumps, calls and nops, except INSN_BRANCH */
	struct insn_operand operand[4];
};

/* Decodes a line, with or without a comment. False: the instruction is rejected. */
bool insn_read(struct asmtext_word line, struct insn *in);

#endif
