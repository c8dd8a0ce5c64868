/*
 * Memory that is nobody's yet, or another thread's: what shadow_touch does, for an access within one granule, or
 * in two of 16 bytes, and in the common cases only. Big arrays are worked on for the first time access by
 * access; a call of C takes longer than all else that is done for each, above all where registers have to be kept.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field

#define PC 24			/* from the stack pointer, with two registers pushed */

/*
 * snarlrt_touch, snarlrt_touch16: %rdi is the address. ZF says that the memory is shared now, or the thread's and
 * the access counted as undecided; without it nothing was done, and C has to look. All registers but %rcx are kept.
 * Right above the return address is that of the caller, which is the access' pc.
 * A signal may come anywhere: the handler finds the memory as it was, or touched by its own thread.
 */
.macro touch name, load, size, reg, each
	.p2align 5
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	pushq %rax
	pushq %rdx
	cmpl $MODE_RECORD, snarlrt + RUNTIME_MODE(%rip)
	jne 9f
	cmpb $0, snarlrt_timed(%rip)
	jne 9f
	cmpb $0, snarlrt + RUNTIME_PROFILING(%rip)
	jne 9f
	cmpq $0, TLS(BUSY)		/* or hidden */
	jne 9f
	movzwl TLS(OWN_UNCUT), %ecx
	testl %ecx, %ecx
	je 9f
	movq %rdi, %rdx
	shrq $GRANULE_SHIFT, %rdx
	.if \each == 2
	testb $1, %dl			/* its shadow might lie in two cache lines */
	jne 9f
	imull $SHADOW_TWO, %ecx
	.endif
	\load SHADOW_BASE(,%rdx,2), %eax
	testl %eax, %eax
	jne 3f

	movq TLS(SELF), %rax		/* nobody's, unless it was claimed with its block (allocation_sites.h) */
	cmpl $0, THREAD_CLAIMS(%rax)
	jne 9f
	cmpb $0, snarlrt_sharing(%rip)
	je 4f
	movzwl PC(%rsp), %eax
	btl %eax, snarlrt_sharing_places(%rip)
	jnc 4f
	movl $SHARED, %ecx
	xorl %eax, %eax
	lock cmpxchg\size %\reg, SHADOW_BASE(,%rdx,2)
	jne 9f
	jmp 8f
4:	cmpb $0, snarlrt + RUNTIME_THREADED(%rip)
	je 1f
	xorl %eax, %eax
	lock cmpxchg\size %\reg, SHADOW_BASE(,%rdx,2)
	jne 9f
	jmp 2f
1:	mov\size %\reg, SHADOW_BASE(,%rdx,2)
2:	incl TLS(UNDECIDED)
	jmp 8f

3:	.if \each == 2
	movl %eax, %ecx
	roll $16, %ecx
	cmpl %eax, %ecx
	jne 9f
	.endif
	cmpw $SHARED, %ax
	je 8f
	movl %eax, %ecx
	orl $1, %ecx
	cmpw %cx, TLS(OWN)
	je 9f				/* it is ours after all */
	mov\size $SHARED, SHADOW_BASE(,%rdx,2)
	testb $1, %al
	je 8f
	movq TLS(SELF), %rcx
	movq THREAD_LIVE(%rcx), %rcx
	addq $\each, LIVE_CUT_LOCATIONS(%rcx)
	movq %rdi, %rax			/* shadow_count_cut() */
	shrq $CUT_LINE_SHIFT, %rax
	andl $(CUT_LINES - 1), %eax
	leaq snarlrt_cut_lines(%rip), %rcx
	cmpb $0, (%rcx, %rax)		/* the other thread may look there, too */
	jne 8f
	movb $1, (%rcx, %rax)

8:	xorl %ecx, %ecx			/* sets ZF, which popping leaves alone */
	popq %rdx
	popq %rax
	ret
9:	orl $1, %ecx
	popq %rdx
	popq %rax
	ret
	.size \name, . - \name
.endm

	.text
	touch snarlrt_touch, movzwl, w, cx, 1
	touch snarlrt_touch16, movl, l, ecx, 2
#endif
	.section .note.GNU-stack, "", @progbits
