/*
 * __snarl_loop: called behind a loop that ran without hooks (loop.h). Every register is kept.
 *
 * The caller's slots lie in the 128 bytes below its stack pointer, so the frame begins below these.
 * At its top are the general registers, in descending order of their numbers, so that one
 * computation finds the value of any register or slot (loop_value() in loop.h).
 *
 * The most common loops are handled here: the step is a power of two, and all memory is cut or
 * shared. C handles the rest: snarlrt_loop_fast() uses no vector registers; before
 * snarlrt_loop_slow(), they are saved with xsave.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define LONG 112		/* bytes of shadow, less 16, from which on vectors are faster */
#define SOME 32			/* number of iterations with gaps from which on C is faster */

/*
 * The frame, from low to high addresses:
 *	0		a group of records
 *	EXTENTS		bytes 0, 1, 3, 7, 15: offset of an access's last byte, by log2 of its size
 *	FOUND		for each access, `addr` of its record, or 0 if its memory is cut
 *			16 unused bytes, then the registers
 *			the caller's slots
 *	FRAME		the return address
 */
#define EXTENTS (RECORD_SIZE * (1 + MAX_ACCESSES))
#define FOUND (EXTENTS + 8)
#define FRAME (FOUND + 8 * MAX_ACCESSES + 16 + 8 * FIRST_SLOT + RED_ZONE)
#define REGISTERS (FRAME - 8 * (FIRST_SLOT + 1))	/* where register 0 is saved */

#define STATES 0xe7		/* mask for xsave: x87, SSE, AVX, AVX-512 */

.macro slot number, register, save
	.if \save
	movq %\register, (REGISTERS - 8 * \number)(%rsp)
	.else
	movq (REGISTERS - 8 * \number)(%rsp), %\register
	.endif
.endm

/* Saves or restores the registers that a C function may change. */
.macro call_clobbered save
	slot 0, rax, \save
	slot 1, rcx, \save
	slot 2, rdx, \save
	slot 6, rsi, \save
	slot 7, rdi, \save
	slot 8, r8, \save
	slot 9, r9, \save
	slot 10, r10, \save
	slot 11, r11, \save
.endm

/* Sets %rdi to the descriptor: the operand of the nopl at the return address. */
.macro find_loop
	movq FRAME(%rsp), %rax
	movslq 3(%rax), %rdi		/* nopl loop(%rip) is 0f 1f 05 and a distance */
	leaq 7(%rax, %rdi), %rdi
.endm

/* \to += the value of the term at \at(%rdi). Changes %rax and \by. */
.macro add_term at, by, to
	movzbl (\at + TERM_VALUE)(%rdi), %eax
	movsbq (\at + TERM_FACTOR)(%rdi), \by
	xorl $FIRST_SLOT, %eax
	notq %rax
	imulq FRAME(%rsp, %rax, 8), \by
	addq \by, \to
.endm

/* %rsi and %rax become the shadow addresses of the memory at %rcx and %rax. */
.macro shadows
	movq %rcx, %rsi
	shrq $GRANULE_SHIFT, %rax
	shrq $GRANULE_SHIFT, %rsi
	leaq SHADOW_BASE(%rax, %rax), %rax
	leaq SHADOW_BASE(%rsi, %rsi), %rsi
.endm

/*
 * Jumps to 7 unless all shadow words from %rsi to %rax, both included, have the value \value16;
 * \value is four of them. \long does this for long ranges. Changes %rax and %rsi.
 */
.macro scan value, value16, long
	subq %rsi, %rax
	subq $14, %rax
	jb 2f
	cmpq $LONG, %rax
	jb 1f
	call \long
	jne 7f
	jmp 4f
1:	cmpq \value, (%rsi)
	jne 7f
	cmpq \value, 8(%rsi)
	jne 7f
	addq $16, %rsi
	subq $16, %rax
	jae 1b
2:	addq $8, %rax
	js 3f
	cmpq \value, (%rsi)
	jne 7f
	addq $8, %rsi
	subq $8, %rax
3:	cmpq $-6, %rax			/* bytes left, less 8 */
	jl 4f
	cmpw \value16, (%rsi)
	jne 7f
	cmpq $-4, %rax
	jl 4f
	cmpw \value16, 2(%rsi)
	jne 7f
	cmpq $-2, %rax
	jl 4f
	cmpw \value16, 4(%rsi)
	jne 7f
4:
.endm

	.text
	.p2align 5
	.globl __snarl_loop
	.type __snarl_loop, @function
__snarl_loop:
	.cfi_startproc
	cmpl $MODE_RECORD, snarlrt + RUNTIME_MODE(%rip)
	je 1f
	ret
1:	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	call_clobbered 1
	slot 3, rbx, 1
	.cfi_offset %rbx, -(RED_ZONE + 8 * 5)
	slot 5, rbp, 1
	slot 12, r12, 1
	slot 13, r13, 1
	slot 14, r14, 1
	slot 15, r15, 1
	leaq (FRAME + 8)(%rsp), %rax
	slot 4, rax, 1			/* the caller's %rsp */
	find_loop

	/* %r8: iterations less one */
	movzbl LOOP_COUNTER(%rdi), %eax
	movzbl LOOP_COUNTER_SLOT(%rdi), %ecx
	xorl $FIRST_SLOT, %eax
	notq %rax
	notq %rcx
	movq FRAME(%rsp, %rax, 8), %r8
	subq FRAME(%rsp, %rcx, 8), %r8
	movq LOOP_STEP(%rdi), %rdx
	testq %rdx, %rdx
	jns 2f
	negq %rdx
	negq %r8
2:	leaq -1(%rdx), %rcx
	testq %rdx, %rcx
	jne .Lfast
	testq %r8, %rcx
	jne .Lfast
	bsfq %rdx, %rcx
	shrq %cl, %r8
	decq %r8
	cmpq $(MAX_ITERATIONS - 1), %r8
	ja .Lfast
	/*
	 * %r9: tls.own, four times; %r10: next record of the group; %r11: end of the accesses;
	 * %rbx: this access's word in FOUND
	 */
	movzwl TLS(OWN), %r9d
	movabsq $SHADOW_FOUR, %rax
	imulq %rax, %r9
	movabsq $0x0f07030100, %rax
	movq %rax, EXTENTS(%rsp)
	leaq RECORD_SIZE(%rsp), %r10
	movl LOOP_ACCESSES(%rdi), %r11d
	shlq $ACCESS_SHIFT, %r11
	leaq LOOP_ACCESS(%rdi, %r11), %r11
	addq $LOOP_ACCESS, %rdi
	leaq FOUND(%rsp), %rbx

	/*
	 * %rdi: the access; %rcx: its first address; %rdx: stride; %rsi and %rax: shadow of the
	 * first and the last byte
	 */
.Laccess:
	cmpw $0, ACCESS_STRIDE_TERM(%rdi)
	jne .Lmore
	movq ACCESS_BASE(%rdi), %rcx
	add_term ACCESS_TERM, %rdx, %rcx
	cmpb $0, (ACCESS_TERM2 + TERM_FACTOR)(%rdi)
	je 1f
	add_term ACCESS_TERM2, %rdx, %rcx
1:	movq ACCESS_STRIDE(%rdi), %rdx
.Llook:
	movq %rcx, %rsi
	shrq $USER_BITS, %rsi
	jne .Lfast
	movzbl ACCESS_DETAIL(%rdi), %esi
	andl $SIZE_MASK, %esi
	movzbl EXTENTS(%rsp, %rsi), %esi
	cmpq $NEAR, %rdx
	ja .Lapart
	movq %rdx, %rax
	imulq %r8, %rax
	addq %rsi, %rax
	addq %rcx, %rax
	shadows
	cmpw $SHARED, (%rsi)
	jne 5f
	scan $SHARED, $SHARED, scan_shared
.Lshared:
	shlq $ADDR_BITS, %rdx
	orq %rcx, %rdx
	movq %rdx, (%rbx)
.Lagain:
	movq ACCESS_SITE(%rdi), %rax
	movq %rdx, (%r10)
	movq %rax, RECORD_SITE(%r10)
	addq $RECORD_SIZE, %r10
.Lnext:
	addq $8, %rbx
	addq $ACCESS_SIZE, %rdi
	cmpq %r11, %rdi
	jb .Laccess
	leaq RECORD_SIZE(%rsp), %rdi
	cmpq %rdi, %r10
	je 9f				/* all memory is cut */
	movq %rsp, %rdi
	movq %r10, %rsi
	leaq 1(%r8), %rdx
	call snarlrt_loop_append
	jmp 8f
5:	testw %r9w, %r9w
	je .Lfast
	scan %r9, %r9w, scan_own
.Lprivate:
	movq $0, (%rbx)
	jmp .Lnext

	/* The access has the addresses of an earlier one, or a stride known only at run time. */
.Lmore:
	movzbl (ACCESS_STRIDE_TERM + TERM_VALUE)(%rdi), %eax
	cmpb $0, (ACCESS_STRIDE_TERM + TERM_FACTOR)(%rdi)
	jne 1f
	negq %rax
	movq (%rbx, %rax, 8), %rdx
	testq %rdx, %rdx
	jne .Lagain
	jmp .Lnext
1:	movq ACCESS_BASE(%rdi), %rcx
	movq ACCESS_STRIDE(%rdi), %rdx
	add_term ACCESS_TERM, %rsi, %rcx
	add_term ACCESS_TERM2, %rsi, %rcx
	add_term ACCESS_STRIDE_TERM, %rsi, %rdx
	jmp .Llook

	/* The stride is large or negative. */
.Lapart:
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rcx
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
	movq %rcx, %rax
	movq %rsi, %rdi
	movq %r8, %rcx
	xorl %esi, %esi
	call __snarl_loop_look_apart
	popq %rdx
	.cfi_adjust_cfa_offset -8
	popq %rcx
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	jne .Lfast
	testl %esi, %esi
	jne .Lshared
	jmp .Lprivate

	/*
	 * The shadow differs, perhaps only in the gaps between iterations. Tries iteration by
	 * iteration if these are few, and each lies in one granule.
	 */
7:	cmpq $8, %rdx
	jbe .Lfast
	movzbl ACCESS_DETAIL(%rdi), %esi
	andl $SIZE_MASK, %esi
	movzbl EXTENTS(%rsp, %rsi), %esi
	cmpq $SOME, %r8
	jae .Lfast
	testb $GRANULE_MASK, %dl
	jne .Lfast
	cmpl $GRANULE_MASK, %esi
	ja .Lfast
	testq %rcx, %rsi
	jne .Lfast
	movq %rdx, %rax
	imulq %r8, %rax
	addq %rcx, %rax
	shadows
	shrq $(GRANULE_SHIFT - 1), %rdx	/* the stride in the shadow */
	cmpw $SHARED, (%rsi)
	jne 2f
1:	cmpw $SHARED, (%rsi)
	jne .Lfast
	addq %rdx, %rsi
	cmpq %rax, %rsi
	jbe 1b
	shlq $(GRANULE_SHIFT - 1), %rdx
	jmp .Lshared
2:	testw %r9w, %r9w
	je .Lfast
3:	cmpw %r9w, (%rsi)
	jne .Lfast
	addq %rdx, %rsi
	cmpq %rax, %rsi
	jbe 3b
	jmp .Lprivate

.Lfast:
	find_loop
	leaq FRAME(%rsp), %rsi
	call snarlrt_loop_fast
8:	testl %eax, %eax
	jne .Lslow
9:	call_clobbered 0
	slot 3, rbx, 0
	leaq FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret

	/* Delivers deferred signals: __snarl_loop_close jumps here, __snarl_loop_round calls. */
	.globl snarlrt_loop_deliver
	.hidden snarlrt_loop_deliver
	.cfi_restore %rbx
snarlrt_loop_deliver:
	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	call_clobbered 1
	slot 3, rbx, 1
	.cfi_offset %rbx, -(RED_ZONE + 8 * 5)
	movl $LOOP_DELIVER, %eax
.Lslow:	movl %eax, %ecx
	find_loop
	leaq FRAME(%rsp), %rsi
	cmpl $LOOP_DELIVER, %ecx
	jne 1f
	xorl %edi, %edi
1:	movq %rsp, %rbx
	.cfi_def_cfa_register %rbx
	movl snarlrt_xsave_size(%rip), %ecx
	subq %rcx, %rsp
	andq $-64, %rsp
	cmpl $XSAVE_LEGACY, %ecx
	ja 2f
	fxsave64 (%rsp)
	call snarlrt_loop_slow
	fxrstor64 (%rsp)
	jmp 3f
2:	xorl %edx, %edx
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	movq %rdx, (XSAVE_LEGACY + 8 * \n)(%rsp)
	.endr
	movl $STATES, %eax
	xsave64 (%rsp)
	call snarlrt_loop_slow
	movl $STATES, %eax
	xorl %edx, %edx
	xrstor64 (%rsp)
3:	movq %rbx, %rsp
	.cfi_def_cfa_register %rsp
	jmp 9b
	.cfi_endproc
	.size __snarl_loop, . - __snarl_loop

	/*
	 * For the macro scan: return "equal" if all words in the %rax + 16 bytes from %rsi on are
	 * shared (scan_shared) or the thread's own and cut (scan_own; %r9). Change %rax and %rsi.
	 */
	.p2align 5
	.type scan_shared, @function
scan_shared:
	.cfi_startproc
	subq $56, %rsp
	.cfi_def_cfa_offset 64
	movups %xmm0, (%rsp)
	pcmpeqd %xmm0, %xmm0
	jmp 1f
	.cfi_def_cfa_offset 8
scan_own:
	subq $56, %rsp
	.cfi_def_cfa_offset 64
	movups %xmm0, (%rsp)
	movq %r9, %xmm0
	punpcklqdq %xmm0, %xmm0
1:	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	pxor %xmm1, %xmm1		/* all differences */
	subq $16, %rax
2:	movdqu (%rsi), %xmm2
	pxor %xmm0, %xmm2
	por %xmm2, %xmm1
	movdqu 16(%rsi), %xmm2
	pxor %xmm0, %xmm2
	por %xmm2, %xmm1
	addq $32, %rsi
	subq $32, %rax
	jae 2b
	/* The last 32 bytes, which overlap those before. */
	movdqu (%rsi, %rax), %xmm2
	pxor %xmm0, %xmm2
	por %xmm2, %xmm1
	movdqu 16(%rsi, %rax), %xmm2
	pxor %xmm0, %xmm2
	por %xmm2, %xmm1
	pxor %xmm0, %xmm0
	pcmpeqb %xmm0, %xmm1
	pmovmskb %xmm1, %eax
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	addq $56, %rsp
	.cfi_def_cfa_offset 8
	cmpl $0xffff, %eax
	ret
	.cfi_endproc
	.size scan_shared, . - scan_shared

	.p2align 5
	.globl snarlrt_loop_scan
	.hidden snarlrt_loop_scan
	.type snarlrt_loop_scan, @function
snarlrt_loop_scan:
	.cfi_startproc
	subq $72, %rsp
	.cfi_def_cfa_offset 80
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movq %rdx, %xmm0
	punpcklqdq %xmm0, %xmm0
	pxor %xmm3, %xmm3		/* all differences */
	testb $1, %sil
	je 2f
	movdqu (%rdi), %xmm3
	pxor %xmm0, %xmm3
	addq $16, %rdi
	decq %rsi
	je 3f
2:	movdqu (%rdi), %xmm1
	movdqu 16(%rdi), %xmm2
	pxor %xmm0, %xmm1
	pxor %xmm0, %xmm2
	por %xmm1, %xmm3
	por %xmm2, %xmm3
	addq $32, %rdi
	subq $2, %rsi
	jne 2b
3:	movq %rcx, %xmm1
	punpcklqdq %xmm1, %xmm1
	pand %xmm1, %xmm3
	pxor %xmm1, %xmm1
	pcmpeqb %xmm1, %xmm3
	pmovmskb %xmm3, %ecx
	xorl %eax, %eax
	cmpl $0xffff, %ecx
	sete %al
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	addq $72, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size snarlrt_loop_scan, . - snarlrt_loop_scan
#endif
	.section .note.GNU-stack, "", @progbits
