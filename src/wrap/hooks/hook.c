#include "wrap/hooks/hook.h"

#include <string.h>

#include "base/mem.h"
#include "wrap/hooks/inline_asm.h"

/* Masks of the general registers that a hook preserves, by their numbers. */
#define KEPT_BY_CALL 0xf038u		/* rbx, rsp, rbp, r12 to r15, as the ABI says */
#define KEPT_INLINED 0xfffcu		/* all but rax and rcx (inline_ir.c) */
#define KEPT_INLINED_PIC 0xf3f8u	/* in a library, all but rax, rcx, rdx, r10 and r11 */

static bool holds(struct asmtext_word line, const char *text)
{
	return memmem(line.at, line.size, text, strlen(text)) != NULL;
}

/* Reads a hook that inline_ir.c made; all of it is one line. */
static bool read_inlined(struct asmtext_word line, struct hook *hook)
{
	static const char call[] = "call __snarl_access", store[] = "movw $", label[] = "; .Lsnarl";
	const char *end = line.at + line.size;
	const char *at = memmem(line.at, line.size, call, sizeof(call) - 1);
	const char *number = memmem(line.at, line.size, store, sizeof(store) - 1);

	if (!at || !number || end[-1] != ':' || !holds(line, "%rdi,%rax; shrq $3"))
		return false;
	at = memmem(at, (size_t)(end - at), label, sizeof(label) - 1);
	if (!at)
		return false;
	hook->site = (struct asmtext_word){ at + 2, (uint32_t)(end - 1 - (at + 2)) };
	hook->op = 0;
	for (number += sizeof(store) - 1; *number >= '0' && *number <= '9'; number++)
		hook->op = hook->op * 10 + (unsigned)(*number - '0');
	hook->kept = holds(line, "@gottpoff") ? KEPT_INLINED_PIC : KEPT_INLINED;
	return true;
}

bool hook_read(const struct asmtext_line *l, struct hook *hook)
{
	struct inline_hook call;

	*hook = (struct hook){ .kept = KEPT_BY_CALL };
	if (l->kind != ASMTEXT_CODE)
		return false;
	if (l->user)
		return read_inlined(l->text, hook);
	if (!inline_parse(l->text.at, l->text.size, &call))
		return false;
	hook->op = inline_op(&call);
	return true;
}

bool *hook_referenced_symbols(const struct asmtext *t)
{
	bool *referenced = xcalloc(t->symbol_count, sizeof(*referenced));

	for (size_t i = 0; i < t->symbol_count; i++)
		referenced[i] = t->symbols[i].address_taken;
	for (size_t i = 0; i < t->ref_count; i++)
		referenced[t->refs[i].symbol] = true;
	return referenced;
}

/* gcc's `view` numbers the positions within a source line; each number may stand in one .loc. */
void hook_write_loc(struct asmtext_word line, struct buf *out)
{
	const char *view = memmem(line.at, line.size, " view ", 6);

	if (view)
		line.size = (uint32_t)(view - line.at);
	buf_add(out, line.at, line.size);
	buf_add_char(out, '\n');
}
