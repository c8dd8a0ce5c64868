/*
 * Whether eight bytes of the stack are nobody's behind a loop: on each way that leads on from there they are written before
 * they are read, or the function is left. gcc puts there what a turn needs behind a hook, and mostly that is all.
 *
 * Only for functions no address of whose stack is known elsewhere (frame.h): then calls do not touch it. What they
 * get on the stack is put there right before them, not by a loop without other calls. Ways that cannot be seen, and instructions
 * that are not known, may read it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/frame.h"
#include "wrap/hook.h"
#include "wrap/loops_internal.h"

#define MOST 20000u		/* lines of a function; in longer ones it would take long */

struct walk {
	const struct asmtext *t;
	const struct asmtext_atom *atom;
	uint32_t section;
	int64_t at;
	bool *seen;		/* of the atom's lines */
	uint32_t *next;		/* lines to go on from */
	size_t count;
};

enum way { ON, DEAD, LIVE };

static bool has(struct asmtext_word text, const char *what)
{
	return memmem(text.at, text.size, what, strlen(what)) != NULL;
}

/* Another way to it: a label of this function, or the end of it. */
static enum way jump(struct walk *w, const struct insn_operand *to)
{
	uint32_t symbol = asmtext_find(w->t, to->symbol), line;

	if (!to->symbol.size || to->number)
		return LIVE;
	if (!symbol || w->t->symbols[symbol].defined == ASMTEXT_UNDEFINED)
		return DEAD;
	line = w->t->symbols[symbol].line;
	if (w->t->symbols[symbol].defined != ASMTEXT_ATOM || line < w->atom->first || line > w->atom->last ||
	    w->t->lines[line].section != w->section)
		return LIVE;
	if (!w->seen[line - w->atom->first]) {
		w->seen[line - w->atom->first] = true;
		w->next[w->count++] = line + 1;
	}
	return DEAD;		/* this one, if nothing else is behind it */
}

/* The stack grows smaller than that: nobody can find it any more. */
static bool leaves(const struct walk *w, const struct insn *in)
{
	return in->kind == INSN_ADD && in->count == 2 && in->operand[0].place == INSN_IMMEDIATE &&
	       !in->operand[0].symbol.size && in->operand[1].place == INSN_REGISTER && in->operand[1].reg == INSN_RSP &&
	       in->operand[1].size == 8 && in->operand[0].number >= w->at + 8;
}

static enum way touch(const struct walk *w, struct asmtext_word text, const struct insn *in)
{
	int i = loops_stack_operand(in);
	int64_t from, size = in->size <= 8 || loops_is_scalar(asmtext_verb(text)) ? 8 : 64;

	if (!has(text, "%rsp"))
		return has(text, "%esp") || has(text, "%sp") ? LIVE : ON;
	if (leaves(w, in))
		return DEAD;
	if (i < 0)
		return LIVE;
	from = in->operand[i].number;
	for (unsigned k = 0; k < in->count; k++)
		if (in->operand[k].place == INSN_REGISTER && in->operand[k].reg == INSN_RSP)
			return LIVE;
	if (w->at >= from + size || from >= w->at + 8)
		return ON;
	return loops_stores_eight(text, in, (unsigned)i) && from == w->at ? DEAD : LIVE;
}

static enum way step(struct walk *w, const struct asmtext_line *l)
{
	struct hook hook;
	struct insn in;
	enum way way;

	if (hook_read(l, &hook))
		return ON;
	if (l->user || !insn_read(l->text, &in))
		return LIVE;
	if (in.kind == INSN_BRANCH)
		return jump(w, &in.operand[0]) == LIVE ? LIVE : ON;
	if (in.kind == INSN_JUMP)
		return jump(w, &in.operand[0]);
	if (in.kind == INSN_LEAVE && asmtext_starts(asmtext_verb(l->text), "ret"))
		return DEAD;
	way = touch(w, l->text, &in);
	return in.kind == INSN_LEAVE && has(l->text, "%rsp") ? LIVE : way;
}

/* From that line to the end of the way. */
static bool follow(struct walk *w, uint32_t line)
{
	bool called = false;

	for (; line <= w->atom->last; line++) {
		const struct asmtext_line *l = &w->t->lines[line];
		enum way way;

		if (l->section != w->section)
			continue;
		if (l->kind == ASMTEXT_LABEL && w->seen[line - w->atom->first])
			return true;	/* somebody was here, or will be */
		if (l->kind == ASMTEXT_LABEL)
			w->seen[line - w->atom->first] = true;
		if (!hook_is_code(l))
			continue;
		way = step(w, l);
		if (way != ON)
			return way == DEAD;
		called = asmtext_starts(asmtext_verb(l->text), "call");
	}
	return called;		/* abort(), or the like */
}

/* There are ways that the text does not show: exceptions, and functions that return twice. */
static bool has_other_ways(const struct asmtext *t, const struct asmtext_atom *a)
{
	for (uint32_t i = a->first; i <= a->last; i++) {
		struct asmtext_word text = t->lines[i].text;

		if (has(text, ".cfi_lsda") || has(text, "setjmp") || has(text, "getcontext") || has(text, "vfork"))
			return true;
	}
	return false;
}

bool loops_is_dead_behind(const struct loops_loop *l, const struct asmtext *t, int64_t at)
{
	const struct asmtext_atom *atom = &t->atoms[t->lines[l->jump].atom];
	size_t lines = atom->last - atom->first + 1;
	struct walk w = { t, atom, t->lines[l->jump].section, at, NULL, NULL, 0 };
	bool dead;

	if (lines > MOST || frame_judge(t, atom) != FRAME_OWN || has_other_ways(t, atom))
		return false;
	w.seen = xcalloc(lines, sizeof(*w.seen));
	w.next = xcalloc(lines + 1, sizeof(*w.next));
	w.next[w.count++] = l->jump + 1;
	do
		dead = follow(&w, w.next[--w.count]);
	while (dead && w.count);
	free(w.seen);
	free(w.next);
	return dead;
}
