/*
 * Loops that are told at their end: an innermost loop of one basic block, all or some of whose
 * hooks get addresses that are linear in its turns, is written a second time without them,
 *
 *	.L31:	cmpb $0,__snarl_loops(%rip)
 *		je .Lsnarlh7
 *		movq %r12,-16(%rsp)	# values of the start that the descriptor names
 *	.Lsnarlf7:
 *		…			# the body without hooks
 *		jne .Lsnarlf7
 *		…			# the end, where it can be written out (loops_end.c), jumps to .Lsnarle7
 *		call __snarl_loop	# keeps all registers but the flags
 *		nopl .Lsnarld7(%rip)	# how it finds the descriptor
 *		jmp .Lsnarle7
 *	.Lsnarlh7:
 *		…			# the body as it was
 *		jne .Lsnarlh7
 *	.Lsnarle7:
 *
 * and a descriptor (struct loop, abi/layout.h) says which accesses these were. If there are others, whose addresses
 * are not linear, it begins with
 *
 *	.L31:
 *	.Lsnarlg7:
 *		jmp .Lsnarlh7		# in five bytes
 *
 * of which the runtime makes a nop if a list of sites switches these off (runtime/record/site_filter.c).
 *
 * Works on assembly of gcc that calls the hooks, and on clang's with those of ir.h. A loop about which
 * anything is not clear stays as it is.
 *
 * Nothing is kept below %rsp there, since both compilers know that the function makes
 * calls; functions that use it nevertheless are left alone.
 */
#ifndef WRAP_LOOPS_LOOPS_H
#define WRAP_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* `pic` as in inline.h. Appends the text, whole lines, to *out; returns how many loops there are twice. */
size_t loops_transform(const char *text, size_t size, bool pic, struct buf *out);

#endif
