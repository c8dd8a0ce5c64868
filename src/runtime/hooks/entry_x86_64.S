/*
 * The hottest hooks: plain accesses, function entries and exits. They are in assembly for three
 * reasons: few registers have to be saved, the site is the return address, and each append is a
 * restartable sequence.
 *
 * Restartable: a signal handler may append records to the same ring between any two instructions
 * here. An append takes effect with its store to tls.cur, the commit. If a signal interrupts it
 * before, the signal trampoline continues the thread at the start of the append
 * (snarlrt_thunk_restart and the table snarlrt_restarts).
 *
 * Code with an inlined shadow check and append (wrap/hooks/inline_asm.c) calls these hooks for all
 * other cases. The trampoline recognises its appends by their bytes (entry.c). All hooks of
 * accesses get the address in %rdi.
 */
#ifdef __x86_64__

#include "layout_asm.h"

#define TLS(field) %fs:__snarl_tls@tpoff + TLS_##field
#define STAMP_MASK (STAMP_BYTES - 1)
#define MANY_EMPTY_CALLS 8	/* from this count on, entries of a function are lazy */

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

/*
 * Adds an entry to snarlrt_restarts: a thread interrupted between \from and here continues at
 * \start. \from is \start if omitted.
 */
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
 * The final stores of a function entry or exit: %rax to tls.cur, %rcx to tls.frame and
 * tls.emitted. A thread interrupted between them cannot restart, because the first store commits
 * the record. The trampoline does all three stores for it (snarlrt_thunk_finish and the table
 * snarlrt_finishes).
 */
.macro finish
.Lfrom\@:
	movq %rax, TLS(CUR)
	movq %rcx, TLS(FRAME)
	movq %rcx, TLS(EMITTED)
.Lto\@:
	.pushsection .rodata.snarlrt_finishes, "a", @progbits
	.long .Lfrom\@ - .
	.long .Lto\@ - .
	.popsection
.endm

/*
 * The hook of an access. \detail is log2 of the size, perhaps + VOLATILE. Labels: 1 appends, 2 is
 * for the thread's own memory, 3 for C code, 8 for untouched memory or another thread's, 9 for cut
 * memory.
 */
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
	testl $STAMP_MASK, %eax		/* page end; also NULL: calls must be recorded first */
	je 3f
	movq (%rsp), %rcx
	movq %rdi, (%rax)
	movq %rcx, RECORD_SITE(%rax)
	movw $OP(\kind, \detail), RECORD_OP(%rax)
	addq $RECORD_SIZE, %rax
	movq %rax, TLS(CUR)
	restartable 1b
9:	ret
2:	cmpw %ax, TLS(OWN_UNCUT)	/* the thread's own, not cut: record as undecided */
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
	testb $(\size - 1), %dil	/* unaligned: it may cross into the next granule */
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

/* clang calls these where it does not know the alignment; most accesses lie in one granule. */
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
 * snarlrt_note_copy16(to, from, pc): records a copy of 16 bytes, as clang copies small structures
 * by memcpy. One commit covers both records. Returns 0, and records nothing, unless source and
 * target are aligned, each is shared or the thread's own and cut, and the records fit in the page.
 * Labels: 2 records the read and the write, 3 only the read, 5 only the write; 4: source is cut.
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
	jne 8f				/* no valid address: the program will crash on it */
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
 * __snarl_access and __snarl_access_wide: called by code whose check was inlined before register
 * allocation (wrap/hooks/inline_ir.c), for all but the common cases. %rdi is the address; %eax is
 * OP(kind, detail), plus ACCESS_SPLIT if the access lies in two granules. All registers but %rax
 * and %rcx are kept. The wide version also keeps the upper parts of AVX registers, except zmm16 to
 * zmm31 and the mask registers.
 */
.macro access_keeping name, slow
	.p2align 5
entry \name
	movl %eax, %ecx
	shlq $OP_SHIFT, %rax
	orq (%rsp), %rax		/* the record's site */
	testl $(ACCESS_SPLIT + OP(0, 4)), %ecx	/* split, or 16 bytes long */
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
	testl %edi, %eax		/* unaligned: it may cross into the next granule */
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
	cmpl $SHARED, %ecx		/* both granules shared */
	je \slow
	cmpw %cx, TLS(OWN_UNCUT)	/* both the thread's own and not cut? */
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
 * Function entry; %rdi is the pc to which the function returns. Only calls in which an event
 * happens are to be in the trace.
 *
 * Eager (label 4): the entry is recorded at once, and the exit removes the record if it is still
 * the ring's last. Lazy (label 2): the entry is only pushed on the call stack, where it is pending,
 * and tls.cur is moved to tls.saved. So the next append goes to C, which records pending entries
 * first. Entries are lazy if their slot on the call stack is not below tls.eager_end, at the end of
 * a page, in controlled runs, while hidden, and if calls of the function were often empty.
 */
	.p2align 6
entry __tsan_func_entry
1:	movq TLS(FRAME), %rcx
	cmpq TLS(EAGER_END), %rcx
	jae 5f
	movzwl (%rsp), %esi
	addq TLS(EMPTY_CALLS), %rsi
	cmpb $MANY_EMPTY_CALLS, (%rsi)
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
	cmpq $0, TLS(BUSY)		/* tests tls.hidden, too */
	jne 2b
	movq (%rsp), %rdx
	movq %rdi, (%rcx)
	movq %rdx, CALL_PC(%rcx)
	addq $CALL_SIZE, %rcx
	movabsq $(KIND_FUNC_ENTRY << OP_SHIFT), %rsi
	orq %rsi, %rdx
	movq %rdi, (%rax)
	movq %rdx, RECORD_SITE(%rax)	/* one store: the exit may load it at once */
	addq $RECORD_SIZE, %rax
	restartable 1b, 4b
	finish
	ret
5:	cmpq TLS(FRAME_END), %rcx
	jb 2b
	jmp snarlrt_entry_slow
	/*
	 * The page ends, or tls.cur is NULL. This is counted as an empty call: after some, the
	 * function's entries are lazy from the start.
	 */
6:	incb (%rsi)
	jmp 2b
	restartable 1b, 5b
	.size __tsan_func_entry, . - __tsan_func_entry

/*
 * Function exit. If the function's entry is pending, it is popped, and if it was the last pending
 * one, tls.cur is restored. If the entry is the ring's last record, the call was empty: the record
 * is removed and the call counted in tls.empty_calls. Otherwise the exit is recorded. C handles the
 * end of a page, calls too deep for the call stack, and functions entered before recording began.
 */
	.p2align 6
entry __tsan_func_exit
1:	movq TLS(FRAME), %rcx
	subq $CALL_SIZE, %rcx
	cmpq TLS(EMITTED), %rcx
	jb 4f
	movq %rcx, TLS(FRAME)
	restartable 1b			/* a handler may record the pending entry */
	je 2f
	ret
2:	cmpq $0, TLS(CUR)		/* a handler may have restored it */
	jne 3f
	movq TLS(SAVED), %rcx
	movq %rcx, TLS(CUR)
	restartable 2b
3:	ret
4:	movq TLS(CUR), %rax		/* the entry was recorded */
	testl $STAMP_MASK, %eax
	je 7f
	cmpq TLS(EAGER_END), %rcx
	jae 7f				/* C: there may be calls too deep for the stack */
	cmpq TLS(FRAME_FIRST), %rcx
	jb 7f				/* entered before recording began */
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
	/* The kind alone may match by chance: the last record may be an extra one. */
6:	movabsq $(KIND_FUNC_ENTRY << OP_SHIFT), %rdx
	orq CALL_PC(%rcx), %rdx
	cmpq (RECORD_SITE - RECORD_SIZE)(%rax), %rdx
	jne 5b
	movq (%rcx), %rdx
	cmpq -RECORD_SIZE(%rax), %rdx
	jne 5b
	subq $RECORD_SIZE, %rax
	movzwl CALL_PC(%rcx), %edx
	addq TLS(EMPTY_CALLS), %rdx
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
