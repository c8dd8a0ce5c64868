/*
 * A copy whose source is dead behind it need not be made if the two registers change their names, from there on until neither
 * is live, or before it from where neither was. Only general registers with all of their 64 bits: where anything
 * else is named, or used without being named, nothing is changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/thin_internal.h"

static const char *const names[INSN_REGISTERS] = {
	"%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi",
	"%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "%r15",
};

/* Which of both is named there, or -1; %r8d and the like are neither. */
static int named(const char *at, const char *end, const unsigned pair[2])
{
	for (int i = 0; i < 2; i++) {
		size_t size = strlen(names[pair[i]]);

		if ((size_t)(end - at) >= size && memcmp(at, names[pair[i]], size) == 0 &&
		    (at + size == end || strchr(",) \t", at[size])))
			return i;
	}
	return -1;
}

static char *with_swapped(struct asmtext_word line, const unsigned pair[2])
{
	const char *at = line.at, *end = line.at + line.size;
	struct buf out = { 0 };
	char *copy;

	while (at < end) {
		int i = *at == '%' ? named(at, end, pair) : -1;

		if (i < 0) {
			buf_add_char(&out, *at++);
			continue;
		}
		buf_add_text(&out, names[pair[1 - i]]);
		at += strlen(names[pair[i]]);
	}
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

static uint64_t swapped(uint64_t bits, const unsigned pair[2])
{
	uint64_t both = GENERAL(pair[0]) | GENERAL(pair[1]);

	return (bits & ~both) | (bits & GENERAL(pair[0]) ? GENERAL(pair[1]) : 0) | (bits & GENERAL(pair[1]) ? GENERAL(pair[0]) : 0);
}

static bool is_swapped(unsigned old, unsigned new, const unsigned pair[2])
{
	return new == (old == pair[0] ? pair[1] : old == pair[1] ? pair[0] : old);
}

/* Each operand by itself: one that has another name for half of a register has not changed. */
static bool are_swapped(const struct insn *old, const struct insn *new, const unsigned pair[2])
{
	for (unsigned i = 0; i < old->count; i++) {
		const struct insn_operand *a = &old->operand[i], *b = &new->operand[i];

		if (a->place == INSN_REGISTER || a->place == INSN_MEMORY ? !is_swapped(a->reg, b->reg, pair) : a->reg != b->reg)
			return false;
		if (a->place == INSN_MEMORY && !is_swapped(a->index, b->index, pair))
			return false;
	}
	/* These use registers that they do not name. */
	return old->kind != INSN_WIDE && old->kind != INSN_ACC && old->kind != INSN_SIGN;
}

/* The step with both names changed. False: it does not mean the same then. */
static bool swap(const struct thin_step *s, const unsigned pair[2], struct thin_step *to)
{
	*to = (struct thin_step){ .code = true, .own = with_swapped(s->text, pair) };
	to->text = (struct asmtext_word){ to->own, (uint32_t)strlen(to->own) };
	if (thin_look(to) && are_swapped(&s->in, &to->in, pair) && to->reads == swapped(s->reads, pair) && to->writes == swapped(s->writes, pair) &&
	    to->sets == swapped(s->sets, pair))
		return true;
	free(to->own);
	return false;
}

static uint64_t before(const struct thin_step *s)
{
	return (s->live & ~s->sets) | s->reads;
}

/* In all steps from the first to the one before the last, or in none. */
static bool swap_all(struct thin_step *steps, size_t first, size_t end, const unsigned pair[2])
{
	struct thin_step *new = xcalloc(end - first + 1, sizeof(*new));
	size_t i = first;

	for (; i < end; i++)
		if (steps[i].code && !steps[i].gone && !swap(&steps[i], pair, &new[i - first]))
			break;
	for (size_t k = first; k < i; k++) {
		if (!new[k - first].code)
			continue;
		if (i < end) {
			free(new[k - first].own);
			continue;
		}
		free(steps[k].own);
		steps[k] = new[k - first];
	}
	free(new);
	return i == end;
}

bool thin_swap(struct thin_step *steps, size_t count, size_t at)
{
	struct thin_step *c = &steps[at];
	unsigned pair[2] = { c->in.operand[0].reg, c->in.operand[1].reg };
	uint64_t both;

	if (!c->code || c->gone || !c->copy || c->in.operand[0].place != INSN_REGISTER ||
	    c->in.operand[1].place != INSN_REGISTER || pair[0] == pair[1] || pair[0] == INSN_RSP || pair[1] == INSN_RSP)
		return false;
	both = GENERAL(pair[0]) | GENERAL(pair[1]);
	if (c->live & GENERAL(pair[0]))
		return false;
	for (size_t i = at + 1; i < count && !c->gone; i++)
		if (steps[i].code && !steps[i].gone && !(steps[i].live & both)) {
			c->gone = swap_all(steps, at + 1, i + 1, pair);
			break;
		}
	for (size_t i = at; i-- > 0 && !c->gone;)
		if (steps[i].code && !steps[i].gone && !(before(&steps[i]) & both)) {
			c->gone = swap_all(steps, i, at, pair);
			break;
		}
	return c->gone;
}
