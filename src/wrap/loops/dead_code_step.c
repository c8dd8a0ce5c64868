/*
 * What an instruction reads and writes. Of one that is not known in detail, it is assumed that it
 * reads all registers that it names and changes its last operand in part.
 */
#include <string.h>

#include "base/mem.h"
#include "wrap/loops/dead_code_internal.h"

/* How a vector instruction treats both halves of its registers. */
enum form {
	OPAQUE,			/* not known in detail */
	SCALAR,			/* computes the target's lower half from both lower halves */
	MOVE,			/* movsd: a load sets both halves, a copy only the lower one */
	MOVE_QUAD,		/* movq: sets both halves, the upper one to 0 */
	WHOLE,			/* copies, loads or stores both halves */
	BITS,			/* bitwise operation, half by half */
	COMPARE,		/* compares lower halves, sets flags */
	TO_GENERAL,		/* converts a lower half to a general register */
	FROM_GENERAL,		/* converts a general register to a lower half */
};

static const struct {
	const char *text;
	enum form form;
} vector_verbs[] = {
	{ "addsd", SCALAR }, { "subsd", SCALAR }, { "mulsd", SCALAR }, { "divsd", SCALAR },
	{ "minsd", SCALAR }, { "maxsd", SCALAR }, { "sqrtsd", SCALAR }, { "addss", SCALAR },
	{ "subss", SCALAR }, { "mulss", SCALAR }, { "divss", SCALAR }, { "cvtss2sd", SCALAR },
	{ "cvtsd2ss", SCALAR }, { "movsd", MOVE }, { "movq", MOVE_QUAD }, { "movapd", WHOLE },
	{ "movaps", WHOLE }, { "movdqa", WHOLE }, { "movupd", WHOLE }, { "movups", WHOLE },
	{ "movdqu", WHOLE }, { "andpd", BITS }, { "andps", BITS }, { "andnpd", BITS },
	{ "orpd", BITS }, { "xorpd", BITS }, { "xorps", BITS }, { "pxor", BITS },
	{ "comisd", COMPARE }, { "ucomisd", COMPARE }, { "cvttsd2si", TO_GENERAL },
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

uint64_t dead_code_named_by(const struct insn_operand *o)
{
	uint64_t bits = 0;

	if (o->kind == INSN_VECTOR)
		return dead_code_both_halves(o);
	if (o->kind == INSN_IMMEDIATE)
		return 0;
	if (o->reg < INSN_REGISTERS)
		bits |= GENERAL(o->reg);
	if (o->kind == INSN_MEMORY && o->index < INSN_REGISTERS)
		bits |= GENERAL(o->index);
	return bits;
}

/* Whether the operand is a stack slot: a load from there can be dropped, since it cannot fault. */
static bool is_stack(const struct insn_operand *o)
{
	return o->kind == INSN_MEMORY && o->reg == INSN_RSP && o->index == INSN_NONE && !o->opaque;
}

/* Whether both operands are the same register. */
static bool same_register(const struct insn *in)
{
	return in->count == 2 && in->operand[0].kind == in->operand[1].kind &&
	       in->operand[0].kind != INSN_MEMORY && in->operand[0].kind != INSN_IMMEDIATE &&
	       in->operand[0].reg == in->operand[1].reg &&
	       in->operand[0].size == in->operand[1].size;
}

static void set_vector(struct dead_code_step *s, uint64_t reads, uint64_t sets)
{
	s->reads = reads;
	s->sets = s->writes = sets;
}

/* An instruction with two operands, at least one of them a vector register. False: use OPAQUE. */
static bool read_vector(struct dead_code_step *s, enum form form)
{
	const struct insn_operand *from = &s->in.operand[0], *to = &s->in.operand[1];
	bool loads = from->kind == INSN_MEMORY,
	     registers = from->kind == INSN_VECTOR && to->kind == INSN_VECTOR;
	uint64_t source = from->kind == INSN_VECTOR ? LOW(from->reg) : dead_code_named_by(from);

	if (to->kind == INSN_MEMORY) {
		s->reads = dead_code_named_by(to) |
			   (form == WHOLE ? dead_code_both_halves(from) : source);
		return form == MOVE || form == MOVE_QUAD || form == WHOLE;
	}
	if (to->kind == INSN_REGISTER) {
		set_vector(s, source, GENERAL(to->reg));
		return to->size >= 4 && (form == TO_GENERAL || form == MOVE_QUAD);
	}
	if (form == SCALAR)
		set_vector(s, source | LOW(to->reg), LOW(to->reg));
	else if (form == FROM_GENERAL)
		set_vector(s, source, LOW(to->reg));
	else if (form == MOVE)
		set_vector(s, source, loads ? dead_code_both_halves(to) : LOW(to->reg));
	else if (form == MOVE_QUAD || form == WHOLE)
		set_vector(s, source, dead_code_both_halves(to));
	else if (form == BITS)
		set_vector(s, source | LOW(to->reg), dead_code_both_halves(to));
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
		if (in->operand[i].kind == INSN_VECTOR)
			return true;
	return false;
}

/* An instruction not known in detail: reads all it names, and overwrites nothing completely. */
static void read_opaque(struct dead_code_step *s)
{
	const struct insn *in = &s->in;

	s->lanes = s->copy = s->zeroes = s->pure = false;
	s->reads = s->sets = s->writes = 0;
	for (unsigned i = 0; i < in->count; i++)
		s->reads |= dead_code_named_by(&in->operand[i]);
	if (in->kind == INSN_WIDE || in->kind == INSN_ACC || in->kind == INSN_SIGN) {
		s->writes = GENERAL(INSN_RAX) | GENERAL(INSN_RDX);
		s->reads |= s->writes;
	} else if (in->count && in->kind != INSN_COMPARE &&
		   in->operand[in->count - 1].kind != INSN_MEMORY) {
		s->writes = dead_code_named_by(&in->operand[in->count - 1]);
	}
}

/* An instruction without vector registers. */
static void read_general(struct dead_code_step *s)
{
	const struct insn *in = &s->in;
	const struct insn_operand *to = &in->operand[in->count ? in->count - 1 : 0];
	bool whole = in->kind == INSN_MOVE || in->kind == INSN_LEA || in->kind == INSN_SET;
	bool zero = (in->kind == INSN_XOR || in->kind == INSN_SUB) && same_register(in);

	read_opaque(s);
	if (in->kind == INSN_COMPARE || in->count == 0 || in->kind == INSN_WIDE ||
	    to->kind != INSN_REGISTER)
		return;
	s->writes = GENERAL(to->reg);
	s->pure = true;
	for (unsigned i = 0; i < in->count; i++)
		s->pure &= in->operand[i].kind != INSN_MEMORY || in->kind == INSN_LEA ||
			   is_stack(&in->operand[i]);
	if (to->size < 4)
		return;
	s->sets = s->writes;
	if (whole || zero)
		s->reads = 0;
	for (unsigned i = 0; whole && i + 1 < in->count; i++)
		s->reads |= dead_code_named_by(&in->operand[i]);
	s->copy = in->kind == INSN_MOVE && in->operand[0].kind == INSN_REGISTER &&
		  in->operand[0].size == 8 && to->size == 8;
}

bool dead_code_read(struct dead_code_step *s)
{
	if (!insn_read(s->text, &s->in) || s->in.kind >= INSN_BRANCH)
		return false;
	for (unsigned i = 0; i < s->in.count; i++)
		if (s->in.operand[i].kind == INSN_VECTOR && s->in.operand[i].reg >= INSN_REGISTERS)
			return false;
	if (!has_vector(&s->in))
		read_general(s);
	else if (s->in.count != 2 || !read_vector(s, form_of(asmtext_verb(s->text))))
		read_opaque(s);
	s->reads |= FLAGS(s->in.reads);
	s->sets |= FLAGS(s->in.sets);
	s->writes |= FLAGS(s->in.sets) | (s->in.maybe_sets ? FLAGS(INSN_ALL_FLAGS) : 0);
	return true;
}

bool dead_code_add_names(struct asmtext_word line, struct dead_code_live *live)
{
	struct dead_code_step s = { .text = line };
	uint64_t all;

	if (!dead_code_read(&s))
		return false;
	all = s.reads | s.writes;
	live->general |= (uint16_t)all;
	live->vector |= (uint16_t)(all >> 16) | (uint16_t)(all >> 32);
	return true;
}
