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
#include "trace/format.h"
#include "wrap/frame.h"
#include "wrap/hook.h"
#include "wrap/loops_internal.h"

#define HOPS 8		/* jumps that are followed to see whether flags are still needed */

struct finder {
	struct asmtext t;
	bool *named;		/* of symbols: code or data that is loaded refers to it */
	uint8_t *frame;		/* of atoms: enum frame */
	struct linear_turn turn;
	struct loops_loop loop;
};

static bool add_access(struct finder *f, uint32_t line, const struct hook *hook)
{
	struct loops_loop *l = &f->loop;

	if (l->access_count == LOOPS_ACCESSES || (hook->op >> 8 & TRACE_VOLATILE))
		return false;
	l->access[l->access_count] = (struct loops_access){ .line = line,
							    .number = l->access_count,
							    .site = hook->site,
							    .op = hook->op,
							    .at = f->turn.value[INSN_RDI] };
	l->access_count++;
	linear_call(&f->turn, hook->kept);
	return true;
}

/* The last thing that sets flags is what the jump back depends on: two values, or one and 0. */
static void note_compared(struct finder *f, struct asmtext_word text, const struct insn *in)
{
	bool compares = in->count == 2 && asmtext_starts(asmtext_verb(text), "cmp");
	bool counts = in->kind == INSN_ADD || in->kind == INSN_SUB || in->kind == INSN_INC || in->kind == INSN_DEC;
	struct linear *compared = f->loop.compared;

	if (!in->sets)
		return;
	compared[0] = compared[1] = (struct linear){ 0 };
	if (in->size == 8 && (compares || counts)) {
		compared[0] = compares ? linear_read(&f->turn, &in->operand[0]) : (struct linear){ .known = true };
		compared[1] = linear_read(&f->turn, &in->operand[in->count - 1]);
	}
}

static bool walk_code(struct finder *f, uint32_t line)
{
	const struct asmtext_line *l = &f->t.lines[line];
	struct hook hook;
	struct insn in;

	if (hook_read(l, &hook))
		return add_access(f, line, &hook);
	if (l->user || !insn_read(l->text, &in) || !linear_step(&f->turn, &in))
		return false;
	note_compared(f, l->text, &in);
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

/* Whether no flag is used before it is set, from this line on. */
static bool flags_are_dead(const struct asmtext *t, size_t line)
{
	uint8_t live = INSN_ALL_FLAGS;
	unsigned hops = 0;

	for (; line < t->line_count; line++) {
		const struct asmtext_line *l = &t->lines[line];
		struct hook hook;
		struct insn in;

		if (l->kind == ASMTEXT_SECTION)
			return false;
		if (!hook_is_code(l))
			continue;
		if (l->user)
			return hook_read(l, &hook);	/* it spoils them */
		if (!insn_read(l->text, &in) || (in.reads & live) || in.kind == INSN_BRANCH)
			return false;
		if (in.kind == INSN_LEAVE)
			return true;
		if (in.kind == INSN_JUMP) {
			uint32_t symbol = asmtext_find(t, in.operand[0].symbol);

			if (!symbol || t->symbols[symbol].defined == ASMTEXT_UNDEFINED)
				return true;	/* another function, to which flags mean nothing */
			if (t->symbols[symbol].defined != ASMTEXT_ATOM || ++hops > HOPS)
				return false;
			line = t->symbols[symbol].line;
		}
		live &= (uint8_t)~in.sets;
		if (!live)
			return true;
	}
	return false;
}

int loops_place(const struct loops_loop *l, unsigned variable)
{
	int64_t step;

	if (variable < INSN_REGISTERS && linear_advance(l->turn, variable, &step) && step == 0)
		return (int)variable;
	for (unsigned i = 0; i < l->slot_count; i++)
		if (l->slot[i] == variable)
			return (int)(INSN_REGISTERS + i);
	return -1;
}

static bool need(struct loops_loop *l, const struct linear_term *term)
{
	if (term->factor < INT8_MIN || term->factor > INT8_MAX)
		return false;
	if (loops_place(l, term->variable) >= 0)
		return true;
	if (l->slot_count == LOOPS_SLOTS)
		return false;
	l->slot[l->slot_count++] = (uint8_t)term->variable;
	return true;
}

/* Its address, as the descriptor can tell it. */
static bool settle_access(struct finder *f, struct loops_access *a)
{
	struct loops_loop *l = &f->loop;

	if (!linear_stride(&f->turn, &a->at, &a->stride) || a->at.terms > 2 || a->stride.terms > 1)
		return false;
	for (unsigned k = 0; k < a->at.terms; k++)
		if (!need(l, &a->at.term[k]))
			return false;
	return !a->stride.terms || need(l, &a->stride.term[0]);
}

static bool settle_accesses(struct finder *f)
{
	struct loops_loop *l = &f->loop;
	uint32_t told = 0;

	l->slot_count = 0;
	l->silent_count = 0;
	for (unsigned i = 0; i < l->access_count; i++) {
		struct loops_access a = l->access[i];

		if (settle_access(f, &a))
			l->access[told++] = a;
		else
			l->silent[l->silent_count++] = a;
	}
	l->access_count = told;
	return told > 0;
}

/* Of a register that could tell the turns: best are those that need no division, then those whose start is kept anyway. */
static int worth(const struct loops_loop *l, unsigned variable, int64_t step)
{
	uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;

	return 2 * ((size & (size - 1)) == 0) + (loops_place(l, variable) >= 0);
}

static bool settle_counter(struct finder *f)
{
	struct loops_loop *l = &f->loop;
	int best = -1;

	for (uint8_t i = 0; i < INSN_REGISTERS; i++) {
		int64_t step;

		if (!linear_advance(&f->turn, i, &step) || step == 0 || worth(l, i, step) <= best)
			continue;
		l->counter = i;
		l->step = step;
		best = worth(l, i, step);
	}
	return best >= 0 && need(l, &(struct linear_term){ l->counter, 1 });
}

/* Of what is compared: one variable that advances, and a number or one that stays. */
static bool is_bounded(const struct loops_loop *l, unsigned moving, int64_t *step)
{
	const struct linear *m = &l->compared[moving], *s = &l->compared[!moving];
	int64_t none;

	return m->known && s->known && !m->symbol.size && !s->symbol.size && m->terms == 1 && m->term[0].factor == 1 &&
	       linear_advance(l->turn, m->term[0].variable, step) && *step != 0 &&
	       (s->terms == 0 || (s->terms == 1 && s->term[0].factor == 1 &&
				  linear_advance(l->turn, s->term[0].variable, &none) && none == 0));
}

/* That there are turns enough must be clear before the first one. */
static bool settle_bound(struct finder *f)
{
	struct loops_loop *l = &f->loop;

	for (l->moving = 0; l->moving < 2; l->moving++)
		if (is_bounded(l, l->moving, &l->bound_step))
			return true;
	return false;
}

/* The label that the line jumps back to if all between may be a loop, else 0. */
static uint32_t find_head(const struct asmtext *t, uint32_t line, struct insn *jump)
{
	const struct asmtext_line *l = &t->lines[line];
	uint32_t symbol, head;

	if (l->kind != ASMTEXT_CODE || l->user || !l->atom || asmtext_verb(l->text).size < 2 ||
	    asmtext_verb(l->text).at[0] != 'j' || !insn_read(l->text, jump) || jump->kind != INSN_BRANCH)
		return 0;
	symbol = asmtext_find(t, jump->operand[0].symbol);
	if (!symbol || t->symbols[symbol].defined != ASMTEXT_ATOM || t->symbols[symbol].atom != l->atom)
		return 0;
	head = t->symbols[symbol].line;
	if (head >= line || t->lines[head].section != l->section || t->lines[head].kind != ASMTEXT_LABEL)
		return 0;
	return head;
}

static bool find(struct finder *f, uint32_t line)
{
	const struct asmtext *t = &f->t;
	struct insn jump;
	uint32_t head = find_head(t, line, &jump), atom = t->lines[line].atom;

	if (!head)
		return false;
	if (f->frame[atom] == FRAME_UNKNOWN)
		f->frame[atom] = (uint8_t)frame_judge(t, &t->atoms[atom], true);
	if (f->frame[atom] == FRAME_BAD)
		return false;
	f->loop.head = head;
	f->loop.jump = line;
	f->loop.turn = &f->turn;
	linear_init(&f->turn, f->frame[atom] == FRAME_OWN);
	return walk_all(f) && !(jump.reads & ~f->turn.flags_set) && !f->turn.flags_tainted &&
	       settle_accesses(f) && settle_counter(f) && settle_bound(f) && flags_are_dead(t, line + 1);
}

static void copy_lines(const struct asmtext *t, size_t from, size_t to, struct buf *out)
{
	for (size_t i = from; i < to; i++) {
		buf_add(out, t->lines[i].text.at, t->lines[i].text.size);
		buf_add_char(out, '\n');
	}
}

size_t loops_transform(const char *text, size_t size, bool pic, struct buf *out)
{
	struct finder f = { 0 };
	struct err err;
	size_t count = 0;
	uint32_t done = 0;

	if (asmtext_read(&f.t, text, size, &err) == 0) {
		f.named = hook_names(&f.t);
		f.frame = xcalloc(f.t.atom_count, sizeof(*f.frame));
		for (uint32_t i = 0; i < f.t.line_count; i++) {
			if (!find(&f, i))
				continue;
			copy_lines(&f.t, done, f.loop.head + 1, out);
			loops_write(&f.t, &f.loop, pic, count++, out);
			done = i + 1;
		}
		copy_lines(&f.t, done, f.t.line_count, out);
	} else {
		buf_add(out, text, size);
	}
	asmtext_free(&f.t);
	free(f.named);
	free(f.frame);
	return count;
}
