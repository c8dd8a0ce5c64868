/*
 * Between the steps of dual_merge: pair (dual_pair.c, dual_data.c), write (dual_write.c,
 * dual_table.c).
 */
#ifndef WRAP_DUAL_DUAL_INTERNAL_H
#define WRAP_DUAL_DUAL_INTERNAL_H

#include "base/buf.h"
#include "wrap/asm/asm_text.h"
#include "wrap/dual/dual_merge.h"

/* What the name of a symbol of the instrumented text becomes where it is referred to. */
enum dual_resolution {
	DUAL_PLAIN,	/* it stays: the plain text's, or defined elsewhere */
	DUAL_TWIN,	/* the plain text has the same under another name */
	DUAL_INST,	/* a copy of its own */
	DUAL_MISSING,	/* there is none: what refers to it cannot be used */
};

struct dual {
	struct asmtext plain, inst;
	bool gcc;
	bool debug;		/* the instrumented text's debug information is used */
	uint8_t *resolution;		/* of inst's symbols: enum dual_resolution */
	uint32_t *twin;		/* of inst's symbols: plain's symbol, for DUAL_TWIN */
	bool *keep;		/* of inst's atoms */
	bool *refers_to_code;	/* of inst's data: it refers to places within functions */
	uint32_t *pair;		/* of inst's functions: plain's atom, or 0 */
	uint32_t *paired;	/* of plain's functions: inst's atom, or 0 */
	struct strmap constants;	/* plain's, by what is in them: symbols */
	struct strmap groups;	/* plain's section groups */
	struct map files;	/* inst's numbers of files to plain's */
	struct buf new_files;	/* lines for those that plain does not have */
};

/* Decides the fate of every symbol, and who is kept. */
void dual_pair(struct dual *d);

/* The part of it about what is not a function. */
void dual_pair_data(struct dual *d);


/* Fills in files and new_files. */
void dual_files(struct dual *d);

/*
 * Writes the start of a line up to behind the number of a file, if it has one there, in
 * plain's numbers. Returns what is left of the line.
 */
struct asmtext_word dual_renumber(const struct dual *d, struct asmtext_word line, struct buf *out);

void dual_write(const struct dual *d, struct buf *out);

/* The table of pairs, behind all else, and what tells the runtime of it. */
void dual_write_table(const struct dual *d, struct buf *out, struct dual_counts *counts);

static inline bool dual_is_function(const struct asmtext *t, uint32_t atom)
{
	return atom && t->sections[t->atoms[atom].section].exec;
}

#endif
