/*
 * Who can reach a function's stack, by the text of its assembly.
 */
#ifndef WRAP_HOOKS_FRAME_H
#define WRAP_HOOKS_FRAME_H

#include "wrap/asm/asm_text.h"

enum frame {
	FRAME_UNKNOWN,		/* not looked at */
	FRAME_UNSUPPORTED,		/* not to be changed: a strangely named section, or memory below %rsp */
	FRAME_EXPOSED,		/* an address of the stack may be known elsewhere */
	FRAME_PRIVATE,		/* nothing but its own plain accesses, by %rsp */
};

enum frame frame_judge(const struct asmtext *t, const struct asmtext_atom *a);

/*
 * Whether the lines write the stack only where they name it, though its address is elsewhere, too. The compilers hook all
 * accesses to a variable or none: one that others can reach, and what is not hooked is not.
 */
bool frame_only_named_writes(const struct asmtext *t, uint32_t first, uint32_t last);

#endif
