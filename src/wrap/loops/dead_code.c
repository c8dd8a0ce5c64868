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

#define LINES 256		/* more are left as they are */

struct turn {
	struct thin_step *steps;
	size_t count;
	uint64_t end;		/* what lives on behind a turn */
	uint64_t again;		/* what the next one reads of that */
	size_t value[2 * INSN_REGISTERS];	/* in registers at the end: general ones, then vectors */
};

/* What the step reads, if `live` is behind it. */
static uint64_t reads(const struct thin_step *s, uint64_t live)
{
	uint64_t all = s->reads;

	if (s->lanes && (s->writes & live & HIGHS))
		for (unsigned i = 0; i < 2; i++)
			if (s->in.operand[i].place == INSN_VECTOR && (all & LOW(s->in.operand[i].reg)))
				all |= HIGH(s->in.operand[i].reg);
	return all;
}

static uint64_t before(const struct thin_step *s, uint64_t live)
{
	return (live & ~s->sets) | reads(s, live);
}

/* What is live behind step `at`, if `live` is at the end. */
static uint64_t live_behind(const struct turn *t, size_t at, uint64_t live)
{
	for (size_t i = t->count; i-- > at;)
		if (t->steps[i].code && !t->steps[i].gone)
			live = before(&t->steps[i], live);
	return live;
}

/* What a turn reads before it sets it; what does not live on from the turn before is nothing to read. */
static uint64_t first_reads(const struct turn *t)
{
	uint64_t live = t->end, first = 0;

	for (size_t i = t->count; i-- > 0;) {
		const struct thin_step *s = &t->steps[i];

		if (!s->code || s->gone)
			continue;
		first = (first & ~s->sets) | reads(s, live);
		live = before(s, live);
	}
	return first & t->end;
}

static void walk_back(struct turn *t)
{
	uint64_t live = t->end;

	for (size_t i = t->count; i-- > 0;) {
		struct thin_step *s = &t->steps[i];

		if (!s->code || s->gone)
			continue;
		s->live = live;
		if (s->pure && !(s->writes & live))
			s->gone = true;
		else
			live = before(s, live);
	}
	t->again = first_reads(t);
}

/* Whether nobody in this turn or the next ones needs `bits` of what step `at` leaves, nor others behind the loop for its sake. */
static bool is_for_end(const struct turn *t, size_t at, uint64_t bits)
{
	return !(t->again & bits) && !(live_behind(t, at + 1, t->end & ~bits) & bits);
}

static unsigned slot(const struct insn_operand *o)
{
	return o->reg + (o->place == INSN_VECTOR ? INSN_REGISTERS : 0u);
}

/* A copy to where the value is already goes; an upper half that becomes 0 for those behind the loop does so there. */
static bool is_known(struct turn *t, size_t at)
{
	struct thin_step *s = &t->steps[at];
	uint64_t high = s->writes & s->live & HIGHS;

	if (!s->copy || s->value != t->value[slot(&s->in.operand[1])])
		return false;
	s->clears = high && s->zeroes && is_for_end(t, at, high);
	if (s->clears)
		t->end &= ~high;
	return !high || s->clears;
}

static void walk_forward(struct turn *t)
{
	size_t next = 0;

	for (; next < ARRAY_SIZE(t->value); next++)
		t->value[next] = next;
	for (size_t i = 0; i < t->count; i++) {
		struct thin_step *s = &t->steps[i];

		if (!s->code || s->gone)
			continue;
		s->value = s->copy ? t->value[slot(&s->in.operand[0])] : 0;
		s->gone = is_known(t, i);
		for (unsigned r = 0; !s->gone && r < ARRAY_SIZE(t->value); r++)
			if (s->writes & GENERAL(r))	/* and LOW */
				t->value[r] = s->copy ? s->value : next++;
	}
}

/* Copies for those behind the loop are made there. None changes what another one is of: their order does not matter. */
static void put_off(struct turn *t)
{
	uint64_t sources = 0, targets = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct thin_step *s = &t->steps[i];
		uint64_t from = s->reads & ~HIGHS, to = s->writes & ~HIGHS;

		if (!s->code || s->gone || !s->copy || (from & targets) || (to & (sources | targets)) ||
		    t->value[slot(&s->in.operand[0])] != s->value || t->value[slot(&s->in.operand[1])] != s->value ||
		    ((s->writes & s->live & HIGHS) && !s->zeroes) || !is_for_end(t, i, s->writes))
			continue;
		sources |= from;
		targets |= to;
		t->end &= ~s->writes;
		s->gone = s->later = true;
	}
	t->end |= sources;
}

/* Whether the step does nothing but set its last operand, which it does not read. */
static bool can_turn(const struct thin_step *p)
{
	const struct insn_operand *to = &p->in.operand[1];

	if (p->in.count != 2)
		return false;
	if (to->place == INSN_VECTOR)
		return p->sets == thin_both(to) && !(p->reads & thin_both(to)) && (p->copy || p->in.operand[0].place == INSN_MEMORY);
	return to->place == INSN_REGISTER && to->size == 8 && (p->in.kind == INSN_MOVE || p->in.kind == INSN_LEA);
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
static struct thin_step *maker(const struct turn *t, size_t at, uint64_t from, uint64_t to)
{
	while (at-- > 0) {
		struct thin_step *s = &t->steps[at];

		if (!s->code || s->gone)
			continue;
		if (s->writes & from)
			return s;
		if ((s->reads & (from | to)) || (s->writes & to))
			return NULL;
	}
	return NULL;
}

/* What is made for a copy alone is made where that brings it. */
static bool turn_to(struct turn *t, size_t at)
{
	struct thin_step *c = &t->steps[at], *p, turned;
	uint64_t from, to = c->writes, high = to & c->live & HIGHS;

	if (!c->code || c->gone || !c->copy)
		return false;
	from = c->in.operand[0].place == INSN_VECTOR ? thin_both(&c->in.operand[0]) : thin_named_by(&c->in.operand[0]);
	if ((from & c->live) || (from & to))
		return false;
	p = maker(t, at, from, to);
	if (!p || !can_turn(p) || (high && (c->zeroes ? p->lanes : !c->lanes)))
		return false;
	turned = (struct thin_step){ .code = true, .own = with_last_of(p->text, c->text) };
	if (!turned.own)
		return false;
	turned.text = (struct asmtext_word){ turned.own, (uint32_t)strlen(turned.own) };
	if (!thin_look(&turned) || turned.writes != to) {
		free(turned.own);
		return false;
	}
	free(p->own);
	*p = turned;
	c->gone = true;
	return true;
}

static void write_step(const struct thin_step *s, struct buf *out)
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
static bool split(struct asmtext_word text, struct thin_step *steps, size_t *count)
{
	const char *end = text.at + text.size;

	for (*count = 0; text.at < end; (*count)++) {
		const char *newline = memchr(text.at, '\n', (size_t)(end - text.at));
		struct thin_step *s = &steps[*count];
		struct asmtext_word verb;

		if (*count == LINES || !newline)
			return false;
		*s = (struct thin_step){ .text = { text.at, (uint32_t)(newline - text.at) } };
		verb = asmtext_verb(s->text);
		s->code = verb.size && verb.at[0] != '.';
		if (s->code && !thin_look(s))
			return false;
		text.at = newline + 1;
	}
	return true;
}

/* Upper halves last: copies may change them. */
static void write_later(const struct turn *t, struct buf *out)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->steps[i].later)
			write_step(&t->steps[i], out);
	for (size_t i = 0; i < t->count; i++) {
		unsigned reg = t->steps[i].in.operand[1].reg;

		if (t->steps[i].clears)
			buf_addf(out, "\tmovq\t%%xmm%u, %%xmm%u\n", reg, reg);
	}
}

void thin_write(struct asmtext_word text, struct thin_live live, struct buf *out, struct buf *behind)
{
	struct turn t = {
		.steps = xcalloc(LINES, sizeof(*t.steps)),
		.end = live.general | (uint64_t)(live.vector | live.lower) << 16 | (uint64_t)live.vector << 32 |
		       FLAGS(INSN_ALL_FLAGS),
	};

	if (split(text, t.steps, &t.count)) {
		walk_back(&t);
		walk_forward(&t);
		walk_back(&t);
		for (size_t i = 0; i < t.count; i++)
			if (turn_to(&t, i))
				walk_back(&t);
		walk_forward(&t);
		put_off(&t);
		walk_back(&t);
		for (size_t i = 0; i < t.count; i++)
			if (!t.steps[i].gone)
				write_step(&t.steps[i], out);
		write_later(&t, behind);
	} else {
		buf_add(out, text.at, text.size);
	}
	for (size_t i = 0; i < t.count; i++)
		free(t.steps[i].own);
	free(t.steps);
}
