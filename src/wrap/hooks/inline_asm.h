/*
 * Inlines the check of memory-access hooks into a compiler's assembly (x86-64, AT&T syntax).
 *
 * Example: gcc -O1 -fno-pie compiles `int get(const int *p) { return *p; }` to
 *
 *	movq	%rbx, %rdi
 *	call	__tsan_read4
 *	movl	(%rbx), %ebx
 *
 * The call becomes the code below, all in one line so that the assembler's messages keep their
 * line numbers. The right column shows the values for p = 0x601040 in thread 1, as in the example
 * of abi/layout.h.
 *
 *	movq %rdi,%rax
 *	shrq $3,%rax				granule 0xc0208
 *	movzwl 0x7fff8000(,%rax,2),%eax		its shadow word
 *	cmpw %ax,%fs:__snarl_tls@tpoff+8	tls.own, here 3
 *	je .Lsnarl0				equal: own and cut memory, so nothing is recorded
 *	cmpw $-1,%ax
 *	jne .Lsnarlc0				not 0xffff either: the hook decides
 *	movq %fs:__snarl_tls@tpoff,%rax		0xffff: shared; tls.cur is where the record goes
 *	testl $4095,%eax
 *	je .Lsnarlc0				no ring, or a time stamp is due (STAMP_BYTES)
 *	leaq .Lsnarl0(%rip),%rcx		the site, which is the pc behind the call
 *	movq %rdi,(%rax)			record: address 0x601040
 *	movq %rcx,8(%rax)			record: site
 *	movw $515,14(%rax)			record: 0x203, READ of 2^2 bytes
 *	addq $16,%rax
 *	movq %rax,%fs:__snarl_tls@tpoff		tls.cur is behind the record
 *	jmp .Lsnarl0
 *   .Lsnarlc0:
 *	call __tsan_read4@PLT
 *   .Lsnarl0:
 *	movl (%rbx), %ebx			the access itself, unchanged
 *
 * gcc and clang place these calls where every call-clobbered register is dead, so %rax, %rcx and
 * the flags are free, and %rdi holds the address. Variants of the code: it gets TLS addresses from
 * the GOT for shared libraries, compares two shadow words for 16 bytes, tests the alignment of
 * unaligned accesses first, and prefetches before the record of a write.
 *
 * The pass also drops the MD5 of clang's .file lines, because GNU as garbles it. A line that is not
 * fully understood stays as it is: a plain call of the hook works.
 */
#ifndef WRAP_HOOKS_INLINE_ASM_H
#define WRAP_HOOKS_INLINE_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the output goes, in pieces and in order. */
struct inline_sink {
	void (*write)(void *context, const char *text, size_t size);
	void *context;
};

/* State from line to line of one assembly. */
struct inliner {
	bool pic;		/* the code may go into a shared library */
	bool user;		/* in inline assembly of the programmer: #APP to #NO_APP */
	bool intel;		/* in Intel syntax: after .intel_syntax */
	uint32_t macro;		/* nesting depth of .macro, .rept, .irp and .irpc */
	uint64_t count;		/* calls replaced so far, which is the number of the next label */
};

void inliner_init(struct inliner *in, bool pic);

/*
 * Transforms `text`, which consists of whole lines. Only the last line of an input may lack its
 * newline; none is added.
 */
void inliner_feed(struct inliner *in, const char *text, size_t size,
		  const struct inline_sink *sink);

/* A call of a hook, such as __tsan_unaligned_read4. */
struct inline_hook {
	const char *kind;	/* "read", "write", "volatile_read" or "volatile_write" */
	unsigned size;		/* bytes of the access: 1, 2, 4, 8 or 16 */
	bool unaligned;		/* the compiler does not know that the address is aligned */
};

/* Whether the line is a call of a memory-access hook, and nothing else. */
bool inline_parse(const char *line, size_t size, struct inline_hook *hook);

/* Kind and detail of the access's record, in the lower and upper byte: 0x203 for a read of 4. */
unsigned inline_op(const struct inline_hook *hook);

/*
 * Prefetches the cache line of a write before its record is stored. Stores reach memory in order,
 * so a write that misses would delay the stores of the records behind it.
 */
#define INLINE_PREFETCH "prefetchw (%rdi); "

/*
 * Writes the instructions that compare the shadow in %eax with the thread's own: one shadow word,
 * or two if `wide`. Code for shared libraries (`pic`) changes %rcx.
 */
void inline_compare(char *text, size_t room, bool wide, bool pic);

/* Quick test: false if inliner_feed() would certainly change nothing. */
bool inline_has_hooks(const char *text, size_t size);

#endif
