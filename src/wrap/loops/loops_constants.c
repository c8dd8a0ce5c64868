/*
 * Moves floating-point constants to registers in the copy without hooks. In a loop with hooks, gcc
 * loads a constant from memory in each iteration, since calls preserve no vector register. Without
 * hooks it would have loaded the constant once.
 *
 * A constant is a symbol .LC... of the compiler in a section that is not writable. Each iteration
 * executes the whole body, so the load before the loop reads nothing that the loop would not read.
 */
#include <string.h>

#include "base/mem.h"
#include "wrap/hooks/hook.h"
#include "wrap/loops/loops_internal.h"

/* Instructions that mean the same with a register, and the load of what they read. */
static const struct {
	const char *verb, *load;
} uses[] = {
	{ "addsd", "movsd" }, { "subsd", "movsd" }, { "mulsd", "movsd" }, { "divsd", "movsd" },
	{ "minsd", "movsd" }, { "maxsd", "movsd" }, { "comisd", "movsd" }, { "ucomisd", "movsd" },
	{ "addss", "movss" }, { "subss", "movss" }, { "mulss", "movss" }, { "divss", "movss" },
	{ "comiss", "movss" }, { "ucomiss", "movss" }, { "andpd", "movapd" }, { "andps", "movaps" },
	{ "andnpd", "movapd" }, { "orpd", "movapd" }, { "xorpd", "movapd" }, { "xorps", "movaps" },
};

/* Whether the operand is a constant in read-only memory. */
static bool is_constant(const struct asmtext *t, const struct insn_operand *o)
{
	uint32_t symbol;

	if (o->kind != INSN_MEMORY || o->reg != INSN_RIP || o->index != INSN_NONE || o->opaque ||
	    o->got || !asmtext_starts(o->symbol, ".LC"))
		return false;
	symbol = asmtext_find(t, o->symbol);
	if (!symbol || t->symbols[symbol].defined != ASMTEXT_ATOM)
		return false;
	return !t->sections[t->lines[t->symbols[symbol].line].section].write;
}

/*
 * If the line's first operand is a constant that may be in a register, sets *at to the operand's
 * text and returns the instruction that loads it, else NULL.
 */
static const char *find_use(struct asmtext_word line, const struct asmtext *t,
			    struct asmtext_word *at)
{
	struct asmtext_word verb = asmtext_verb(line);
	const char *end;
	struct insn in;

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		if (!asmtext_is(verb, uses[i].verb))
			continue;
		if (!insn_read(line, &in) || in.count != 2 || in.operand[1].kind != INSN_VECTOR ||
		    !is_constant(t, &in.operand[0]))
			return NULL;
		end = memmem(line.at, line.size, "(%rip)", 6);
		if (!end || in.operand[0].symbol.at > end)
			return NULL;
		at->at = in.operand[0].symbol.at;
		at->size = (uint32_t)(end + 6 - at->at);
		return uses[i].load;
	}
	return NULL;
}

static const struct loops_constant *find_constant(const struct loops_spills *s,
						  struct asmtext_word at, const char *load)
{
	for (unsigned i = 0; i < s->constant_count; i++)
		if (asmtext_same(s->constant[i].at, at) && strcmp(s->constant[i].load, load) == 0)
			return &s->constant[i];
	return NULL;
}

void loops_constants_find(struct loops_spills *s, const struct loops_loop *l,
			  const struct asmtext *t, unsigned *next)
{
	for (uint32_t i = l->head + 1; i < l->jump && s->constant_count < LOOPS_CONSTANTS; i++) {
		struct asmtext_word at;
		const char *load, *reg;

		if (!hook_is_code(&t->lines[i]) || loops_hook(l, i) || t->lines[i].user)
			continue;
		load = find_use(t->lines[i].text, t, &at);
		if (!load || find_constant(s, at, load))
			continue;
		reg = loops_free_vector(l, t, next);
		if (!reg)
			return;
		s->constant[s->constant_count++] = (struct loops_constant){ at, load, reg };
	}
}

void loops_constants_write(const struct loops_spills *s, struct buf *out)
{
	for (unsigned i = 0; i < s->constant_count; i++) {
		const struct loops_constant *c = &s->constant[i];

		buf_addf(out, "\t%s\t%.*s, %%%s\n", c->load, (int)c->at.size, c->at.at, c->reg);
	}
}

bool loops_constants_replace(const struct loops_spills *s, const struct asmtext *t,
			     struct asmtext_word line, struct buf *out)
{
	const struct loops_constant *c = NULL;
	struct asmtext_word at;
	const char *load = s->constant_count ? find_use(line, t, &at) : NULL;

	if (load)
		c = find_constant(s, at, load);
	if (!c)
		return false;
	buf_add(out, line.at, (size_t)(at.at - line.at));
	buf_addf(out, "%%%s", c->reg);
	buf_add(out, at.at + at.size, (size_t)(line.at + line.size - (at.at + at.size)));
	buf_add_char(out, '\n');
	return true;
}
