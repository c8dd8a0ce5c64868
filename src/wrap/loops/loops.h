/*
 * Gives loops a second copy without hooks. Behind that copy, one call records all accesses of the
 * loop at once (runtime/hooks/loop.h).
 *
 * A loop qualifies if it is one basic block, its end does not depend on memory, and the address of
 * at least one hooked access is a linear function of the iteration (asm/linear.h). Accesses with
 * other addresses are *silent*: no record describes them. While they are to be recorded, the copy
 * without hooks does not run. A loop that is not fully understood stays as it is.
 *
 * Example: gcc -O1 -fno-pie compiles `for (long i = 0; i < n; i++) p[i] = 7;`, where int *p, to
 *
 *	.L3:	movq	%rbx, %rdi
 *		call	__tsan_write4
 *		movl	$7, (%rbx)
 *		addq	$1, %rbp
 *		addq	$4, %rbx
 *		cmpq	%rbp, %r12
 *		jne	.L3
 *
 * It becomes
 *
 *	.L3:	movq	%rax, -8(%rsp)
 *		movq	%r12, %rax
 *		subq	%rbp, %rax
 *		cmpq	$16, %rax		# n - i: the iterations to come
 *		movq	-8(%rsp), %rax
 *		jl	.Lsnarlh0		# fewer than 16: hooks are faster
 *		cmpb	$0, __snarl_loops(%rip)
 *		je	.Lsnarlh0		# the runtime wants hooks
 *		movq	%rbx, -16(%rsp)		# slot 0: the value before the loop
 *		.p2align 4,,10
 *	.Lsnarlf0:				# the copy without hooks
 *		movl	$7, (%rbx)
 *		addq	$1, %rbp
 *		addq	$4, %rbx
 *		cmpq	%rbp, %r12
 *		jne	.Lsnarlf0
 *		(about 60 instructions that record common cases without the call: loops_end.c)
 *		call	__snarl_loop		# keeps all registers, but not the flags
 *		nopl	.Lsnarld0(%rip)		# __snarl_loop finds the descriptor by this operand
 *		jmp	.Lsnarle0
 *	.Lsnarlh0:				# the copy with hooks
 *		movq	%rbx, %rdi
 *		call	__tsan_write4		# inlined afterwards (hooks/inline_asm.h)
 *	.Lsnarlp17:				# 17: line of the hook in the compiler's assembly
 *		movl	$7, (%rbx)
 *		addq	$1, %rbp
 *		addq	$4, %rbx
 *		cmpq	%rbp, %r12
 *		jne	.Lsnarlh0
 *	.Lsnarle0:
 *
 * and the descriptor, a struct loop of abi/layout.h:
 *
 *		.pushsection	.data.rel.ro.snarl.text,"aw",@progbits
 *		.p2align 3
 *	.Lsnarld0:
 *		.long	1		# accesses
 *		.byte	3,0		# counter: register 3, %rbx; slot 0 has its first value
 *		.value	0		# silent accesses
 *		.quad	4		# each iteration adds 4 to the counter
 *		.quad	.Lsnarlp17+0x204000000000000,0,4	# site and op, base, stride
 *		.value	516		# op 0x204: WRITE of 2^2 bytes
 *		.byte	16,1,0,0,0,0	# address in iteration t: base + 1 * slot 0 + t * stride
 *		.popsection
 *
 * For p = 0x7c3f80 and n = 100, slot 0 holds 0x7c3f80 and %rbx is 0x7c4110 after the loop. So there
 * were (0x7c4110 - 0x7c3f80) / 4 = 100 iterations, which wrote 0x7c3f80 to 0x7c410f.
 *
 * With silent accesses, the code begins with a jump of five bytes, which the runtime turns into a
 * nop while a list of sites switches all of them off (runtime/record/site_filter.c):
 *
 *	.L3:
 *	.Lsnarlg0:
 *		jmp	.Lsnarlh0
 *
 * The input is assembly of gcc with calls of hooks, or of clang with those of hooks/inline_ir.h.
 * The code uses memory below %rsp. The function itself does not, since it calls hooks; functions
 * that use it nevertheless stay as they are.
 */
#ifndef WRAP_LOOPS_LOOPS_H
#define WRAP_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Optimisations to leave out, for tests and measurements. */
enum loops_without {
	LOOPS_WITHOUT_SPILLS = 1,	/* stack slots keep their place (loops_spills.c) */
	LOOPS_WITHOUT_CONSTANTS = 2,	/* constants stay in memory (loops_constants.c) */
	LOOPS_WITHOUT_ENDS = 4,		/* every loop is recorded by a call (loops_end.c) */
	LOOPS_WITHOUT_DEAD_CODE = 8,	/* instructions that only served hooks stay (dead_code.c) */
};

/*
 * The set of enum loops_without that `names` lists: spills, constants, ends, dead-code, separated
 * by commas. Ignores other names. NULL is the empty list.
 */
unsigned loops_without_parse(const char *names);

/*
 * Appends the transformed text to *out, which consists of whole lines. `pic` as in struct inliner.
 * `without` is a set of enum loops_without. Returns the number of loops that have two copies.
 */
size_t loops_transform(const char *text, size_t size, bool pic, unsigned without, struct buf *out);

#endif
