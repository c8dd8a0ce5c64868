/*
 * Interposers that must not have a stack frame while the real function runs.
 *
 * setjmp returns a second time, so its frame must be the caller's. dlopen and dlsym look at their
 * return address to find the calling object. Their interposers call a C function, which does
 * the work and returns the real function's address, and then jump to it.
 *
 * vfork's child runs on the parent's stack until it execs, so the return address is kept in a
 * register, as libc does. snarlrt_vfork_before and snarlrt_vfork_after are in fork_exit.c.
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

/*
 * Keep the argument registers around the call of the C function, then jump to the address it
 * returned.
 */
.macro save_args
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
.endm

.macro jump_to_result name
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

/* Calls snarlrt_setjmp_enter(buffer, which, the caller's stack pointer). */
.macro setjmp_like name, which
	interposer \name
	save_args
	movl $\which, %esi
	leaq 32(%rsp), %rdx
	call snarlrt_setjmp_enter
	jump_to_result \name
.endm

	setjmp_like setjmp, 0
	setjmp_like _setjmp, 1
	setjmp_like __sigsetjmp, 2

#ifndef SNARLRT_STATIC
/* Call snarlrt_dlopen_enter(the caller's pc), snarlrt_dlmopen_enter(the caller's pc). */
	interposer dlopen
	save_args
	movq 24(%rsp), %rdi
	call snarlrt_dlopen_enter
	jump_to_result dlopen

	interposer dlmopen
	save_args
	movq 24(%rsp), %rdi
	call snarlrt_dlmopen_enter
	jump_to_result dlmopen

/* Calls snarlrt_dlsym_enter(handle, name, the caller's pc). */
	interposer dlsym
	save_args
	movq 24(%rsp), %rdx
	call snarlrt_dlsym_enter
	jump_to_result dlsym
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
