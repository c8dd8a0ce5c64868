/*
 * Parses a compiler's assembly (x86-64, AT&T syntax, gcc or clang) into lines, sections, atoms,
 * symbols, and references between them.
 *
 * An atom, as in a linker, is a piece of a section that begins at a symbol: a function, a
 * variable, a constant, a jump table. Directives before its first label that are about it
 * (alignment, .type) belong to it. Index 0 of atoms, sections and symbols means "none".
 *
 * Example, with lines numbered from 0:
 *
 *	0	.text			section 1
 *	1	.type	f, @function	atom 1, as it is about f
 *	2 f:				atom 1: symbol f, label 2, first 1, last 5
 *	3	call	g		atom 1; a reference from atom 1 to symbol g
 *	4 .L2:				atom 1: local labels begin no function
 *	5	ret			atom 1
 */
#ifndef WRAP_ASM_ASM_TEXT_H
#define WRAP_ASM_ASM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"

/* A piece of the text, without a terminating NUL. */
struct asmtext_word {
	const char *at;
	uint32_t size;
};

enum asmtext_kind {
	ASMTEXT_OTHER,		/* comment or blank line */
	ASMTEXT_CODE,		/* instruction, or any line of inline assembly */
	ASMTEXT_DIRECTIVE,
	ASMTEXT_LABEL,		/* label, with at most a comment behind it */
	ASMTEXT_SECTION,	/* directive that changes the section */
};

struct asmtext_line {
	struct asmtext_word text;	/* without the newline */
	uint32_t section, atom;
	uint8_t kind;			/* enum asmtext_kind */
	bool user;			/* inline assembly of the programmer: #APP to #NO_APP */
};

struct asmtext_section {
	struct asmtext_word name, group;	/* group: empty if it is in none */
	struct asmtext_word line;	/* the first directive that names the section, with flags */
	bool exec, write, alloc;	/* flags x, w, a */
	bool debug;		/* it holds debug information */
	uint32_t open;		/* the atom that the next line belongs to; 0: none */
	uint32_t last;		/* the atom that began last */
	size_t pending;		/* first line that belongs to the next atom; SIZE_MAX: none */
};

struct asmtext_atom {
	uint32_t section;
	uint32_t symbol;	/* its first symbol that is no local label, else its first */
	uint32_t first, last;	/* first and last line; lines of other sections may lie between */
	uint32_t label;		/* line of the symbol's label */
	bool labels_only;	/* so far it has labels, but no content */
	bool has_refs;		/* it is data and refers to symbols */
	bool defines_symbol;	/* inline assembly in it defines a symbol that is not local */
};

enum asmtext_defined {
	ASMTEXT_UNDEFINED,
	ASMTEXT_ATOM,		/* a label in `atom`, or outside of all atoms if that is 0 */
	ASMTEXT_COMMON,		/* .comm, .lcomm */
	ASMTEXT_SET,		/* .set, .equ: another name of something */
};

struct asmtext_symbol {
	struct asmtext_word name;
	uint8_t defined;	/* enum asmtext_defined */
	bool global;		/* .globl, .weak */
	bool address_taken;	/* something other than a call or jump refers to it */
	uint32_t atom;		/* the atom that its label is in */
	uint32_t line;		/* where it is defined */
};

/* A reference from an atom to a symbol. */
struct asmtext_ref {
	uint32_t atom, symbol;
};

struct asmtext {
	struct asmtext_line *lines;
	struct asmtext_section *sections;
	struct asmtext_atom *atoms;
	struct asmtext_symbol *symbols;
	struct asmtext_ref *refs;	/* in text order; none from debug information */
	size_t line_count, section_count, atom_count, symbol_count, ref_count;
	size_t line_room, section_room, atom_room, symbol_room, ref_room;
	struct strmap by_name;		/* name of a symbol to its index */
};

/*
 * Parses `text`, which must live as long as *t. Returns -1 with the reason if it holds a directive
 * that is not supported. asmtext_free in either case.
 */
int asmtext_read(struct asmtext *t, const char *text, size_t size, struct err *err);
void asmtext_free(struct asmtext *t);

/* The symbol of that name, or 0. */
uint32_t asmtext_find(const struct asmtext *t, struct asmtext_word name);

bool asmtext_is(struct asmtext_word word, const char *text);
bool asmtext_starts(struct asmtext_word word, const char *text);
bool asmtext_same(struct asmtext_word a, struct asmtext_word b);

/* Whether the name begins with .L: the symbol table of an object does not have it. */
bool asmtext_local(struct asmtext_word name);

/*
 * Iterates over the symbols in a line: sets *word to the next one at or behind *at and moves *at,
 * or returns false. *at is line.at at first. Mnemonics, registers, numbers, strings and comments
 * are skipped. *label is set for a label that the line defines.
 */
bool asmtext_next(struct asmtext_word line, const char **at, struct asmtext_word *word,
		  bool *label);

/* The first word of a line: a directive, mnemonic or label. Empty if the line has none. */
struct asmtext_word asmtext_verb(struct asmtext_word line);

#endif
