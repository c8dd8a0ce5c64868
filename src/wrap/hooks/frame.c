#include "wrap/hooks/frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace_format.h"
#include "base/mem.h"
#include "wrap/asm/instruction.h"
#include "wrap/hooks/hook.h"

/* Whether the name needs no quotes in assembly. */
static bool is_plain(struct asmtext_word name)
{
	for (uint32_t i = 0; i < name.size; i++)
		if (!strchr("._$", name.at[i]) && !isalnum((unsigned char)name.at[i]))
			return false;
	return true;
}

/* Whether the line copies an address of the stack into another register or to memory. */
static bool leaks_stack(struct asmtext_word line)
{
	struct asmtext_word verb = asmtext_verb(line);
	const char *end = line.at + line.size, *at = line.at, *found;
	bool lea = asmtext_starts(verb, "lea"), push = asmtext_starts(verb, "push");

	while ((found = memmem(at, (size_t)(end - at), "%rsp", 4))) {
		bool last = found + 4 == end || !memchr(found, ',', (size_t)(end - found));
		bool inside = found[-1] == '(' || memchr(found, ')', (size_t)(end - found));

		if (inside ? lea : !last || push)
			return true;
		at = found + 4;
	}
	return false;
}

/* Whether the line accesses memory below %rsp. */
static bool uses_red_zone(struct asmtext_word line)
{
	const char *open = memmem(line.at, line.size, "(%rsp", 5);
	const char *at = open;

	while (at && at > line.at && strchr("-0123456789", at[-1]))
		at--;
	return open && *at == '-';
}

/* Whether gcc split the function: NAME.cold, in another section, uses the same frame. */
static bool has_cold_part(const struct asmtext *t, const struct asmtext_atom *a)
{
	struct asmtext_word name = t->symbols[a->symbol].name;
	char *cold = xasprintf("%.*s.cold", (int)name.size, name.at);
	bool has = asmtext_find(t, (struct asmtext_word){ cold, name.size + 5 }) != 0;

	free(cold);
	return has;
}

enum frame frame_classify(const struct asmtext *t, const struct asmtext_atom *a)
{
	enum frame frame = has_cold_part(t, a) ? FRAME_EXPOSED : FRAME_PRIVATE;

	if (!is_plain(t->sections[a->section].name) || !is_plain(t->sections[a->section].group))
		return FRAME_UNSUPPORTED;
	for (size_t i = a->first; i <= a->last; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (l->kind != ASMTEXT_CODE || !memmem(l->text.at, l->text.size, "%rsp", 4))
			continue;
		if (uses_red_zone(l->text))
			return FRAME_UNSUPPORTED;
		if (l->user || leaks_stack(l->text))
			frame = FRAME_EXPOSED;
	}
	return frame;
}

/* Whether the instruction writes memory other than by %rsp. */
static bool writes_memory(const struct insn *in)
{
	const struct insn_operand *to = &in->operand[in->count ? in->count - 1 : 0];

	if (in->count == 0 || to->kind != INSN_MEMORY || to->reg == INSN_RSP ||
	    to->index == INSN_RSP)
		return false;
	return in->kind != INSN_COMPARE && in->kind != INSN_NOTHING && in->kind != INSN_BRANCH &&
	       in->kind != INSN_JUMP && in->kind != INSN_WIDE;
}

bool frame_only_named_writes(const struct asmtext *t, uint32_t first, uint32_t last)
{
	bool hooked = false;	/* a hook for the next write was seen */

	for (uint32_t i = first; i <= last; i++) {
		const struct asmtext_line *l = &t->lines[i];
		struct hook hook;
		struct insn in;

		if (!hook_is_code(l))
			continue;
		if (hook_read(l, &hook)) {
			/* The read may be of a stack slot, which then is exposed. */
			if ((hook.op & 0xff) == TRACE_READ && (hook.op >> 8 & TRACE_SIZE_MASK) >= 3)
				return false;
			hooked = (hook.op & 0xff) == TRACE_WRITE;
			continue;
		}
		if (l->user || !insn_read(l->text, &in))
			return false;
		if (writes_memory(&in) && !hooked)
			return false;
		if (writes_memory(&in) || in.kind == INSN_BRANCH || in.kind == INSN_JUMP)
			hooked = false;
	}
	return true;
}
