/*
 * Memory that is nobody's yet, or another thread's: what shadow_touch does, for an access within one granule, or
 * in two of 16 bytes, and in the common cases only. Big arrays are worked on for the first time access by
 * access; a call of C takes longer than all else that is done for each, above all where registers have to be kept.
 */
#ifdef __x86_64__

#define TLS(field) %fs:__snarl_tls@tpoff+field
#define OWN 8
#define OWN_UNCUT 10
#define SELF 40
#define BUSY 48			/* with `hidden` behind it: 8 bytes that are 0 */
#define UNDECIDED 60

#define MODE 0			/* in struct snarlrt */
#define PROFILING 5
#define THREADED 7
#define RECORD 1
#define LIVE 8			/* in struct snarlrt_thread */
#define CLAIMS 328
#define CUT_LOCATIONS 40	/* in struct live_slot */

#define SHADOW 0x7fff8000
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
	cmpl $RECORD, snarlrt+MODE(%rip)
	jne 9f
	cmpb $0, snarlrt_timed(%rip)
	jne 9f
	cmpb $0, snarlrt+PROFILING(%rip)
	jne 9f
	cmpq $0, TLS(BUSY)
	jne 9f
	movzwl TLS(OWN_UNCUT), %ecx
	testl %ecx, %ecx
	je 9f
	movq %rdi, %rdx
	shrq $3, %rdx
	.if \each == 2
	testb $1, %dl			/* its shadow might lie in two cache lines */
	jne 9f
	imull $0x10001, %ecx
	.endif
	\load SHADOW(,%rdx,2), %eax
	testl %eax, %eax
	jne 3f

	movq TLS(SELF), %rax		/* nobody's, unless it was claimed with its block (birth.h) */
	cmpl $0, CLAIMS(%rax)
	jne 9f
	cmpb $0, snarlrt_sharing(%rip)
	je 4f
	movzwl PC(%rsp), %eax
	btl %eax, snarlrt_sharing_places(%rip)
	jnc 4f
	movl $-1, %ecx
	xorl %eax, %eax
	lock cmpxchg\size %\reg, SHADOW(,%rdx,2)
	jne 9f
	jmp 8f
4:	cmpb $0, snarlrt+THREADED(%rip)
	je 1f
	xorl %eax, %eax
	lock cmpxchg\size %\reg, SHADOW(,%rdx,2)
	jne 9f
	jmp 2f
1:	mov\size %\reg, SHADOW(,%rdx,2)
2:	incl TLS(UNDECIDED)
	jmp 8f

3:	.if \each == 2
	movl %eax, %ecx
	roll $16, %ecx
	cmpl %eax, %ecx
	jne 9f
	.endif
	cmpw $-1, %ax
	je 8f
	movl %eax, %ecx
	orl $1, %ecx
	cmpw %cx, TLS(OWN)
	je 9f				/* it is ours after all */
	mov\size $-1, SHADOW(,%rdx,2)
	testb $1, %al
	je 8f
	movq TLS(SELF), %rcx
	movq LIVE(%rcx), %rcx
	addq $\each, CUT_LOCATIONS(%rcx)
	movq %rdi, %rax			/* shadow_count_cut() */
	shrq $6, %rax
	andl $0x3ffff, %eax
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
