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
 * address is in %rdi.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define STAMP_MASK (STAMP_BYTES - 1)
#define QUIET_ENOUGH 8		/* taken back so often, a function's entry waits in the call stack */

#define READ KIND_READ
#define WRITE KIND_WRITE
#define OP(kind, detail) ((kind) + OP_DETAIL * (detail))

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

/* An access of this kind and detail, which is the size's logarithm and maybe VOLATILE. */
.macro access name, size, kind, detail
	.p2align 5
entry __tsan_\name
	movq %rdi, %rax
	shrq $GRANULE_SHIFT, %rax
	.if \size == 16
	movl SHADOW_BASE(,%rax,2), %eax
	cmpl %eax, TLS(OWN2)
	.else
	movzwl SHADOW_BASE(,%rax,2), %eax
	cmpw %ax, TLS(OWN)
	.endif
	je 9f
	.if \size == 16
	cmpl $SHARED, %eax		/* both granules shared? */
	.else
	cmpw $SHARED, %ax
	.endif
	jne 2f
1:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax		/* also when it is NULL: calls to tell first */
	je 3f
	movq (%rsp), %rcx
	movq %rdi, (%rax)
	movq %rcx, RECORD_SITE(%rax)
	movw $OP(\kind, \detail), RECORD_OP(%rax)
	addq $RECORD_SIZE, %rax
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
3:	movabsq $(OP(\kind, \detail) << OP_SHIFT), %rsi
	orq (%rsp), %rsi
	jmp snarlrt_access
	.size __tsan_\name, . - __tsan_\name
.endm

	access read1, 1, READ, 0
	access read2, 2, READ, 1
	access read4, 4, READ, 2
	access read8, 8, READ, 3
	access read16, 16, READ, 4
	access write1, 1, WRITE, 0
	access write2, 2, WRITE, 1
	access write4, 4, WRITE, 2
	access write8, 8, WRITE, 3
	access write16, 16, WRITE, 4
	access volatile_read1, 1, READ, VOLATILE+0
	access volatile_read2, 2, READ, VOLATILE+1
	access volatile_read4, 4, READ, VOLATILE+2
	access volatile_read8, 8, READ, VOLATILE+3
	access volatile_read16, 16, READ, VOLATILE+4
	access volatile_write1, 1, WRITE, VOLATILE+0
	access volatile_write2, 2, WRITE, VOLATILE+1
	access volatile_write4, 4, WRITE, VOLATILE+2
	access volatile_write8, 8, WRITE, VOLATILE+3
	access volatile_write16, 16, WRITE, VOLATILE+4

/* Clang's, where it does not know the alignment: most lie well all the same. */
.macro unaligned name, size, kind, detail
	.p2align 4
entry __tsan_unaligned_\name
	.if \size >= 8
	testb $GRANULE_MASK, %dil
	je __tsan_\name
	.else
	movl %edi, %eax
	andl $GRANULE_MASK, %eax
	cmpl $(GRANULE_MASK + 1 - \size), %eax
	jbe __tsan_\name
	.endif
	movabsq $(OP(\kind, \detail) << OP_SHIFT), %rsi
	orq (%rsp), %rsi
	jmp snarlrt_access
	.size __tsan_unaligned_\name, . - __tsan_unaligned_\name
.endm

	unaligned read1, 1, READ, 0
	unaligned read2, 2, READ, 1
	unaligned read4, 4, READ, 2
	unaligned read8, 8, READ, 3
	unaligned read16, 16, READ, 4
	unaligned write1, 1, WRITE, 0
	unaligned write2, 2, WRITE, 1
	unaligned write4, 4, WRITE, 2
	unaligned write8, 8, WRITE, 3
	unaligned write16, 16, WRITE, 4
	unaligned volatile_read1, 1, READ, VOLATILE+0
	unaligned volatile_read2, 2, READ, VOLATILE+1
	unaligned volatile_read4, 4, READ, VOLATILE+2
	unaligned volatile_read8, 8, READ, VOLATILE+3
	unaligned volatile_read16, 16, READ, VOLATILE+4
	unaligned volatile_write1, 1, WRITE, VOLATILE+0
	unaligned volatile_write2, 2, WRITE, VOLATILE+1
	unaligned volatile_write4, 4, WRITE, VOLATILE+2
	unaligned volatile_write8, 8, WRITE, VOLATILE+3
	unaligned volatile_write16, 16, WRITE, VOLATILE+4

/*
 * snarlrt_note_copy16(to, from, pc): 16 bytes copied, as clang does small structures by
 * memcpy. One commit for both records. Returns 0, with nothing told, if anything is
 * not plain: one is neither private and cut nor shared, or the ring needs attention.
 */
.macro record at, addr, op
	movq \addr, \at(%rax)
	movq %rdx, \at + RECORD_SITE(%rax)
	movw $\op, \at + RECORD_OP(%rax)
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
	testb $GRANULE_MASK, %al
	jne 8f
	shrq $USER_BITS, %rax
	jne 8f				/* nobody's address: it will crash elsewhere */
	movq %rsi, %rax
	shrq $GRANULE_SHIFT, %rax
	movl SHADOW_BASE(,%rax,2), %eax
	movq %rdi, %rcx
	shrq $GRANULE_SHIFT, %rcx
	movl SHADOW_BASE(,%rcx,2), %ecx
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
	leal RECORD_SIZE(%rax), %ecx
	testl $STAMP_MASK, %ecx
	je 8f
	record 0, %rsi, OP(READ, 4)
	record RECORD_SIZE, %rdi, OP(WRITE, 4)
	commit 2b, 2*RECORD_SIZE
	jmp 9f
3:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 8f
	record 0, %rsi, OP(READ, 4)
	commit 3b, RECORD_SIZE
	jmp 9f
4:	cmpl %ecx, TLS(OWN2)
	je 9f
	incl %ecx
	jne 8f
5:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 8f
	record 0, %rdi, OP(WRITE, 4)
	commit 5b, RECORD_SIZE
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
	shlq $OP_SHIFT, %rax
	orq (%rsp), %rax		/* the record's site */
	testl $(ACCESS_SPLIT + OP(0, 4)), %ecx	/* or 16 bytes long */
	jne 5f
	movq %rdi, %rcx
	shrq $GRANULE_SHIFT, %rcx
	movzwl SHADOW_BASE(,%rcx,2), %ecx
	cmpw $SHARED, %cx
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
	movq %rax, RECORD_SITE(%rcx)
	addq $RECORD_SIZE, %rcx
	movq %rcx, TLS(CUR)
	restartable 1b
	ret
6:	testb $GRANULE_MASK, %dil
	je 8f
	pushq %rax
	rolq $8, %rax
	movl %eax, %ecx
	andl $SIZE_MASK, %ecx
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
5:	testl $ACCESS_SPLIT, %ecx
	jne \slow
	movq %rdi, %rcx
	shrq $GRANULE_SHIFT, %rcx
	movl SHADOW_BASE(,%rcx,2), %ecx
	cmpl $SHARED, %ecx			/* both granules shared, … */
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
	movq %rdx, CALL_PC(%rcx)
	addq $CALL_SIZE, %rcx
	movq %rcx, TLS(FRAME)
	restartable 1b
	ret
4:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je 6f
	cmpq $0, TLS(BUSY)		/* or hidden */
	jne 2b
	movq (%rsp), %rdx
	movq %rdi, (%rcx)
	movq %rdx, CALL_PC(%rcx)
	addq $CALL_SIZE, %rcx
	movabsq $(KIND_FUNC_ENTRY << OP_SHIFT), %rsi
	orq %rsi, %rdx
	movq %rdi, (%rax)
	movq %rdx, RECORD_SITE(%rax)	/* in one piece: it may be read again at once */
	addq $RECORD_SIZE, %rax
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
	subq $CALL_SIZE, %rcx
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
	cmpb $KIND_FUNC_ENTRY, (RECORD_OP - RECORD_SIZE)(%rax)
	je 6f
5:	movq (%rsp), %rdx
	movq $0, (%rax)
	movq %rdx, RECORD_SITE(%rax)
	movw $KIND_FUNC_EXIT, RECORD_OP(%rax)
	addq $RECORD_SIZE, %rax
	restartable 1b, 4b
	finish
	ret
6:	movabsq $(KIND_FUNC_ENTRY << OP_SHIFT), %rdx	/* it may be the second record of something else */
	orq CALL_PC(%rcx), %rdx
	cmpq (RECORD_SITE - RECORD_SIZE)(%rax), %rdx
	jne 5b
	movq (%rcx), %rdx
	cmpq -RECORD_SIZE(%rax), %rdx
	jne 5b
	subq $RECORD_SIZE, %rax
	movzwl CALL_PC(%rcx), %edx
	addq TLS(QUIET), %rdx
	incb (%rdx)
	movq $0, RECORD_SITE(%rax)
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
