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
 * Code where the shadow check and the append are inlined (wrap/inline.c) calls
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
#define SELF 40
#define BUSY 48			/* with `hidden` behind it: 8 bytes that are 0 */
#define UNDECIDED 60
#define SAVED 64
#define CONTROL 72		/* each access is a point then: all goes to C */

#define FRAMES 64		/* in struct snarlrt_thread */
#define DEFERRED_COUNT 120

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

	.text
	.p2align 6

/* An entry of the table that snarlrt_thunk_restart walks: from \start to here. */
.macro restartable start
.Lcommit\@:
	.pushsection .rodata.snarlrt_restarts, "a", @progbits
	.long \start - .
	.long .Lcommit\@ - .
	.popsection
.endm

.macro entry name
	.globl \name
	.type \name, @function
\name:
.endm

/*
 * What touches more than tls.cur is busy meanwhile, so that signals wait (rt.h): all before is
 * restarted, and nothing comes between what is behind.
 */
.macro busy_from start
	movl $1, TLS(BUSY)
	restartable \start
.endm

/* Goes on at \deferred, with %rdi the thread, if signals came meanwhile. */
.macro busy_end deferred
	movl $0, TLS(BUSY)
	movq TLS(SELF), %rdi
	cmpl $0, DEFERRED_COUNT(%rdi)
	jne \deferred
.endm

/*
 * The first access in a function: an append of its entry and of the access, address in
 * %rdi, site in %rsi. Needs %rax, %rcx and %rdx. All but the most common case goes to \slow with
 * nothing done: the ring needs attention, or more than one call waits to be told.
 */
.macro tell_and_append slow
1:	cmpq $0, TLS(CUR)
	jne \slow
	cmpq $0, TLS(BUSY)
	jne \slow
	cmpq $0, TLS(CONTROL)
	jne \slow
	cmpq $0, TLS(SELF)
	je \slow
	movq TLS(SAVED), %rax
	testl $STAMP_MASK, %eax
	je \slow
	leal 16(%rax), %ecx
	testl $STAMP_MASK, %ecx
	je \slow
	movq TLS(TOLD), %rcx
	leaq 16(%rcx), %rdx
	cmpq TLS(FRAME), %rdx
	jne \slow
	busy_from 1b
	movq %rdi, 16(%rax)
	movq %rsi, 24(%rax)
	movq (%rcx), %rsi
	shlq $16, %rsi
	shrq $16, %rsi
	movq %rsi, (%rax)
	movabsq $(FUNC_ENTRY << 48), %rsi
	orq 8(%rcx), %rsi
	movq %rsi, 8(%rax)		/* makes both valid */
	movq %rdx, TLS(TOLD)
	addq $32, %rax
	movq %rax, TLS(CUR)
.endm

	.p2align 5
	.type tell_access, @function
tell_access:
	tell_and_append 8f
	busy_end snarlrt_deliver_deferred
	ret
8:	jmp snarlrt_access
	.size tell_access, . - tell_access

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
	je 7f
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
7:	movabsq $((\op) << 48), %rsi
	orq (%rsp), %rsi
	jmp tell_access
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
#define VOLATILE 8

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
 * What code with the check inlined before registers were given out (wrap/ir.c) calls for
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
	je 2f
0:	cmpw %cx, TLS(OWN_UNCUT)
	jne 6f
	cmpb $0, snarlrt_timed(%rip)
	jne \slow
	incl TLS(UNDECIDED)
1:	movq TLS(CUR), %rcx
	testl $STAMP_MASK, %ecx
	je 2f
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
2:	pushq %rdx
	pushq %rsi
	pushq %rdi
	movq %rax, %rsi
	tell_and_append 4f
	busy_end 3f
	popq %rdi
	popq %rsi
	popq %rdx
	ret
3:	xorl %esi, %esi			/* no access: only what waits */
4:	movq %rsi, %rax
	popq %rdi
	popq %rsi
	popq %rdx
	jmp \slow
5:	testl $0x10000, %ecx
	jne \slow
	movq %rdi, %rcx
	shrq $3, %rcx
	movl SHADOW(,%rcx,2), %ecx
	cmpl $-1, %ecx			/* both granules shared, … */
	je 2b
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
 * %rdi: the pc the function returns to. It is told to the trace only if
 * something happens inside: taking tls.cur away sends the next append to C.
 */
	.p2align 5
entry __tsan_func_entry
1:	movq TLS(FRAME), %rax
	cmpq TLS(FRAME_END), %rax
	jae snarlrt_entry_slow
	movq TLS(CUR), %rcx
	testq %rcx, %rcx
	je 2f
	movq %rcx, TLS(SAVED)
	movq $0, TLS(CUR)
2:	movq (%rsp), %rcx
	movq %rdi, (%rax)
	movq %rcx, 8(%rax)
	addq $16, %rax
	movq %rax, TLS(FRAME)
	restartable 1b
	ret
	.size __tsan_func_entry, . - __tsan_func_entry

	.p2align 5
entry __tsan_func_exit
3:	movq TLS(FRAME), %rax
	subq $16, %rax
	cmpq TLS(TOLD), %rax
	jb 8f
	movq %rax, TLS(FRAME)
	restartable 3b			/* a handler may tell the frame we are about to drop */
	je 1f
	ret
1:	cmpq $0, TLS(CUR)		/* a handler may have been here first */
	jne 2f
	movq TLS(SAVED), %rcx
	movq %rcx, TLS(CUR)
	restartable 1b
2:	ret
8:	movq (%rsp), %rdi		/* the entry was told, so the exit is, too */
4:	movq TLS(CUR), %rax
	testl $STAMP_MASK, %eax
	je snarlrt_exit_slow
	cmpq $0, TLS(BUSY)
	jne snarlrt_exit_slow
	cmpq $0, TLS(CONTROL)
	jne snarlrt_exit_slow
	movq TLS(FRAME), %rcx
	cmpq TLS(TOLD), %rcx
	jne snarlrt_exit_slow
	cmpq TLS(FRAME_END), %rcx
	jae snarlrt_exit_slow		/* calls may have been too deep to count */
	movq TLS(SELF), %rdx
	testq %rdx, %rdx
	je snarlrt_exit_slow
	cmpq FRAMES(%rdx), %rcx
	jbe snarlrt_exit_slow		/* it began before recording */
	busy_from 4b
	movabsq $(FUNC_EXIT << 48), %rdx
	orq %rdx, %rdi
	movq $0, (%rax)
	movq %rdi, 8(%rax)
	subq $16, %rcx
	movq %rcx, TLS(FRAME)
	movq %rcx, TLS(TOLD)
	addq $16, %rax
	movq %rax, TLS(CUR)
	busy_end snarlrt_deliver_deferred
	ret
	.size __tsan_func_exit, . - __tsan_func_exit

	.pushsection .rodata.snarlrt_restarts, "a", @progbits
	.globl snarlrt_restarts_end
	.hidden snarlrt_restarts_end
snarlrt_restarts_end:
	.popsection
#endif
	.section .note.GNU-stack, "", @progbits
