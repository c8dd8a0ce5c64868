/*
 * Alias analysis of a function's stack frame, by the text of its assembly: can anything but the
 * function's own accesses by %rsp reach it?
 */
#ifndef WRAP_HOOKS_FRAME_H
#define WRAP_HOOKS_FRAME_H

#include "wrap/asm/asm_text.h"

enum frame {
	FRAME_UNKNOWN,		/* not classified yet */
	FRAME_UNSUPPORTED,	/* memory below %rsp, or a section name in quotes: change nothing */
	FRAME_EXPOSED,		/* an address of the frame may be in a register or in memory */
	FRAME_PRIVATE,		/* only the function's own accesses by %rsp reach the frame */
};

enum frame frame_classify(const struct asmtext *t, const struct asmtext_atom *a);

/*
 * Whether these lines of an exposed frame write unhooked stack slots only by %rsp. A compiler hooks
 * either all accesses to a variable or none. It hooks variables whose address is taken, so a slot
 * without hooks is out of reach of other pointers.
 */
bool frame_only_named_writes(const struct asmtext *t, uint32_t first, uint32_t last);

#endif
