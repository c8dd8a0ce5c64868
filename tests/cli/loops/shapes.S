/*
 * Loops as wrap/loops/loops_find.c makes them, written by hand: each exists without hooks, recorded
 * at its end, and with hooks; __snarl_loops says which one runs.
 *
 *   void shape(char *a, char *b, long iterations, long stride, char *c)
 *
 * has these arguments in %rbx, %r12, %r13, %r14 and %r15. A body is a macro, with hooks if `hooks`
 * is 1.
 */
#define READ 3
#define WRITE 4

.macro hook shape, number, name, operands:vararg
	.if hooks
	leaq \operands, %rdi
	call __tsan_\name
.L\shape\()_\number:
	.endif
.endm

.macro shape name
	.text
	.globl \name
	.type \name, @function
\name:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	subq $8, %rsp
	movq %rdi, %rbx
	movq %rsi, %r12
	movq %rdx, %r13
	movq %rcx, %r14
	movq %r8, %r15
	movq 56(%rsp), %rdi
	call __tsan_func_entry
	xorl %ebp, %ebp
	cmpb $0, __snarl_loops(%rip)
	je 2f
	movq %r13, -16(%rsp)		/* slot 0 */
	movq %rbx, -24(%rsp)		/* slot 1 */
	movq %r12, -32(%rsp)		/* slot 2 */
	movq %rbp, -120(%rsp)		/* slot 13 */
	hooks = 0
1:	\name\()_body
	jne 1b
	call __snarl_loop
	nopl .L\name(%rip)
	jmp 3f
	hooks = 1
2:	\name\()_body
	jne 2b
3:	call __tsan_func_exit
	addq $8, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret
	.size \name, . - \name
	.section .data.rel.ro, "aw"
	.p2align 3
.L\name:
.endm

.macro counted accesses, counter, slot, step
	.long \accesses
	.byte \counter, \slot, 0, 0
	.quad \step
.endm

.macro access shape, number, op, log2, base, stride, place=0, factor=0, place2=0, factor2=0, by=0, \
	times=0
	.quad .L\shape\()_\number + (\op << 48) + (\log2 << 56)
	.quad \base
	.quad \stride
	.byte \op, \log2
	.byte \place, \factor, \place2, \factor2, \by, \times
.endm

/* b[i] = a[i], long */
.macro copy_body
	hook copy, 1, read8, (%rbx)
	movq (%rbx), %rax
	hook copy, 2, write8, (%r12)
	movq %rax, (%r12)
	addq $8, %rbx
	addq $8, %r12
	decq %r13
.endm
	shape copy
	counted 2, 13, 0, -1
	access copy, 1, READ, 3, 0, 8, 17, 1
	access copy, 2, WRITE, 3, 0, 8, 18, 1

/* a[i] -= b[i] * *c, as in lu; addresses relative to the ends, and one loop-invariant access */
.macro row_body
	hook row, 1, read8, (%rbx, %rbp, 8)
	hook row, 2, read8, (%r12, %rbp, 8)
	hook row, 3, read8, (%r15)
	hook row, 4, write8, (%rbx, %rbp, 8)
	incq %rbp
	cmpq %rbp, %r13
.endm
	shape row
	counted 4, 5, 13, 1
	access row, 1, READ, 3, 0, 8, 3, 1
	access row, 2, READ, 3, 0, 8, 12, 1
	access row, 3, READ, 3, 0, 0, 15, 1
	access row, 4, WRITE, 3, 0, 8, 3, 1, 0, 0, 3, 0

/* int, backwards from a[iterations - 1]; b forwards, byte by byte */
.macro down_body
	hook down, 1, read4, -4(%rbx, %r13, 4)
	hook down, 2, write1, 3(%r12, %rbp)
	incq %rbp
	decq %r13
.endm
	shape down
	counted 2, 13, 0, -1
	access down, 1, READ, 2, -4, -4, 17, 1, 16, 4
	access down, 2, WRITE, 0, 3, 1, 12, 1

/* Each iteration `stride` further, in a and, at twice the stride and with 16 bytes, in b;
 * volatile in c. */
.macro far_body
	hook far, 1, write4, (%rbx)
	hook far, 2, unaligned_read8, 1(%r12)
	hook far, 3, volatile_read2, (%r15)
	addq %r14, %rbx
	leaq (%r12, %r14, 2), %r12
	addq $24, %rbp
	decq %r13
.endm
	shape far
	counted 3, 5, 13, 24
	access far, 1, WRITE, 2, 0, 0, 17, 1, 0, 0, 14, 1
	access far, 2, READ, 3, 1, 0, 18, 1, 0, 0, 14, 2
	access far, 3, READ, 9, 0, 0, 15, 1

/* 16 bytes at a time; one hook for a read and a write */
.macro wide_body
	hook wide, 1, read16, (%rbx)
	hook wide, 2, unaligned_write16, (%r12)
	hook wide, 3, read_write2, 4(%rbx)
	addq $16, %rbx
	addq $16, %r12
	subq $1, %r13
.endm
	shape wide
	counted 4, 12, 2, 16
	access wide, 1, READ, 4, 0, 16, 17, 1
	access wide, 2, WRITE, 4, 0, 16, 18, 1
	access wide, 3, READ, 1, 4, 16, 17, 1
	access wide, 3, WRITE, 1, 4, 16, 17, 1, 0, 0, 1, 0

/* The maximum number of accesses. */
.macro many_body
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	hook many, \n, read4, 4*\n(%rbx)
	hook many, w\n, write1, \n(%r12, %rbp)
	.endr
	addq $4, %rbx
	addq $2, %rbp
	decq %r13
.endm
	shape many
	counted 32, 13, 0, -1
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	access many, \n, READ, 2, 4*\n, 4, 17, 1
	access many, w\n, WRITE, 0, \n, 2, 12, 1, 29, 1
	.endr

/*
 * void kept(struct registers *before, struct registers *after, long iterations, char *a): loads all
 * registers from `before`, runs a loop over a, stores all registers to `after`.
 */
	.text
	.globl kept
	.type kept, @function
kept:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	pushq %rsi
	cmpb $0, 640(%rdi)
	je 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu 128 + 32 * \n(%rdi), %ymm\n
	.endr
	jmp 2f
1:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu 128 + 32 * \n(%rdi), %xmm\n
	.endr
2:	fldt 648(%rdi)
	movq $0, -16(%rsp)
	movq %rcx, -24(%rsp)
	movq %rdx, 128 - 8(%rdi)	/* r15 is the loop counter */
	movq (%rdi), %rax
	movq 8(%rdi), %rcx
	movq 16(%rdi), %rdx
	movq 24(%rdi), %rbx
	movq 40(%rdi), %rbp
	movq 48(%rdi), %rsi
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	movq 8 * \n(%rdi), %r\n
	.endr
	movq 56(%rdi), %rdi
	call __snarl_loop
	nopl .Lkept(%rip)
	pushq %rdi
	movq 8(%rsp), %rdi
	movq %rax, (%rdi)
	movq %rcx, 8(%rdi)
	movq %rdx, 16(%rdi)
	movq %rbx, 24(%rdi)
	movq $0, 32(%rdi)
	movq %rbp, 40(%rdi)
	movq %rsi, 48(%rdi)
	popq 56(%rdi)
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	movq %r\n, 8 * \n(%rdi)
	.endr
	fstpt 648(%rdi)
	cmpb $0, 640(%rdi)
	je 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu %ymm\n, 128 + 32 * \n(%rdi)
	.endr
	vzeroupper
	jmp 2f
1:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu %xmm\n, 128 + 32 * \n(%rdi)
	.endr
2:	popq %rsi
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret
.Lkept_1:
	.size kept, . - kept
	.section .data.rel.ro, "aw"
	.p2align 3
.Lkept:
	counted 1, 15, 0, 1
	access kept, 1, WRITE, 3, 0, 8, 17, 1

	.section .note.GNU-stack, "", @progbits
