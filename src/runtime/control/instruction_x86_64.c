/*
 * The length of an x86-64 instruction: prefixes, opcode, operand bytes (ModRM, SIB, displacement),
 * immediate. The tables say which opcodes have operand bytes and how large their immediate is; what
 * an instruction does is of no interest.
 */
#include "runtime/control/instruction.h"

enum {
	NONE,		/* no operand bytes, no immediate */
	BYTE,		/* an immediate of one byte */
	WORD,		/* of two bytes */
	FULL,		/* of four bytes; two with the prefix 66 */
	LONG,		/* of four bytes in any case: the distance of a jump */
	WIDE,		/* as FULL, but eight bytes with REX.W: mov $imm64 */
	ADDRESS,	/* an absolute address of eight bytes */
	ENTER,		/* of three bytes */
	SIZES = 0xf,
	M = 0x10,	/* has operand bytes */
	TEST = 0x20,	/* the immediate belongs to test alone, operand digits 0 and 1 */
	BAD = 0x80,	/* not in 64-bit mode, or a prefix */
};

#define ROW4(a) a, a, a, a
#define ROW8(a) ROW4(a), ROW4(a)
#define ARITHMETIC ROW4(M), BYTE, FULL, BAD, BAD

static const uint8_t one_byte[256] = {
	ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC,
	ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC,
	/* 40 */ ROW8(BAD), ROW8(BAD), ROW8(NONE), ROW8(NONE),
	/* 60 */ BAD, BAD, BAD, M, ROW4(BAD), FULL, M | FULL, BYTE, M | BYTE, ROW4(NONE),
	/* 70 */ ROW8(BYTE), ROW8(BYTE),
	/* 80 */ M | BYTE, M | FULL, BAD, M | BYTE, ROW4(M), ROW8(M),
	/* 90 */ ROW8(NONE), NONE, NONE, BAD, ROW4(NONE), NONE,
	/* a0 */ ROW4(ADDRESS), ROW4(NONE), BYTE, FULL, ROW4(NONE), NONE, NONE,
	/* b0 */ ROW8(BYTE), ROW8(WIDE),
	/* c0 */ M | BYTE, M | BYTE, WORD, NONE, BAD, BAD, M | BYTE, M | FULL,
	/* c8 */ ENTER, NONE, WORD, NONE, NONE, BYTE, BAD, NONE,
	/* d0 */ ROW4(M), BAD, BAD, BAD, NONE, ROW8(M),
	/* e0 */ ROW8(BYTE), LONG, LONG, BAD, BYTE, ROW4(NONE),
	/* f0 */ BAD, NONE, BAD, BAD, NONE, NONE, M | BYTE | TEST, M | FULL | TEST,
	/* f8 */ ROW4(NONE), NONE, NONE, M, M,
};

static uint8_t two_byte(uint8_t op)
{
	switch (op) {
	case 0x05: case 0x06: case 0x07: case 0x08: case 0x09: case 0x0b: case 0x0e: case 0x77:
	case 0xa0: case 0xa1: case 0xa2: case 0xa8: case 0xa9: case 0xaa:
		return NONE;
	case 0x04: case 0x0a: case 0x0c: case 0x24: case 0x25: case 0x26: case 0x27: case 0x36:
	case 0x39: case 0x3b: case 0x3c: case 0x3d: case 0x3e: case 0x3f: case 0xa6: case 0xa7:
		return BAD;
	case 0x0f: case 0x70: case 0x71: case 0x72: case 0x73: case 0xa4: case 0xac: case 0xba:
	case 0xc2: case 0xc4: case 0xc5: case 0xc6:
		return M | BYTE;
	}
	if ((op >= 0x30 && op <= 0x37) || (op >= 0xc8 && op <= 0xcf))
		return NONE;
	return op >= 0x80 && op <= 0x8f ? LONG : M;
}

/* The opcode maps of VEX and EVEX: 1 is that of 0f, 2 of 0f 38, 3 of 0f 3a. */
static uint8_t mapped(unsigned map, uint8_t op)
{
	switch (map) {
	case 1: return two_byte(op);
	case 2: case 5: case 6: return M;
	case 3: return M | BYTE;
	default: return BAD;
	}
}

struct decoded {
	uint8_t form;		/* of the tables above */
	bool rex_w, half, short_address;	/* REX.W, the prefixes 66 and 67 */
};

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return false;
}

/* Takes prefixes and opcode; returns their length, 0 if there is no opcode. */
static size_t take_opcode(const uint8_t *code, size_t size, struct decoded *d)
{
	size_t at = 0;

	for (; at < size && is_prefix(code[at]); at++) {
		d->half |= code[at] == 0x66;
		d->short_address |= code[at] == 0x67;
	}
	if (at < size && (code[at] & 0xf0) == 0x40)
		d->rex_w = code[at++] & 8;
	if (size < at + 7)	/* the bytes read below, and two of the operand */
		return 0;
	switch (code[at]) {
	case 0xc5:
		d->form = mapped(1, code[at + 2]);
		return at + 3;
	case 0xc4:
		d->form = mapped(code[at + 1] & 0x1f, code[at + 3]);
		return at + 4;
	case 0x62:
		d->form = mapped(code[at + 1] & 7, code[at + 4]);
		return at + 5;
	case 0x0f:
		if (code[at + 1] == 0x38 || code[at + 1] == 0x3a) {
			d->form = mapped(code[at + 1] == 0x38 ? 2 : 3, code[at + 2]);
			return at + 3;
		}
		d->form = two_byte(code[at + 1]);
		return at + 2;
	default:
		d->form = one_byte[code[at]];
		return at + 1;
	}
}

/* The size of the operand bytes that begin with this ModRM byte. */
static size_t operand_size(const uint8_t *p)
{
	unsigned mod = p[0] >> 6, rm = p[0] & 7;
	size_t size = 1;
	bool no_base = rm == 5;

	if (mod == 3)
		return size;
	if (rm == 4) {
		size++;
		no_base = (p[1] & 7) == 5;
	}
	if (mod == 1)
		return size + 1;
	return size + (mod == 2 || no_base ? 4 : 0);
}

static size_t immediate_size(const struct decoded *d)
{
	switch (d->form & SIZES) {
	case BYTE: return 1;
	case WORD: return 2;
	case FULL: return d->half && !d->rex_w ? 2 : 4;
	case LONG: return 4;
	case WIDE: return d->rex_w ? 8 : d->half ? 2 : 4;
	case ADDRESS: return d->short_address ? 4 : 8;
	case ENTER: return 3;
	default: return 0;
	}
}

size_t instruction_length(const uint8_t *code, size_t size)
{
	struct decoded d = { 0 };
	size_t at = take_opcode(code, size, &d);

	if (at == 0 || d.form & BAD || at + 2 > size)
		return 0;
	if (d.form & TEST && (code[at] & 0x30))
		d.form = M;
	if (d.form & M)
		at += operand_size(code + at);
	at += immediate_size(&d);
	return at <= size && at <= INSTRUCTION_MAX ? at : 0;
}
