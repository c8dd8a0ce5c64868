/*
 * Moves stack slots to registers in the copy without hooks. gcc spills values to the stack around a
 * hook, because it is a call that preserves no vector register and few others. Without hooks, each
 * spill costs some cycles; one of a value that goes from iteration to iteration can take several
 * times as long as the rest of the loop.
 *
 * Since the hooks were calls, registers that calls do not preserve and that the loop does not name
 * are free. A stack slot gets one of them if nothing else can reach the slot (asm/linear.h) and all
 * instructions that use it mean the same with a register.
 */
#include <stdlib.h>
#include <string.h>

#include "wrap/hooks/hook.h"
#include "wrap/loops/loops.h"
#include "wrap/loops/loops_internal.h"

/* Instructions that mean the same with a register in place of an 8-byte stack slot. */
static const char *const vector_verbs[] = {
	"movsd", "addsd", "subsd", "mulsd", "divsd", "minsd", "maxsd", "sqrtsd", "ucomisd",
	"comisd",
};
static const char *const general_verbs[] = { "movq", "addq", "subq", "cmpq" };

/*
 * Registers that calls do not preserve and that no instruction uses without naming them (as mul and
 * cqto use %rdx).
 */
static const char *const general_registers[] = { "r8", "r9", "r10", "r11" };

static bool is_one_of(struct asmtext_word verb, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (asmtext_is(verb, words[i]))
			return true;
	return false;
}

#define IS_ONE_OF(verb, words) is_one_of(verb, words, sizeof(words) / sizeof((words)[0]))

/* The index of the operand that is a stack slot; -1: none; -2: the line uses %rsp otherwise. */
static int stack_operand(const struct insn *in)
{
	int found = -1;

	for (unsigned i = 0; i < in->count; i++) {
		const struct insn_operand *o = &in->operand[i];

		if (o->kind != INSN_MEMORY || (o->reg != INSN_RSP && o->index != INSN_RSP))
			continue;
		if (o->index != INSN_NONE || o->opaque || o->symbol.size || found != -1)
			return -2;
		found = (int)i;
	}
	return found;
}

/* Whether the instruction means the same with a register as operand `at`. */
static bool register_would_do(struct asmtext_word verb, const struct insn *in, unsigned at,
			      bool *vector)
{
	const struct insn_operand *other = &in->operand[1 - at];

	if (in->count != 2)
		return false;
	*vector = other->kind == INSN_VECTOR;
	if (*vector)
		return IS_ONE_OF(verb, vector_verbs);
	return (other->kind == INSN_IMMEDIATE ||
		(other->kind == INSN_REGISTER && other->size == 8)) &&
	       IS_ONE_OF(verb, general_verbs);
}

/* Refuses the stack slots that overlap these bytes. */
static void refuse(struct loops_spills *s, int64_t from, int64_t size)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->spill[i].at < from + size && from < s->spill[i].at + 8)
			s->spill[i].refused = true;
}

/* Whether the instruction writes 8 bytes to that operand without reading it. */
static bool stores_eight(struct asmtext_word line, const struct insn *in, unsigned operand)
{
	const struct insn_operand *from = &in->operand[0];
	struct asmtext_word verb = asmtext_verb(line);

	if (in->count != 2 || operand != 1)
		return false;
	if (from->kind == INSN_VECTOR)
		return asmtext_is(verb, "movsd") || asmtext_is(verb, "movq");
	return asmtext_is(verb, "movq") &&
	       (from->kind == INSN_IMMEDIATE || (from->kind == INSN_REGISTER && from->size == 8));
}

/*
 * Adds the stack slot that an instruction uses, or refuses it if vector and general instructions
 * share it. False: there are too many.
 */
static bool add_stack_slot(struct loops_spills *s, const struct insn *in, unsigned operand,
		     struct asmtext_word line, bool vector)
{
	int64_t at = in->operand[operand].number;
	bool sets = operand == 1 && in->kind != INSN_COMPARE;

	for (unsigned i = 0; i < s->count; i++)
		if (s->spill[i].at == at) {
			s->spill[i].refused |= s->spill[i].vector != vector;
			s->spill[i].set |= sets;
			return true;
		}
	if (s->count == LOOPS_SPILLS)
		return false;
	s->spill[s->count++] = (struct loops_spill){
		.at = at,
		.vector = vector,
		.set_first = stores_eight(line, in, operand),
		.set = sets,
	};
	return true;
}

/*
 * Walks through the loop. If not `refusing`, collects the stack slots that could be in registers,
 * else refuses those that some other instruction uses. False: no stack slot can be moved.
 */
static bool find_stack_slots(struct loops_spills *s, const struct loops_loop *l,
			     const struct asmtext *t, bool refusing)
{
	for (uint32_t i = l->head + 1; i < l->jump; i++) {
		struct asmtext_word text = t->lines[i].text;
		bool vector = false;
		struct insn in;
		int at;

		if (!hook_is_code(&t->lines[i]) || loops_hook(l, i))
			continue;
		if (t->lines[i].user || !insn_read(text, &in) || (at = stack_operand(&in)) == -2)
			return false;
		if (at == -1) {
			if (memmem(text.at, text.size, "%rsp", 4))
				return false;
			continue;
		}
		if (!register_would_do(asmtext_verb(text), &in, (unsigned)at, &vector)) {
			if (refusing)
				refuse(s, in.operand[at].number, in.size > 8 ? 64 : 8);
		} else if (!refusing) {
			if (!add_stack_slot(s, &in, (unsigned)at, text, vector))
				return false;
		}
	}
	return true;
}

/* Whether the loop names the register. */
static bool is_named(const struct loops_loop *l, const struct asmtext *t, const char *name)
{
	for (uint32_t i = l->head + 1; i < l->jump; i++)
		if (hook_is_code(&t->lines[i]) &&
		    memmem(t->lines[i].text.at, t->lines[i].text.size, name, strlen(name)))
			return true;
	return false;
}

const char *loops_free_vector(const struct loops_loop *l, const struct asmtext *t, unsigned *next)
{
	static const char *const all[] = { "xmm15", "xmm14", "xmm13", "xmm12",
					   "xmm11", "xmm10", "xmm9",  "xmm8" };

	while (*next < sizeof(all) / sizeof(all[0])) {
		const char *name = all[(*next)++];

		if (!is_named(l, t, name) && !is_named(l, t, name + 1))	/* nor %ymm15 */
			return name;
	}
	return NULL;
}

static const char *free_general_register(const struct loops_loop *l, const struct asmtext *t,
					 unsigned *next)
{
	while (*next < sizeof(general_registers) / sizeof(general_registers[0])) {
		const char *name = general_registers[(*next)++];

		if (!is_named(l, t, name))
			return name;
	}
	return NULL;
}

/* Inlined hooks of clang preserve registers, so one that the loop does not name may be in use. */
static bool hooks_are_calls(const struct loops_loop *l)
{
	for (unsigned i = 0; i < l->access_count; i++)
		if (l->access[i].site.size)
			return false;
	return true;
}

static void refuse_overlapping(struct loops_spills *s)
{
	for (unsigned i = 0; i < s->count; i++)
		for (unsigned k = 0; k < i; k++)
			if (s->spill[i].at != s->spill[k].at &&
			    s->spill[i].at < s->spill[k].at + 8 &&
			    s->spill[k].at < s->spill[i].at + 8)
				s->spill[i].refused = s->spill[k].refused = true;
}

void loops_spills_find(struct loops_spills *s, const struct loops_loop *l, const struct asmtext *t)
{
	unsigned vectors = 0, generals = 0;

	*s = (struct loops_spills){ 0 };
	if (!hooks_are_calls(l))
		return;
	if (l->without & LOOPS_WITHOUT_SPILLS || !l->state->follow_stack ||
	    !find_stack_slots(s, l, t, false) || !find_stack_slots(s, l, t, true))
		s->count = 0;
	refuse_overlapping(s);
	for (unsigned i = 0; i < s->count; i++)
		if (!s->spill[i].refused)
			s->spill[i].reg = s->spill[i].vector
						  ? loops_free_vector(l, t, &vectors)
						  : free_general_register(l, t, &generals);
	if (!(l->without & LOOPS_WITHOUT_CONSTANTS))
		loops_constants_find(s, l, t, &vectors);
}

void loops_spills_write(const struct loops_spills *s, bool load, struct buf *out)
{
	for (unsigned i = 0; i < s->count; i++) {
		const struct loops_spill *p = &s->spill[i];

		if (!p->reg || (load ? p->set_first : !p->set))
			continue;
		if (load)
			buf_addf(out, "\tmovq\t%lld(%%rsp), %%%s\n", (long long)p->at, p->reg);
		else
			buf_addf(out, "\tmovq\t%%%s, %lld(%%rsp)\n", p->reg, (long long)p->at);
	}
}

void loops_spills_add_live(const struct loops_spills *s, struct dead_code_live *live)
{
	for (unsigned i = 0; i < s->count; i++) {
		const struct loops_spill *p = &s->spill[i];

		if (p->reg && p->vector)
			live->lower |= (uint16_t)(1u << atoi(p->reg + 3));
		else if (p->reg)
			live->general |= (uint16_t)(1u << atoi(p->reg + 1));
	}
	for (unsigned i = 0; i < s->constant_count; i++)
		live->vector |= (uint16_t)(1u << atoi(s->constant[i].reg + 3));
}

bool loops_spills_replace(const struct loops_spills *s, struct asmtext_word line, struct buf *out)
{
	struct asmtext_word verb = asmtext_verb(line);
	const char *end = line.at + line.size, *from, *to;
	const struct loops_spill *p = NULL;
	struct insn in;
	int at;

	if (s->count == 0 || !insn_read(line, &in) || (at = stack_operand(&in)) < 0)
		return false;
	for (unsigned i = 0; i < s->count; i++)
		if (s->spill[i].at == in.operand[at].number && s->spill[i].reg)
			p = &s->spill[i];
	if (!p)
		return false;
	to = memmem(line.at, line.size, "(%rsp)", 6);
	for (from = to; strchr("-0123456789", from[-1]);)
		from--;
	to += 6;
	/* movsd between registers would keep the upper half. */
	if (asmtext_is(verb, "movsd"))
		buf_add_text(out, "\tmovq");
	else
		buf_addf(out, "\t%.*s", (int)verb.size, verb.at);
	buf_add(out, verb.at + verb.size, (size_t)(from - (verb.at + verb.size)));
	buf_addf(out, "%%%s%.*s\n", p->reg, (int)(end - to), to);
	return true;
}
