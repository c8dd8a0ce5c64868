/*
 * In LLVM's text form each line is one instruction, so this is a filter over lines.
 *
 * The inline assembly is marked alignstack because it contains a call: the stack must be aligned,
 * and LLVM must not use the red zone.
 *
 * The runtime recognises the code by its bytes (see inline_asm.c). Numbers are written with $$ and
 * labels with ${:uid}, as LLVM's inline assembly wants.
 */
#include "abi/layout.h"
#include "wrap/asm/asm_text.h"
#include "wrap/hooks/inline_ir.h"

#include <stdio.h>
#include <string.h>

#define END ".Lsnarl${:uid}"
#define CALL ".Lsnarlc${:uid}"
#define SPLIT ".Lsnarls${:uid}"

/* Clobber lists. */
#define CLOBBERS ",~{memory},~{dirflag},~{fpsr},~{flags}"
#define CLOBBERS_EXEC "{di},~{rax},~{rcx}" CLOBBERS
/* In a library, the dynamic linker may have to bind the call first, which changes r10 and r11. */
#define CLOBBERS_PIC "{di},~{rax},~{rcx},~{rdx},~{r10},~{r11}" CLOBBERS
/* The callee preserves neither mask registers nor xmm16 to xmm31. */
#define CLOBBERS_AVX512                                                                  \
	",~{k0},~{k1},~{k2},~{k3},~{k4},~{k5},~{k6},~{k7}"                              \
	",~{xmm16},~{xmm17},~{xmm18},~{xmm19},~{xmm20},~{xmm21},~{xmm22},~{xmm23}"      \
	",~{xmm24},~{xmm25},~{xmm26},~{xmm27},~{xmm28},~{xmm29},~{xmm30},~{xmm31}"

/* Properties of a module on which the code depends. */
struct ir_module {
	bool pic;
	bool avx, avx512;	/* some function may use these registers */
};

/* A call of a hook. */
struct ir_call {
	bool write, is_volatile, unaligned;
	unsigned size;		/* bytes of the access */
	const char *arguments;	/* the opening parenthesis */
	const char *rest;	/* what follows the closing one */
};

static bool take(const char **at, const char *end, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0)
		return false;
	*at += size;
	return true;
}

/* Returns what follows the parenthesis that matches the one at `at`, or NULL. */
static const char *closing(const char *at, const char *end)
{
	unsigned depth = 0;
	bool quoted = false;

	for (; at < end; at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (!quoted && *at == '(')
			depth++;
		else if (!quoted && *at == ')' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

static bool parse(const char *at, const char *end, struct ir_call *call)
{
	if (!take(&at, end, "  "))
		return false;
	take(&at, end, "tail ");
	if (!take(&at, end, "call void @__tsan_"))
		return false;
	call->unaligned = take(&at, end, "unaligned_");
	call->is_volatile = take(&at, end, "volatile_");
	call->write = take(&at, end, "write");
	if (!call->write && !take(&at, end, "read"))
		return false;
	if (take(&at, end, "16("))
		call->size = 16;
	else if (end - at > 2 && strchr("1248", *at) && at[1] == '(')
		call->size = (unsigned)(*at - '0'), at += 2;
	else
		return false;
	call->arguments = at - 1;
	call->rest = closing(at - 1, end);
	/* One pointer, and behind the call nothing but metadata. */
	if (!call->rest || (!take(&at, end, "i8* ") && !take(&at, end, "ptr ")))
		return false;
	return call->rest == end || *call->rest == ',';
}

/*
 * Jumps to the call, with ACCESS_SPLIT, unless the access lies within one granule or covers exactly
 * two. The check that follows relies on it. The runtime does not count these instructions to the
 * site.
 */
static int format_alignment(char *text, size_t room, unsigned size, unsigned op)
{
	const unsigned granule = 1u << SHADOW_GRANULE_SHIFT;

	if (size >= granule)
		return snprintf(text, room, "testb $$%u,%%dil; movl $$%u,%%eax; jne " SPLIT "; ",
				granule - 1, op | ACCESS_SPLIT);
	return snprintf(text, room,
			"movl %%edi,%%eax; andl $$%u,%%eax; cmpl $$%u,%%eax; "
			"movl $$%u,%%eax; ja " SPLIT "; ",
			granule - 1, granule - size, op | ACCESS_SPLIT);
}

/* Formats the call of inline assembly up to its arguments. */
static int format(char *text, size_t size, const struct ir_call *call,
		  const struct ir_module *module)
{
	bool wide = call->size == 16, pic = module->pic;
	unsigned op = (unsigned)__builtin_ctz(call->size) << 8;
	const char *cur = pic ? "%fs:(%rcx)" : "%fs:__snarl_tls@tpoff";
	const char *site = pic ? "%rdx" : "%rcx";
	char alignment[160] = "", compare[96];

	inline_compare(compare, sizeof(compare), wide, pic);
	op |= call->write ? TRACE_WRITE : TRACE_READ;
	if (call->is_volatile)
		op |= TRACE_VOLATILE << 8;
	if (call->unaligned)
		format_alignment(alignment, sizeof(alignment), call->size, op);
	return snprintf(
		text, size,
		"  call void asm sideeffect alignstack \"%s"
		"movq %%rdi,%%rax; shrq $$%d,%%rax; %s %#llx(,%%rax,2),%%eax; "
		"%s; je " END "; %s; jne " CALL "; %s"
		"movq %s,%%rax; testl $$%u,%%eax; je " CALL "; "
		"leaq " END "(%%rip),%s; movq %%rdi,(%%rax); movq %s,%zu(%%rax); "
		"movw $$%u,%zu(%%rax); addq $$%zu,%%rax; movq %%rax,%s; jmp " END "; " CALL
		": movl $$%u,%%eax; " SPLIT ": call __snarl_access%s@PLT; " END ":\", \"%s%s\"",
		alignment, SHADOW_GRANULE_SHIFT, wide ? "movl" : "movzwl", SHADOW_BASE, compare,
		wide ? "cmpl $$-1,%eax" : "cmpw $$-1,%ax", call->write ? INLINE_PREFETCH : "", cur,
		STAMP_BYTES - 1, site, site, offsetof(struct trace_record, site), op, RECORD_OP,
		sizeof(struct trace_record), cur, op, module->avx ? "_wide" : "",
		pic ? CLOBBERS_PIC : CLOBBERS_EXEC, module->avx512 ? CLOBBERS_AVX512 : "");
}

bool ir_recognise(const char *text, size_t size)
{
	return take(&text, text + size, "; ModuleID = ");
}

static bool holds(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word)) != NULL;
}

void ir_transform(const char *text, size_t size, bool pic, const struct inline_sink *sink)
{
	/* The words stand in functions' attributes; found elsewhere, they only cost registers. */
	const struct ir_module module = { .pic = pic,
					  .avx = holds(text, size, "+avx"),
					  .avx512 = holds(text, size, "+avx512") };
	const char *end = text + size;
	const char *kept = text;	/* text before it is written */

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct ir_call call;
		char code[1536];

		if (parse(text, stop, &call)) {
			int length = format(code, sizeof(code), &call, &module);

			sink->write(sink->context, kept, (size_t)(text - kept));
			sink->write(sink->context, code, (size_t)length);
			kept = call.arguments;
		}
		text = newline ? newline + 1 : end;
	}
	sink->write(sink->context, kept, (size_t)(end - kept));
}

/* The label of a basic block that the line begins with, or an empty word. */
static struct asmtext_word label_of(const char *text, const char *end)
{
	const char *colon;

	if (text == end || *text == ' ' || *text == '@' || *text == ';' || *text == '!')
		return (struct asmtext_word){ text, 0 };
	colon = memchr(text, ':', (size_t)(end - text));
	return (struct asmtext_word){ text, colon ? (uint32_t)(colon - text) : 0 };
}

/* Whether the line is a conditional branch that may go to the label. */
static bool jumps_to(const char *text, const char *end, struct asmtext_word label)
{
	if (!label.size || !take(&text, end, "  br i1 "))
		return false;
	while ((text = memmem(text, (size_t)(end - text), "label %", 7))) {
		text += 7;
		if ((size_t)(end - text) >= label.size && memcmp(text, label.at, label.size) == 0 &&
		    (text + label.size == end || text[label.size] == ','))
			return true;
	}
	return false;
}

bool ir_has_loop(const char *text, size_t size)
{
	const char *end = text + size;
	struct asmtext_word label = { text, 0 };
	bool hooks = false;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct asmtext_word begins = label_of(text, stop);
		struct ir_call call;

		if (begins.size) {
			label = begins;
			hooks = false;
		}
		hooks = hooks || parse(text, stop, &call);
		if (hooks && jumps_to(text, stop, label))
			return true;
		text = newline ? newline + 1 : end;
	}
	return false;
}

void ir_repair_files(const char *text, size_t size, const struct inline_sink *sink)
{
	const char *end = text + size, *kept = text;

	while ((text = memmem(text, (size_t)(end - text), "\n\t.file\t", 8))) {
		const char *stop = memchr(text + 1, '\n', (size_t)(end - text - 1)), *md5;

		text += 8;
		if (!stop)
			break;
		md5 = memmem(text, (size_t)(stop - text), " md5 0x", 7);
		if (!md5 || *text == '0')
			continue;
		sink->write(sink->context, kept, (size_t)(md5 - kept));
		kept = text = stop;
	}
	sink->write(sink->context, kept, (size_t)(end - kept));
}
