/*
 * Finding the bunches: the code is walked once, block by block. Where an address comes from does not
 * matter, only that two of them are made of the same things but for a constant (linear.h).
 */
#include "wrap/bunch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/format.h"
#include "wrap/bunch_internal.h"
#include "wrap/frame.h"
#include "wrap/linear.h"

#define GRANULE 8

struct finder {
	struct asmtext t;
	bool *named;			/* of symbols: code or data that is loaded refers to it */
	uint8_t *frame;			/* of atoms: enum frame */
	bool pic;
	struct buf *out;
	uint32_t atom;			/* the function under way */
	uint32_t done;			/* lines before this one are written */
	size_t count;
	size_t labels;
	struct linear_turn turn;	/* since the block began */
	struct bunch_block block;
	struct bunch_span spans[BUNCH_SPANS];
};

/* All it may be by the alignment of the accesses, of which the largest tells most. */
unsigned bunch_granules(const struct bunch_row *b)
{
	const struct bunch_member *largest = &b->member[0];
	int low = 0, high = 0, most = 0;

	for (unsigned i = 0; i < b->count; i++) {
		const struct bunch_member *m = &b->member[i];

		if (m->size > largest->size)
			largest = m;
		if (m->distance < low)
			low = m->distance;
		if (m->distance + (int)m->size > high)
			high = m->distance + (int)m->size;
	}
	/* Of both compilers' hooks those for 16 bytes are at multiples of 8 at least. */
	for (int at = -largest->distance & (GRANULE - 1) & ((int)largest->size - 1); at < GRANULE; at += (int)largest->size) {
		int granules = ((at + high - 1) >> 3) - ((at + low) >> 3) + 1;

		if (granules > most)
			most = granules;
	}
	return (unsigned)most;
}

static void copy_lines(struct finder *f, uint32_t to)
{
	for (; f->done < to; f->done++) {
		struct asmtext_word text = f->t.lines[f->done].text;

		buf_add(f->out, text.at, text.size);
		buf_add_char(f->out, '\n');
	}
}

/* loops_write.c puts .Lsnarlp… behind a hook, and the descriptor of the loop names it. */
static bool is_loops_site(const struct asmtext_line *l)
{
	return l->kind == ASMTEXT_LABEL && asmtext_starts(asmtext_verb(l->text), ".Lsnarlp");
}

bool bunch_join(struct bunch_row *b, const struct bunch_hook *first, const struct bunch_hook *hook)
{
	int64_t distance;

	if (b->count == BUNCH_ACCESSES || !hook->suits || !linear_distance(&hook->at, &first->at, &distance) ||
	    distance < -GRANULE * BUNCH_GRANULES || distance > GRANULE * BUNCH_GRANULES)
		return false;
	b->member[b->count] = hook->member;
	b->member[b->count].distance = (int)distance;
	b->count++;
	if (bunch_granules(b) <= BUNCH_GRANULES)
		return true;
	b->count--;
	return false;
}

/* The row that begins with this hook: those that follow each other. */
static struct bunch_row row_from(const struct bunch_block *block, unsigned first)
{
	struct bunch_row row = { .count = 1, .member = { block->hook[first].member } };

	for (unsigned i = first + 1; i < block->count && block->hook[first].suits; i++)
		if (!bunch_join(&row, &block->hook[first], &block->hook[i]))
			break;
	return row;
}

static void mark_rows(struct bunch_block *block)
{
	for (unsigned i = 0; i < block->count;) {
		unsigned count = row_from(block, i).count;

		block->hook[i].first = true;
		block->hook[i + count - 1].last = true;
		i += count;
	}
}

/* A bunch, or a hook by itself, which has a label if a span names it. */
static void write_row(struct finder *f, unsigned first, bool named)
{
	struct bunch_row row = row_from(&f->block, first);
	struct bunch_hook *hook = &f->block.hook[first];

	row.end = row.member[row.count - 1].line + 1;
	row.end += row.end < f->t.line_count && is_loops_site(&f->t.lines[row.end]);
	if (row.count == 1 && named) {
		copy_lines(f, hook->member.line + 1);
		if (hook->member.site.size == 0) {
			snprintf(hook->label, sizeof(hook->label), ".Lbunchh%zu", f->labels++);
			buf_addf(f->out, "%s:\n", hook->label);
		}
		copy_lines(f, row.end);
	} else if (row.count > 1) {
		for (unsigned i = 0; i < row.count; i++)
			snprintf(hook[i].label, sizeof(hook[i].label), ".Lbunchp%zu_%u", f->count, i);
		bunch_write(&f->t, &row, f->pic, f->count++, f->out);
		f->done = row.end;
	}
}

/* `open` of the spans have begun and are not written yet; returns how many are left of them. */
static unsigned end_spans(struct finder *f, const struct bunch_span *spans, unsigned open, unsigned last)
{
	bool all = true;

	for (unsigned i = 0; i < open; i++)
		all = all && spans[i].last <= last;
	for (unsigned i = 0; i < open && !all; i++)
		if (spans[i].last == last)
			buf_addf(f->out, ".Lbunchj%zu:\n", spans[i].number);
	if (open == 0 || !all)
		return open;
	bunch_write_spans(&f->t, &f->block, spans, open, f->pic, f->out);
	return 0;
}

static void end_block(struct finder *f)
{
	struct bunch_block *block = &f->block;
	unsigned spans, next = 0, open = 0;

	mark_rows(block);
	spans = bunch_find_spans(block, f->spans);
	for (unsigned i = 0, end; i < block->count; i = end + 1) {
		for (end = i; !block->hook[end].last; end++)
			continue;
		if (end > i || open || (next < spans && f->spans[next].first == i))
			copy_lines(f, block->hook[i].member.line);
		if (next < spans && f->spans[next].first == i) {
			f->spans[next].number = f->count++;
			bunch_write_gate(&f->spans[next], f->out);
			next++;
			open++;
		}
		write_row(f, i, open > 0);
		open = end_spans(f, &f->spans[next - open], open, end);
	}
	block->count = 0;
}

static void add_hook(struct finder *f, uint32_t line, const struct hook *hook)
{
	struct linear at = f->turn.value[INSN_RDI];
	bool alone = hook->op >> 8 & TRACE_VOLATILE;

	if (f->block.count == BUNCH_BLOCK)
		end_block(f);
	f->block.hook[f->block.count++] = (struct bunch_hook){
		.member = { .line = line, .site = hook->site, .op = hook->op, .wide = hook->wide,
			    .size = 1u << (hook->op >> 8 & TRACE_SIZE_MASK) },
		.at = at, .suits = !hook->unaligned && !alone && at.known, .alone = alone,
	};
	linear_call(&f->turn, hook->kept);
}

static void begin_block(struct finder *f)
{
	end_block(f);
	linear_init(&f->turn, f->frame[f->atom] == FRAME_OWN);
	linear_name(&f->turn);
}

static void begin_function(struct finder *f, uint32_t atom)
{
	f->atom = atom;
	if (f->frame[atom] == FRAME_UNKNOWN)
		f->frame[atom] = (uint8_t)frame_judge(&f->t, &f->t.atoms[atom], false);
	begin_block(f);
}

/* Nothing jumps there. */
static bool is_passed(const struct finder *f, const struct asmtext_line *l)
{
	return !l->user && (is_loops_site(l) || !f->named[asmtext_find(&f->t, asmtext_verb(l->text))]);
}

/* False: the line leaves the straight way, or nothing is known behind it. */
static bool walk_line(struct finder *f, uint32_t line)
{
	const struct asmtext_line *l = &f->t.lines[line];
	struct asmtext_word verb;
	struct hook hook;
	struct insn in;

	switch (l->kind) {
	case ASMTEXT_OTHER:
		return true;
	case ASMTEXT_LABEL:
		return is_passed(f, l);
	case ASMTEXT_DIRECTIVE:
		verb = asmtext_verb(l->text);
		return asmtext_is(verb, ".loc") || asmtext_is(verb, ".file");
	case ASMTEXT_SECTION:
		return false;
	}
	if (!hook_is_code(l))
		return true;
	if (hook_read(l, &hook)) {
		add_hook(f, line, &hook);
		return true;
	}
	/* The hooks keep no flags, so what is used was set between them. */
	f->turn.flags_set = INSN_ALL_FLAGS;
	return !l->user && insn_read(l->text, &in) && linear_step(&f->turn, &in);
}

static void walk(struct finder *f)
{
	for (uint32_t i = 0; i < f->t.line_count; i++) {
		const struct asmtext_line *l = &f->t.lines[i];

		if (!f->t.sections[l->section].exec && l->kind != ASMTEXT_SECTION)
			continue;
		if (l->atom && l->atom != f->atom)
			begin_function(f, l->atom);
		if (f->frame[f->atom] > FRAME_BAD && !walk_line(f, i))
			begin_block(f);
	}
	end_block(f);
	copy_lines(f, (uint32_t)f->t.line_count);
}

size_t bunch_transform(const char *text, size_t size, bool pic, struct buf *out)
{
	struct finder f = { .pic = pic, .out = out };
	struct err err;

	if (asmtext_read(&f.t, text, size, &err) == 0) {
		f.named = hook_names(&f.t);
		f.frame = xcalloc(f.t.atom_count, sizeof(*f.frame));
		walk(&f);
		if (f.count > 0)
			bunch_write_constructor(out);
	} else {
		buf_add(out, text, size);
	}
	asmtext_free(&f.t);
	free(f.named);
	free(f.frame);
	return f.count;
}
