/*
 * Walks over the lines: forwards, which registers hold the same; backwards, what is read later. The two
 * halves of a vector register count by themselves: scalar code leaves in the upper one whatever it finds
 * there, and nobody reads it.
 *
 * What the next turn sets before it reads it is for those behind the loop alone: a copy that nobody else
 * reads is made there, if what it is of is still the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/loops/dead_code_internal.h"

#define MAX_LINES 256		/* more are left as they are */

struct body {
	struct dead_code_step *steps;
	size_t count;
	uint64_t end;		/* what lives on behind a turn */
	uint64_t reads_next;		/* what the next one reads of that */
	size_t value[2 * INSN_REGISTERS];	/* in registers at the end: general ones, then vectors */
};

/* What the step reads, if `live` is behind it. */
static uint64_t reads(const struct dead_code_step *s, uint64_t live)
{
	uint64_t all = s->reads;

	if (s->lanes && (s->writes & live & HIGHS))
		for (unsigned i = 0; i < 2; i++)
			if (s->in.operand[i].kind == INSN_VECTOR && (all & LOW(s->in.operand[i].reg)))
				all |= HIGH(s->in.operand[i].reg);
	return all;
}

static uint64_t before(const struct dead_code_step *s, uint64_t live)
{
	return (live & ~s->sets) | reads(s, live);
}

/* What is live behind step `at`, if `live` is at the end. */
static uint64_t live_behind(const struct body *t, size_t at, uint64_t live)
{
	for (size_t i = t->count; i-- > at;)
		if (t->steps[i].code && !t->steps[i].removed)
			live = before(&t->steps[i], live);
	return live;
}

/* What a turn reads before it sets it; what does not live on from the turn before is nothing to read. */
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

/* Whether nobody in this turn or the next ones needs `bits` of what step `at` leaves, nor others behind the loop for its sake. */
static bool only_for_after(const struct body *t, size_t at, uint64_t bits)
{
	return !(t->reads_next & bits) && !(live_behind(t, at + 1, t->end & ~bits) & bits);
}

static unsigned slot(const struct insn_operand *o)
{
	return o->reg + (o->kind == INSN_VECTOR ? INSN_REGISTERS : 0u);
}

/* A copy to where the value is already goes; an upper half that becomes 0 for those behind the loop does so there. */
static bool is_redundant(struct body *t, size_t at)
{
	struct dead_code_step *s = &t->steps[at];
	uint64_t high = s->writes & s->live & HIGHS;

	if (!s->copy || s->value != t->value[slot(&s->in.operand[1])])
		return false;
	s->clears_upper_after = high && s->zeroes && only_for_after(t, at, high);
	if (s->clears_upper_after)
		t->end &= ~high;
	return !high || s->clears_upper_after;
}

static void walk_forward(struct body *t)
{
	size_t next = 0;

	for (; next < ARRAY_SIZE(t->value); next++)
		t->value[next] = next;
	for (size_t i = 0; i < t->count; i++) {
		struct dead_code_step *s = &t->steps[i];

		if (!s->code || s->removed)
			continue;
		s->value = s->copy ? t->value[slot(&s->in.operand[0])] : 0;
		s->removed = is_redundant(t, i);
		for (unsigned r = 0; !s->removed && r < ARRAY_SIZE(t->value); r++)
			if (s->writes & GENERAL(r))	/* and LOW */
				t->value[r] = s->copy ? s->value : next++;
	}
}

/* Copies for those behind the loop are made there. None changes what another one is of: their order does not matter. */
static void move_copies(struct body *t)
{
	uint64_t sources = 0, targets = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct dead_code_step *s = &t->steps[i];
		uint64_t from = s->reads & ~HIGHS, to = s->writes & ~HIGHS;

		if (!s->code || s->removed || !s->copy || (from & targets) || (to & (sources | targets)) ||
		    t->value[slot(&s->in.operand[0])] != s->value || t->value[slot(&s->in.operand[1])] != s->value ||
		    ((s->writes & s->live & HIGHS) && !s->zeroes) || !only_for_after(t, i, s->writes))
			continue;
		sources |= from;
		targets |= to;
		t->end &= ~s->writes;
		s->removed = s->after_loop = true;
	}
	t->end |= sources;
}

/* Whether the step does nothing but set its last operand, which it does not read. */
static bool can_retarget(const struct dead_code_step *p)
{
	const struct insn_operand *to = &p->in.operand[1];

	if (p->in.count != 2)
		return false;
	if (to->kind == INSN_VECTOR)
		return p->sets == dead_code_both_halves(to) && !(p->reads & dead_code_both_halves(to)) && (p->copy || p->in.operand[0].kind == INSN_MEMORY);
	return to->kind == INSN_REGISTER && to->size == 8 && (p->in.kind == INSN_MOVE || p->in.kind == INSN_LEA);
}

/* The line with the last operand of `other`, a register, as its own; NULL if there is more behind them. */
static char *with_last_of(struct asmtext_word line, struct asmtext_word other)
{
	const char *cut = memrchr(line.at, ',', line.size), *by = memrchr(other.at, ',', other.size);
	uint32_t left = cut ? (uint32_t)(line.at + line.size - cut) : 0;
	struct buf out = { 0 };
	char *copy;

	if (!cut || !by || memchr(cut, '#', left) || memchr(by, '#', (size_t)(other.at + other.size - by)))
		return NULL;
	buf_add(&out, line.at, line.size - left);
	buf_add(&out, by, (size_t)(other.at + other.size - by));
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

/* Who sets `from`, which the copy `at` then brings to `to`, if nobody between them cares. */
static struct dead_code_step *find_setter(const struct body *t, size_t at, uint64_t from, uint64_t to)
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

/* What is made for a copy alone is made where that brings it. */
static bool retarget(struct body *t, size_t at)
{
	struct dead_code_step *c = &t->steps[at], *p, changed;
	uint64_t from, to = c->writes, high = to & c->live & HIGHS;

	if (!c->code || c->removed || !c->copy)
		return false;
	from = c->in.operand[0].kind == INSN_VECTOR ? dead_code_both_halves(&c->in.operand[0]) : dead_code_named_by(&c->in.operand[0]);
	if ((from & c->live) || (from & to))
		return false;
	p = find_setter(t, at, from, to);
	if (!p || !can_retarget(p) || (high && (c->zeroes ? p->lanes : !c->lanes)))
		return false;
	changed = (struct dead_code_step){ .code = true, .own = with_last_of(p->text, c->text) };
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
	/* The processor gives the register another name, which it does not for movq. */
	if (s->code && s->zeroes && !(s->live & HIGH(s->in.operand[1].reg))) {
		buf_addf(out, "\tmovapd\t%%xmm%u, %%xmm%u\n", s->in.operand[0].reg, s->in.operand[1].reg);
		return;
	}
	buf_add(out, s->text.at, s->text.size);
	buf_add_char(out, '\n');
}

/* False if there are too many lines, or one that is not known. */
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

/* Upper halves last: copies may change them. */
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

void dead_code_write(struct asmtext_word text, struct dead_code_live live, struct buf *out, struct buf *behind)
{
	struct body t = {
		.steps = xcalloc(MAX_LINES, sizeof(*t.steps)),
		.end = live.general | (uint64_t)(live.vector | live.lower) << 16 | (uint64_t)live.vector << 32 |
		       FLAGS(INSN_ALL_FLAGS),
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
