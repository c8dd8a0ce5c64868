/*
 * Inlines the hot check of memory-access hooks into compiler output (x86-64,
 * AT&T syntax): before the call of the hook the shadow of the address is
 * compared with the thread's own value, and the call is made only if they
 * differ. gcc and clang make these calls where every call-clobbered register
 * is dead, so %rax, %rcx and the flags are free; %rdi still holds the address.
 * Accesses of unknown alignment are first tested for it.
 *
 * Each call becomes one line, so that the assembler's messages keep their line
 * numbers. The MD5 of clang's .file lines goes, because GNU as garbles it.
 * What is not fully understood is left as it was: a plain call works.
 */
#ifndef WRAP_HOOKS_INLINE_ASM_H
#define WRAP_HOOKS_INLINE_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Receives the output in pieces, in order. */
struct inline_sink {
	void (*write)(void *context, const char *text, size_t size);
	void *context;
};

/* State carried from line to line of one assembly. */
struct inliner {
	bool pic;		/* may end up in a shared library */
	bool user;		/* between #APP and #NO_APP: text of the programmer */
	bool intel;		/* after .intel_syntax */
	uint32_t macro;		/* depth of .macro, .rept, .irp, .irpc */
	uint64_t count;		/* calls replaced so far; numbers the labels */
};

void inliner_init(struct inliner *in, bool pic);

/*
 * Transforms `text`, which must consist of whole lines; only the very last
 * line of an input may lack its newline (none is added).
 */
void inliner_feed(struct inliner *in, const char *text, size_t size,
		  const struct inline_sink *sink);

/* What a call of a hook says. */
struct inline_hook {
	const char *kind;	/* [volatile_]read or write */
	unsigned size;
	bool unaligned;
};

/* Whether the line is such a call, and nothing else. */
bool inline_parse(const char *line, size_t size, struct inline_hook *hook);

/* The record's kind and detail, as the lower and upper byte. */
unsigned inline_op(const struct inline_hook *hook);

/*
 * Asks for the line that is about to be written, before the write is told: stores reach memory in their order, and those
 * of records would wait behind one that misses.
 */
#define INLINE_PREFETCH "prefetchw (%rdi); "

/*
 * The instructions that compare the shadow in %eax with the thread's own: two granules' if `wide`. In code that may end
 * up in a shared library (`pic`), they spoil %rcx.
 */
void inline_compare(char *text, size_t room, bool wide, bool pic);

/* Quick test: false if feeding `text` would certainly change nothing. */
bool inline_wanted(const char *text, size_t size);

#endif
