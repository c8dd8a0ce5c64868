/*
 * The hottest entry points, by hand, for three reasons: they touch two
 * registers only; the site is the return address, so they stay leaf functions;
 * and each append is a restartable sequence.
 *
 * Restartable: a signal handler may append records of its own to the same ring
 * between any two instructions here. Until the store to tls.cur (the commit)
 * nothing counts, so the signal trampoline sends an interrupted append back to
 * its start (snarlrt_thunk_restart and the table snarlrt_restarts).
 *
 * Code where the shadow check and the append are inlined (wrap/hooks/inline_asm.c) calls
 * these for all else; there the trampoline knows the append by its bytes. The
 * address is in %rdi. Offsets into __snarl_tls are those of struct snarlrt_tls.
 */
#ifdef __x86_64__

#define TLS(field) %fs:__snarl_tls@tpoff+field
#define CUR 0
#define OWN 8
#define OWN_UNCUT 10
#define OWN2 12
#define FRAME 16
#define TOLD 24
#define FRAME_END 32
#define BUSY 48			/* with `hidden` behind it: 8 bytes that are 0 */
#define UNDECIDED 60
#define SAVED 64
#define FRAME_FIRST 88
#define TELL_END 96
#define QUIET 104		/* a byte for each value of a pc's low 16 bits */
#define QUIET_ENOUGH 8

#define FUNC_ENTRY 7
#define FUNC_EXIT 8

#define SHADOW 0x7fff8000
#define STAMP_MASK 4095

	.pushsection .rodata.snarlrt_restarts, "a", @progbits
	.p2align 3
	.globl snarlrt_restarts
	.hidden snarlrt_restarts
snarlrt_restarts:
	.popsection

	.pushsection .rodata.snarlrt_finishes, "a", @progbits
	.p2align 3
	.globl snarlrt_finishes
	.hidden snarlrt_finishes
snarlrt_finishes:
	.popsection

	.text
	.p2align 6

/* An entry of the table that snarlrt_thunk_restart walks: from \start, or \from which is part of it, to here. */
.macro restartable start, from
.Lcommit\@:
	.pushsection .rodata.snarlrt_restarts, "a", @progbits
	.long \start - .
	.ifb \from
	.long \start - .
	.else
	.long \from - .
	.endif
	.long .Lcommit\@ - .
	.popsection
.endm

.macro entry name
	.globl \name
	.type \name, @function
\name:
.endm

/*
 * Calls and their ends change the call stack as well: %rax is to be tls.cur, %rcx tls.frame and tls.told. Once the
 * record counts the rest is not begun anew: the trampoline does it (snarlrt_thunk_finish and the table
 * snarlrt_finishes).
 */
.macro finish
.Lfrom\@:
	movq %rax, TLS(CUR)
	movq %rcx, TLS(FRAME)
	movq %rcx, TLS(TOLD)
.Lto\@:
	.pushsection .rodata.snarlrt_finishes, "a", @progbits
	.long .Lfrom\@ - .
	.long .Lto\@ - .
	.popsection
.endm

/* kind and detail as one 16-bit number: detail << 8 | kind */
.macro access name, size, op
	.p2align 5
entry __tsan_\name
	movq %rdi, %rax
	shrq $3, %rax
	.if \size == 16
	movl SHADOW(,%rax,2), %eax
	cmpl %eax, TLS(OWN2)
	.else
	movzwl SHADOW(,%rax,2), %eax
	cmpw %ax, TLS(OWN)
	.endif
	je 9f
	.if \size == 16
	cmpl $-1, %eax			/* both granules shared? */
	.else
	cmpw $-1, %ax
	.endif
	jne 2f
1:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax		/* also when it is NULL: calls to tell first */
	je 3f
	movq (%rsp), %rcx
	movq %rdi, (%rax)
	movq %rcx, 8(%rax)
	movw $\op, 14(%rax)
	addq $16, %rax
	movq %rax, TLS(CUR)
	restartable 1b
9:	ret
2:	cmpw %ax, TLS(OWN_UNCUT)	/* private, but we may have to tell later */
	jne 8f
	.if \size == 16
	shrl $16, %eax
	cmpw %ax, TLS(OWN_UNCUT)
	jne 8f
	.endif
	cmpb $0, snarlrt_timed(%rip)
	jne 8f
	incl TLS(UNDECIDED)
	jmp 1b
8:	.if \size == 16
	call snarlrt_touch16
	.else
	testb $(\size - 1), %dil	/* it may go on in the next granule */
	jne 3f
	call snarlrt_touch
	.endif
	je 1b
3:	movabsq $((\op) << 48), %rsi
	orq (%rsp), %rsi
	jmp snarlrt_access
	.size __tsan_\name, . - __tsan_\name
.endm

#define READ 3
#define WRITE 4

	access read1, 1, READ
	access read2, 2, 0x100 + READ
	access read4, 4, 0x200 + READ
	access read8, 8, 0x300 + READ
	access read16, 16, 0x400 + READ
	access write1, 1, WRITE
	access write2, 2, 0x100 + WRITE
	access write4, 4, 0x200 + WRITE
	access write8, 8, 0x300 + WRITE
	access write16, 16, 0x400 + WRITE
	access volatile_read1, 1, 0x800 + READ
	access volatile_read2, 2, 0x900 + READ
	access volatile_read4, 4, 0xa00 + READ
	access volatile_read8, 8, 0xb00 + READ
	access volatile_read16, 16, 0xc00 + READ
	access volatile_write1, 1, 0x800 + WRITE
	access volatile_write2, 2, 0x900 + WRITE
	access volatile_write4, 4, 0xa00 + WRITE
	access volatile_write8, 8, 0xb00 + WRITE
	access volatile_write16, 16, 0xc00 + WRITE

/* Clang's, where it does not know the alignment: most lie well all the same. */
.macro unaligned name, size, op
	.p2align 4
entry __tsan_unaligned_\name
	.if \size >= 8
	testb $7, %dil
	je __tsan_\name
	.else
	movl %edi, %eax
	andl $7, %eax
	cmpl $(8 - \size), %eax
	jbe __tsan_\name
	.endif
	movabsq $((\op) << 48), %rsi
	orq (%rsp), %rsi
	jmp snarlrt_access
	.size __tsan_unaligned_\name, . - __tsan_unaligned_\name
.endm

	unaligned read1, 1, READ
	unaligned read2, 2, 0x100 + READ
	unaligned read4, 4, 0x200 + READ
	unaligned read8, 8, 0x300 + READ
	unaligned read16, 16, 0x400 + READ
	unaligned write1, 1, WRITE
	unaligned write2, 2, 0x100 + WRITE
	unaligned write4, 4, 0x200 + WRITE
	unaligned write8, 8, 0x300 + WRITE
	unaligned write16, 16, 0x400 + WRITE
	unaligned volatile_read1, 1, 0x800 + READ
	unaligned volatile_read2, 2, 0x900 + READ
	unaligned volatile_read4, 4, 0xa00 + READ
	unaligned volatile_read8, 8, 0xb00 + READ
	unaligned volatile_read16, 16, 0xc00 + READ
	unaligned volatile_write1, 1, 0x800 + WRITE
	unaligned volatile_write2, 2, 0x900 + WRITE
	unaligned volatile_write4, 4, 0xa00 + WRITE
	unaligned volatile_write8, 8, 0xb00 + WRITE
	unaligned volatile_write16, 16, 0xc00 + WRITE

/*
 * snarlrt_note_copy16(to, from, pc): 16 bytes copied, as clang does small structures by
 * memcpy. One commit for both records. Returns 0, with nothing told, if anything is
 * not plain: one is neither private and cut nor shared, or the ring needs attention.
 */
.macro record at, addr, op
	movq \addr, \at(%rax)
	movq %rdx, \at + 8(%rax)
	movw $\op, \at + 14(%rax)
.endm

.macro commit start, size
	addq $\size, %rax
	movq %rax, TLS(CUR)
	restartable \start
.endm

	.p2align 5
	.hidden snarlrt_note_copy16
entry snarlrt_note_copy16
	movq %rdi, %rax
	orq %rsi, %rax
	testb $7, %al
	jne 8f
	shrq $47, %rax
	jne 8f				/* nobody's address: it will crash elsewhere */
	movq %rsi, %rax
	shrq $3, %rax
	movl SHADOW(,%rax,2), %eax
	movq %rdi, %rcx
	shrq $3, %rcx
	movl SHADOW(,%rcx,2), %ecx
	cmpl %eax, TLS(OWN2)
	je 4f
	incl %eax
	jne 8f
	cmpl %ecx, TLS(OWN2)
	je 3f
	incl %ecx
	jne 8f
2:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 8f
	leal 16(%rax), %ecx
	testl $STAMP_MASK, %ecx
	je 8f
	record 0, %rsi, (0x400 + READ)
	record 16, %rdi, (0x400 + WRITE)
	commit 2b, 32
	jmp 9f
3:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 8f
	record 0, %rsi, (0x400 + READ)
	commit 3b, 16
	jmp 9f
4:	cmpl %ecx, TLS(OWN2)
	je 9f
	incl %ecx
	jne 8f
5:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 8f
	record 0, %rdi, (0x400 + WRITE)
	commit 5b, 16
9:	movl $1, %eax
	ret
8:	xorl %eax, %eax
	ret
	.size snarlrt_note_copy16, . - snarlrt_note_copy16

/*
 * What code with the check inlined before registers were given out (wrap/hooks/inline_ir.c) calls for
 * all but the common cases: %rdi the address, %eax the access as above, with bit 16 if it
 * lies over two granules. Every register but %rax and %rcx is kept; by the wide one also
 * those of AVX, except zmm16 to zmm31 and the masks.
 */
.macro access_keeping name, slow
	.p2align 5
entry \name
	movl %eax, %ecx
	shlq $48, %rax
	orq (%rsp), %rax		/* the record's site */
	testl $0x10400, %ecx		/* or 16 bytes long */
	jne 5f
	movq %rdi, %rcx
	shrq $3, %rcx
	movzwl SHADOW(,%rcx,2), %ecx
	cmpw $-1, %cx
	je \slow
0:	cmpw %cx, TLS(OWN_UNCUT)
	jne 6f
	cmpb $0, snarlrt_timed(%rip)
	jne \slow
	incl TLS(UNDECIDED)
1:	movq TLS(CUR), %rcx
	testl $STAMP_MASK, %ecx
	je \slow
	movq %rdi, (%rcx)
	movq %rax, 8(%rcx)
	addq $16, %rcx
	movq %rcx, TLS(CUR)
	restartable 1b
	ret
6:	testb $7, %dil
	je 8f
	pushq %rax
	rolq $8, %rax
	movl %eax, %ecx
	andl $7, %ecx
	movl $-1, %eax
	shll %cl, %eax
	notl %eax
	testl %edi, %eax		/* it may go on in the next granule */
	popq %rax
	jne \slow
8:	call snarlrt_touch
	je 1b
	jmp \slow
7:	call snarlrt_touch16
	je 1b
	jmp \slow
5:	testl $0x10000, %ecx
	jne \slow
	movq %rdi, %rcx
	shrq $3, %rcx
	movl SHADOW(,%rcx,2), %ecx
	cmpl $-1, %ecx			/* both granules shared, … */
	je \slow
	cmpw %cx, TLS(OWN_UNCUT)	/* … or both private and not cut? */
	jne 7b
	shrl $16, %ecx
	cmpw %cx, TLS(OWN_UNCUT)
	je 0b
	jmp \slow
	.size \name, . - \name
.endm

	access_keeping __snarl_access, snarlrt_access_keeping
	access_keeping __snarl_access_wide, snarlrt_access_keeping_wide

/*
 * %rdi: the pc the function returns to. It is told at once, and taken back at the function's end if it is still the
 * last record: only calls in which something happened are in the trace. Where that cannot be (the end of a page,
 * control, a thread that is hidden) or had to be taken back often it waits in the call stack: taking tls.cur away
 * sends the next append to C.
 */
	.p2align 6
entry __tsan_func_entry
1:	movq TLS(FRAME), %rcx
	cmpq TLS(TELL_END), %rcx
	jae 5f
	movzwl (%rsp), %esi
	addq TLS(QUIET), %rsi
	cmpb $QUIET_ENOUGH, (%rsi)
	jb 4f
2:	movq TLS(CUR), %rax
	testq %rax, %rax
	je 3f
	movq %rax, TLS(SAVED)
	movq $0, TLS(CUR)
3:	movq (%rsp), %rdx
	movq %rdi, (%rcx)
	movq %rdx, 8(%rcx)
	addq $16, %rcx
	movq %rcx, TLS(FRAME)
	restartable 1b
	ret
4:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 6f
	cmpq $0, TLS(BUSY)
	jne 2b
	movq (%rsp), %rdx
	movq %rdi, (%rcx)
	movq %rdx, 8(%rcx)
	addq $16, %rcx
	movabsq $(FUNC_ENTRY << 48), %rsi
	orq %rsi, %rdx
	movq %rdi, (%rax)
	movq %rdx, 8(%rax)		/* in one piece: it may be read again at once */
	addq $16, %rax
	restartable 1b, 4b
	finish
	ret
5:	cmpq TLS(FRAME_END), %rcx
	jb 2b
	jmp snarlrt_entry_slow
6:	incb (%rsi)			/* or one where the page ends is in doubt for ever */
	jmp 2b
	restartable 1b, 5b
	.size __tsan_func_entry, . - __tsan_func_entry

/* Where entries are told at once and tls.cur is there, all calls are told. */
	.p2align 6
entry __tsan_func_exit
1:	movq TLS(FRAME), %rcx
	subq $16, %rcx
	cmpq TLS(TOLD), %rcx
	jb 4f
	movq %rcx, TLS(FRAME)
	restartable 1b			/* a handler may tell the frame we are about to drop */
	je 2f
	ret
2:	cmpq $0, TLS(CUR)		/* a handler may have been here first */
	jne 3f
	movq TLS(SAVED), %rcx
	movq %rcx, TLS(CUR)
	restartable 2b
3:	ret
4:	movq TLS(CUR), %rax		/* the entry was told, so the exit is, too */
	testl $STAMP_MASK, %eax
	je 7f
	cmpq TLS(TELL_END), %rcx
	jae 7f				/* or calls may have been too deep to count */
	cmpq TLS(FRAME_FIRST), %rcx
	jb 7f				/* it began before recording */
	cmpb $FUNC_ENTRY, -2(%rax)
	je 6f
5:	movq (%rsp), %rdx
	movq $0, (%rax)
	movq %rdx, 8(%rax)
	movw $FUNC_EXIT, 14(%rax)
	addq $16, %rax
	restartable 1b, 4b
	finish
	ret
6:	movabsq $(FUNC_ENTRY << 48), %rdx	/* it may be the second record of something else */
	orq 8(%rcx), %rdx
	cmpq -8(%rax), %rdx
	jne 5b
	movq (%rcx), %rdx
	cmpq -16(%rax), %rdx
	jne 5b
	subq $16, %rax
	movzwl 8(%rcx), %edx
	addq TLS(QUIET), %rdx
	incb (%rdx)
	movq $0, 8(%rax)
	restartable 1b, 6b
	finish
	ret
7:	movq (%rsp), %rdi
	jmp snarlrt_exit_slow
	restartable 1b, 7b
	.size __tsan_func_exit, . - __tsan_func_exit

	.pushsection .rodata.snarlrt_restarts, "a", @progbits
	.globl snarlrt_restarts_end
	.hidden snarlrt_restarts_end
snarlrt_restarts_end:
	.popsection

	.pushsection .rodata.snarlrt_finishes, "a", @progbits
	.globl snarlrt_finishes_end
	.hidden snarlrt_finishes_end
snarlrt_finishes_end:
	.popsection
#endif
	.section .note.GNU-stack, "", @progbits
