/*
 * Reference of dead-code removal in copied loops (wrap/loops/dead_code.h): a machine with
 * registers, memory and flags that executes straight-line code. Code before and after the removal
 * must leave the same state. Floating-point instructions compute integers of their own: only the
 * flow of values matters.
 */
#ifndef REFERENCE_REGISTER_MACHINE_H
#define REFERENCE_REGISTER_MACHINE_H

#include "base/mem.h"
#include "wrap/asm/instruction.h"

struct machine {
	uint64_t general[16], vector[16][2], memory[4];
	uint64_t flags;
};

/* The memory or register of the operand's value; NULL: it is an immediate. */
static uint64_t *place(struct machine *m, const struct insn_operand *o)
{
	if (o->kind == INSN_IMMEDIATE)
		return NULL;
	if (o->kind == INSN_MEMORY)
		return &m->memory[o->number / 8];
	return o->kind == INSN_VECTOR ? m->vector[o->reg] : &m->general[o->reg];
}

/* Executes an instruction with a vector register. */
static void compute_vector(struct machine *m, struct asmtext_word verb, const struct insn *in)
{
	const struct insn_operand *from = &in->operand[0], *to = &in->operand[1];
	uint64_t *a = place(m, from), *b = place(m, to);

	if (asmtext_is(verb, "movq") || asmtext_is(verb, "movsd")) {
		*b = *a;
		if (to->kind == INSN_VECTOR &&
		    (asmtext_is(verb, "movq") || from->kind == INSN_MEMORY))
			b[1] = 0;
	} else if (asmtext_is(verb, "movapd")) {
		b[0] = a[0], b[1] = a[1];
	} else if (asmtext_is(verb, "addsd")) {
		*b += *a;
	} else if (asmtext_is(verb, "sqrtsd")) {
		*b = *a * 5;
	} else if (asmtext_is(verb, "andpd")) {
		b[0] &= a[0], b[1] &= a[1];
	} else if (asmtext_is(verb, "xorpd")) {
		b[0] ^= a[0], b[1] ^= a[1];
	} else if (asmtext_is(verb, "unpcklpd")) {
		b[1] = a[0];
	} else if (asmtext_is(verb, "paddq")) {
		b[0] += a[0], b[1] += a[1];
	} else if (asmtext_is(verb, "ucomisd")) {
		m->flags = *a - *b;
	} else if (asmtext_is(verb, "cvtsi2sdq")) {
		*b = *a * 7;
	} else {
		fail_msg("%.*s", (int)verb.size, verb.at);
	}
}

static void compute(struct machine *m, struct asmtext_word verb, const struct insn *in)
{
	const struct insn_operand *o = in->operand;
	uint64_t *a = in->count ? place(m, &o[0]) : NULL,
		 *b = in->count > 1 ? place(m, &o[in->count - 1]) : NULL;

	if (o[0].kind == INSN_VECTOR || (in->count > 1 && o[1].kind == INSN_VECTOR)) {
		compute_vector(m, verb, in);
	} else if (asmtext_is(verb, "movq")) {
		*b = *a;
	} else if (asmtext_is(verb, "leaq")) {
		*b = 8 + m->general[o[0].reg] + m->general[o[0].index];
	} else if (asmtext_is(verb, "addq")) {
		m->flags = *b += *a;
	} else if (asmtext_is(verb, "subq") || asmtext_is(verb, "xorq")) {
		m->flags = *b = 0;
	} else if (asmtext_is(verb, "cmpq")) {
		m->flags = *b - *a;
	} else if (asmtext_is(verb, "cmoveq")) {
		*b = m->flags % 2 ? *b : *a;
	} else if (asmtext_is(verb, "cqto")) {
		m->general[INSN_RDX] = m->general[INSN_RAX] % 2;
	} else if (asmtext_is(verb, "imulq")) {
		m->flags = *b = 3 * m->general[o[1].reg];
	} else if (asmtext_is(verb, "negq")) {
		m->flags = *a = -*a;
	} else {
		fail_msg("%.*s", (int)verb.size, verb.at);
	}
}

/* Executes lines of assembly; returns the state behind them. */
static struct machine compute_all(const char *text, struct machine m)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		struct asmtext_word line = { text, (uint32_t)(end - text) };
		struct insn in;

		assert_true(insn_read(line, &in));
		compute(&m, asmtext_verb(line), &in);
		text = end + 1;
	}
	return m;
}

#endif
