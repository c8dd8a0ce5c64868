#include "wrap/asm/linear.h"

#include <string.h>

static int64_t add64(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t mul64(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static struct linear of_constant(int64_t value)
{
	return (struct linear){ .known = true, .constant = value };
}

static struct linear of_variable(unsigned variable)
{
	return (struct linear){ .known = true, .terms = 1, .term = { { (uint16_t)variable, 1 } } };
}

static struct linear unknown(void)
{
	return (struct linear){ 0 };
}

/* Adds a term in order of variables and drops it if its factor is 0. False: too many terms. */
static bool add_term(struct linear *l, struct linear_term term)
{
	unsigned at = 0;

	while (at < l->terms && l->term[at].variable < term.variable)
		at++;
	if (at < l->terms && l->term[at].variable == term.variable) {
		l->term[at].factor = add64(l->term[at].factor, term.factor);
		if (l->term[at].factor == 0) {
			l->terms--;
			memmove(&l->term[at], &l->term[at + 1],
				(l->terms - at) * sizeof(l->term[0]));
		}
		return true;
	}
	if (term.factor == 0)
		return true;
	if (l->terms == LINEAR_TERMS)
		return false;
	memmove(&l->term[at + 1], &l->term[at], (l->terms - at) * sizeof(l->term[0]));
	l->term[at] = term;
	l->terms++;
	return true;
}

/* a + factor * b. The sum can hold one symbol, with factor 1. */
static struct linear add(struct linear a, const struct linear *b, int64_t factor)
{
	if (!a.known || !b->known || (b->symbol.size && (a.symbol.size || factor != 1)))
		return unknown();
	if (b->symbol.size)
		a.symbol = b->symbol;
	a.constant = add64(a.constant, mul64(b->constant, factor));
	for (unsigned i = 0; i < b->terms; i++) {
		struct linear_term term = b->term[i];

		term.factor = mul64(term.factor, factor);
		if (!add_term(&a, term))
			return unknown();
	}
	return a;
}

static struct linear scaled(const struct linear *a, int64_t factor)
{
	return add(of_constant(0), a, factor);
}

void linear_init(struct linear_state *t, bool follow_stack)
{
	*t = (struct linear_state){ .follow_stack = follow_stack };
	linear_begin_iteration(t);
}

void linear_begin_iteration(struct linear_state *t)
{
	for (unsigned i = 0; i < LINEAR_VARIABLES; i++)
		t->value[i] = i < INSN_REGISTERS || t->follow_stack ? of_variable(i) : unknown();
	t->flags_set = 0;
	t->flags_tainted = false;
}

static bool is_stack(const struct insn_operand *o)
{
	return o->kind == INSN_MEMORY && o->reg == INSN_RSP && o->index == INSN_NONE &&
	       !o->opaque && o->symbol.size == 0;
}

/* The variable of the stack slot that the operand names, or -1. */
static int stack_variable(struct linear_state *t, const struct insn_operand *o)
{
	if (!is_stack(o))
		return -1;
	for (unsigned i = 0; i < t->stack_count; i++)
		if (t->stack[i] == o->number)
			return (int)(INSN_REGISTERS + i);
	if (t->stack_count == LINEAR_STACK)
		return -1;
	t->stack[t->stack_count] = o->number;
	return (int)(INSN_REGISTERS + t->stack_count++);
}

static void set(struct linear_state *t, unsigned variable, struct linear value, bool tainted)
{
	t->value[variable] = value;
	t->tainted[variable] = tainted;
}

/* A write of `size` bytes at offset `from` makes the slots that it overlaps unknown. */
static void invalidate_slots(struct linear_state *t, int64_t from, int64_t size, bool tainted)
{
	for (unsigned i = 0; i < t->stack_count; i++)
		if (t->stack[i] < from + size && from < t->stack[i] + 8)
			set(t, INSN_REGISTERS + i, unknown(),
			    t->tainted[INSN_REGISTERS + i] || tainted);
}

/* The address that a memory operand names. */
static struct linear address(const struct linear_state *t, const struct insn_operand *o)
{
	struct linear sum = of_constant(o->number);

	if (o->opaque || o->got || (o->reg == INSN_RIP && o->symbol.size == 0))
		return unknown();
	sum.symbol = o->symbol;
	if (o->reg < INSN_REGISTERS)
		sum = add(sum, &t->value[o->reg], 1);
	if (o->index < INSN_REGISTERS)
		sum = add(sum, &t->value[o->index], o->scale);
	return sum;
}

/* Whether reading the operand gives a tainted value. */
static bool taints(struct linear_state *t, const struct insn_operand *o)
{
	int variable;

	switch (o->kind) {
	case INSN_REGISTER:
		return t->tainted[o->reg];
	case INSN_MEMORY:
		variable = stack_variable(t, o);
		return !o->got && (variable < 0 || t->tainted[variable]);
	case INSN_VECTOR:
		return true;
	}
	return false;
}

struct linear linear_read(struct linear_state *t, const struct insn_operand *o)
{
	struct linear value = of_constant(o->number);
	int variable;

	switch (o->kind) {
	case INSN_IMMEDIATE:
		value.symbol = o->symbol;
		return o->opaque ? unknown() : value;
	case INSN_REGISTER:
		return o->size == 8 ? t->value[o->reg] : unknown();
	case INSN_MEMORY:
		if (o->got) {
			value.symbol = o->symbol;
			return value;
		}
		variable = stack_variable(t, o);
		return variable < 0 ? unknown() : t->value[variable];
	}
	return unknown();
}

/* Writes `size` bytes to the operand. False: the operand cannot be written, or it is %rsp. */
static bool write_operand(struct linear_state *t, const struct insn_operand *o, unsigned size,
			  struct linear value, bool tainted)
{
	int variable;

	switch (o->kind) {
	case INSN_REGISTER:
		if (o->reg == INSN_RSP)
			return false;
		set(t, o->reg, value, tainted);
		return true;
	case INSN_VECTOR:
		return true;
	case INSN_MEMORY:
		break;
	default:
		return false;
	}
	if (is_stack(o)) {
		variable = size == 8 ? stack_variable(t, o) : -1;
		invalidate_slots(t, o->number, size, tainted);
		if (variable >= 0)
			set(t, (unsigned)variable, t->follow_stack ? value : unknown(), tainted);
	} else if (o->reg == INSN_RSP || o->index == INSN_RSP) {
		invalidate_slots(t, INT64_MIN / 2, INT64_MAX, true);
	}
	return true;
}

/* Whether the instruction clears a register, such as xorl %eax,%eax: its old value is not read. */
static bool is_zeroing(const struct insn *in)
{
	const struct insn_operand *o = in->operand;

	return (in->kind == INSN_XOR || in->kind == INSN_SUB) && in->count == 2 &&
	       o[0].kind == INSN_REGISTER && o[1].kind == INSN_REGISTER && o[0].reg == o[1].reg &&
	       in->size >= 4 && o[0].size == o[1].size;
}

/* The 64-bit value that the last operand gets; unknown if it is not linear. */
static struct linear result(struct linear_state *t, const struct insn *in)
{
	const struct insn_operand *first = &in->operand[0], *last = &in->operand[in->count - 1];
	struct linear one = of_constant(1), before;

	if (is_zeroing(in))
		return of_constant(0);
	if (in->kind == INSN_MOVE && in->size == 4 && first->kind == INSN_IMMEDIATE &&
	    !first->opaque && last->kind == INSN_REGISTER) {
		one.constant =
			first->symbol.size ? first->number : (int64_t)(uint32_t)first->number;
		one.symbol = first->symbol;
		return one;
	}
	if (in->size != 8)
		return unknown();
	if (in->kind == INSN_MOVE && in->count == 2)
		return linear_read(t, first);
	if (in->kind == INSN_LEA && in->count == 2)
		return first->kind == INSN_MEMORY ? address(t, first) : unknown();
	before = linear_read(t, last);
	switch (in->kind) {
	case INSN_INC:
		return add(before, &one, 1);
	case INSN_DEC:
		return add(before, &one, -1);
	case INSN_NEG:
		return scaled(&before, -1);
	case INSN_ADD:
	case INSN_SUB:
		if (in->count != 2)
			return unknown();
		one = linear_read(t, first);
		return add(before, &one, in->kind == INSN_ADD ? 1 : -1);
	case INSN_SHL:
		if (in->count == 1)
			return scaled(&before, 2);
		if (first->kind != INSN_IMMEDIATE || first->symbol.size || first->number < 0 ||
		    first->number > 62)
			return unknown();
		return scaled(&before, INT64_C(1) << first->number);
	}
	return unknown();
}

/* Whether the result of the instruction is tainted. */
static bool makes_tainted(struct linear_state *t, const struct insn *in)
{
	bool replaces = in->kind == INSN_MOVE || in->kind == INSN_SET;
	bool tainted = in->reads && t->flags_tainted;

	if (is_zeroing(in))
		return false;
	if (in->kind == INSN_LEA) {
		const struct insn_operand *o = &in->operand[0];

		return (o->reg < INSN_REGISTERS && t->tainted[o->reg]) ||
		       (o->index < INSN_REGISTERS && t->tainted[o->index]);
	}
	for (unsigned i = 0; i < in->count; i++)
		if (!(replaces && i + 1 == in->count && in->count > 1 && in->size >= 4))
			tainted |= taints(t, &in->operand[i]);
	return tainted;
}

/* Instructions that write %rax and %rdx. */
static bool step_wide(struct linear_state *t, const struct insn *in)
{
	bool tainted = t->tainted[INSN_RAX] | t->tainted[INSN_RDX];

	if (in->count)
		tainted |= taints(t, &in->operand[0]);
	set(t, INSN_RAX, unknown(), tainted);
	set(t, INSN_RDX, unknown(), tainted);
	return true;
}

bool linear_step(struct linear_state *t, const struct insn *in)
{
	bool tainted, done = true;

	if (in->reads & ~t->flags_set)
		return false;
	tainted = makes_tainted(t, in);
	switch (in->kind) {
	case INSN_COMPARE:
	case INSN_NOTHING:
		break;
	case INSN_WIDE:
	case INSN_SIGN:
	case INSN_ACC:
		done = step_wide(t, in);
		break;
	case INSN_BRANCH:
	case INSN_JUMP:
	case INSN_LEAVE:
		return false;
	default:
		done = in->count > 0 && write_operand(t, &in->operand[in->count - 1], in->size,
						      result(t, in), tainted);
	}
	if (in->sets == INSN_ALL_FLAGS)
		t->flags_tainted = false;
	t->flags_set |= in->sets;
	if (in->sets || in->maybe_sets)
		t->flags_tainted |= tainted;
	return done;
}

bool linear_distance(const struct linear *a, const struct linear *b, int64_t *distance)
{
	*distance = (int64_t)((uint64_t)a->constant - (uint64_t)b->constant);
	if (!a->known || !b->known || a->terms != b->terms || !asmtext_same(a->symbol, b->symbol))
		return false;
	for (unsigned i = 0; i < a->terms; i++)
		if (a->term[i].variable != b->term[i].variable ||
		    a->term[i].factor != b->term[i].factor)
			return false;
	return true;
}

void linear_call(struct linear_state *t, uint32_t kept)
{
	for (unsigned i = 0; i < INSN_REGISTERS; i++)
		if (!(kept >> i & 1))
			set(t, i, unknown(), false);
	/* The callee writes below %rsp: its return address and saved registers. */
	invalidate_slots(t, INT64_MIN / 2, INT64_MAX / 2 + 1, false);
	t->flags_set = 0;
	t->flags_tainted = false;
}

bool linear_advance(const struct linear_state *t, unsigned variable, int64_t *step)
{
	const struct linear *l = &t->value[variable];

	*step = l->constant;
	return l->known && l->symbol.size == 0 && l->terms == 1 &&
	       l->term[0].variable == variable && l->term[0].factor == 1;
}

/* Sets *by to what an iteration adds to the variable. False: that depends on changed variables. */
static bool growth(const struct linear_state *t, unsigned variable, struct linear *by)
{
	struct linear self = of_variable(variable);
	int64_t step;

	*by = add(t->value[variable], &self, -1);
	if (!by->known || by->symbol.size)
		return false;
	for (unsigned i = 0; i < by->terms; i++)
		if (!linear_advance(t, by->term[i].variable, &step) || step != 0)
			return false;
	return true;
}

bool linear_stride(const struct linear_state *t, const struct linear *at, struct linear *stride)
{
	*stride = of_constant(0);
	for (unsigned i = 0; at->known && i < at->terms; i++) {
		struct linear by;

		if (!growth(t, at->term[i].variable, &by))
			return false;
		*stride = add(*stride, &by, at->term[i].factor);
	}
	return at->known && stride->known;
}
