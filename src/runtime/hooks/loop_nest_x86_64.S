/*
 * __snarl_loop_round: counts a further round of a nest (loop_nest.h).
 *
 * The caller's slots begin 16 bytes below its stack pointer, right below the return address. So
 * this function may not push anything.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define NEST(field) %fs:__snarl_nest@tpoff + NEST_##field
#define FRAME (32 + RED_ZONE)	/* four registers below the caller's slots */

/*
 * Compares record i at %rdx, an access before the group, with the expected one, and sets the one to
 * expect in the next round. Changes %rax.
 */
.macro compare_before i
	movq (RECORD_SIZE * \i)(%rdx), %rax
	cmpq NEST(EXPECTED_BEFORE + EXPECTED_SIZE * \i), %rax
	jne .Lother
	addq NEST(EXPECTED_BEFORE + EXPECTED_SIZE * \i + EXPECTED_ADD), %rax
	movq %rax, NEST(EXPECTED_BEFORE + EXPECTED_SIZE * \i)
	movq (RECORD_SIZE * \i + RECORD_SITE)(%rdx), %rax
	cmpq NEST(SITE_BEFORE + SITE_SIZE * \i), %rax
	jne .Lother
.endm

	.text
	/*
	 * The caller has found that the loop, the iterations, `found` and the addresses of the
	 * looks are those of the next round. Counts the round, and returns "not equal". Returns
	 * "equal" if the nest is over: then %rcx and %esi are unchanged, and the caller appends the
	 * group. Changes %rax, %rcx, %rdx, %rsi and %rdi otherwise.
	 *
	 * A signal handler cannot have changed what the caller compared: its records would have
	 * moved tls.cur, which is compared here.
	 */
	.p2align 5
	.globl __snarl_loop_round
	.type __snarl_loop_round, @function
__snarl_loop_round:
	.cfi_startproc
	movl TLS(BUSY), %eax
	orl TLS(HIDDEN), %eax
	jne 9f
	movl $1, TLS(BUSY)
	movq TLS(CUR), %rax
	cmpq NEST(NEXT), %rax
	jne 8f
	movl NEST(BEFORE), %edi
	testl %edi, %edi
	jne .Lbefore
1:	movq NEST(HEAD), %rax
	movl NEST(FOUND), %ecx
	xorl %edx, %edx
	incq (%rax)
2:	movq NEST(LOOK + EXPECTED_ADD)(%rdx), %rax
	addq %rax, NEST(LOOK)(%rdx)
	addl $EXPECTED_SIZE, %edx
	shrl $1, %ecx
	jne 2b
	movq TLS(SELF), %rax
	movl NEST(EVENTS), %ecx
	addl %ecx, THREAD_LOOP_EXCESS(%rax)
	decl NEST(LEFT)
	je .Lfull
3:	movl $0, TLS(BUSY)
	cmpl $0, THREAD_DEFERRED_COUNT(%rax)
	jne .Ldeliver
	orl $1, %ecx
	ret

	/*
	 * If no undecided record was appended since the nest began, the accesses before the loop
	 * were to shared memory.
	 */
.Lbefore:
	movl TLS(UNDECIDED), %eax
	cmpl NEST(UNDECIDED), %eax
	jne .Lother
	movq NEST(END), %rdx
	compare_before 0
	decl %edi
	jne 4f
	movq $0, RECORD_SITE(%rdx)		/* removes it from the ring */
	movq $0, (%rdx)
	movq %rdx, TLS(CUR)
	jmp 1b
4:	compare_before 1
	movq $0, RECORD_SITE(%rdx)
	movq $0, (%rdx)
	movq $0, (RECORD_SIZE + RECORD_SITE)(%rdx)
	movq $0, RECORD_SIZE(%rdx)
	movq %rdx, TLS(CUR)
	jmp 1b

.Lother:
	movq $NO_NEST, NEST(NEXT)		/* ends it: expectations may be half updated */
	movq $0, NEST(FROM)
8:	movl $0, TLS(BUSY)		/* recording the group delivers deferred signals */
9:	cmpl %eax, %eax
	ret

.Lfull:	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	movq %r8, (%rsp)
	movq %r9, 8(%rsp)
	movq %r10, 16(%rsp)
	movq %r11, 24(%rsp)
	call snarlrt_nest_full
	movq (%rsp), %r8
	movq 8(%rsp), %r9
	movq 16(%rsp), %r10
	movq 24(%rsp), %r11
	leaq FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 8
	movq TLS(SELF), %rax
	jmp 3b

.Ldeliver:
	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	call snarlrt_loop_deliver
	leaq FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 8
	orl $1, %ecx
	ret
	.cfi_endproc
	.size __snarl_loop_round, . - __snarl_loop_round
#endif
	.section .note.GNU-stack, "", @progbits
