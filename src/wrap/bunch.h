/*
 * Bunches: hooks that follow each other in straight-line code, at addresses whose distances
 * are constant and small, are checked once and told by one record. The code from the first one
 * to the last is written a second time without hooks,
 *
 *	.Lbunch7:  …			# the shadow of all of it
 *		je .Lbunchf7		# all private: nothing to tell
 *		…
 *		jne .Lbunchs7		# not all shared
 *		…			# append one record
 *		jmp .Lbunchf7
 *	.Lbunchc7: …			# the ring needs attention
 *		call __snarl_bunch
 *		…
 *		jne .Lbunchf7		# told
 *	.Lbunchs7: …			# the code as it was
 *		jmp .Lbunchj7
 *	.Lbunchf7: …			# without hooks
 *	.Lbunchj7:
 *
 * and a descriptor (struct bunch, runtime/bunch.h) says which accesses these are. Where hooks of other memory are among them
 * the code as it was comes first, behind a nop at .Lbunchg7 that may become a jump to .Lbunch7 (bunch_internal.h). Works on the same texts as
 * loops.h, whose output it may be given. What is not clear stays as it is.
 */
#ifndef WRAP_BUNCH_H
#define WRAP_BUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* `pic` as in inline.h. Appends the text, whole lines, to *out; returns how many bunches there are. */
size_t bunch_transform(const char *text, size_t size, bool pic, struct buf *out);

#endif
