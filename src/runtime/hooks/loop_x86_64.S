/*
 * __snarl_loop, called behind a loop that ran without hooks (loop.h). Every register is kept.
 *
 * The slots lie in the 128 bytes below the caller's stack pointer, so these are left alone; the
 * general registers go below them, in the order of their numbers downwards. A value is then found by its
 * place in one step. The commonest loops are looked at here: turns by a power of two, all memory private or shared. C
 * does the rest.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define LONG 112		/* bytes of shadow, less 16, that are better looked at by vectors */
#define SOME 32			/* turns; C looks at many of them with gaps at once */

/*
 * The frame: a group of records, the greatest offset in an access of each size, what was found of each access
 * (the first word of its record, or 0), 16 bytes that are not used, the registers, the caller's slots. FRAME is
 * its size, from the return address down.
 */
#define EXTENTS (RECORD_SIZE * (1 + MOST_ACCESSES))
#define FOUND (EXTENTS + 8)
#define FRAME (FOUND + 8 * MOST_ACCESSES + 16 + 8 * FIRST_SLOT + RED_ZONE)
#define REGISTERS (FRAME - 8 * (FIRST_SLOT + 1))	/* that of register 0 */

#define STATES 0xe7		/* x87, SSE, AVX and those of AVX-512, as xsave numbers them */

.macro slot number, register, save
	.if \save
	movq %\register, (REGISTERS - 8 * \number)(%rsp)
	.else
	movq (REGISTERS - 8 * \number)(%rsp), %\register
	.endif
.endm

/* What a function may spoil. */
.macro spoiled save
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

.macro find_loop
	movq FRAME(%rsp), %rax
	movslq 3(%rax), %rdi		/* nopl loop(%rip) is 0f 1f 05 and this */
	leaq 7(%rax, %rdi), %rdi
.endm

/* \to += factor * value of its place; needs %rax. */
.macro add_term at, by, to
	movzbl (\at + TERM_PLACE)(%rdi), %eax
	movsbq (\at + TERM_FACTOR)(%rdi), \by
	xorl $FIRST_SLOT, %eax
	notq %rax
	imulq FRAME(%rsp, %rax, 8), \by
	addq \by, \to
.endm

/* %rcx is an address, %rax another: %rsi and %rax become where their shadow is. */
.macro shadows
	movq %rcx, %rsi
	shrq $GRANULE_SHIFT, %rax
	shrq $GRANULE_SHIFT, %rsi
	leaq SHADOW_BASE(%rax, %rax), %rax
	leaq SHADOW_BASE(%rsi, %rsi), %rsi
.endm

/* The shadow from %rsi to %rax, both included, is four times \value; else to 7. Needs both. */
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
	spoiled 1
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

	/* %r8: turns less one */
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
	jne .Lquick
	testq %r8, %rcx
	jne .Lquick
	bsfq %rdx, %rcx
	shrq %cl, %r8
	decq %r8
	cmpq $(MOST_TURNS - 1), %r8
	ja .Lquick
	/* %r9: own shadow value, four times; %r10: next record of the group; %r11: behind the last access; %rbx: in FOUND */
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

	/* %rcx: its address in the first turn, %rdx: stride, %rsi and %rax: shadow of the first and last byte */
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
	jne .Lquick
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
	je 9f				/* all private */
	movq %rsp, %rdi
	movq %r10, %rsi
	leaq 1(%r8), %rdx
	call snarlrt_loop_append
	jmp 8f
5:	testw %r9w, %r9w
	je .Lquick
	scan %r9, %r9w, scan_own
.Lprivate:
	movq $0, (%rbx)
	jmp .Lnext

	/* The memory of an access that was looked at, or a stride that is not the same each time. */
.Lmore:
	movzbl (ACCESS_STRIDE_TERM + TERM_PLACE)(%rdi), %eax
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

	/* Turns that are far from each other, or go back. */
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
	jne .Lquick
	testl %esi, %esi
	jne .Lshared
	jmp .Lprivate

	/* Maybe only gaps differ: some turns, each in one granule. */
7:	cmpq $8, %rdx
	jbe .Lquick
	movzbl ACCESS_DETAIL(%rdi), %esi
	andl $SIZE_MASK, %esi
	movzbl EXTENTS(%rsp, %rsi), %esi
	cmpq $SOME, %r8
	jae .Lquick
	testb $GRANULE_MASK, %dl
	jne .Lquick
	cmpl $GRANULE_MASK, %esi
	ja .Lquick
	testq %rcx, %rsi
	jne .Lquick
	movq %rdx, %rax
	imulq %r8, %rax
	addq %rcx, %rax
	shadows
	shrq $(GRANULE_SHIFT - 1), %rdx	/* of the shadow */
	cmpw $SHARED, (%rsi)
	jne 2f
1:	cmpw $SHARED, (%rsi)
	jne .Lquick
	addq %rdx, %rsi
	cmpq %rax, %rsi
	jbe 1b
	shlq $(GRANULE_SHIFT - 1), %rdx
	jmp .Lshared
2:	testw %r9w, %r9w
	je .Lquick
3:	cmpw %r9w, (%rsi)
	jne .Lquick
	addq %rdx, %rsi
	cmpq %rax, %rsi
	jbe 3b
	jmp .Lprivate

.Lquick:
	find_loop
	leaq FRAME(%rsp), %rsi
	call snarlrt_loop_fast
8:	testl %eax, %eax
	jne .Lslow
9:	spoiled 0
	slot 3, rbx, 0
	leaq FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret

	/* For __snarl_loop_close, in whose place it returns: signals waited. */
	.globl snarlrt_loop_deliver
	.hidden snarlrt_loop_deliver
	.cfi_restore %rbx
snarlrt_loop_deliver:
	leaq -FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME + 8
	spoiled 1
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

	/* For scan: from %rsi on, %rax and 16 bytes; equal if all are. Spoils only these. */
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
	/* The last 32 bytes, of which some were looked at before. */
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
