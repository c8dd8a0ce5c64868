/*
 * Bunches as wrap/bunch.c makes them, by hand: the same row of accesses with hooks, inlined as wrap/inline.c does it,
 * and without. With LIBRARY defined the forms of shared libraries.
 *
 *   void NAME(char *p, long hooks)	with hooks in any case if that is not 0
 *
 * Three times each: the first one has a call to tell.
 *
 * rows_fast counts how often code without hooks ran.
 */
#define READ 3
#define WRITE 4
#define BUNCH 98		/* TRACE_BUNCH: rows.c looks whether that is so */

#ifdef TWO			/* other distances in the same places */
#define NEXT 10
#else
#define NEXT 8
#endif

#define SHADOW 0x7fff8000
#define OWN 8			/* of __snarl_tls */
#define OWN4 80
#define OWN3 88
#define SHARED4 96
#define SHARED3 104

#ifdef LIBRARY
#define TLS(offset) %fs:offset(%rcx)
#define SITE %rdx
#define FIND movq __snarl_tls@gottpoff(%rip), %rcx
#else
#define TLS(offset) %fs:__snarl_tls@tpoff+offset
#define SITE %rcx
#define FIND
#endif

/* From the load of tls.cur to its store, byte for byte as the runtime knows it. */
.macro append to, op, site, full
#ifdef LIBRARY
	movq %fs:(%rcx), %rax
#else
	movq %fs:__snarl_tls@tpoff, %rax
#endif
	testl $4095, %eax
	je \full
	leaq \site(%rip), SITE
	movq %rdi, (%rax)
	movq SITE, 8(%rax)
	movw $\op, 14(%rax)
	addq $16, %rax
#ifdef LIBRARY
	movq %rax, %fs:(%rcx)
#else
	movq %rax, %fs:__snarl_tls@tpoff
#endif
	jmp \to
.endm

.macro hook row, number, name, op, distance
	.if hooks
	leaq \distance(%rbx), %rdi
	movq %rdi, %rax
	shrq $3, %rax
	movzwl SHADOW(,%rax,2), %eax
	FIND
	cmpw %ax, TLS(OWN)
	je .L\row\()_\number
	cmpw $-1, %ax
	jne .Lcall_\row\()_\number
	append .L\row\()_\number, \op, .L\row\()_\number, .Lcall_\row\()_\number
.Lcall_\row\()_\number:
	call __tsan_\name@PLT
.L\row\()_\number:
	.endif
.endm

.macro same_as_own granules
	.if \granules == 1
	cmpw %ax, TLS(OWN)
	.elseif \granules == 2
	cmpl %eax, TLS(OWN4)
	.elseif \granules == 3
	cmpq %rax, TLS(OWN3)
	.else
	cmpq %rax, TLS(OWN4)
	.endif
.endm

.macro same_as_shared granules
	.if \granules == 1
	cmpw %ax, TLS(SHARED4)
	.elseif \granules == 2
	cmpl %eax, TLS(SHARED4)
	.elseif \granules == 3
	cmpq %rax, TLS(SHARED3)
	.else
	cmpq %rax, TLS(SHARED4)
	.endif
.endm

/* The body is the macro NAME_row; `first` is where its first access lies, `low` the lowest seen from there. */
.macro bunch name, count, granules, first=0, low=0
	.text
	.globl \name
	.type \name, @function
\name:
	pushq %rbx
	pushq %rbp
	pushq %r12
	movq %rdi, %rbx
	movq %rsi, %rbp
	movq 24(%rsp), %rdi
	call __tsan_func_entry@PLT
	movl $3, %r12d
.Lagain_\name:
	leaq \first(%rbx), %rdi
	testq %rbp, %rbp
	jne .Lslow_\name
.Lhead_\name:
	leaq \low(%rdi), %rax
	shrq $3, %rax
	.if \granules == 1
	movzwl SHADOW(,%rax,2), %eax
	.elseif \granules == 2
	movl SHADOW(,%rax,2), %eax
	.else
	movq SHADOW(,%rax,2), %rax
	.endif
	.if \granules == 3
	shlq $16, %rax
	.endif
	FIND
	same_as_own \granules
	je .Lfast_\name
	same_as_shared \granules
	jne .Lslow_\name
	append .Lfast_\name, (BUNCH + \count * 256), .L\name\()_1, .Lask_\name
.Lask_\name:
	leaq .L\name\()_1(%rip), %rcx
	movl $(BUNCH + \count * 256), %eax
	call __snarl_bunch@PLT
	testl %eax, %eax
	jne .Lfast_\name
.Lslow_\name:
	hooks = 1
	\name\()_row
	jmp .Ljoin_\name
.Lfast_\name:
	hooks = 0
	\name\()_row
	incq rows_fast(%rip)
.Ljoin_\name:
	decl %r12d
	jne .Lagain_\name
	call __tsan_func_exit@PLT
	popq %r12
	popq %rbp
	popq %rbx
	ret
	.size \name, . - \name
	.section snarl_bunches, "ao", @progbits, \name
	.p2align 2
	.long .Lhead_\name - .
	.long .Lfast_\name - .
	.short \count, \granules
.endm

.macro access row, number, distance, op
	.long .L\row\()_\number - .
	.short \distance, \op
.endm

/* Read, then write of the same word. */
.macro again_row
	hook again, 1, read8, (READ + 0x300), 0
	movq (%rbx), %rdx
	hook again, 2, write8, (WRITE + 0x300), 0
	movq %rdx, (%rbx)
.endm
	bunch again, 2, 1
	access again, 1, 0, (READ + 0x300)
	access again, 2, 0, (WRITE + 0x300)

.macro pair_row
	hook pair, 1, read4, (READ + 0x200), 0
	movl (%rbx), %edx
	hook pair, 2, write2, (WRITE + 0x100), NEXT
	movw %dx, NEXT(%rbx)
	hook pair, 3, volatile_read1, (READ + 0x800), 5
	movb 5(%rbx), %dl
.endm
	bunch pair, 3, 2
	access pair, 1, 0, (READ + 0x200)
	access pair, 2, NEXT, (WRITE + 0x100)
	access pair, 3, 5, (READ + 0x800)

/* The first is not the lowest. */
.macro around_row
	hook around, 1, read8, (READ + 0x300), 8
	movq 8(%rbx), %rdx
	hook around, 2, write4, (WRITE + 0x200), 0
	movl %edx, (%rbx)
	hook around, 3, write8, (WRITE + 0x300), 16
	movq %rdx, 16(%rbx)
.endm

	bunch around, 3, 3, 8, -8
	access around, 1, 0, (READ + 0x300)
	access around, 2, -8, (WRITE + 0x200)
	access around, 3, 8, (WRITE + 0x300)

.macro many_row
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	hook many, \n, read2, (READ + 0x100), (2 * \n - 2)
	movw (2 * \n - 2)(%rbx), %dx
	.endr
.endm
	bunch many, 15, 4
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	access many, \n, (2 * \n - 2), (READ + 0x100)
	.endr

	.bss
	.p2align 3
	.globl rows_fast
	.hidden rows_fast
rows_fast:
	.zero 8

	.hidden __start_snarl_bunches
	.hidden __stop_snarl_bunches
	.text
	.type tell_rows, @function
tell_rows:
	leaq __start_snarl_bunches(%rip), %rdi
	leaq __stop_snarl_bunches(%rip), %rsi
	jmp __snarl_bunches@PLT
	.size tell_rows, . - tell_rows
	.section .init_array.00099, "aw", @init_array
	.p2align 3
	.quad tell_rows

	.section .note.GNU-stack, "", @progbits
