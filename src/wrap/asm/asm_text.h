/*
 * A compiler's assembly (x86-64, AT&T syntax, gcc or clang) taken apart: which line
 * is in which section and belongs to which function or datum, and who names whom.
 *
 * An atom is what begins at a symbol: a function, a variable, a constant, a jump
 * table. Lines before the first label of an atom that belong to it (alignment, .type)
 * are its too. Index 0 of atoms, sections and symbols is nobody.
 */
#ifndef WRAP_ASM_ASM_TEXT_H
#define WRAP_ASM_ASM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"

/* A piece of the text. */
struct asmtext_word {
	const char *at;
	uint32_t size;
};

enum asmtext_kind {
	ASMTEXT_OTHER,		/* comments, blank lines */
	ASMTEXT_CODE,		/* an instruction, or text of the programmer */
	ASMTEXT_DIRECTIVE,
	ASMTEXT_LABEL,		/* a label first; only a comment behind it */
	ASMTEXT_SECTION,	/* it changes the section */
};

struct asmtext_line {
	struct asmtext_word text;	/* without the newline */
	uint32_t section, atom;
	uint8_t kind;
	bool user;			/* between #APP and #NO_APP */
};

struct asmtext_section {
	struct asmtext_word name, group, line;	/* line: the directive that has the flags */
	bool exec, write, alloc, debug;
	uint32_t open;		/* the atom under way */
	uint32_t last;		/* the one before it */
	size_t pending;		/* lines from here on wait for their atom; SIZE_MAX: none */
};

struct asmtext_atom {
	uint32_t section;
	uint32_t symbol;	/* the first one that is no local label, else the first */
	uint32_t first, last;	/* lines */
	uint32_t label;		/* the line of the symbol's label */
	bool labels_only;	/* nothing behind the labels so far */
	bool has_refs;	/* a datum that refers to others */
	bool defines_symbol;		/* text of the programmer defines a symbol in it */
};

enum asmtext_defined {
	ASMTEXT_UNDEFINED,
	ASMTEXT_ATOM,		/* a label in `atom`, or loose in a section if that is 0 */
	ASMTEXT_COMMON,		/* .comm */
	ASMTEXT_SET,		/* another name: .set */
};

struct asmtext_symbol {
	struct asmtext_word name;
	uint8_t defined;	/* enum asmtext_defined */
	bool global;		/* .globl, .weak */
	bool address_taken;		/* named by other than a call or jump */
	uint32_t atom;
	uint32_t line;		/* of the definition */
};

struct asmtext_ref {
	uint32_t atom, symbol;
};

struct asmtext {
	struct asmtext_line *lines;
	struct asmtext_section *sections;
	struct asmtext_atom *atoms;
	struct asmtext_symbol *symbols;
	struct asmtext_ref *refs;	/* of atoms that are loaded, in the order of the text */
	size_t line_count, section_count, atom_count, symbol_count, ref_count;
	size_t line_room, section_room, atom_room, symbol_room, ref_room;
	struct strmap by_name;		/* symbols */
};

/* `text` must live as long. Returns -1 if it is not understood. asmtext_free in either case. */
int asmtext_read(struct asmtext *t, const char *text, size_t size, struct err *err);
void asmtext_free(struct asmtext *t);

/* 0 if there is none of that name. */
uint32_t asmtext_find(const struct asmtext *t, struct asmtext_word name);

bool asmtext_is(struct asmtext_word word, const char *text);
bool asmtext_starts(struct asmtext_word word, const char *text);
bool asmtext_same(struct asmtext_word a, struct asmtext_word b);

/* .L…: not in the symbol table of an object. */
bool asmtext_local(struct asmtext_word name);

/*
 * Walks the symbols in the operands of a line: sets *word to the next one at or
 * behind *at, or returns false. Mnemonics, registers, numbers, strings and comments are
 * no symbols; a label at the start of a statement is one, with *label set.
 */
bool asmtext_next(struct asmtext_word line, const char **at, struct asmtext_word *word,
		  bool *label);

/* The directive or mnemonic of a line, empty if it has none. */
struct asmtext_word asmtext_verb(struct asmtext_word line);

#endif
