/*
 * __snarl_loop, called behind a loop that ran without hooks (loop.h). Every register is kept.
 *
 * The slots lie in the 128 bytes below the caller's stack pointer, so these are left alone; the
 * general registers go below them, in the order of their numbers downwards.
 */
#ifdef __x86_64__

#define RECORD 1		/* of enum snarlrt_mode, with which struct snarlrt begins */
#define FRAME 264		/* from the return address down */
#define DELIVER 2		/* of enum loop_done */
#define STATES 0xe7		/* x87, SSE, AVX and those of AVX-512, as xsave numbers them */
#define LEGACY 512		/* bytes of the area of fxsave; a header of 64 follows with xsave */

.macro slot move, number, register, save
	.if \save
	\move %\register, (128 - 8 * \number)(%rsp)
	.else
	\move (128 - 8 * \number)(%rsp), %\register
	.endif
.endm

/* What a function may spoil. */
.macro spoiled save
	slot movq, 0, rax, \save
	slot movq, 1, rcx, \save
	slot movq, 2, rdx, \save
	slot movq, 6, rsi, \save
	slot movq, 7, rdi, \save
	slot movq, 8, r8, \save
	slot movq, 9, r9, \save
	slot movq, 10, r10, \save
	slot movq, 11, r11, \save
.endm

/* Arguments of both functions. */
.macro loop_and_values
	movq FRAME(%rsp), %rax
	movslq 3(%rax), %rdi		/* nopl loop(%rip) is 0f 1f 05 and this */
	leaq 7(%rax, %rdi), %rdi
	leaq FRAME(%rsp), %rsi
.endm

	.text
	.p2align 5
	.globl __snarl_loop
	.type __snarl_loop, @function
__snarl_loop:
	.cfi_startproc
	cmpl $RECORD, snarlrt(%rip)
	je 1f
	ret
1:	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	spoiled 1
	slot movq, 3, rbx, 1
	.cfi_offset %rbx, -168
	slot movq, 5, rbp, 1
	slot movq, 12, r12, 1
	slot movq, 13, r13, 1
	slot movq, 14, r14, 1
	slot movq, 15, r15, 1
	leaq (FRAME + 8)(%rsp), %rax
	slot movq, 4, rax, 1		/* the caller's %rsp */
	loop_and_values
	call snarlrt_loop_quick
	testl %eax, %eax
	jne 2f
9:	spoiled 0
	leaq FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset FRAME + 8
2:	movl %eax, %ecx
	loop_and_values
	cmpl $DELIVER, %ecx
	jne 3f
	xorl %edi, %edi
3:	movq %rsp, %rbx
	.cfi_def_cfa_register %rbx
	movl snarlrt_state_size(%rip), %ecx
	subq %rcx, %rsp
	andq $-64, %rsp
	cmpl $LEGACY, %ecx
	ja 4f
	fxsave64 (%rsp)
	call snarlrt_loop_slow
	fxrstor64 (%rsp)
	jmp 5f
4:	xorl %edx, %edx
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	movq %rdx, (LEGACY + 8 * \n)(%rsp)
	.endr
	movl $STATES, %eax
	xsave64 (%rsp)
	call snarlrt_loop_slow
	movl $STATES, %eax
	xorl %edx, %edx
	xrstor64 (%rsp)
5:	movq %rbx, %rsp
	.cfi_def_cfa_register %rsp
	slot movq, 3, rbx, 0
	jmp 9b
	.cfi_endproc
	.size __snarl_loop, . - __snarl_loop
#endif
	.section .note.GNU-stack, "", @progbits
