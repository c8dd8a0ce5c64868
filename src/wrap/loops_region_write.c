/*
 * Writing a loop of several blocks twice. Labels of the copy without hooks have the numbers of their lines.
 */
#include "wrap/hook.h"
#include "wrap/loops_region.h"

static void add_line(struct buf *out, struct asmtext_word text)
{
	buf_add(out, text.at, text.size);
	buf_add_char(out, '\n');
}

/* The line's jump, and what it leads to; 0: it is none. */
static uint32_t target_of(const struct asmtext *t, uint32_t line)
{
	struct insn in;

	if (!hook_is_code(&t->lines[line]) || t->lines[line].user || !insn_read(t->lines[line].text, &in) ||
	    (in.kind != INSN_BRANCH && in.kind != INSN_JUMP))
		return 0;
	return asmtext_find(t, in.operand[0].symbol);
}

static void write_verb(const struct asmtext *t, uint32_t line, struct buf *out)
{
	struct asmtext_word verb = asmtext_verb(t->lines[line].text);

	buf_addf(out, "\t%.*s\t", (int)verb.size, verb.at);
}

static void write_copy_line(const struct loops_region *r, const struct asmtext *t, uint32_t line, size_t number, struct buf *out)
{
	const struct asmtext_line *l = &t->lines[line];
	uint32_t target = target_of(t, line);

	if (l->kind == ASMTEXT_LABEL) {
		buf_addf(out, ".Lsnarlv%zu_%u:\n", number, line);
	} else if (l->kind == ASMTEXT_DIRECTIVE && asmtext_is(asmtext_verb(l->text), ".loc")) {
		hook_write_loc(l->text, out);
	} else if (target) {
		uint32_t at = t->symbols[target].line;

		write_verb(t, line, out);
		if (at >= r->first && at <= r->last)
			buf_addf(out, ".Lsnarlv%zu_%u\n", number, at);
		else
			buf_addf(out, ".Lsnarlx%zu\n", number);
	} else if (l->kind == ASMTEXT_DIRECTIVE || (hook_is_code(l) && !loops_hook(&r->loop, line))) {
		add_line(out, l->text);
	}
}

void loops_region_begin(const struct loops_region *r, const struct asmtext *t, bool pic, size_t number, struct buf *out)
{
	add_line(out, t->lines[r->header].text);
	loops_write_start(&r->loop, pic, number, out);
	if (r->header != r->first)
		buf_addf(out, "\tjmp\t.Lsnarlv%zu_%u\n", number, r->header);
	buf_add_text(out, "\t.p2align 4,,10\n");
	for (uint32_t i = r->first; i <= r->last; i++)
		write_copy_line(r, t, i, number, out);
	buf_addf(out, ".Lsnarlx%zu:\n", number);
	loops_write_tell(&r->loop, pic, number, out);
	if (r->out)
		buf_addf(out, ".Lsnarle%zu:\n\tjmp\t%.*s\n", number, (int)t->symbols[r->out].name.size,
			 t->symbols[r->out].name.at);
	/* Without a list it is the one that runs. */
	buf_add_text(out, "\t.p2align 4\n");
}

void loops_region_line(const struct loops_region *r, const struct asmtext *t, uint32_t line, size_t number, struct buf *out)
{
	uint32_t target = target_of(t, line);

	if (line == r->header) {
		buf_addf(out, ".Lsnarlh%zu:\n", number);
	} else if (target && t->symbols[target].line == r->header) {
		write_verb(t, line, out);
		buf_addf(out, ".Lsnarlh%zu\n", number);
	} else {
		const struct loops_access *a = loops_hook(&r->loop, line);

		add_line(out, t->lines[line].text);
		if (a)
			loops_write_label(a, out);
	}
}

void loops_region_end(const struct loops_region *r, const struct asmtext *t, size_t number, struct buf *out)
{
	if (!r->out)
		buf_addf(out, ".Lsnarle%zu:\n", number);
	loops_write_descriptor(t, &r->loop, number, out);
}
