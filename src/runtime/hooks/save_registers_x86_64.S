/*
 * snarlrt_access for callers that believe their registers to be kept (__snarl_access and
 * __snarl_access_wide in entry_x86_64.S). The low 16 bytes of the vector registers are saved
 * always; the rest only for code that may hold something there. The runtime itself does
 * not touch it, but a controlled thread stands still in here while others run, and the C
 * library is called where a thread is met for the first time.
 *
 * %rdi is the address, %rax the site. %rax and %rcx are free.
 */
#ifdef __x86_64__

#define PUSHED 56

.macro each move, register, size, save
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.if \save
	\move %\register\n, \size * \n(%rsp)
	.else
	\move \size * \n(%rsp), %\register\n
	.endif
	.endr
.endm

/* With the registers of this width. */
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
	movl snarlrt_vectors(%rip), %ecx
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
#endif
	.section .note.GNU-stack, "", @progbits
