/*
 * Merges two compilations of one source, plain and instrumented, into one assembly for a production
 * build. The result is the plain text, plus the functions of the instrumented text under the names
 * f.inst, in a section of their own. Variables exist once: instrumented functions refer to those of
 * the plain text. Each plain function that has an instrumented version begins with a nop, which the
 * runtime turns into a jump to f.inst. A table tells the runtime of these pairs
 * (abi/production_table.h).
 *
 * Example: `static int n; int f(void) { return ++n; }`
 *
 *	plain			instrumented			merged
 *				f: ...				.p2align 3
 *	f:			   movl $n, %edi	     .Linst.entry1:
 *	   addl $1, n(%rip)	   call __tsan_read4		f: nop of 5 bytes
 *	   ...			   ...				   addl $1, n(%rip)
 *	   .local n		   .local n			   ...
 *	   .comm n,4,4		   .comm n,4,4			   .local n
 *								   .comm n,4,4
 *								   .section .snarl.text
 *								f.inst: ...
 *								   movl $n, %edi
 *								   call __tsan_read4
 *								   ...
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
