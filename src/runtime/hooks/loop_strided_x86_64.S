/*
 * __snarl_loop_look_apart: __snarl_loop_look (loop_end_x86_64.S) for accesses whose stride is
 * large, negative, or known only at run time.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field

#define KEPT -RED_ZONE	/* where %rcx is saved, from the stack pointer: right below the slots */

/* The frame for accesses that touch three or four granules. */
#define ITERATIONS 0		/* the caller's %rcx */
#define FOUND 8			/* the caller's %rsi */
#define FIRST 16		/* four shadow words of the first iteration */
#define UNUSED 24		/* number of upper bits in FIRST that belong to other memory */
#define FRAME (32 + RED_ZONE)

/* Compares all iterations with the first one; each touches one granule (\size w) or two (l). */
.macro look_narrow size, reg
	mov\size (%rax), %\reg
	testq %rcx, %rcx
	je 3f
2:	addq %rdx, %rax
	cmp\size (%rax), %\reg
	jne 9f
	decq %rcx
	jne 2b
3:	movq KEPT(%rsp), %rcx
	cmp\size $SHARED, %\reg
	je 5f
	test\size %\reg, %\reg
	je 8f				/* untouched */
	cmp\size TLS(OWN4), %\reg
	jne 9f
	leal (%rsi, %rsi), %esi
	ret
5:	leal 1(%rsi, %rsi), %esi
	ret
8:	orl $1, %eax
9:	movq KEPT(%rsp), %rcx
	ret
.endm

	.text
	/*
	 * Checks the shadow of a look in %rcx + 1 iterations: from the byte at %rax to the one %rdi
	 * further on, both %rdx further on in each iteration. Shifts %esi left; bit 0 becomes 1 if
	 * all of the memory is shared, 0 if all of it is the thread's own and cut. Returns "equal"
	 * in both cases, and "not equal" in all others, or if the stride needs more than 16 bits.
	 * An iteration touches four granules at most. Changes %rax, %rdx and %rdi.
	 */
	.p2align 5
	.globl __snarl_loop_look_apart
	.type __snarl_loop_look_apart, @function
__snarl_loop_look_apart:
	.cfi_startproc
	cmpq $NEAR, %rdx
	jg 1f
	cmpq $-NEAR, %rdx
	jl 1f
	imulq %rcx, %rdx
	addq %rax, %rdx
	cmpq %rax, %rdx
	jae 0f
	xchgq %rax, %rdx
0:	addq %rdi, %rdx
	jmp __snarl_loop_look

1:	movq %rcx, KEPT(%rsp)
	movl %eax, %ecx
	andl $GRANULE_MASK, %ecx
	addl %ecx, %edi			/* offset of the last byte in the first granule */
	movswq %dx, %rcx
	cmpq %rdx, %rcx
	jne 9f
	testb $GRANULE_MASK, %dl
	jne 9f
	movq KEPT(%rsp), %rcx
	shrq $GRANULE_SHIFT, %rax
	sarq $(GRANULE_SHIFT - 1), %rdx
	leaq SHADOW_BASE(%rax, %rax), %rax
	cmpl $16, %edi
	jae .Lwide
	cmpl $8, %edi
	jb .Lone
	look_narrow l, edi
.Lone:	look_narrow w, di

.Lwide:	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	movq %rcx, ITERATIONS(%rsp)
	movq %rsi, FOUND(%rsp)
	shrl $GRANULE_SHIFT, %edi
	shll $4, %edi
	negl %edi
	addl $48, %edi
	movl %edi, UNUSED(%rsp)
	xorl %esi, %esi			/* all differences */
	movq (%rax), %rdi		/* there is shadow behind all memory */
	movq %rdi, FIRST(%rsp)
	testq %rcx, %rcx
	je 3f
2:	addq %rdx, %rax
	movq (%rax), %rdi
	xorq FIRST(%rsp), %rdi
	orq %rdi, %rsi
	decq %rcx
	jne 2b
3:	movl UNUSED(%rsp), %ecx
	shlq %cl, %rsi
	testq %rsi, %rsi
	jne 9f
	movq FIRST(%rsp), %rdi
	shlq %cl, %rdi
	sarq %cl, %rdi
	cmpq $SHARED, %rdi
	je 5f
	movq TLS(OWN4), %rax
	shlq %cl, %rax
	sarq %cl, %rax
	testq %rdi, %rdi		/* untouched */
	je 8f
	cmpq %rax, %rdi
	jne 9f
	movq FOUND(%rsp), %rsi
	leal (%rsi, %rsi), %esi
4:	movq ITERATIONS(%rsp), %rcx
	leaq FRAME(%rsp), %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
5:	movq FOUND(%rsp), %rsi
	leal 1(%rsi, %rsi), %esi
	jmp 4b
8:	orl $1, %eax
9:	movq FOUND(%rsp), %rsi
	jmp 4b
	.cfi_endproc
	.size __snarl_loop_look_apart, . - __snarl_loop_look_apart
#endif
	.section .note.GNU-stack, "", @progbits
