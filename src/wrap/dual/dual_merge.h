/*
 * Merges two compilations of one source, plain and instrumented, into one assembly for a production
 * build. The result is the plain text, plus the functions of the instrumented text under the names
 * f.inst, in a section of their own. Variables exist once: instrumented functions refer to those of
 * the plain text. Each plain function that has an instrumented version begins with a nop, which the
 * runtime turns into a jump to f.inst. A table gives the runtime these pairs
 * (abi/production_table.h).
 *
 * Example: `static int n; int f(void) { return ++n; }`, compiled by gcc -O1. The lines marked + are
 * not in the plain text:
 *
 *		.type	f, @function
 *	+	.p2align 3
 *	+.Linst.entry1:
 *	f:
 *	+	.byte 0x0f,0x1f,0x44,0x00,0x00		a nop of 5 bytes
 *		movl	n(%rip), %eax
 *		addl	$1, %eax
 *		movl	%eax, n(%rip)
 *		ret
 *		.local	n
 *		.comm	n,4,4
 *	+	.section .snarl.text,"ax",@progbits
 *	+	.type	f.inst, @function
 *	+f.inst:
 *	+	...
 *	+	leaq	n(%rip), %rbp			the plain text's n
 *	+	movq	%rbp, %rdi
 *	+	call	__tsan_read4@PLT
 *	+	movl	n(%rip), %eax
 *	+	...
 *	+.Linst.end1:
 *	+	.section snarl_dual,"ao",@progbits,f	the table: one struct dual_record
 *	+	.long .Linst.entry1-.			entry
 *	+	.long f.inst-.				inst
 *	+	.long .Linst.end1-f.inst		size
 *	+	.long 1					DUAL_PAIR
 *	+	...
 *
 * A function that refers to something without a counterpart in the plain text is left out, so it
 * exists in its plain version only. docs/production.md lists such cases. Pure: text in, text out.
 */
#ifndef WRAP_DUAL_DUAL_MERGE_H
#define WRAP_DUAL_DUAL_MERGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct dual_counts {
	size_t pairs;		/* functions that can be switched between two versions */
	size_t inner;		/* instrumented functions that only instrumented code calls */
	size_t plain;		/* functions that exist in their plain version only */
};

/*
 * Appends the merged text to *out. `gcc`: local functions of one name have the same parameters in
 * both texts, because gcc renames those whose parameters it changes; clang does not. Returns -1
 * with the reason if a text cannot be parsed: then use the plain text.
 */
int dual_merge(const char *plain, size_t plain_size, const char *inst, size_t inst_size, bool gcc,
	       struct buf *out, struct dual_counts *counts, struct err *err);

#endif
