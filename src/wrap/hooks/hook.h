/*
 * Recognises hooks in assembly, for passes that copy code without them. A hook is a call, as gcc
 * writes it, or the inline assembly that inline_ir.h made for clang, as clang -S prints it.
 */
#ifndef WRAP_HOOKS_HOOK_H
#define WRAP_HOOKS_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "wrap/asm/asm_text.h"

struct hook {
	unsigned op;			/* of its record: kind | detail << 8 */
	struct asmtext_word site;	/* the label behind an inlined hook; empty for a call */
	uint32_t kept;			/* mask of general registers that it preserves */
};

/* Whether the line is a hook. */
bool hook_read(const struct asmtext_line *l, struct hook *hook);

/* Whether the line is an instruction or inline assembly, but not the #APP or #NO_APP around it. */
static inline bool hook_is_code(const struct asmtext_line *l)
{
	return l->kind == ASMTEXT_CODE && asmtext_verb(l->text).size > 0;
}

/* An array from calloc, by symbol: whether code or data refers to it; debug information may not. */
bool *hook_referenced_symbols(const struct asmtext *t);

/* Writes a .loc line for a second copy of the code. */
void hook_write_loc(struct asmtext_word line, struct buf *out);

#endif
