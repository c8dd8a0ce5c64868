/*
 * The common cases of shadow_touch() in assembly: an access within one granule, or a 16-byte access
 * to two, whose memory is untouched or another thread's. When a program first walks through a big
 * array, every access takes this path. A call of C would dominate its cost, since many registers
 * have to be saved.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field

/* Offset of the access's pc from the stack pointer, with two registers pushed. */
#define PC 24

/*
 * snarlrt_touch, snarlrt_touch16: %rdi is the address. The access's pc is on the stack, right above
 * the return address.
 *
 * On return ZF is set if the memory is shared now, or if it became the thread's own and the access
 * was counted in tls.undecided. If ZF is clear, nothing was done, and the caller calls C code. All
 * registers but %rcx are kept. A signal may arrive anywhere: its handler finds the memory
 * untouched, or touched by its own thread.
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
	cmpq $0, TLS(BUSY)		/* BUSY and HIDDEN are tested together */
	jne 9f
	movzwl TLS(OWN_UNCUT), %ecx
	testl %ecx, %ecx
	je 9f
	movq %rdi, %rdx
	shrq $GRANULE_SHIFT, %rdx
	.if \each == 2
	testb $1, %dl			/* the two shadow words may lie in two cache lines */
	jne 9f
	imull $SHADOW_TWO, %ecx
	.endif
	\load SHADOW_BASE(,%rdx,2), %eax
	testl %eax, %eax
	jne 3f

	/* Untouched. If the thread has claims (allocation_sites.h), C has to check them. */
	movq TLS(SELF), %rax
	cmpl $0, THREAD_CLAIMS(%rax)
	jne 9f
	cmpb $0, snarlrt_sharing_any(%rip)
	je 4f
	movzwl PC(%rsp), %eax
	btl %eax, snarlrt_sharing_sites(%rip)
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
	je 9f				/* the memory is this thread's own */
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
	cmpb $0, (%rcx, %rax)		/* avoid writing a cache line that other threads read */
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
