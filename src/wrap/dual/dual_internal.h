/*
 * What the steps of dual_merge() share: resolve symbols and pair functions (dual_pair.c,
 * dual_data.c), number source files (dual_file_numbers.c), write (dual_write.c, dual_table.c).
 *
 * "plain" and "inst" are the plain and the instrumented text.
 */
#ifndef WRAP_DUAL_DUAL_INTERNAL_H
#define WRAP_DUAL_DUAL_INTERNAL_H

#include "base/buf.h"
#include "wrap/asm/asm_text.h"
#include "wrap/dual/dual_merge.h"

/* What a symbol of the instrumented text is resolved to where the merged text refers to it. */
enum dual_resolution {
	DUAL_PLAIN,	/* the plain text's symbol of that name, or one defined in another file */
	DUAL_TWIN,	/* the plain text's symbol of another name, for the same thing */
	DUAL_INST,	/* the instrumented text's own, renamed */
	DUAL_MISSING,	/* nothing: atoms that refer to it are left out */
};

struct dual {
	struct asmtext plain, inst;
	bool gcc;		/* gcc made both, else clang */
	bool debug;		/* inst's debug information goes into the merged text */
	uint8_t *resolution;	/* by symbol of inst: enum dual_resolution */
	uint32_t *twin;		/* by symbol of inst: plain's symbol that is the same, or 0 */
	bool *keep;		/* by atom of inst: it goes into the merged text */
	bool *refers_to_code;	/* by atom of inst: it is data that refers to labels in functions */
	uint32_t *pair;		/* by atom of inst: the plain version of a function, or 0 */
	uint32_t *paired;	/* by atom of plain: the instrumented version, or 0 */
	struct strmap constants;	/* content of a constant of plain, to its symbol */
	struct strmap groups;	/* names of plain's section groups */
	struct map files;	/* number of a source file in inst, to its number in plain */
	struct buf new_files;	/* .file lines for files that plain does not number */
};

/* Resolves every symbol of inst, pairs functions, and decides which atoms to keep. */
void dual_pair(struct dual *d);

/* The part of dual_pair() that resolves data. */
void dual_resolve_data(struct dual *d);

/* Fills `files` and `new_files`. */
void dual_number_files(struct dual *d);

/*
 * If the line of inst holds the number of a file, writes the line up to that number, in plain's
 * numbers. Returns the rest of the line.
 */
struct asmtext_word dual_renumber_file(const struct dual *d, struct asmtext_word line,
				       struct buf *out);

/* Writes the merged text without the table. */
void dual_write(const struct dual *d, struct buf *out);

/* Writes the table of pairs, which comes last, and the code that passes it to the runtime. */
void dual_write_table(const struct dual *d, struct buf *out, struct dual_counts *counts);

static inline bool dual_is_function(const struct asmtext *t, uint32_t atom)
{
	return atom && t->sections[t->atoms[atom].section].exec;
}

#endif
