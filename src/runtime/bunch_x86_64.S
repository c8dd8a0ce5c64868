/*
 * __snarl_bunch (bunch.h): tells calls that wait to be told, and then the bunch. A frame is as long as a
 * record. Where the ring needs attention C does it. __snarl_bunch_wide is for code that may hold something in
 * the upper parts of vector registers; where nothing is there, saving and restoring them makes all later SSE code slow.
 */
#ifdef __x86_64__

#define TLS(field) %fs:__snarl_tls@tpoff+field
#define CUR 0			/* of struct snarlrt_tls */
#define FRAME 16
#define TOLD 24
#define SELF 40
#define BUSY 48			/* with `hidden` behind it: 8 bytes that are 0 */
#define SAVED 64
#define CONTROL 72
#define QUIET 128

#define DEFERRED_COUNT 120	/* in struct snarlrt_thread */

#define FUNC_ENTRY 7
#define STAMP_MASK 4095
#define MOST 8			/* calls */

.macro bunch name, keeping
	.p2align 5
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc			/* handlers of signals that waited may leave by unwinding */
	pushq %rdx
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	shlq $48, %rax
	leaq (%rax,%rcx), %rsi		/* the record's site */
	xorl %eax, %eax
	cmpq $0, TLS(SELF)
	je 9f
	cmpq $0, TLS(CONTROL)
	jne 9f
	cmpq $0, TLS(BUSY)
	jne 9f
	movl $1, TLS(BUSY)		/* from here on signals wait */
	cmpq $0, TLS(CUR)
	jne 4f				/* the page is full */
	movq TLS(SAVED), %rax
	movl %eax, %edx
	andl $STAMP_MASK, %edx
	je 4f
	movq TLS(FRAME), %rcx
	subq TLS(TOLD), %rcx
	cmpq $(16 * MOST), %rcx
	ja 4f
	addl %ecx, %edx
	cmpl $STAMP_MASK, %edx
	ja 4f				/* not all of it fits into this page */
	addq %rcx, %rax
	movq %rdi, (%rax)
	movq %rsi, 8(%rax)
	leaq 16(%rax), %rdi
	movq TLS(FRAME), %rdx
	movabsq $(FUNC_ENTRY << 48), %rcx
2:	cmpq TLS(TOLD), %rdx
	je 3f
	subq $16, %rax
	subq $16, %rdx
	movq (%rdx), %rsi
	shlq $16, %rsi
	shrq $16, %rsi
	movq %rsi, (%rax)
	movzwl 8(%rdx), %esi
	addq TLS(QUIET), %rsi
	movb $0, (%rsi)			/* as all who tell calls late do */
	movq 8(%rdx), %rsi
	orq %rcx, %rsi
	movq %rsi, 8(%rax)		/* that of the outermost makes all valid */
	jmp 2b
3:	movq TLS(FRAME), %rdx
	movq %rdx, TLS(TOLD)
	movq %rdi, TLS(CUR)
	movl $0, TLS(BUSY)
	movq TLS(SELF), %rdi
	cmpl $0, DEFERRED_COUNT(%rdi)
	je 6f
	xorl %esi, %esi			/* nothing to tell: only signals that wait */
	jmp 5f
4:	movl $0, TLS(BUSY)
5:	movq %rsi, %rax
	call \keeping
6:	movl $1, %eax
9:	popq %rdi
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	bunch __snarl_bunch, snarlrt_access_keeping
	bunch __snarl_bunch_wide, snarlrt_access_keeping_wide
#endif
	.section .note.GNU-stack, "", @progbits
