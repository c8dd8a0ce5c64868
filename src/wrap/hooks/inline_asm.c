/*
 * A filter over the lines of an assembly. For speed, it reads only the first letter of most lines.
 *
 * Two parts of the runtime recognise the inlined code by its bytes. record/site_scan.h finds sites
 * by the first three instructions; hooks/entry.c finds an append that a signal interrupted by all
 * of them. So instructions and operands must stay exactly as they are, here and in inline_ir.c.
 */
#include "abi/layout.h"
#include "wrap/hooks/inline_asm.h"

#include <stdio.h>
#include <string.h>

#define HOOK "__tsan_"

/* A piece of text that is parsed from the left. */
struct cursor {
	const char *at, *end;
};

/* Takes `word` if the text begins with it. */
static bool take(struct cursor *c, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0)
		return false;
	c->at += size;
	return true;
}

static bool take_blanks(struct cursor *c)
{
	const char *from = c->at;

	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	return c->at > from;
}

/* Takes 1, 2, 4, 8 or 16; returns 0 if there is no such number. */
static unsigned take_access_size(struct cursor *c)
{
	if (take(c, "16"))
		return 16;
	if (c->at < c->end && strchr("1248", *c->at) && *c->at)
		return (unsigned)(*c->at++ - '0');
	return 0;
}

/* Parses a call whose operand is exactly a hook, with at most a comment behind it. */
static bool parse_call(struct cursor c, struct inline_hook *hook)
{
	bool indirect, write, is_volatile;

	if (!take(&c, "call"))
		return false;
	take(&c, "q");
	if (!take_blanks(&c))
		return false;
	indirect = take(&c, "*");
	if (!take(&c, HOOK))
		return false;
	hook->unaligned = take(&c, "unaligned_");
	is_volatile = take(&c, "volatile_");
	write = take(&c, "write");
	if (!write && !take(&c, "read"))
		return false;
	if (is_volatile)
		hook->kind = write ? "volatile_write" : "volatile_read";
	else
		hook->kind = write ? "write" : "read";
	hook->size = take_access_size(&c);
	if (hook->size == 0)
		return false;
	if (!indirect)
		take(&c, "@PLT");
	else if (!take(&c, "@GOTPCREL(%rip)"))
		return false;
	take_blanks(&c);
	return c.at == c.end || *c.at == '#';
}

bool inline_parse(const char *line, size_t size, struct inline_hook *hook)
{
	struct cursor c = { line, line + size };

	take_blanks(&c);
	return parse_call(c, hook);
}

unsigned inline_op(const struct inline_hook *hook)
{
	unsigned op = (unsigned)__builtin_ctz(hook->size) << 8;

	op |= strstr(hook->kind, "write") ? TRACE_WRITE : TRACE_READ;
	if (strstr(hook->kind, "volatile"))
		op |= TRACE_VOLATILE << 8;
	return op;
}

void inline_compare(char *text, size_t room, bool wide, bool pic)
{
	const char *compare = wide ? "cmpl %eax" : "cmpw %ax";
	size_t own = wide ? offsetof(struct snarlrt_tls, own2) : offsetof(struct snarlrt_tls, own);

	if (pic)
		snprintf(text, room, "movq __snarl_tls@gottpoff(%%rip),%%rcx; %s,%%fs:%zu(%%rcx)",
			 compare, own);
	else
		snprintf(text, room, "%s,%%fs:__snarl_tls@tpoff+%zu", compare, own);
}

/*
 * Calls the hook unless the access lies within one granule, or covers exactly two. The check that
 * follows relies on it. The runtime does not count these instructions to the site.
 */
static int format_alignment(char *text, size_t room, unsigned size, unsigned long long label)
{
	const unsigned granule = 1u << SHADOW_GRANULE_SHIFT;

	if (size >= granule)
		return snprintf(text, room, "\ttestb $%u,%%dil; jne .Lsnarlc%llu;", granule - 1,
				label);
	return snprintf(text, room, "\tmovl %%edi,%%eax; andl $%u,%%eax; cmpl $%u,%%eax; "
			"ja .Lsnarlc%llu;", granule - 1, granule - size, label);
}

/*
 * Formats the check. Own and cut memory takes one compare. For shared memory it appends a record,
 * whose site is the address behind the whole sequence, as for a call of the hook. The hook handles
 * all else: memory in another state, and a ring that is full, missing or due for a time stamp.
 */
static int format_access(char *text, size_t size, const struct inline_hook *hook,
			 unsigned long long label, bool pic)
{
	bool wide = hook->size == 16;	/* two granules: compares two shadow words at once */
	unsigned op = inline_op(hook);
	const char *load = pic ? "%fs:(%rcx)" : "%fs:__snarl_tls@tpoff";
	const char *scratch = pic ? "%rdx" : "%rcx";
	const char *prefix = hook->unaligned ? "unaligned_" : "";
	const char *prefetch = strstr(hook->kind, "write") ? INLINE_PREFETCH : "";
	char compare[96];
	int length = hook->unaligned ? format_alignment(text, size, hook->size, label) : 0;

	inline_compare(compare, sizeof(compare), wide, pic);
	text += length;
	size -= (size_t)length;
	length += snprintf(text, size,
			"\tmovq %%rdi,%%rax; shrq $%d,%%rax; %s %#llx(,%%rax,2),%%eax; "
			"%s; je .Lsnarl%llu; %s; jne .Lsnarlc%llu; %s"
			"movq %s,%%rax; testl $%u,%%eax; je .Lsnarlc%llu; "
			"leaq .Lsnarl%llu(%%rip),%s; movq %%rdi,(%%rax); movq %s,%zu(%%rax); "
			"movw $%u,%zu(%%rax); addq $%zu,%%rax; movq %%rax,%s; jmp .Lsnarl%llu; "
			".Lsnarlc%llu: call " HOOK "%s%s%u@PLT; .Lsnarl%llu:",
			SHADOW_GRANULE_SHIFT, wide ? "movl" : "movzwl", SHADOW_BASE,
			compare, label, wide ? "cmpl $-1,%eax" : "cmpw $-1,%ax", label, prefetch,
			load, STAMP_BYTES - 1, label,
			label, scratch, scratch, offsetof(struct trace_record, site),
			op, RECORD_OP, sizeof(struct trace_record), load, label,
			label, prefix, hook->kind, hook->size, label);
	return length;
}

static void emit_check(struct inliner *in, const struct inline_hook *hook,
		       const struct inline_sink *sink)
{
	unsigned long long label = in->count++;
	char text[640];
	int length = format_access(text, sizeof(text), hook, label, in->pic);

	sink->write(sink->context, text, (size_t)length);
}

static void emit(const char *from, const char *to, const struct inline_sink *sink)
{
	if (to > from)
		sink->write(sink->context, from, (size_t)(to - from));
}

/* The last occurrence of `word` in the line, or NULL. */
static const char *last_of(struct cursor line, const char *word)
{
	const char *last = NULL, *found;
	size_t size = strlen(word);

	while ((found = memmem(line.at, (size_t)(line.end - line.at), word, size))) {
		last = found;
		line.at = found + size;
	}
	return last;
}

/* A line of inline assembly may hold several statements: the last change of syntax counts. */
static void note_syntax(struct inliner *in, struct cursor line)
{
	const char *intel = last_of(line, ".intel_syntax");
	const char *att = last_of(line, ".att_syntax");

	if (intel || att)
		in->intel = intel && (!att || intel > att);
}

/*
 * Tracks macros and syntax. The body of a macro or repetition is assembled more than once, so no
 * check with labels may be put there.
 */
static void note_directive(struct inliner *in, struct cursor c)
{
	struct cursor line = c;

	if (take(&c, ".macro") || take(&c, ".rep") || take(&c, ".irp")) {
		in->macro++;
	} else if (take(&c, ".endm") || take(&c, ".endr")) {
		if (in->macro > 0)
			in->macro--;
	} else if (take(&c, ".intel_syntax") || take(&c, ".att_syntax")) {
		note_syntax(in, line);
	}
}

/* Updates the state; returns true if the line is a call to be replaced. */
static bool read_line(struct inliner *in, struct cursor line, struct inline_hook *hook)
{
	take_blanks(&line);
	if (line.at == line.end)
		return false;
	if (*line.at == '#') {
		if (take(&line, "#APP"))
			in->user = true;
		else if (take(&line, "#NO_APP"))
			in->user = false;
		return false;
	}
	/* The second letter rules out most lines: .loc, .long, .cfi_* and local labels. */
	if (*line.at == '.' && line.end - line.at > 4 && strchr("maire", line.at[1]))
		note_directive(in, line);
	if (in->user) {
		note_syntax(in, line);
		return false;
	}
	return *line.at == 'c' && !in->intel && in->macro == 0 && parse_call(line, hook);
}

/*
 * clang gives the MD5 of each source in .file lines. GNU as, at least up to 2.40, writes its bytes
 * in reverse order, so it is left out. Returns where the line is to be cut.
 */
static const char *without_md5(struct cursor line)
{
	const char *quote;

	take_blanks(&line);
	if (!take(&line, ".file"))
		return line.end;
	quote = memrchr(line.at, '"', (size_t)(line.end - line.at));
	if (!quote)
		return line.end;
	line.at = quote + 1;
	return take(&line, " md5 0x") ? quote + 1 : line.end;
}

void inliner_init(struct inliner *in, bool pic)
{
	*in = (struct inliner){ .pic = pic };
}

void inliner_feed(struct inliner *in, const char *text, size_t size,
		  const struct inline_sink *sink)
{
	const char *end = text + size;
	const char *kept = text;	/* text before it is written */

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct cursor line = { text, stop };
		struct inline_hook hook;

		if (read_line(in, line, &hook)) {
			emit(kept, text, sink);
			emit_check(in, &hook, sink);
			kept = stop;
		} else if (!in->user && without_md5(line) != stop) {
			emit(kept, without_md5(line), sink);
			kept = stop;
		}
		text = newline ? newline + 1 : end;
	}
	emit(kept, end, sink);
}

bool inline_has_hooks(const char *text, size_t size)
{
	return memmem(text, size, HOOK, strlen(HOOK)) != NULL;
}
