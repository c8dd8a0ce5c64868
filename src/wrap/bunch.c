/*
 * Finding the bunches: the code is walked once, block by block. Where an address comes from does not
 * matter, only that two of them are made of the same things but for a constant (linear.h).
 */
#include "wrap/bunch.h"

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
	struct linear_turn turn;	/* since the block began */
	struct linear first;		/* address of the row's first */
	struct bunch_row row;
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

static void end_row(struct finder *f)
{
	struct bunch_row *b = &f->row;

	if (b->count >= 2) {
		b->end = b->member[b->count - 1].line + 1;
		b->end += b->end < f->t.line_count && is_loops_site(&f->t.lines[b->end]);
		copy_lines(f, b->member[0].line);
		bunch_write(&f->t, b, f->pic, f->count++, f->out);
		f->done = b->end;
	}
	b->count = 0;
}

/* False: it does not belong to those before it. */
static bool join_row(struct finder *f, const struct bunch_member *m, const struct linear *at)
{
	struct bunch_row *b = &f->row;
	int64_t distance;

	if (b->count == 0 || b->count == BUNCH_ACCESSES || !linear_distance(at, &f->first, &distance) ||
	    distance < -GRANULE * BUNCH_GRANULES || distance > GRANULE * BUNCH_GRANULES)
		return false;
	b->member[b->count] = *m;
	b->member[b->count].distance = (int)distance;
	b->count++;
	if (bunch_granules(b) <= BUNCH_GRANULES)
		return true;
	b->count--;
	return false;
}

static void add_hook(struct finder *f, uint32_t line, const struct hook *hook)
{
	struct bunch_member m = {
		.line = line, .site = hook->site, .op = hook->op, .wide = hook->wide, .size = 1u << (hook->op >> 8 & TRACE_SIZE_MASK),
	};
	struct linear at = f->turn.value[INSN_RDI];
	bool suits = !hook->unaligned && !(hook->op >> 8 & TRACE_VOLATILE) && at.known;

	if (!suits || !join_row(f, &m, &at)) {
		end_row(f);
		if (suits) {
			f->row = (struct bunch_row){ .count = 1, .member = { m } };
			f->first = at;
		}
	}
	linear_call(&f->turn, hook->kept);
}

static void begin_block(struct finder *f)
{
	end_row(f);
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
	end_row(f);
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
