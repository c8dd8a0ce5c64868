/*
 * Walks over the body: forwards with value numbers, to find registers that hold the same value;
 * backwards with liveness, to find results that nothing reads.
 *
 * Both halves of a vector register are tracked separately: scalar code leaves the upper half as it
 * is and never reads it.
 *
 * A result that the next iteration overwrites before reading it is needed only behind the loop. If
 * the result is a copy, and its source still has the value at the iteration's end, the copy moves
 * behind the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/loops/dead_code_internal.h"

#define MAX_LINES 256		/* a longer body is copied unchanged */

struct body {
	struct dead_code_step *steps;
	size_t count;
	uint64_t end;		/* what is live at the end of an iteration */
	uint64_t reads_next;	/* the part of `end` that the next iteration reads */
	size_t value[2 * INSN_REGISTERS];	/* value numbers: general registers, then vector */
};

/* What the step reads, given what is live behind it: a dead upper half is not computed. */
static uint64_t reads(const struct dead_code_step *s, uint64_t live)
{
	uint64_t all = s->reads;

	if (s->lanes && (s->writes & live & HIGHS))
		for (unsigned i = 0; i < 2; i++)
			if (s->in.operand[i].kind == INSN_VECTOR &&
			    (all & LOW(s->in.operand[i].reg)))
				all |= HIGH(s->in.operand[i].reg);
	return all;
}

/* What is live before the step, given what is live behind it. */
static uint64_t before(const struct dead_code_step *s, uint64_t live)
{
	return (live & ~s->sets) | reads(s, live);
}

/* What is live before step `at`, given what is live at the end. */
static uint64_t live_before(const struct body *t, size_t at, uint64_t live)
{
	for (size_t i = t->count; i-- > at;)
		if (t->steps[i].code && !t->steps[i].removed)
			live = before(&t->steps[i], live);
	return live;
}

/* What an iteration reads before it overwrites it, as far as it is live at the iteration's end. */
static uint64_t first_reads(const struct body *t)
{
	uint64_t live = t->end, first = 0;

	for (size_t i = t->count; i-- > 0;) {
		const struct dead_code_step *s = &t->steps[i];

		if (!s->code || s->removed)
			continue;
		first = (first & ~s->sets) | reads(s, live);
		live = before(s, live);
	}
	return first & t->end;
}

/* Removes steps whose results are dead, and updates liveness. */
static void walk_back(struct body *t)
{
	uint64_t live = t->end;

	for (size_t i = t->count; i-- > 0;) {
		struct dead_code_step *s = &t->steps[i];

		if (!s->code || s->removed)
			continue;
		s->live = live;
		if (s->pure && !(s->writes & live))
			s->removed = true;
		else
			live = before(s, live);
	}
	t->reads_next = first_reads(t);
}

/* Whether no later step, also of the next iteration, needs `bits` as step `at` leaves them. */
static bool only_for_after(const struct body *t, size_t at, uint64_t bits)
{
	return !(t->reads_next & bits) && !(live_before(t, at + 1, t->end & ~bits) & bits);
}

/* Index of the register in body.value. */
static unsigned value_index(const struct insn_operand *o)
{
	return o->reg + (o->kind == INSN_VECTOR ? INSN_REGISTERS : 0u);
}

/*
 * Whether the step copies a value to a register that has it already. If it also clears an upper
 * half that only code behind the loop reads, the half is cleared there.
 */
static bool is_redundant(struct body *t, size_t at)
{
	struct dead_code_step *s = &t->steps[at];
	uint64_t high = s->writes & s->live & HIGHS;

	if (!s->copy || s->value != t->value[value_index(&s->in.operand[1])])
		return false;
	s->clears_upper_after = high && s->zeroes && only_for_after(t, at, high);
	if (s->clears_upper_after)
		t->end &= ~high;
	return !high || s->clears_upper_after;
}

/* Numbers values, and removes redundant copies. */
static void walk_forward(struct body *t)
{
	size_t next = 0;

	for (; next < ARRAY_SIZE(t->value); next++)
		t->value[next] = next;
	for (size_t i = 0; i < t->count; i++) {
		struct dead_code_step *s = &t->steps[i];

		if (!s->code || s->removed)
			continue;
		s->value = s->copy ? t->value[value_index(&s->in.operand[0])] : 0;
		s->removed = is_redundant(t, i);
		for (unsigned r = 0; !s->removed && r < ARRAY_SIZE(t->value); r++)
			if (s->writes & GENERAL(r))	/* from 16 on, GENERAL(r) is LOW(r - 16) */
				t->value[r] = s->copy ? s->value : next++;
	}
}

/*
 * Moves copies whose result only code behind the loop reads. No copy that is moved changes the
 * source of another, so their order does not matter.
 */
static void move_copies(struct body *t)
{
	uint64_t sources = 0, targets = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct dead_code_step *s = &t->steps[i];
		uint64_t from = s->reads & ~HIGHS, to = s->writes & ~HIGHS;

		if (!s->code || s->removed || !s->copy || (from & targets) ||
		    (to & (sources | targets)) ||
		    t->value[value_index(&s->in.operand[0])] != s->value ||
		    t->value[value_index(&s->in.operand[1])] != s->value ||
		    ((s->writes & s->live & HIGHS) && !s->zeroes) ||
		    !only_for_after(t, i, s->writes))
			continue;
		sources |= from;
		targets |= to;
		t->end &= ~s->writes;
		s->removed = s->after_loop = true;
	}
	t->end |= sources;
}

/* Whether the step only overwrites its last operand, so that it could write another register. */
static bool can_retarget(const struct dead_code_step *p)
{
	const struct insn_operand *to = &p->in.operand[1];

	if (p->in.count != 2)
		return false;
	if (to->kind == INSN_VECTOR)
		return p->sets == dead_code_both_halves(to) &&
		       !(p->reads & dead_code_both_halves(to)) &&
		       (p->copy || p->in.operand[0].kind == INSN_MEMORY);
	return to->kind == INSN_REGISTER && to->size == 8 &&
	       (p->in.kind == INSN_MOVE || p->in.kind == INSN_LEA);
}

/*
 * Returns the line, from malloc, with its last operand replaced by that of `other`; NULL if a
 * comment follows in either.
 */
static char *with_last_operand_of(struct asmtext_word line, struct asmtext_word other)
{
	const char *cut = memrchr(line.at, ',', line.size),
		   *by = memrchr(other.at, ',', other.size);
	uint32_t left = cut ? (uint32_t)(line.at + line.size - cut) : 0;
	struct buf out = { 0 };
	char *copy;

	if (!cut || !by || memchr(cut, '#', left) ||
	    memchr(by, '#', (size_t)(other.at + other.size - by)))
		return NULL;
	buf_add(&out, line.at, line.size - left);
	buf_add(&out, by, (size_t)(other.at + other.size - by));
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

/*
 * Returns the step that writes `from`, which step `at` copies to `to`; NULL if a step between them
 * uses either register.
 */
static struct dead_code_step *find_setter(const struct body *t, size_t at, uint64_t from,
					  uint64_t to)
{
	while (at-- > 0) {
		struct dead_code_step *s = &t->steps[at];

		if (!s->code || s->removed)
			continue;
		if (s->writes & from)
			return s;
		if ((s->reads & (from | to)) || (s->writes & to))
			return NULL;
	}
	return NULL;
}

/* If the source of copy `at` is dead behind it, makes the source's setter write the target. */
static bool retarget(struct body *t, size_t at)
{
	struct dead_code_step *c = &t->steps[at], *p, changed;
	uint64_t from, to = c->writes, high = to & c->live & HIGHS;

	if (!c->code || c->removed || !c->copy)
		return false;
	from = c->in.operand[0].kind == INSN_VECTOR ? dead_code_both_halves(&c->in.operand[0])
						    : dead_code_named_by(&c->in.operand[0]);
	if ((from & c->live) || (from & to))
		return false;
	p = find_setter(t, at, from, to);
	if (!p || !can_retarget(p) || (high && (c->zeroes ? p->lanes : !c->lanes)))
		return false;
	changed = (struct dead_code_step){ .code = true,
					   .own = with_last_operand_of(p->text, c->text) };
	if (!changed.own)
		return false;
	changed.text = (struct asmtext_word){ changed.own, (uint32_t)strlen(changed.own) };
	if (!dead_code_read(&changed) || changed.writes != to) {
		free(changed.own);
		return false;
	}
	free(p->own);
	*p = changed;
	c->removed = true;
	return true;
}

static void write_step(const struct dead_code_step *s, struct buf *out)
{
	/* movq that clears a dead half: movapd is faster, as register renaming eliminates it. */
	if (s->code && s->zeroes && !(s->live & HIGH(s->in.operand[1].reg))) {
		buf_addf(out, "\tmovapd\t%%xmm%u, %%xmm%u\n", s->in.operand[0].reg,
			 s->in.operand[1].reg);
		return;
	}
	buf_add(out, s->text.at, s->text.size);
	buf_add_char(out, '\n');
}

/* Splits the text into steps. False: there are too many lines, or an instruction is not known. */
static bool split(struct asmtext_word text, struct dead_code_step *steps, size_t *count)
{
	const char *end = text.at + text.size;

	for (*count = 0; text.at < end; (*count)++) {
		const char *newline = memchr(text.at, '\n', (size_t)(end - text.at));
		struct dead_code_step *s = &steps[*count];
		struct asmtext_word verb;

		if (*count == MAX_LINES || !newline)
			return false;
		*s = (struct dead_code_step){ .text = { text.at, (uint32_t)(newline - text.at) } };
		verb = asmtext_verb(s->text);
		s->code = verb.size && verb.at[0] != '.';
		if (s->code && !dead_code_read(s))
			return false;
		text.at = newline + 1;
	}
	return true;
}

/* Writes what is executed behind the loop. Upper halves come last: copies may change them. */
static void write_after(const struct body *t, struct buf *out)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->steps[i].after_loop)
			write_step(&t->steps[i], out);
	for (size_t i = 0; i < t->count; i++) {
		unsigned reg = t->steps[i].in.operand[1].reg;

		if (t->steps[i].clears_upper_after)
			buf_addf(out, "\tmovq\t%%xmm%u, %%xmm%u\n", reg, reg);
	}
}

void dead_code_write(struct asmtext_word text, struct dead_code_live live, struct buf *out,
		     struct buf *behind)
{
	struct body t = {
		.steps = xcalloc(MAX_LINES, sizeof(*t.steps)),
		.end = live.general | (uint64_t)(live.vector | live.lower) << 16 |
		       (uint64_t)live.vector << 32 | FLAGS(INSN_ALL_FLAGS),
	};

	if (split(text, t.steps, &t.count)) {
		walk_back(&t);
		walk_forward(&t);
		walk_back(&t);
		for (size_t i = 0; i < t.count; i++)
			if (retarget(&t, i))
				walk_back(&t);
		walk_forward(&t);
		move_copies(&t);
		walk_back(&t);
		for (size_t i = 0; i < t.count; i++)
			if (!t.steps[i].removed)
				write_step(&t.steps[i], out);
		write_after(&t, behind);
	} else {
		buf_add(out, text.at, text.size);
	}
	for (size_t i = 0; i < t.count; i++)
		free(t.steps[i].own);
	free(t.steps);
}
