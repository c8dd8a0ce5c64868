/*
 * Finds loops that qualify. A candidate is a conditional jump back to a label, with no jump and no
 * jump target in between. Its body is executed symbolically (asm/linear.h), again and again until
 * an iteration adds no taint.
 *
 * The jump must not depend on memory that other threads may write: in a copy without hooks, a
 * thread that spins on a flag would wait unseen.
 */
#include "wrap/loops/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/hooks/frame.h"
#include "wrap/hooks/hook.h"
#include "wrap/loops/loops_internal.h"

struct finder {
	struct asmtext t;
	bool *referenced;		/* by symbol: hook_referenced_symbols() */
	uint8_t *frame;			/* by atom: enum frame */
	struct linear_state state;
	struct loops_loop loop;		/* the candidate */
};

/* Executes one line symbolically; false: the loop does not qualify. */
static bool walk_line(struct finder *f, uint32_t line)
{
	const struct asmtext_line *l = &f->t.lines[line];
	struct hook hook;
	struct insn in;

	if (hook_read(l, &hook)) {
		if (!loops_add_access(&f->loop, line, &hook, &f->state))
			return false;
		linear_call(&f->state, hook.kept);
		return true;
	}
	if (l->user || !insn_read(l->text, &in) || !linear_step(&f->state, &in))
		return false;
	loops_note_flags(&f->loop, &f->state, l->text, &in);
	return true;
}

/* Executes one iteration symbolically, without the jump back. */
static bool walk_iteration(struct finder *f)
{
	const struct asmtext *t = &f->t;

	linear_begin_iteration(&f->state);
	f->loop.access_count = 0;
	for (uint32_t i = f->loop.head + 1; i < f->loop.jump; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (l->kind == ASMTEXT_OTHER || (l->kind == ASMTEXT_CODE && !hook_is_code(l)))
			continue;
		if (l->kind == ASMTEXT_DIRECTIVE && asmtext_is(asmtext_verb(l->text), ".loc"))
			continue;
		if (l->kind == ASMTEXT_LABEL && !l->user &&
		    !f->referenced[asmtext_find(t, asmtext_verb(l->text))])
			continue;
		if (l->kind != ASMTEXT_CODE || !walk_line(f, i))
			return false;
	}
	return true;
}

/* Repeats the iteration until it adds no taint and no stack slot. */
static bool walk_all(struct finder *f)
{
	bool tainted[LINEAR_VARIABLES];
	unsigned stack;

	do {
		memcpy(tainted, f->state.tainted, sizeof(tainted));
		stack = f->state.stack_count;
		if (!walk_iteration(f))
			return false;
		for (unsigned i = 0; i < LINEAR_VARIABLES; i++)
			f->state.tainted[i] |= tainted[i];
	} while (stack != f->state.stack_count ||
		 memcmp(tainted, f->state.tainted, sizeof(tainted)) != 0);
	return true;
}

/* If the line is a conditional jump back within its function, returns the label's line, else 0. */
static uint32_t find_head(const struct asmtext *t, uint32_t line, struct insn *jump)
{
	const struct asmtext_line *l = &t->lines[line];
	uint32_t symbol, head;

	if (l->kind != ASMTEXT_CODE || l->user || !l->atom || asmtext_verb(l->text).size < 2 ||
	    asmtext_verb(l->text).at[0] != 'j' || !insn_read(l->text, jump) ||
	    jump->kind != INSN_BRANCH)
		return 0;
	symbol = asmtext_find(t, jump->operand[0].symbol);
	if (!symbol || t->symbols[symbol].defined != ASMTEXT_ATOM ||
	    t->symbols[symbol].atom != l->atom)
		return 0;
	head = t->symbols[symbol].line;
	if (head >= line || t->lines[head].section != l->section ||
	    t->lines[head].kind != ASMTEXT_LABEL)
		return 0;
	return head;
}

static enum frame frame_of(struct finder *f, uint32_t line)
{
	uint32_t atom = f->t.lines[line].atom;

	if (f->frame[atom] == FRAME_UNKNOWN)
		f->frame[atom] = (uint8_t)frame_classify(&f->t, &f->t.atoms[atom]);
	return f->frame[atom];
}

/* Whether, in these lines, only accesses by %rsp write stack slots that are followed. */
static bool owns_stack(struct finder *f, uint32_t first, uint32_t last)
{
	return frame_of(f, last) == FRAME_PRIVATE || frame_only_named_writes(&f->t, first, last);
}

/* Fills f->loop if the line ends a loop that qualifies. */
static bool find(struct finder *f, uint32_t line)
{
	const struct asmtext *t = &f->t;
	struct insn jump;
	uint32_t head = find_head(t, line, &jump);

	if (!head || frame_of(f, line) == FRAME_UNSUPPORTED)
		return false;
	f->loop.head = head;
	f->loop.jump = line;
	f->loop.state = &f->state;
	linear_init(&f->state, owns_stack(f, head, line));
	return walk_all(f) && !(jump.reads & ~f->state.flags_set) && !f->state.flags_tainted &&
	       loops_qualify(&f->loop) && loops_flags_are_dead(t, line + 1);
}

static void copy_lines(const struct asmtext *t, size_t from, size_t to, struct buf *out)
{
	for (size_t i = from; i < to; i++) {
		buf_add(out, t->lines[i].text.at, t->lines[i].text.size);
		buf_add_char(out, '\n');
	}
}

/* Writes the text with two copies of each loop that qualifies; returns the number of such loops. */
static size_t write_loops(struct finder *f, bool pic, unsigned without, struct buf *out)
{
	size_t count = 0;
	uint32_t done = 0;

	for (uint32_t i = 0; i < f->t.line_count; i++) {
		if (!find(f, i))
			continue;
		f->loop.without = without;
		copy_lines(&f->t, done, f->loop.head + 1, out);
		loops_write(&f->t, &f->loop, pic, count++, out);
		done = i + 1;
	}
	copy_lines(&f->t, done, f->t.line_count, out);
	return count;
}

unsigned loops_without_parse(const char *names)
{
	static const struct {
		const char *name;
		enum loops_without bit;
	} table[] = { { "spills", LOOPS_WITHOUT_SPILLS }, { "constants", LOOPS_WITHOUT_CONSTANTS },
		      { "ends", LOOPS_WITHOUT_ENDS }, { "dead-code", LOOPS_WITHOUT_DEAD_CODE } };
	unsigned without = 0;

	while (names && *names) {
		size_t length = strcspn(names, ",");

		for (size_t i = 0; i < ARRAY_SIZE(table); i++)
			if (strlen(table[i].name) == length &&
			    !strncmp(table[i].name, names, length))
				without |= table[i].bit;
		names += length + (names[length] == ',');
	}
	return without;
}

size_t loops_transform(const char *text, size_t size, bool pic, unsigned without, struct buf *out)
{
	struct finder f = { 0 };
	struct err err;
	size_t count = 0;

	if (asmtext_read(&f.t, text, size, &err) == 0) {
		f.referenced = hook_referenced_symbols(&f.t);
		f.frame = xcalloc(f.t.atom_count, sizeof(*f.frame));
		count = write_loops(&f, pic, without, out);
	} else {
		buf_add(out, text, size);
	}
	asmtext_free(&f.t);
	free(f.referenced);
	free(f.frame);
	return count;
}
