/*
 * Writing a bunch. The append is the one of inline.c, byte for byte: a signal handler must find one that it
 * interrupted (runtime/entry.c). The check begins otherwise, or it would be taken for a site.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/format.h"
#include "wrap/bunch_internal.h"
#include "wrap/inline.h"

#define SHADOW "0x7fff8000"	/* all as in inline.c */
#define SECTION "snarl_bunches"

/* How the shadow of so many granules is looked at: fields of __snarl_tls that are what it may be. */
static const struct form {
	const char *load, *compare, *reg;
	unsigned own, shared;
} forms[BUNCH_GRANULES + 1] = {
	[1] = { "movzwl " SHADOW "(,%rax,2),%eax", "cmpw", "%ax", 8, 96 },
	[2] = { "movl " SHADOW "(,%rax,2),%eax", "cmpl", "%eax", 12, 96 },
	[3] = { "movq " SHADOW "(,%rax,2),%rax; shlq $16,%rax", "cmpq", "%rax", 88, 104 },
	[4] = { "movq " SHADOW "(,%rax,2),%rax", "cmpq", "%rax", 80, 96 },
};

/* The label behind a hook in the hooked copy. */
static void write_site(const struct bunch_row *b, unsigned i, size_t number, struct buf *out)
{
	struct asmtext_word site = b->member[i].site;

	if (site.size)
		buf_add(out, site.at, site.size);
	else
		buf_addf(out, ".Lbunchp%zu_%u", number, i);
}

static int lowest(const struct bunch_row *b)
{
	int low = 0;

	for (unsigned i = 0; i < b->count; i++)
		if (b->member[i].distance < low)
			low = b->member[i].distance;
	return low;
}

/* As INLINE_ASK, for the first that is written. */
static void write_ask(const struct bunch_row *b, struct buf *out)
{
	unsigned i = 0;

	while (i < b->count && (b->member[i].op & 0xff) != TRACE_WRITE)
		i++;
	if (i < b->count && b->member[i].distance)
		buf_addf(out, "prefetchw %d(%%rdi); ", b->member[i].distance);
	else if (i < b->count)
		buf_add_text(out, INLINE_ASK);
}

static void write_compare(const struct form *form, unsigned field, bool pic, struct buf *out)
{
	if (pic)
		buf_addf(out, "%s %s,%%fs:%u(%%rcx); ", form->compare, form->reg, field);
	else
		buf_addf(out, "%s %s,%%fs:__snarl_tls@tpoff+%u; ", form->compare, form->reg, field);
}

/* Where its records say they are from: the first hook, but that may be a row's as well, so of a span its check. */
static void write_pc(const struct bunch_row *b, size_t number, bool span, struct buf *out)
{
	if (span)
		buf_addf(out, ".Lbunch%zu", number);
	else
		write_site(b, 0, number, out);
}

static void write_head(const struct bunch_row *b, bool pic, size_t number, bool span, struct buf *out)
{
	const struct form *form = &forms[bunch_granules(b)];
	const char *cur = pic ? "%fs:(%rcx)" : "%fs:__snarl_tls@tpoff", *scratch = pic ? "%rdx" : "%rcx";
	unsigned op = TRACE_BUNCH | b->count << 8;
	int low = lowest(b);

	buf_addf(out, ".Lbunch%zu:\n\tleaq ", number);
	if (low)
		buf_addf(out, "%d", low);
	buf_addf(out, "(%%rdi),%%rax; shrq $3,%%rax; %s; %s", form->load,
		 pic ? "movq __snarl_tls@gottpoff(%rip),%rcx; " : "");
	write_compare(form, form->own, pic, out);
	buf_addf(out, "je .Lbunchf%zu; ", number);
	write_compare(form, form->shared, pic, out);
	buf_addf(out, "jne .Lbunchs%zu; ", number);
	write_ask(b, out);
	buf_addf(out, "movq %s,%%rax; testl $4095,%%eax; je .Lbunchc%zu; leaq ", cur, number);
	write_pc(b, number, span, out);
	buf_addf(out, "(%%rip),%s; movq %%rdi,(%%rax); movq %s,8(%%rax); movw $%u,14(%%rax); addq $16,%%rax; "
		 "movq %%rax,%s; jmp .Lbunchf%zu; .Lbunchc%zu: leaq ", scratch, scratch, op, cur, number, number);
	write_pc(b, number, span, out);
	buf_addf(out, "(%%rip),%%rcx; movl $%u,%%eax; call __snarl_bunch%s@PLT; testl %%eax,%%eax; jne .Lbunchf%zu\n", op,
		 b->member[0].wide ? "_wide" : "", number);
}

static void write_hooked(const struct asmtext *t, const struct bunch_row *b, size_t number, struct buf *out)
{
	unsigned next = 0;

	buf_addf(out, ".Lbunchs%zu:\n", number);
	for (uint32_t i = b->member[0].line; i < b->end; i++) {
		buf_add(out, t->lines[i].text.at, t->lines[i].text.size);
		buf_add_char(out, '\n');
		if (next == b->count || b->member[next].line != i)
			continue;
		if (b->member[next].site.size == 0)
			buf_addf(out, ".Lbunchp%zu_%u:\n", number, next);
		next++;
	}
	buf_addf(out, "\tjmp .Lbunchj%zu\n", number);
}

/* The lines from one hook to another without these and all between. */
static void write_bare(const struct asmtext *t, uint32_t first, uint32_t last, const uint32_t *hooks, struct buf *out)
{
	for (uint32_t i = first; i < last; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (*hooks == i) {
			hooks++;
		} else if (l->kind == ASMTEXT_DIRECTIVE) {
			if (asmtext_is(asmtext_verb(l->text), ".loc"))
				hook_write_loc(l->text, out);
		} else if (hook_is_code(l)) {
			buf_add(out, l->text.at, l->text.size);
			buf_add_char(out, '\n');
		}
	}
}

static void write_fast(const struct asmtext *t, const struct bunch_row *b, size_t number, struct buf *out)
{
	uint32_t hooks[BUNCH_ACCESSES];

	for (unsigned i = 0; i < b->count; i++)
		hooks[i] = b->member[i].line;
	buf_addf(out, ".Lbunchf%zu:\n", number);
	write_bare(t, hooks[0], hooks[b->count - 1], hooks, out);
	buf_addf(out, ".Lbunchj%zu:\n", number);
}

/*
 * The section for a descriptor, which goes where the function's goes. GNU as wants what it belongs to
 * before the group, clang behind it.
 */
static void write_section(const struct asmtext *t, const struct bunch_member *first, struct buf *out)
{
	const struct asmtext_line *l = &t->lines[first->line];
	struct asmtext_word group = t->sections[l->section].group, name = t->symbols[t->atoms[l->atom].symbol].name;
	bool clang = first->site.size > 0;

	buf_addf(out, "\t.pushsection " SECTION ",\"a%so\",@progbits", group.size ? "G" : "");
	if (group.size && clang)
		buf_addf(out, ",%.*s,comdat", (int)group.size, group.at);
	buf_addf(out, ",%.*s", (int)name.size, name.at);
	if (group.size && !clang)
		buf_addf(out, ",%.*s,comdat", (int)group.size, group.at);
	buf_add_text(out, "\n\t.p2align 2\n");
}

static void write_descriptor(const struct asmtext *t, const struct bunch_row *b, size_t number, struct buf *out)
{
	write_section(t, &b->member[0], out);
	buf_addf(out, "\t.long .Lbunch%zu-.,.Lbunchf%zu-.\n\t.value %u,%u\n", number, number, b->count,
		 bunch_granules(b));
	for (unsigned i = 0; i < b->count; i++) {
		buf_add_text(out, "\t.long ");
		write_site(b, i, number, out);
		buf_addf(out, "-.\n\t.value %d,%u\n", b->member[i].distance, b->member[i].op);
	}
	buf_add_text(out, "\t.popsection\n");
}

void bunch_write(const struct asmtext *t, const struct bunch_row *b, bool pic, size_t number, struct buf *out)
{
	write_head(b, pic, number, false, out);
	write_hooked(t, b, number, out);
	write_fast(t, b, number, out);
	write_descriptor(t, b, number, out);
}

/* A nop as long as a jump, which no assembler would shorten. */
void bunch_write_gate(const struct bunch_span *s, struct buf *out)
{
	buf_addf(out, ".Lbunchg%zu:\n\t.byte 0x0f,0x1f,0x44,0,0\n.Lbunchs%zu:\n", s->number, s->number);
}

static void write_hook(const struct bunch_hook *hook, struct buf *out)
{
	if (hook->member.site.size)
		buf_add(out, hook->member.site.at, hook->member.site.size);
	else
		buf_add_text(out, hook->label);
}

static void write_span_descriptor(const struct asmtext *t, const struct bunch_block *block, const struct bunch_span *s,
				  struct buf *out)
{
	unsigned next = 0;

	write_section(t, &s->row.member[0], out);
	buf_addf(out, "\t.long .Lbunchg%zu-.,.Lbunchf%zu-.\n\t.value %u,%u\n", s->number, s->number,
		 s->row.count | s->silent << 8, bunch_granules(&s->row));
	for (unsigned i = s->first; i <= s->last; i++) {
		if (!s->member[i])
			continue;
		buf_add_text(out, "\t.long ");
		write_hook(&block->hook[i], out);
		buf_addf(out, "-.\n\t.value %d,%u\n", s->row.member[next].distance, s->row.member[next].op);
		next++;
	}
	buf_addf(out, "\t.long .Lbunch%zu-.\n", s->number);
	for (unsigned i = s->first; i <= s->last; i++) {
		if (s->member[i])
			continue;
		buf_add_text(out, "\t.long ");
		write_hook(&block->hook[i], out);
		buf_add_text(out, "-.\n");
	}
	buf_add_text(out, "\t.popsection\n");
}

static void write_span(const struct asmtext *t, const struct bunch_block *block, const struct bunch_span *s, bool pic,
		       struct buf *out)
{
	uint32_t hooks[BUNCH_BLOCK];

	for (unsigned i = s->first; i <= s->last; i++)
		hooks[i - s->first] = block->hook[i].member.line;
	write_head(&s->row, pic, s->number, true, out);
	buf_addf(out, "\tjmp .Lbunchs%zu\n.Lbunchf%zu:\n", s->number, s->number);
	write_bare(t, hooks[0], block->hook[s->last].member.line, hooks, out);
}

void bunch_write_spans(const struct asmtext *t, const struct bunch_block *block, const struct bunch_span *spans, unsigned count,
		       bool pic, struct buf *out)
{
	const struct bunch_span *longest = spans;

	for (unsigned i = 0; i < count; i++)
		if (spans[i].last >= longest->last)
			longest = &spans[i];
	buf_addf(out, "\tjmp .Lbunchj%zu\n", longest->number);
	for (unsigned i = 0; i < count; i++) {
		if (&spans[i] == longest)
			continue;
		write_span(t, block, &spans[i], pic, out);
		buf_addf(out, "\tjmp .Lbunchj%zu\n", spans[i].last == longest->last ? longest->number : spans[i].number);
	}
	write_span(t, block, longest, pic, out);
	buf_addf(out, ".Lbunchj%zu:\n", longest->number);
	for (unsigned i = 0; i < count; i++)
		write_span_descriptor(t, block, &spans[i], out);
}

/*
 * One for a library or program, however many files. Weak: a library may be opened by a program without the
 * runtime, and the linker may throw away all descriptors.
 */
void bunch_write_constructor(struct buf *out)
{
	buf_add_text(out,
		"\t.section .text.__snarl_bunches_init,\"axG\",@progbits,__snarl_bunches_init,comdat\n"
		"\t.weak __snarl_bunches_init\n"
		"\t.hidden __snarl_bunches_init\n"
		"\t.type __snarl_bunches_init,@function\n"
		"__snarl_bunches_init:\n"
		"\tmovq __snarl_bunches@GOTPCREL(%rip),%rax\n"
		"\ttestq %rax,%rax\n"
		"\tje .Lbunchr\n"
		"\tmovq __start_" SECTION "@GOTPCREL(%rip),%rdi\n"
		"\tmovq __stop_" SECTION "@GOTPCREL(%rip),%rsi\n"
		"\tjmp *%rax\n"
		".Lbunchr:\n"
		"\tret\n"
		"\t.size __snarl_bunches_init,.-__snarl_bunches_init\n"
		"\t.weak __snarl_bunches\n"
		"\t.weak __start_" SECTION "\n"
		"\t.hidden __start_" SECTION "\n"
		"\t.weak __stop_" SECTION "\n"
		"\t.hidden __stop_" SECTION "\n"
		"\t.section .init_array.00099,\"awG\",@init_array,__snarl_bunches_init,comdat\n"
		"\t.p2align 3\n"
		"\t.quad __snarl_bunches_init\n");
}
