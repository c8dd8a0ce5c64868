/*
 * Hooks in a compiler's assembly, for passes that copy code without them: gcc's calls, and
 * the text that ir.h put in for clang, as clang writes it when it does not assemble it itself.
 */
#ifndef WRAP_HOOKS_HOOK_H
#define WRAP_HOOKS_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "wrap/asm/asm_text.h"

struct hook {
	unsigned op;			/* kind | detail << 8 */
	struct asmtext_word site;	/* the label behind it; empty: it has none */
	uint32_t kept;			/* general registers that live through it, as insn.h numbers them */
};

bool hook_read(const struct asmtext_line *l, struct hook *hook);

/* An instruction, or text of the programmer; #APP is neither. */
static inline bool hook_is_code(const struct asmtext_line *l)
{
	return l->kind == ASMTEXT_CODE && asmtext_verb(l->text).size > 0;
}

/* From calloc, of symbols: code or data that is loaded refers to it. */
bool *hook_referenced_symbols(const struct asmtext *t);

/* The .loc of a second copy. */
void hook_write_loc(struct asmtext_word line, struct buf *out);

#endif
