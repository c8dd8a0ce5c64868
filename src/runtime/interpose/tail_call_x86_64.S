/*
 * Interposers that must not have a frame of their own when the real function
 * runs: setjmp returns twice, into a frame that has to be the caller's; dlopen
 * asks who called it, to find that object's run path. Each remembers what is
 * to be remembered in C, then jumps.
 *
 * vfork: the child runs on the parent's stack until it execs, so the return
 * address is kept in a register, as libc does. What it calls before and after
 * is in interpose_process.c.
 */
#ifdef __x86_64__

#include <asm/unistd_64.h>

	.text

.macro interposer name
	.p2align 4
	.globl \name
	.weak \name
	.type \name, @function
\name:
	.cfi_startproc
	endbr64
.endm

/* Around the call that says where to go on: the argument registers stay. */
.macro save
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
.endm

.macro go_on name
	popq %rdx
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size \name, . - \name
.endm

/* snarlrt_setjmp_enter(buffer, which, stack pointer after the return) */
.macro setjmp_like name, which
	interposer \name
	save
	movl $\which, %esi
	leaq 32(%rsp), %rdx
	call snarlrt_setjmp_enter
	go_on \name
.endm

	setjmp_like setjmp, 0
	setjmp_like _setjmp, 1
	setjmp_like __sigsetjmp, 2

#ifndef SNARLRT_STATIC
/* snarlrt_dlopen_enter(caller's pc) */
	interposer dlopen
	save
	movq 24(%rsp), %rdi
	call snarlrt_dlopen_enter
	go_on dlopen

	interposer dlmopen
	save
	movq 24(%rsp), %rdi
	call snarlrt_dlmopen_enter
	go_on dlmopen
#endif

	interposer vfork
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call snarlrt_vfork_before
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movl $__NR_vfork, %eax
	syscall
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rip, 0
	testl %eax, %eax
	je 1f
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	movslq %eax, %rdi
	movq 8(%rsp), %rsi
	call snarlrt_vfork_after
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
1:	ret
	.cfi_endproc
	.size vfork, . - vfork

#endif
	.section .note.GNU-stack, "", @progbits
