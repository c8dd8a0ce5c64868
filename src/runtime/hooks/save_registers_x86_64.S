/*
 * snarlrt_access() for __snarl_access and __snarl_access_wide (entry_x86_64.S), whose callers
 * expect all registers but %rax and %rcx to be kept. The low 16 bytes of vector registers are
 * always saved; the rest only in the wide version, for code that uses AVX. The runtime does not use
 * the upper parts itself, but code during the call may: other threads of a controlled run, and libc
 * when a new thread is attached.
 *
 * Arguments: %rdi is the address, %rax the site.
 */
#ifdef __x86_64__

#define PUSHED 56	/* bytes of the registers pushed after %rbp */

.macro each move, register, size, save
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.if \save
	\move %\register\n, \size * \n(%rsp)
	.else
	\move \size * \n(%rsp), %\register\n
	.endif
	.endr
.endm

/* Calls snarlrt_access() with 16 vector registers of this width in bytes saved. */
.macro access_with move, register, size
	subq $(16 * \size), %rsp
	andq $-64, %rsp
	each \move, \register, \size, 1
	call snarlrt_access
	each \move, \register, \size, 0
.endm

	.text
	.p2align 5
	.globl snarlrt_access_keeping
	.hidden snarlrt_access_keeping
	.type snarlrt_access_keeping, @function
	.globl snarlrt_access_keeping_wide
	.hidden snarlrt_access_keeping_wide
	.type snarlrt_access_keeping_wide, @function
snarlrt_access_keeping:
	.cfi_startproc
	xorl %ecx, %ecx
	jmp 1f
snarlrt_access_keeping_wide:
	movl snarlrt_vector_width(%rip), %ecx
1:	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	movq %rax, %rsi
	cmpl $1, %ecx
	je 2f
	ja 3f
	access_with movaps, xmm, 16
	jmp 9f
2:	access_with vmovaps, ymm, 32
	jmp 9f
3:	access_with vmovaps, zmm, 64
9:	leaq -PUSHED(%rbp), %rsp
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size snarlrt_access_keeping, . - snarlrt_access_keeping
	/* Control mode tells by these bounds which registers are live after a hook. */
	.globl snarlrt_access_keeping_end
	.hidden snarlrt_access_keeping_end
snarlrt_access_keeping_end:
#endif
	.section .note.GNU-stack, "", @progbits
