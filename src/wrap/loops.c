/*
 * Finding the loops. A candidate is a conditional jump back to a label with nothing between
 * that jumps or is jumped to; walked through twice or more (linear.h), all else follows.
 *
 * The jump must not depend on memory that others may write: a thread that waits for
 * another one would do so unseen.
 */
#include "wrap/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/frame.h"
#include "wrap/hook.h"
#include "wrap/loops_internal.h"
#include "wrap/loops_region.h"

struct finder {
	struct asmtext t;
	bool *named;		/* of symbols: code or data that is loaded refers to it */
	uint8_t *frame;		/* of atoms: enum frame */
	uint32_t *references;	/* of symbols */
	uint32_t *jump;		/* of lines: where the loop of one block ends that begins with it; 0: none does */
	struct loops_region **region;	/* of several blocks, in the order of the text */
	size_t region_count, region_room, next;
	struct linear_turn turn;
	struct loops_loop loop;
	bool pic;
	size_t count;		/* loops written */
	struct buf *out;
};

static bool walk_code(struct finder *f, uint32_t line)
{
	const struct asmtext_line *l = &f->t.lines[line];
	struct hook hook;
	struct insn in;

	if (hook_read(l, &hook)) {
		if (!loops_add(&f->loop, line, &hook, &f->turn))
			return false;
		linear_call(&f->turn, hook.kept);
		return true;
	}
	if (l->user || !insn_read(l->text, &in) || !linear_step(&f->turn, &in))
		return false;
	loops_note(&f->loop, &f->turn, l->text, &in);
	return true;
}

/* One turn, without the jump. */
static bool walk(struct finder *f)
{
	const struct asmtext *t = &f->t;

	linear_begin(&f->turn);
	f->loop.access_count = 0;
	for (uint32_t i = f->loop.head + 1; i < f->loop.jump; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (l->kind == ASMTEXT_OTHER || (l->kind == ASMTEXT_CODE && !hook_is_code(l)))
			continue;
		if (l->kind == ASMTEXT_DIRECTIVE && asmtext_is(asmtext_verb(l->text), ".loc"))
			continue;
		if (l->kind == ASMTEXT_LABEL && !l->user &&
		    !f->named[asmtext_find(t, asmtext_verb(l->text))])
			continue;
		if (l->kind != ASMTEXT_CODE || !walk_code(f, i))
			return false;
	}
	return true;
}

/* Until nothing new is tainted or found. */
static bool walk_all(struct finder *f)
{
	bool tainted[LINEAR_VARIABLES];
	unsigned stack;

	do {
		memcpy(tainted, f->turn.tainted, sizeof(tainted));
		stack = f->turn.stack_count;
		if (!walk(f))
			return false;
		for (unsigned i = 0; i < LINEAR_VARIABLES; i++)
			f->turn.tainted[i] |= tainted[i];
	} while (stack != f->turn.stack_count || memcmp(tainted, f->turn.tainted, sizeof(tainted)) != 0);
	return true;
}

/* The label that the line jumps back to if all between may be a loop, else 0. */
static uint32_t find_head(const struct asmtext *t, uint32_t line, struct insn *jump)
{
	const struct asmtext_line *l = &t->lines[line];
	uint32_t symbol, head;

	if (l->kind != ASMTEXT_CODE || l->user || !l->atom || asmtext_verb(l->text).size < 2 ||
	    asmtext_verb(l->text).at[0] != 'j' || !insn_read(l->text, jump) ||
	    (jump->kind != INSN_BRANCH && jump->kind != INSN_JUMP))
		return 0;
	symbol = asmtext_find(t, jump->operand[0].symbol);
	if (!symbol || t->symbols[symbol].defined != ASMTEXT_ATOM || t->symbols[symbol].atom != l->atom)
		return 0;
	head = t->symbols[symbol].line;
	if (head >= line || t->lines[head].section != l->section || t->lines[head].kind != ASMTEXT_LABEL)
		return 0;
	return head;
}

static enum frame frame_of(struct finder *f, uint32_t line)
{
	uint32_t atom = f->t.lines[line].atom;

	if (f->frame[atom] == FRAME_UNKNOWN)
		f->frame[atom] = (uint8_t)frame_judge(&f->t, &f->t.atoms[atom]);
	return f->frame[atom];
}

/* Whether nothing but what names it can write the stack. */
static bool owns_stack(struct finder *f, uint32_t first, uint32_t last)
{
	return frame_of(f, last) == FRAME_OWN || frame_is_left_alone(&f->t, first, last);
}

static bool find(struct finder *f, uint32_t line)
{
	const struct asmtext *t = &f->t;
	struct insn jump;
	uint32_t head = find_head(t, line, &jump);

	if (!head || jump.kind != INSN_BRANCH || frame_of(f, line) == FRAME_BAD)
		return false;
	f->loop.head = head;
	f->loop.jump = line;
	f->loop.turn = &f->turn;
	linear_init(&f->turn, owns_stack(f, head, line));
	return walk_all(f) && !(jump.reads & ~f->turn.flags_set) && !f->turn.flags_tainted &&
	       loops_settle(&f->loop) && loops_flags_are_dead(t, line + 1);
}

/* Loops of several blocks have others in them that are there twice where they have hooks, but begin with none of these. */
static void find_region(struct finder *f, uint32_t line)
{
	const struct loops_text text = { &f->t, f->named, f->references };
	const struct loops_region *last = f->region_count ? f->region[f->region_count - 1] : NULL;
	struct loops_region *r;
	struct insn jump;
	uint32_t head = find_head(&f->t, line, &jump);

	if (!head || f->jump[head] == line || (last && last->last >= head) || frame_of(f, line) == FRAME_BAD)
		return;
	r = xmalloc(sizeof(*r));
	if (!loops_region_find(r, &text, head, line, owns_stack(f, head, line)) || f->jump[r->header]) {
		free(r);
		return;
	}
	f->region = xgrow(f->region, f->region_count, &f->region_room, sizeof(f->region[0]));
	f->region[f->region_count++] = r;
}

static void find_all(struct finder *f)
{
	f->named = hook_names(&f->t);
	f->frame = xcalloc(f->t.atom_count, sizeof(*f->frame));
	f->jump = xcalloc(f->t.line_count + 1, sizeof(*f->jump));
	f->references = xcalloc(f->t.symbol_count, sizeof(*f->references));
	for (size_t i = 0; i < f->t.ref_count; i++)
		f->references[f->t.refs[i].symbol]++;
	for (uint32_t i = 0; i < f->t.line_count; i++)
		if (find(f, i))
			f->jump[f->loop.head] = i;
	for (uint32_t i = 0; i < f->t.line_count; i++)
		find_region(f, i);
}

static void copy_line(const struct finder *f, uint32_t line)
{
	buf_add(f->out, f->t.lines[line].text.at, f->t.lines[line].text.size);
	buf_add_char(f->out, '\n');
}

/* Up to that line; `r`: they are this one's, as it is with hooks. */
static void write_lines(struct finder *f, uint32_t from, uint32_t to, const struct loops_region *r)
{
	size_t number = f->count - 1;

	for (uint32_t i = from; i < to; i++) {
		const struct loops_region *inner = !r && f->next < f->region_count ? f->region[f->next] : NULL;

		if (inner && inner->first == i) {
			loops_region_begin(inner, &f->t, f->pic, f->count++, f->out);
			number = f->count - 1;
			write_lines(f, i, inner->last + 1, inner);
			loops_region_end(inner, &f->t, number, f->out);
			i = inner->last;
			f->next++;
		} else if (f->jump[i] && find(f, f->jump[i])) {
			copy_line(f, i);
			loops_write(&f->t, &f->loop, f->pic, f->count++, f->out);
			i = f->loop.jump;
		} else if (r) {
			loops_region_line(r, &f->t, i, number, f->out);
		} else {
			copy_line(f, i);
		}
	}
}

size_t loops_transform(const char *text, size_t size, bool pic, struct buf *out)
{
	struct finder f = { .pic = pic, .out = out };
	struct err err;

	if (asmtext_read(&f.t, text, size, &err) == 0) {
		find_all(&f);
		write_lines(&f, 0, (uint32_t)f.t.line_count, NULL);
	} else {
		buf_add(out, text, size);
	}
	asmtext_free(&f.t);
	for (size_t i = 0; i < f.region_count; i++)
		free(f.region[i]);
	free(f.region);
	free(f.references);
	free(f.jump);
	free(f.named);
	free(f.frame);
	return f.count;
}
