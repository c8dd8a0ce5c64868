/*
 * Writes both copies of a loop, the choice between them, and the descriptor. Example: loops.h.
 */
#include <string.h>

#include "wrap/hooks/hook.h"
#include "wrap/loops/loops.h"
#include "wrap/loops/loops_internal.h"

/*
 * The copy without hooks runs if the loop will make at least MIN_ACCESSES accesses: recording a
 * loop costs about as much as that many hooks. A loop that can only be recorded by the call of
 * __snarl_loop costs about CALL_HOOKS hooks more for each access of its body.
 */
#define MIN_ACCESSES 16u
#define CALL_HOOKS 2

const char *const loops_registers[INSN_REGISTERS] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static void add_word(struct buf *out, struct asmtext_word w)
{
	buf_add(out, w.at, w.size);
}

const struct loops_access *loops_hook(const struct loops_loop *l, uint32_t line)
{
	for (uint32_t i = 0; i < l->access_count; i++)
		if (l->access[i].line == line)
			return &l->access[i];
	for (uint32_t i = 0; i < l->silent_count; i++)
		if (l->silent[i].line == line)
			return &l->silent[i];
	return NULL;
}

/* Writes the jump back, to the label .LsnarlKINDnumber. */
static void write_jump(const struct asmtext *t, const struct loops_loop *l, char kind,
		       size_t number, struct buf *out)
{
	struct asmtext_word verb = asmtext_verb(t->lines[l->jump].text);

	buf_addf(out, "\t%.*s\t.Lsnarl%c%zu\n", (int)verb.size, verb.at, kind, number);
}

/* Writes the operand that holds the variable before the loop. */
static void write_variable(const struct loops_loop *l, unsigned variable, struct buf *out)
{
	if (variable < INSN_REGISTERS)
		buf_addf(out, "%%%s", loops_registers[variable]);
	else
		buf_addf(out, "%lld(%%rsp)", (long long)l->state->stack[variable - INSN_REGISTERS]);
}

/* Writes a jump to the copy with hooks for loops that will have too few iterations. */
static void write_short_loop_check(const struct loops_loop *l, size_t number, struct buf *out)
{
	unsigned more = loops_end_possible(l) ? 0 : CALL_HOOKS;
	int64_t iterations = (MIN_ACCESSES + l->access_count - 1) / l->access_count + more,
		step = l->bound_step, least;
	const struct linear *moving = &l->compared[l->moving], *still = &l->compared[!l->moving];
	const char *scratch;

	/* Difference of the compared values that leaves this many iterations. */
	if (__builtin_mul_overflow(iterations - 1, step, &least) ||
	    __builtin_add_overflow(least, moving->constant, &least) ||
	    __builtin_sub_overflow(least, still->constant, &least) || least != (int32_t)least)
		return;
	scratch = moving->term[0].variable == INSN_RAX ? "rcx" : "rax";
	buf_addf(out, "\tmovq\t%%%s, -8(%%rsp)\n\tmovq\t", scratch);
	if (still->terms)
		write_variable(l, still->term[0].variable, out);
	else
		buf_add_text(out, "$0");
	buf_addf(out, ", %%%s\n\tsubq\t", scratch);
	write_variable(l, moving->term[0].variable, out);
	buf_addf(out, ", %%%s\n\tcmpq\t$%lld, %%%s\n\tmovq\t-8(%%rsp), %%%s\n\t%s\t.Lsnarlh%zu\n",
		 scratch, (long long)least, scratch, scratch, step > 0 ? "jl" : "jg", number);
}

/*
 * Writes a jump of five bytes to the copy with hooks, if there are silent accesses. The runtime
 * turns it into a nop while a list of sites switches all of them off.
 */
static void write_silent_jump(const struct loops_loop *l, size_t number, struct buf *out)
{
	if (l->silent_count)
		buf_addf(out, ".Lsnarlg%zu:\n\t.byte\t0xe9\n\t.long\t.Lsnarlh%zu-.-4\n", number,
			 number);
}

/* Writes the choice between the copies, and the slots with values before the loop. */
static void write_start(const struct loops_loop *l, bool pic, size_t number, struct buf *out)
{
	bool saved = pic;

	write_silent_jump(l, number, out);
	write_short_loop_check(l, number, out);
	for (unsigned i = 0; i < l->slot_count; i++)
		saved |= l->slot[i] >= INSN_REGISTERS;
	if (saved)
		buf_add_text(out, "\tmovq\t%rax, -8(%rsp)\n");
	if (pic)
		buf_addf(out, "\tmovq\t__snarl_loops@GOTPCREL(%%rip), %%rax\n\tcmpb\t$0, (%%rax)\n"
			 "\tmovq\t-8(%%rsp), %%rax\n\tje\t.Lsnarlh%zu\n", number);
	else
		buf_addf(out, "\tcmpb\t$0, __snarl_loops(%%rip)\n\tje\t.Lsnarlh%zu\n", number);
	for (unsigned i = 0; i < l->slot_count; i++) {
		unsigned variable = l->slot[i];

		if (variable < INSN_REGISTERS)
			buf_addf(out, "\tmovq\t%%%s, %d(%%rsp)\n", loops_registers[variable],
				 LOOP_SLOT_AT(i));
	}
	for (unsigned i = 0; i < l->slot_count; i++) {
		unsigned variable = l->slot[i];

		if (variable >= INSN_REGISTERS)
			buf_addf(out, "\tmovq\t%lld(%%rsp), %%rax\n\tmovq\t%%rax, %d(%%rsp)\n",
				 (long long)l->state->stack[variable - INSN_REGISTERS],
				 LOOP_SLOT_AT(i));
	}
	if (saved)
		buf_add_text(out, "\tmovq\t-8(%rsp), %rax\n");
}

/* Writes the body without hooks, and with registers for stack slots and constants. */
static void write_body(const struct asmtext *t, const struct loops_loop *l,
		       const struct loops_spills *spills, struct buf *out)
{
	for (uint32_t i = l->head + 1; i < l->jump; i++) {
		const struct asmtext_line *line = &t->lines[i];

		if (line->kind == ASMTEXT_DIRECTIVE) {
			hook_write_loc(line->text, out);
		} else if (hook_is_code(line) && !loops_hook(l, i) &&
			   !loops_spills_replace(spills, line->text, out) &&
			   !loops_constants_replace(spills, t, line->text, out)) {
			add_word(out, line->text);
			buf_add_char(out, '\n');
		}
	}
}

/*
 * What may be live at an iteration's end: registers that the last hook preserves, registers that
 * instructions behind it name, and registers chosen for stack slots and constants.
 */
static struct dead_code_live live_at_end(const struct asmtext *t, const struct loops_loop *l,
					 const struct loops_spills *spills)
{
	uint32_t last = l->access[l->access_count - 1].line;
	struct dead_code_live live = DEAD_CODE_ALL;
	struct hook hook;

	if (l->silent_count && l->silent[l->silent_count - 1].line > last)
		last = l->silent[l->silent_count - 1].line;
	if (!hook_read(&t->lines[last], &hook) || hook.site.size)
		return live;		/* clang's hooks preserve nearly all registers */
	live = (struct dead_code_live){ .general = (uint16_t)hook.kept };
	for (uint32_t i = last + 1; i < l->jump; i++)
		if (hook_is_code(&t->lines[i]) && !dead_code_add_names(t->lines[i].text, &live))
			return DEAD_CODE_ALL;
	loops_spills_add_live(spills, &live);
	return live;
}

/* Writes the code that records the loop. */
static void write_record_call(const struct loops_loop *l, bool pic, size_t number, struct buf *out)
{
	if (loops_end_possible(l))
		loops_end_write(l, pic, number, out);
	buf_addf(out, "\tcall\t%s\n\tnopl\t.Lsnarld%zu(%%rip)\n\tjmp\t.Lsnarle%zu\n",
		 pic ? "*__snarl_loop@GOTPCREL(%rip)" : "__snarl_loop", number, number);
}

/* Writes the copy without hooks, and the recording behind it. */
static void write_unhooked(const struct asmtext *t, const struct loops_loop *l, bool pic,
			   size_t number, struct buf *out)
{
	struct loops_spills spills;
	struct buf body = { 0 }, behind = { 0 };

	loops_spills_find(&spills, l, t);
	loops_spills_write(&spills, true, out);
	loops_constants_write(&spills, out);
	buf_addf(out, "\t.p2align 4,,10\n.Lsnarlf%zu:\n", number);
	write_body(t, l, &spills, &body);
	if (l->without & LOOPS_WITHOUT_DEAD_CODE)
		buf_add(out, body.data, body.size);
	else
		dead_code_write(
			(struct asmtext_word){ (const char *)body.data, (uint32_t)body.size },
			live_at_end(t, l, &spills), out, &behind);
	write_jump(t, l, 'f', number, out);
	buf_add(out, behind.data, behind.size);
	buf_free(&body);
	buf_free(&behind);
	loops_spills_write(&spills, false, out);
	write_record_call(l, pic, number, out);
}

/* Writes a label behind a hook, by which the descriptor names its site. */
static void write_label(const struct loops_access *a, struct buf *out)
{
	if (a->site.size == 0)
		buf_addf(out, ".Lsnarlp%u:\n", a->line);
}

static void write_hooked(const struct asmtext *t, const struct loops_loop *l, size_t number,
			 struct buf *out)
{
	/* With silent accesses and without a list of sites, this copy runs: align it. */
	buf_addf(out, "%s.Lsnarlh%zu:\n", l->silent_count ? "\t.p2align 4\n" : "", number);
	for (uint32_t i = l->head + 1; i < l->jump; i++) {
		const struct loops_access *a = loops_hook(l, i);

		add_word(out, t->lines[i].text);
		buf_add_char(out, '\n');
		if (a)
			write_label(a, out);
	}
	write_jump(t, l, 'h', number, out);
	buf_addf(out, ".Lsnarle%zu:\n", number);
}

/* Writes term `i` of a value as a struct loop_term. */
static void write_term(const struct loops_loop *l, const struct linear *v, unsigned i,
		       struct buf *out)
{
	if (i < v->terms)
		buf_addf(out, "%d,%d", loops_source(l, v->term[i].variable),
			 (int)v->term[i].factor);
	else
		buf_add_text(out, "0,0");
}

static bool same_value(const struct linear *a, const struct linear *b)
{
	int64_t distance;

	return linear_distance(a, b, &distance) && distance == 0;
}

/*
 * Returns i - k, where k is the first access with the same addresses as access i and at least its
 * size; 0 if there is none before i.
 */
static unsigned equal_before(const struct loops_loop *l, unsigned i)
{
	const struct loops_access *a = &l->access[i];

	for (unsigned k = 0; k < i; k++) {
		const struct loops_access *b = &l->access[k];

		if (same_value(&a->at, &b->at) && same_value(&a->stride, &b->stride) &&
		    (a->op >> 8 & TRACE_SIZE_MASK) <= (b->op >> 8 & TRACE_SIZE_MASK))
			return i - k;
	}
	return 0;
}

/* Writes the beginning of a .quad with the site's label. */
static void write_site(const struct loops_access *a, struct buf *out)
{
	buf_add_text(out, "\t.quad\t");
	if (a->site.size)
		add_word(out, a->site);
	else
		buf_addf(out, ".Lsnarlp%u", a->line);
}

/* Writes a struct loop_access. */
static void write_access(const struct loops_loop *l, unsigned i, struct buf *out)
{
	const struct loops_access *a = &l->access[i];

	write_site(a, out);
	buf_addf(out, "+0x%x000000000000,", a->op);
	if (a->at.symbol.size) {
		add_word(out, a->at.symbol);
		buf_addf(out, "%+lld", (long long)a->at.constant);
	} else {
		buf_addf(out, "%lld", (long long)a->at.constant);
	}
	buf_addf(out, ",%lld\n\t.value\t%u\n\t.byte\t", (long long)a->stride.constant, a->op);
	write_term(l, &a->at, 0, out);
	buf_add_char(out, ',');
	write_term(l, &a->at, 1, out);
	buf_add_char(out, ',');
	if (a->stride.terms)
		write_term(l, &a->stride, 0, out);
	else
		buf_addf(out, "%u,0", equal_before(l, i));
	buf_add_char(out, '\n');
}

/*
 * Writes the descriptor. Its section is in the group of the code's section and has a name of its
 * own, so that the linker drops both together.
 */
static void write_descriptor(const struct asmtext *t, const struct loops_loop *l, size_t number,
			     struct buf *out)
{
	const struct asmtext_section *s = &t->sections[t->lines[l->jump].section];

	buf_addf(out, "\t.pushsection\t.data.rel.ro.snarl%.*s,\"aw%s\",@progbits",
		 (int)s->name.size, s->name.at, s->group.size ? "G" : "");
	if (s->group.size)
		buf_addf(out, ",%.*s,comdat", (int)s->group.size, s->group.at);
	buf_addf(out,
		 "\n\t.p2align "
		 "3\n.Lsnarld%zu:\n\t.long\t%u\n\t.byte\t%u,%d\n\t.value\t%u\n\t.quad\t%lld\n",
		 number, l->access_count, l->counter, loops_source(l, l->counter) - LOOP_FIRST_SLOT,
		 l->silent_count, (long long)l->step);
	for (unsigned i = 0; i < l->access_count; i++)
		write_access(l, i, out);
	for (unsigned i = 0; i < l->silent_count; i++) {
		write_site(&l->silent[i], out);
		buf_add_char(out, '\n');
	}
	if (l->silent_count)
		buf_addf(out, "\t.quad\t.Lsnarlg%zu\n", number);
	buf_add_text(out, "\t.popsection\n");
}

void loops_write(const struct asmtext *t, const struct loops_loop *l, bool pic, size_t number,
		 struct buf *out)
{
	write_start(l, pic, number, out);
	write_unhooked(t, l, pic, number, out);
	write_hooked(t, l, number, out);
	write_descriptor(t, l, number, out);
}
