/*
 * Decides whether a loop qualifies, and computes what its descriptor says: how addresses depend on
 * values before the loop, which register counts the iterations, and which comparison decides before
 * the loop how many iterations there will be.
 */
#include "abi/trace_format.h"
#include "wrap/hooks/hook.h"
#include "wrap/loops/loops_internal.h"

#define MAX_JUMPS 8	/* followed by loops_flags_are_dead(): bounds its time, also in a cycle */

bool loops_add_access(struct loops_loop *l, uint32_t line, const struct hook *hook,
		      const struct linear_state *state)
{
	if (l->access_count == TRACE_LOOP_ACCESSES || (hook->op >> 8 & TRACE_VOLATILE))
		return false;
	l->access[l->access_count++] = (struct loops_access){ .line = line,
							      .site = hook->site,
							      .op = hook->op,
							      .at = state->value[INSN_RDI] };
	return true;
}

void loops_note_flags(struct loops_loop *l, struct linear_state *state, struct asmtext_word text,
		      const struct insn *in)
{
	/* A comparison compares its operands; arithmetic compares its result with 0. */
	bool compares = in->count == 2 && asmtext_starts(asmtext_verb(text), "cmp");
	bool counts = in->kind == INSN_ADD || in->kind == INSN_SUB || in->kind == INSN_INC ||
		      in->kind == INSN_DEC;
	struct linear *compared = l->compared;

	if (!in->sets)
		return;
	compared[0] = compared[1] = (struct linear){ 0 };
	l->compared_at[0] = l->compared_at[1] = -1;
	if (in->size == 8 && (compares || counts)) {
		compared[0] = compares ? linear_read(state, &in->operand[0])
				       : (struct linear){ .known = true };
		compared[1] = linear_read(state, &in->operand[in->count - 1]);
	}
	for (unsigned i = 0; i < 2 && compares; i++)
		if (in->operand[i].kind == INSN_REGISTER && in->operand[i].size == 8)
			l->compared_at[i] = in->operand[i].reg;
}

bool loops_flags_are_dead(const struct asmtext *t, size_t line)
{
	uint8_t live = INSN_ALL_FLAGS;
	unsigned jumps = 0;

	for (; line < t->line_count; line++) {
		const struct asmtext_line *l = &t->lines[line];
		struct hook hook;
		struct insn in;

		if (l->kind == ASMTEXT_SECTION)
			return false;
		if (!hook_is_code(l))
			continue;
		if (l->user)
			return hook_read(l, &hook);	/* an inlined hook changes all flags */
		if (!insn_read(l->text, &in) || (in.reads & live) || in.kind == INSN_BRANCH)
			return false;
		if (in.kind == INSN_LEAVE)
			return true;
		if (in.kind == INSN_JUMP) {
			uint32_t symbol = asmtext_find(t, in.operand[0].symbol);

			if (!symbol || t->symbols[symbol].defined == ASMTEXT_UNDEFINED)
				return true;	/* a tail call: functions get no flags */
			if (t->symbols[symbol].defined != ASMTEXT_ATOM || ++jumps > MAX_JUMPS)
				return false;
			line = t->symbols[symbol].line;
		}
		live &= (uint8_t)~in.sets;
		if (!live)
			return true;
	}
	return false;
}

int loops_source(const struct loops_loop *l, unsigned variable)
{
	int64_t step;

	if (variable < INSN_REGISTERS && linear_advance(l->state, variable, &step) && step == 0)
		return (int)variable;
	for (unsigned i = 0; i < l->slot_count; i++)
		if (l->slot[i] == variable)
			return (int)(LOOP_FIRST_SLOT + i);
	return -1;
}

/*
 * Makes sure that the descriptor can name the term's variable before the loop, in a slot if need
 * be. False: there is no slot left, or the factor does not fit.
 */
static bool need_variable(struct loops_loop *l, const struct linear_term *term)
{
	if (term->factor < INT8_MIN || term->factor > INT8_MAX)
		return false;
	if (loops_source(l, term->variable) >= 0)
		return true;
	if (l->slot_count == LOOP_SLOTS)
		return false;
	l->slot[l->slot_count++] = (uint8_t)term->variable;
	return true;
}

/* Computes the access's stride. False: the descriptor cannot express the address, or its stride. */
static bool describe_access(struct loops_loop *l, struct loops_access *a)
{
	if (!linear_stride(l->state, &a->at, &a->stride) || a->at.terms > 2 || a->stride.terms > 1)
		return false;
	for (unsigned k = 0; k < a->at.terms; k++)
		if (!need_variable(l, &a->at.term[k]))
			return false;
	return !a->stride.terms || need_variable(l, &a->stride.term[0]);
}

/* Divides the accesses into described and silent ones. */
static bool describe_accesses(struct loops_loop *l)
{
	uint32_t described = 0;

	l->slot_count = 0;
	l->silent_count = 0;
	for (unsigned i = 0; i < l->access_count; i++) {
		struct loops_access a = l->access[i];

		if (describe_access(l, &a))
			l->access[described++] = a;
		else
			l->silent[l->silent_count++] = a;
	}
	l->access_count = described;
	return described > 0;
}

/*
 * Rates a register as counter. Steps that are powers of two need no division; a value that a slot
 * holds anyway needs no further slot.
 */
static int counter_score(const struct loops_loop *l, unsigned variable, int64_t step)
{
	uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;

	return 2 * ((size & (size - 1)) == 0) + (loops_source(l, variable) >= 0);
}

/* Chooses the register with the best score. */
static bool find_counter(struct loops_loop *l)
{
	int best = -1;

	for (uint8_t i = 0; i < INSN_REGISTERS; i++) {
		int64_t step;

		if (!linear_advance(l->state, i, &step) || step == 0 ||
		    counter_score(l, i, step) <= best)
			continue;
		l->counter = i;
		l->step = step;
		best = counter_score(l, i, step);
	}
	return best >= 0 && need_variable(l, &(struct linear_term){ l->counter, 1 });
}

/*
 * Assumes that the register of an unknown compared value keeps its value from before the loop. If
 * it does not, only the choice between the copies is worse, not the recording.
 */
static void assume_constant(struct loops_loop *l, unsigned i)
{
	int variable = l->compared_at[i];

	if (l->compared[i].known || variable < 0)
		return;
	l->compared[i] =
		(struct linear){ .known = true, .terms = 1, .term = { { (uint16_t)variable, 1 } } };
	l->assumed = true;
}

/*
 * Whether each iteration adds a constant, *step, to compared[moving], while the other compared
 * value is a number, or a variable that does not change.
 */
static bool is_bounded(struct loops_loop *l, unsigned moving, int64_t *step)
{
	const struct linear *m = &l->compared[moving], *s = &l->compared[!moving];
	int64_t none;

	if (!m->known || m->symbol.size || m->terms != 1 || m->term[0].factor != 1 ||
	    !linear_advance(l->state, m->term[0].variable, step) || *step == 0)
		return false;
	assume_constant(l, !moving);
	return s->known && !s->symbol.size &&
	       (l->assumed || s->terms == 0 ||
		(s->terms == 1 && s->term[0].factor == 1 &&
		 linear_advance(l->state, s->term[0].variable, &none) && none == 0));
}

/* Finds how the number of iterations can be estimated before the loop. */
static bool find_bound(struct loops_loop *l)
{
	l->assumed = false;
	for (l->moving = 0; l->moving < 2; l->moving++)
		if (is_bounded(l, l->moving, &l->bound_step))
			return true;
	return false;
}

bool loops_qualify(struct loops_loop *l)
{
	return describe_accesses(l) && find_counter(l) && find_bound(l);
}
