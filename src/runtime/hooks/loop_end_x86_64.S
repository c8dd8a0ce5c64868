/*
 * Functions for the code that wrap/loops/loops_end.c writes behind a short loop (loop.h). One
 * checks the shadow of a look. Two begin and end the group of records, which that code writes into
 * the ring itself.
 *
 * The caller's slots begin 16 bytes below its stack pointer, right below the return address. So
 * these functions may not push anything.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define NEST(field) %fs:__snarl_nest@tpoff + NEST_##field
#define LONG 112		/* bytes of shadow above which vector registers are faster */
#define FRAME 64		/* bytes below the red zone, for four registers of 16 bytes */
#define MANY (LONG_LOOP - 16)	/* loop excess from which on a group gets a time stamp */

/* Adds to %xmm1 the bits in which 64 bytes differ from %xmm0. Changes %xmm2 and %xmm3. */
.macro look_64 at
	movdqu (\at), %xmm2
	movdqu 16(\at), %xmm3
	pxor %xmm0, %xmm2
	pxor %xmm0, %xmm3
	por %xmm3, %xmm2
	movdqu 32(\at), %xmm3
	pxor %xmm0, %xmm3
	por %xmm3, %xmm2
	movdqu 48(\at), %xmm3
	pxor %xmm0, %xmm3
	por %xmm3, %xmm2
	por %xmm2, %xmm1
.endm

	.text
	/*
	 * Checks the shadow of the memory from the byte at %rax to the one at %rdx. Shifts %esi
	 * left; bit 0 becomes 1 if all of the memory is shared, 0 if all of it is the thread's own
	 * and cut. Returns "equal" in both cases, and "not equal" in all others. Changes %rax, %rdx
	 * and %rdi.
	 */
	.p2align 5
	.globl __snarl_loop_look
	.type __snarl_loop_look, @function
__snarl_loop_look:
	.cfi_startproc
	shrq $GRANULE_SHIFT, %rax
	shrq $GRANULE_SHIFT, %rdx
	movq %rdx, %rdi
	subq %rax, %rdi			/* granules less one */
	cmpq $16, %rdi
	jae look_more
	cmpl $8, %edi
	jb 3f
	/* 9 to 16 granules: eight words from each end, which may overlap. */
	movq SHADOW_BASE(%rax, %rax), %rdi
	cmpq (SHADOW_BASE + 8)(%rax, %rax), %rdi
	jne 9f
	cmpq (SHADOW_BASE - 14)(%rdx, %rdx), %rdi
	jne 9f
1:	cmpq (SHADOW_BASE - 6)(%rdx, %rdx), %rdi
	jne 9f
2:	cmpq $SHARED, %rdi
	jne 5f
	leal 1(%rsi, %rsi), %esi
	ret

3:	cmpl $3, %edi
	movq SHADOW_BASE(%rax, %rax), %rdi
	jae 1b
	/* One to three granules: the first, the last, and the one between them, if any. */
	cmpw SHADOW_BASE(%rdx, %rdx), %di
	jne 9f
	addq %rdx, %rax
	andq $-2, %rax
	cmpw SHADOW_BASE(%rax), %di
	jne 9f
	cmpw $SHARED, %di
	je 6f
	testw %di, %di
	je 8f
	cmpw TLS(OWN), %di
	jne 9f
	leal (%rsi, %rsi), %esi
	ret
5:	testq %rdi, %rdi
	je 8f
	cmpq TLS(OWN4), %rdi
	jne 9f
	leal (%rsi, %rsi), %esi
	ret
6:	leal 1(%rsi, %rsi), %esi
	ret
8:	orl $1, %eax
9:	ret

	.p2align 4
look_more:
	leaq SHADOW_BASE(%rax, %rax), %rax
	leaq (SHADOW_BASE - 6)(%rdx, %rdx), %rdx	/* the last four words */
	subq %rax, %rdx
	cmpq $LONG, %rdx
	ja 2f
	movq (%rax), %rdi
1:	cmpq (%rax, %rdx), %rdi		/* from the last words to the first */
	jne 9b
	subq $8, %rdx
	ja 1b
	cmpq $SHARED, %rdi
	je 6b
	jmp 5b

	/* More than LONG bytes of shadow. */
2:	movq (%rax), %rdi
	cmpq $SHARED, %rdi
	je 3f
	testq %rdi, %rdi
	je 8b
	cmpq TLS(OWN4), %rdi
	jne 9b
3:	leaq -(RED_ZONE + FRAME)(%rsp), %rsp
	.cfi_def_cfa_offset RED_ZONE + FRAME + 8
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movq %rdi, %xmm0
	punpcklqdq %xmm0, %xmm0
	pxor %xmm1, %xmm1		/* all differences */
	leaq -56(%rax, %rdx), %rdx	/* the last 64 bytes, which overlap those before */
4:	look_64 %rax
	addq $64, %rax
	cmpq %rdx, %rax
	jb 4b
	look_64 %rdx
	pxor %xmm0, %xmm0
	pcmpeqb %xmm0, %xmm1
	pmovmskb %xmm1, %eax
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	leaq (RED_ZONE + FRAME)(%rsp), %rsp
	.cfi_def_cfa_offset 8
	cmpl $0xffff, %eax
	jne 9b
	cmpq $SHARED, %rdi
	je 6b
	jmp 5b
	.cfi_endproc
	.size __snarl_loop_look, . - __snarl_loop_look

	/*
	 * Begins a group; %edx is its size in bytes at most, with the time stamp behind it, if any.
	 * %rax becomes the address of its second record, and the thread is busy until
	 * __snarl_loop_close. Returns "equal", without effect, if the thread is busy or hidden, or
	 * the group does not fit in the page. Changes %rdx.
	 */
	.p2align 5
	.globl __snarl_loop_open
	.type __snarl_loop_open, @function
__snarl_loop_open:
	.cfi_startproc
	movl TLS(BUSY), %eax
	orl TLS(HIDDEN), %eax		/* not one load of both: it might wait for a store to one */
	jne 2f
	movl $1, TLS(BUSY)		/* defers signals */
	movq TLS(CUR), %rax
	testl $(STAMP_BYTES - 1), %eax
	je 1f
	leal (RECORD_SIZE - 1)(%rax, %rdx), %edx
	xorl %eax, %edx
	testl $-STAMP_BYTES, %edx
	jne 1f
	addq $RECORD_SIZE, %rax
	ret
1:	movl $0, TLS(BUSY)		/* __snarl_loop will deliver deferred signals */
2:	cmpl %eax, %eax
	ret
	.cfi_endproc
	.size __snarl_loop_open, . - __snarl_loop_open

	/*
	 * Ends the group: %rax is the end of its last record, %rcx the number of iterations less
	 * one, %esi the bits of the looks. Writes the first record, which makes the group valid.
	 * The return address identifies the loop, for nests. Changes %rax, %rcx, %rdx, %rsi and
	 * %rdi.
	 */
	.p2align 5
	.globl __snarl_loop_close
	.type __snarl_loop_close, @function
__snarl_loop_close:
	.cfi_startproc
	movq (%rsp), %rdi
	cmpq NEST(FROM), %rdi
	je .Lagain
1:	movq %rdi, NEST(FROM)
	movl %esi, NEST(FOUND)
	movl %ecx, NEST(ITERATIONS)
	movq TLS(CUR), %rdx
	movq %rdx, %rsi
	subq NEST(END), %rsi
	movq $NO_NEST, NEST(NEXT)
	movq %rsi, NEST(GAP)
	movq %rax, NEST(END)
	leal -RECORD_SIZE(%rax), %esi
	leal 1(%rcx), %edi
	subl %edx, %esi
	movq %rdi, (%rdx)
	shrl $RECORD_SHIFT, %esi	/* accesses */
	movq (RECORD_SIZE + RECORD_SITE)(%rdx), %rdi
	imull %esi, %ecx
	decl %ecx
	shll $8, %esi
	orl $KIND_LOOP, %esi
	shlq $(64 - OP_SHIFT), %rdi
	shrdq $(64 - OP_SHIFT), %rsi, %rdi
	movq %rdi, RECORD_SITE(%rdx)	/* makes the group valid */
	movq %rax, TLS(CUR)
	movq TLS(SELF), %rax
	addl %ecx, THREAD_LOOP_EXCESS(%rax)
	cmpl $MANY, %ecx
	jge 3f				/* signed: with one iteration the excess is -1 */
2:	movl $0, TLS(BUSY)
	cmpl $0, THREAD_DEFERRED_COUNT(%rax)
	jne snarlrt_loop_deliver
	ret
	/* A long group: appends a stamp, whose time is that of clock_now() (record/clock.h). */
3:	movq %rax, %rcx
	movq $0, NEST(FROM)
	rdtsc
	shlq $32, %rdx
	orq %rdx, %rax
	andq $-CLOCK_STEP, %rax
	movq THREAD_LAST_TIME(%rcx), %rdx
	addq $CLOCK_STEP, %rdx
	cmpq %rax, %rdx
	cmovbq %rax, %rdx
	movq %rdx, THREAD_LAST_TIME(%rcx)
	movl $1, THREAD_SINCE_TSC(%rcx)
	movq TLS(CUR), %rax
	movabsq $(KIND_STAMP << OP_SHIFT), %rsi
	movq %rdx, (%rax)
	movq %rsi, RECORD_SITE(%rax)
	addq $RECORD_SIZE, %rax
	movq %rax, TLS(CUR)
	movq %rcx, %rax
	jmp 2b

	/* This loop also appended the last group: this may be the second round of a nest. */
.Lagain:
	cmpl NEST(FOUND), %esi
	jne 1b
	cmpl NEST(ITERATIONS), %ecx
	jne 1b
	cmpq $NO_NEST, NEST(NEXT)
	jne 1b
	movq TLS(CUR), %rdx
	subq NEST(END), %rdx
	cmpq $(RECORD_SIZE * MAX_BEFORE), %rdx
	ja 1b
	leaq -(RED_ZONE + FRAME)(%rsp), %rsp
	.cfi_def_cfa_offset RED_ZONE + FRAME + 8
	movq %r8, (%rsp)
	movq %r9, 8(%rsp)
	movq %r10, 16(%rsp)
	movq %r11, 24(%rsp)
	movq %rax, %rdi
	movl %ecx, %esi
	call snarlrt_nest_second
	movq (%rsp), %r8
	movq 8(%rsp), %r9
	movq 16(%rsp), %r10
	movq 24(%rsp), %r11
	leaq (RED_ZONE + FRAME)(%rsp), %rsp
	.cfi_def_cfa_offset 8
	movq TLS(SELF), %rax
	jmp 2b
	.cfi_endproc
	.size __snarl_loop_close, . - __snarl_loop_close
#endif
	.section .note.GNU-stack, "", @progbits
