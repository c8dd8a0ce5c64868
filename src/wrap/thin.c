/*
 * Two walks over the lines: forwards, which registers hold the same; backwards, what is read later. The two
 * halves of a vector register count by themselves: scalar code leaves in the upper one whatever it finds
 * there, and nobody reads it.
 */
#include "wrap/thin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/insn.h"

#define LINES 256		/* more are left as they are */

/* What may be live, as bits: general registers, lower and upper halves of vector registers, flags. */
#define GENERAL(r) (1ull << (r))
#define LOW(r) (1ull << (16 + (r)))
#define HIGH(r) (1ull << (32 + (r)))
#define FLAGS(f) ((uint64_t)(f) << 48)

struct step {
	struct asmtext_word text;
	bool code, gone;
	bool pure;		/* it does nothing but write registers and flags */
	bool lanes;		/* the upper half is made of upper halves, and of nothing else */
	bool copy;		/* of all 64 bits, or of the lower half, to the last operand */
	bool zeroes;		/* … and the upper half becomes 0 */
	uint64_t reads;
	uint64_t sets;		/* wholly */
	uint64_t writes;	/* these, and those that change in part */
	uint64_t live;		/* behind it */
	struct insn in;
};

enum form {
	OPAQUE,			/* reads all of its operands */
	SCALAR,			/* lower half of the last operand of those of both */
	MOVE,			/* movsd: memory sets both halves, a register one */
	MOVE_QUAD,		/* movq: sets both */
	WHOLE,
	BITS,
	COMPARE,
	TO_GENERAL,
	FROM_GENERAL,
};

static const struct {
	const char *text;
	enum form form;
} vector_verbs[] = {
	{ "addsd", SCALAR }, { "subsd", SCALAR }, { "mulsd", SCALAR }, { "divsd", SCALAR }, { "minsd", SCALAR },
	{ "maxsd", SCALAR }, { "sqrtsd", SCALAR }, { "addss", SCALAR }, { "subss", SCALAR }, { "mulss", SCALAR },
	{ "divss", SCALAR }, { "cvtss2sd", SCALAR }, { "cvtsd2ss", SCALAR }, { "movsd", MOVE }, { "movq", MOVE_QUAD },
	{ "movapd", WHOLE }, { "movaps", WHOLE }, { "movdqa", WHOLE }, { "movupd", WHOLE }, { "movups", WHOLE },
	{ "movdqu", WHOLE }, { "andpd", BITS }, { "andps", BITS }, { "andnpd", BITS }, { "orpd", BITS }, { "xorpd", BITS },
	{ "xorps", BITS }, { "pxor", BITS }, { "comisd", COMPARE }, { "ucomisd", COMPARE }, { "cvttsd2si", TO_GENERAL },
	{ "cvttsd2sil", TO_GENERAL }, { "cvttsd2siq", TO_GENERAL }, { "cvtsi2sd", FROM_GENERAL },
	{ "cvtsi2sdl", FROM_GENERAL }, { "cvtsi2sdq", FROM_GENERAL },
};

static enum form form_of(struct asmtext_word verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(vector_verbs); i++)
		if (asmtext_is(verb, vector_verbs[i].text))
			return vector_verbs[i].form;
	return OPAQUE;
}

static uint64_t both(const struct insn_operand *o)
{
	return LOW(o->reg) | HIGH(o->reg);
}

/* All that the operand names; of memory that is its address. */
static uint64_t named_by(const struct insn_operand *o)
{
	uint64_t bits = 0;

	if (o->place == INSN_VECTOR)
		return both(o);
	if (o->place == INSN_IMMEDIATE)
		return 0;
	if (o->reg < INSN_REGISTERS)
		bits |= GENERAL(o->reg);
	if (o->place == INSN_MEMORY && o->index < INSN_REGISTERS)
		bits |= GENERAL(o->index);
	return bits;
}

/* Memory of the function's own, which it may read or not. */
static bool is_stack(const struct insn_operand *o)
{
	return o->place == INSN_MEMORY && o->reg == INSN_RSP && o->index == INSN_NONE && !o->opaque;
}

static bool same_register(const struct insn *in)
{
	return in->count == 2 && in->operand[0].place == in->operand[1].place &&
	       in->operand[0].place != INSN_MEMORY && in->operand[0].place != INSN_IMMEDIATE &&
	       in->operand[0].reg == in->operand[1].reg && in->operand[0].size == in->operand[1].size;
}

static void set_vector(struct step *s, uint64_t reads, uint64_t sets)
{
	s->reads = reads;
	s->sets = s->writes = sets;
}

/* Two operands, of which at least one is a vector register. */
static bool look_vector(struct step *s, enum form form)
{
	const struct insn_operand *from = &s->in.operand[0], *to = &s->in.operand[1];
	bool loads = from->place == INSN_MEMORY, registers = from->place == INSN_VECTOR && to->place == INSN_VECTOR;
	uint64_t source = from->place == INSN_VECTOR ? LOW(from->reg) : named_by(from);

	if (to->place == INSN_MEMORY) {
		s->reads = named_by(to) | (form == WHOLE ? both(from) : source);
		return form == MOVE || form == MOVE_QUAD || form == WHOLE;
	}
	if (to->place == INSN_REGISTER) {
		set_vector(s, source, GENERAL(to->reg));
		return to->size >= 4 && (form == TO_GENERAL || form == MOVE_QUAD);
	}
	if (form == SCALAR)
		set_vector(s, source | LOW(to->reg), LOW(to->reg));
	else if (form == FROM_GENERAL)
		set_vector(s, source, LOW(to->reg));
	else if (form == MOVE)
		set_vector(s, source, loads ? both(to) : LOW(to->reg));
	else if (form == MOVE_QUAD || form == WHOLE)
		set_vector(s, source, both(to));
	else if (form == BITS)
		set_vector(s, source | LOW(to->reg), both(to));
	else if (form == COMPARE)
		set_vector(s, source | LOW(to->reg), 0);
	else
		return false;
	s->lanes = form == WHOLE || form == BITS;
	s->copy = registers && (form == MOVE || form == MOVE_QUAD || form == WHOLE);
	s->zeroes = s->copy && form == MOVE_QUAD;
	s->pure = s->copy || ((form == MOVE || form == MOVE_QUAD) && is_stack(from));
	if (form == BITS && same_register(&s->in) && memmem(s->text.at, s->text.size, "xor", 3)) {
		s->reads = 0;
		s->lanes = false;
	}
	return true;
}

static bool has_vector(const struct insn *in)
{
	for (unsigned i = 0; i < in->count; i++)
		if (in->operand[i].place == INSN_VECTOR)
			return true;
	return false;
}

/* What is not known better: all is read, the last operand written, and nothing wholly set. */
static void look_opaque(struct step *s)
{
	const struct insn *in = &s->in;

	s->lanes = s->copy = s->zeroes = s->pure = false;
	s->reads = s->sets = s->writes = 0;
	for (unsigned i = 0; i < in->count; i++)
		s->reads |= named_by(&in->operand[i]);
	if (in->kind == INSN_WIDE || in->kind == INSN_ACC || in->kind == INSN_SIGN) {
		s->writes = GENERAL(INSN_RAX) | GENERAL(INSN_RDX);
		s->reads |= s->writes;
	} else if (in->count && in->kind != INSN_COMPARE && in->operand[in->count - 1].place != INSN_MEMORY) {
		s->writes = named_by(&in->operand[in->count - 1]);
	}
}

static void look_general(struct step *s)
{
	const struct insn *in = &s->in;
	const struct insn_operand *to = &in->operand[in->count ? in->count - 1 : 0];
	bool whole = in->kind == INSN_MOVE || in->kind == INSN_LEA || in->kind == INSN_SET;
	bool zero = (in->kind == INSN_XOR || in->kind == INSN_SUB) && same_register(in);

	look_opaque(s);
	if (in->kind == INSN_COMPARE || in->count == 0 || in->kind == INSN_WIDE || to->place != INSN_REGISTER)
		return;
	s->writes = GENERAL(to->reg);
	s->pure = true;
	for (unsigned i = 0; i < in->count; i++)
		s->pure &= in->operand[i].place != INSN_MEMORY || in->kind == INSN_LEA || is_stack(&in->operand[i]);
	if (to->size < 4)
		return;
	s->sets = s->writes;
	if (whole || zero)
		s->reads = 0;
	for (unsigned i = 0; whole && i + 1 < in->count; i++)
		s->reads |= named_by(&in->operand[i]);
	s->copy = in->kind == INSN_MOVE && in->operand[0].place == INSN_REGISTER && in->operand[0].size == 8 && to->size == 8;
}

/* False: the instruction is not known. */
static bool look(struct step *s)
{
	if (!insn_read(s->text, &s->in) || s->in.kind >= INSN_BRANCH)
		return false;
	for (unsigned i = 0; i < s->in.count; i++)
		if (s->in.operand[i].place == INSN_VECTOR && s->in.operand[i].reg >= INSN_REGISTERS)
			return false;
	if (!has_vector(&s->in))
		look_general(s);
	else if (s->in.count != 2 || !look_vector(s, form_of(asmtext_verb(s->text))))
		look_opaque(s);
	s->reads |= FLAGS(s->in.reads);
	s->sets |= FLAGS(s->in.sets);
	s->writes |= FLAGS(s->in.sets) | (s->in.maybe_sets ? FLAGS(INSN_ALL_FLAGS) : 0);
	return true;
}

/* Returns what is live before the step. */
static uint64_t before(const struct step *s, uint64_t live)
{
	uint64_t reads = s->reads, highs = s->writes & live & (HIGH(16) - HIGH(0));

	if (s->lanes && highs)
		for (unsigned i = 0; i < 2; i++)
			if (s->in.operand[i].place == INSN_VECTOR)
				reads |= HIGH(s->in.operand[i].reg);
	return (live & ~s->sets) | reads;
}

static void walk_back(struct step *steps, size_t count, uint64_t live)
{
	for (size_t i = count; i-- > 0;) {
		struct step *s = &steps[i];

		if (!s->code || s->gone)
			continue;
		s->live = live;
		if (s->pure && !(s->writes & live))
			s->gone = true;
		else
			live = before(s, live);
	}
}

/* Which value a register holds, by a number: general registers, then vector registers. */
static unsigned slot(const struct insn_operand *o)
{
	return o->reg + (o->place == INSN_VECTOR ? INSN_REGISTERS : 0u);
}

/* A copy to where the value is already goes, unless the upper half becomes something that matters. */
static void walk_forward(struct step *steps, size_t count)
{
	size_t value[2 * INSN_REGISTERS], next = 0;

	while (next < ARRAY_SIZE(value)) {
		value[next] = next;
		next++;
	}
	for (size_t i = 0; i < count; i++) {
		struct step *s = &steps[i];
		size_t copied;

		if (!s->code || s->gone)
			continue;
		copied = s->copy ? value[slot(&s->in.operand[0])] : next++;
		if (s->copy && copied == value[slot(&s->in.operand[1])] &&
		    !(s->writes & s->live & (HIGH(16) - HIGH(0)))) {
			s->gone = true;
			continue;
		}
		for (unsigned r = 0; r < ARRAY_SIZE(value); r++)
			if (s->writes & GENERAL(r))	/* and LOW */
				value[r] = s->copy ? copied : next++;
	}
}

static void write_step(const struct step *s, struct buf *out)
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
static bool split(struct asmtext_word text, struct step *steps, size_t *count)
{
	const char *end = text.at + text.size;

	for (*count = 0; text.at < end; (*count)++) {
		const char *newline = memchr(text.at, '\n', (size_t)(end - text.at));
		struct step *s = &steps[*count];
		struct asmtext_word verb;

		if (*count == LINES || !newline)
			return false;
		*s = (struct step){ .text = { text.at, (uint32_t)(newline - text.at) } };
		verb = asmtext_verb(s->text);
		s->code = verb.size && verb.at[0] != '.';
		if (s->code && !look(s))
			return false;
		text.at = newline + 1;
	}
	return true;
}

bool thin_names(struct asmtext_word line, struct thin_live *live)
{
	struct step s = { .text = line };
	uint64_t all;

	if (!look(&s))
		return false;
	all = s.reads | s.writes;
	live->general |= (uint16_t)all;
	live->vector |= (uint16_t)(all >> 16) | (uint16_t)(all >> 32);
	return true;
}

void thin_write(struct asmtext_word text, struct thin_live live, struct buf *out)
{
	struct step *steps = xcalloc(LINES, sizeof(*steps));
	uint64_t end = live.general | (uint64_t)(live.vector | live.lower) << 16 | (uint64_t)live.vector << 32 |
		       FLAGS(INSN_ALL_FLAGS);
	size_t count;

	if (split(text, steps, &count)) {
		walk_back(steps, count, end);
		walk_forward(steps, count);
		walk_back(steps, count, end);
		for (size_t i = 0; i < count; i++)
			if (!steps[i].gone)
				write_step(&steps[i], out);
	} else {
		buf_add(out, text.at, text.size);
	}
	free(steps);
}
