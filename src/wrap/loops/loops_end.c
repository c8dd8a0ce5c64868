/*
 * Writes code that records a loop in common cases. It is __snarl_loop (runtime/hooks/loop.h)
 * specialised for one descriptor, so it need not read it. Helpers that it calls are in
 * runtime/hooks/loop_end_x86_64.S.
 *
 * A *look* is a range of memory whose shadow is examined at once; accesses near each other share
 * one. The code for the example of loops.h, in a form for reading:
 *
 *	nopw	.Lsnarld0(%rip)		marks the start: the runtime may write a jump here
 *	if __snarl_loops != LOOPS_PLAIN: goto t0
 *	save %rax, %rcx, %rdx, %rsi and %rdi in free slots
 *	%rcx = (%rbx - slot 0) / 4 - 1	iterations less one; r0 if it does not divide
 *	if %rcx >= 8192: goto r0	TRACE_LOOP_ITERATIONS: one group would not do
 *	%esi = 0			bits of the looks
 *	%rax = slot 0, %rdx = %rax + 4 * %rcx + 3	first and last byte of the look
 *	call __snarl_loop_look		shifts its result into %esi: 1 shared, 0 own and cut
 *	if it is neither: goto r0
 *	if %esi == 0: goto q0		nothing to record
 *	if this is the expected next round of a nest:
 *		call __snarl_loop_round	counts the round
 *		if it did: goto q0
 *	call __snarl_loop_open		room for two records in the ring, at %rax; if none: goto r0
 *	append the record of each access whose look is shared
 *	call __snarl_loop_close
 *   q0: restore the five registers, goto .Lsnarle0 (the end of the loop)
 *   r0: restore the five registers
 *   t0: (call __snarl_loop follows)
 */
#include <string.h>

#include "wrap/loops/loops.h"
#include "wrap/loops/loops_internal.h"

/* Accesses share a look if they are at most this many bytes apart. */
#define JOIN_NEAR LOOP_NEAR	/* for strides of 1 to LOOP_NEAR: the look covers all bytes */
#define JOIN_STRIDED 8		/* for other strides: at most the next granule */

/*
 * Registers that the code uses. Their values are saved in slots that the descriptor does not use.
 * %rcx holds the number of iterations less one, %esi the bits of the looks.
 */
static const uint8_t scratch[] = { INSN_RAX, INSN_RCX, INSN_RDX, INSN_RSI, INSN_RDI };
#define SCRATCH (sizeof(scratch))

static bool is_power(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static uint64_t step_size(const struct loops_loop *l)
{
	return l->step < 0 ? -(uint64_t)l->step : (uint64_t)l->step;
}

/* Whether the value takes at most two instructions for each term: factors -1, 1, 2, 4 and 8. */
static bool is_short(const struct linear *v)
{
	for (unsigned i = 0; i < v->terms; i++) {
		int64_t factor = v->term[i].factor;

		if (factor != -1 && (factor > 8 || !is_power((uint64_t)factor)))
			return false;
	}
	return true;
}

/* Whether the look covers all memory from the first iteration's access to the last one's. */
static bool has_small_stride(const struct loops_access *a)
{
	return a->stride.terms == 0 && a->stride.constant >= 0 && a->stride.constant <= LOOP_NEAR;
}

/* Whether the code supports the access. */
static bool is_simple(const struct loops_access *a)
{
	return a->at.terms > 0 && is_short(&a->at) && a->stride.terms <= 1 &&
	       is_short(&a->stride) && a->stride.constant == (int16_t)a->stride.constant;
}

/* In each iteration, a look covers the bytes from A - low to A + high; A: the access's address. */
struct look {
	unsigned access;		/* index of its first access */
	unsigned low, high;
};

struct looks {
	unsigned count;
	struct look look[NEST_ACCESSES];
	uint8_t of[NEST_ACCESSES];	/* by access: index of its look */
};

/* Offset of the last byte that the access touches. */
static unsigned last_byte(const struct loops_access *a)
{
	return (1u << (a->op >> 8 & TRACE_SIZE_MASK)) - 1;
}

static bool same_stride(const struct loops_access *a, const struct loops_access *b)
{
	int64_t distance;

	return linear_distance(&a->stride, &b->stride, &distance) && distance == 0;
}

/* Adds the access to the look if it is near enough. */
static bool join_look(const struct loops_loop *l, struct look *look, const struct loops_access *a)
{
	const struct loops_access *first = &l->access[look->access];
	int64_t distance, low, high,
		far = has_small_stride(a) && a->stride.constant ? JOIN_NEAR : JOIN_STRIDED;

	if (!same_stride(a, first) || !linear_distance(&a->at, &first->at, &distance) ||
	    distance < -far || distance > far)
		return false;
	low = -distance > (int64_t)look->low ? -distance : (int64_t)look->low;
	high = distance + last_byte(a);
	if (high < (int64_t)look->high)
		high = (int64_t)look->high;
	if (!has_small_stride(a) && low + high >= LOOP_STRIDED_BYTES)
		return false;
	look->low = (unsigned)low;
	look->high = (unsigned)high;
	return true;
}

static void find_looks(const struct loops_loop *l, struct looks *looks)
{
	looks->count = 0;
	for (unsigned i = 0; i < l->access_count; i++) {
		const struct loops_access *a = &l->access[i];
		unsigned k = 0;

		while (k < looks->count && !join_look(l, &looks->look[k], a))
			k++;
		if (k == looks->count)
			looks->look[looks->count++] = (struct look){ i, 0, last_byte(a) };
		looks->of[i] = (uint8_t)k;
	}
}

bool loops_end_possible(const struct loops_loop *l)
{
	struct looks looks;

	if (l->without & LOOPS_WITHOUT_ENDS || l->access_count > NEST_ACCESSES ||
	    l->slot_count + SCRATCH > LOOP_SLOTS || !is_power(step_size(l)) || step_size(l) > 64)
		return false;
	for (unsigned i = 0; i < l->access_count; i++)
		if (!is_simple(&l->access[i]))
			return false;
	find_looks(l, &looks);
	return looks.count <= NEST_LOOKS;
}

/* Writes the operand that holds the value of a register or slot (loops_source()). */
static void write_value(const struct loops_loop *l, int source, struct buf *out)
{
	for (unsigned i = 0; i < SCRATCH; i++)
		if (source == scratch[i])	/* its value was saved in a slot */
			source = LOOP_FIRST_SLOT + l->slot_count + (int)i;
	if (source < LOOP_FIRST_SLOT)
		buf_addf(out, "%%%s", loops_registers[source]);
	else
		buf_addf(out, "%d(%%rsp)", LOOP_SLOT_AT(source - LOOP_FIRST_SLOT));
}

/* Saves or restores the scratch registers. */
static void write_scratch(const struct loops_loop *l, bool save, struct buf *out)
{
	for (unsigned i = 0; i < SCRATCH; i++) {
		const char *name = loops_registers[scratch[i]];
		int slot = LOOP_SLOT_AT(l->slot_count + i);

		if (save)
			buf_addf(out, "\tmovq\t%%%s, %d(%%rsp)\n", name, slot);
		else
			buf_addf(out, "\tmovq\t%d(%%rsp), %%%s\n", slot, name);
	}
}

/* Writes the number of iterations less one to %rcx. */
static void write_iterations(const struct loops_loop *l, size_t number, struct buf *out)
{
	uint64_t step = step_size(l);

	buf_add_text(out, "\tmovq\t");
	write_value(l, l->step < 0 ? loops_source(l, l->counter) : l->counter, out);
	buf_add_text(out, ", %rcx\n\tsubq\t");
	write_value(l, l->step < 0 ? l->counter : loops_source(l, l->counter), out);
	buf_add_text(out, ", %rcx\n");
	if (step > 1)
		buf_addf(out, "\ttestb\t$%u, %%cl\n\tjne\t.Lsnarlr%zu\n\tshrq\t$%d, %%rcx\n",
			 (unsigned)step - 1, number, __builtin_ctzll(step));
	buf_addf(out, "\tdecq\t%%rcx\n\tcmpq\t$%u, %%rcx\n\tjae\t.Lsnarlr%zu\n",
		 TRACE_LOOP_ITERATIONS, number);
}

/* Adds a term of factor 1, -1, 2, 4 or 8 to register `to`, or sets it (`first`). Changes %rdi. */
static void write_term(const struct loops_loop *l, const struct linear_term *term, bool first,
		       const char *to, struct buf *out)
{
	int factor = (int)term->factor;
	bool moved = first || factor > 1;
	const char *by = first ? to : "rdi";

	buf_add_text(out, moved ? "\tmovq\t" : factor < 0 ? "\tsubq\t" : "\taddq\t");
	write_value(l, loops_source(l, term->variable), out);
	buf_addf(out, ", %%%s\n", moved ? by : to);
	if (first && factor < 0)
		buf_addf(out, "\tnegq\t%%%s\n", to);
	else if (factor > 1 && first)
		buf_addf(out, "\tshlq\t$%d, %%%s\n", __builtin_ctz((unsigned)factor), to);
	else if (factor > 1)
		buf_addf(out, "\tleaq\t(%%%s,%%rdi,%d), %%%s\n", to, factor, to);
}

/* Writes access i's address in the first iteration to register `to`. Changes %rdi. */
static void write_address(const struct loops_loop *l, unsigned i, const char *to, size_t number,
			  struct buf *out)
{
	const struct linear *at = &l->access[i].at;

	for (unsigned k = 0; k < at->terms; k++)
		write_term(l, &at->term[k], k == 0, to, out);
	if (at->symbol.size || at->constant)
		buf_addf(out, "\taddq\t.Lsnarld%zu+%zu(%%rip), %%%s\n", number,
			 offsetof(struct loop, access[i].base), to);
}

static void write_call(const char *name, bool pic, struct buf *out)
{
	buf_addf(out, pic ? "\tcall\t*%s@GOTPCREL(%%rip)\n" : "\tcall\t%s\n", name);
}

/* Writes the stride to register `to`. */
static void write_stride(const struct loops_loop *l, const struct linear *stride, const char *to,
			 struct buf *out)
{
	if (stride->terms)
		write_term(l, &stride->term[0], true, to, out);
	if (!stride->terms)
		buf_addf(out, "\tmovq\t$%lld, %%%s\n", (long long)stride->constant, to);
	else if (stride->constant)
		buf_addf(out, "\taddq\t$%lld, %%%s\n", (long long)stride->constant, to);
}

/* Writes the look's last byte to %rdx, from the first access's address in %rax. */
static void write_last(const struct look *look, unsigned stride, struct buf *out)
{
	if (stride == 0)
		buf_addf(out, "\tleaq\t%u(%%rax), %%rdx\n", look->high);
	else if (is_power(stride) && stride <= 8)
		buf_addf(out, "\tleaq\t%u(%%rax,%%rcx,%u), %%rdx\n", look->high, stride);
	else
		buf_addf(out, "\timulq\t$%u, %%rcx, %%rdx\n\tleaq\t%u(%%rax,%%rdx), %%rdx\n",
			 stride, look->high);
}

/* Writes the look's first and last byte to %rax and %rdx, for __snarl_loop_look. */
static void write_near(const struct loops_loop *l, const struct look *look, size_t number,
		       struct buf *out)
{
	write_address(l, look->access, "rax", number, out);
	write_last(look, (unsigned)l->access[look->access].stride.constant, out);
	if (look->low)
		buf_addf(out, "\tsubq\t$%u, %%rax\n", look->low);
}

/* Writes address, stride and size to %rax, %rdx and %edi, for __snarl_loop_look_apart. */
static void write_strided(const struct loops_loop *l, const struct look *look, size_t number,
			  struct buf *out)
{
	write_address(l, look->access, "rax", number, out);
	write_stride(l, &l->access[look->access].stride, "rdx", out);
	buf_addf(out, "\tmovl\t$%u, %%edi\n", look->low + look->high);
	if (look->low)
		buf_addf(out, "\tsubq\t$%u, %%rax\n", look->low);
}

static void write_look(const struct loops_loop *l, const struct look *look, bool pic, size_t number,
		       struct buf *out)
{
	if (has_small_stride(&l->access[look->access])) {
		write_near(l, look, number, out);
		write_call("__snarl_loop_look", pic, out);
	} else {
		write_strided(l, look, number, out);
		write_call("__snarl_loop_look_apart", pic, out);
	}
	buf_addf(out, "\tjne\t.Lsnarlr%zu\n", number);
}

/* Puts the stride into the upper 16 bits of the address in %rdx, as in a record. */
static void write_packed(const struct loops_loop *l, const struct linear *stride, struct buf *out)
{
	uint64_t bits = (uint64_t)stride->constant & 0xffff;

	if (stride->terms) {
		write_stride(l, stride, "rdi", out);
		buf_addf(out, "\tshlq\t$%d, %%rdi\n\torq\t%%rdi, %%rdx\n", RECORD_ADDR_BITS);
	} else if (is_power(bits)) {
		buf_addf(out, "\tbtsq\t$%d, %%rdx\n", RECORD_ADDR_BITS + __builtin_ctzll(bits));
	} else if (bits) {
		buf_addf(out, "\tmovabsq\t$%llu, %%rdi\n\torq\t%%rdi, %%rdx\n",
			 (unsigned long long)bits << RECORD_ADDR_BITS);
	}
}

/*
 * How members of __snarl_nest (struct snarlrt_nest) are addressed: `before`, the offset, `behind`.
 * In a library, `load` must first put the address of __snarl_nest in %rdi.
 */
struct nest_text {
	const char *load, *before, *behind;
};

static struct nest_text nest_text(bool pic)
{
	if (pic)
		return (struct nest_text){ "\tmovq\t__snarl_nest@gottpoff(%rip), %rdi\n",
					   "%fs:", "(%rdi)" };
	return (struct nest_text){ "", "%fs:__snarl_nest@tpoff+", "" };
}

/* Whether access i is the first of its look; the nest follows only the addresses of these. */
static bool is_first(const struct looks *looks, unsigned i)
{
	return looks->look[looks->of[i]].access == i;
}

/* The bit of a look in %esi: later looks shift it left. */
static unsigned bit_of(const struct looks *looks, unsigned look)
{
	return looks->count - 1 - look;
}

/* Appends access i's record if the bit of its look is set. */
static void write_record(const struct loops_loop *l, const struct looks *looks, unsigned i,
			 bool pic, size_t number, struct buf *out)
{
	unsigned bit = bit_of(looks, looks->of[i]);
	struct nest_text nest = nest_text(pic);

	buf_addf(out, "\ttestb\t$%u, %%sil\n\tje\t.Lsnarlo%zu_%u\n", 1u << bit, number, i);
	write_address(l, i, "rdx", number, out);
	write_packed(l, &l->access[i].stride, out);
	buf_addf(out,
		 "\tmovq\t.Lsnarld%zu+%zu(%%rip), %%rdi\n\tmovq\t%%rdx, (%%rax)\n\tmovq\t%%rdi, "
		 "%zu(%%rax)\n",
		 number, offsetof(struct loop, access[i].site),
		 offsetof(struct trace_record, site));
	if (is_first(looks, i))
		buf_addf(out, "%s\tmovq\t%%rax, %s%zu%s\n", nest.load, nest.before,
			 offsetof(struct snarlrt_nest, first[bit]), nest.behind);
	buf_addf(out, "\taddq\t$%zu, %%rax\n.Lsnarlo%zu_%u:\n", sizeof(struct trace_record), number,
		 i);
}

/*
 * Counts a round of the nest, and goes to q, if this execution of the loop is the expected next
 * round: same code, looks, iterations, and the expected address of each look's first access.
 */
static void write_round(const struct loops_loop *l, const struct looks *looks, bool pic,
			size_t number, struct buf *out)
{
	struct nest_text nest = nest_text(pic);

	buf_addf(
		out,
		"%s\tleaq\t.Lsnarlq%zu(%%rip), %%rax\n\tcmpq\t%s%zu%s, %%rax\n\tjne\t.Lsnarln%zu\n",
		nest.load, number, nest.before, offsetof(struct snarlrt_nest, from), nest.behind,
		number);
	buf_addf(out,
		 "\tcmpl\t%s%zu%s, %%esi\n\tjne\t.Lsnarln%zu\n\tcmpl\t%s%zu%s, "
		 "%%ecx\n\tjne\t.Lsnarln%zu\n",
		 nest.before, offsetof(struct snarlrt_nest, found), nest.behind, number,
		 nest.before, offsetof(struct snarlrt_nest, iterations), nest.behind, number);
	for (unsigned i = 0; i < looks->count; i++) {
		unsigned bit = bit_of(looks, i), access = looks->look[i].access;

		if (looks->count > 1)
			buf_addf(out, "\ttestb\t$%u, %%sil\n\tje\t.Lsnarlw%zu_%u\n", 1u << bit,
				 number, i);
		write_address(l, access, "rdx", number, out);
		write_packed(l, &l->access[access].stride, out);
		buf_addf(out, "%s\tcmpq\t%s%zu%s, %%rdx\n\tjne\t.Lsnarln%zu\n", nest.load,
			 nest.before, offsetof(struct snarlrt_nest, look[bit].addr), nest.behind,
			 number);
		if (looks->count > 1)
			buf_addf(out, ".Lsnarlw%zu_%u:\n", number, i);
	}
	write_call("__snarl_loop_round", pic, out);
	buf_addf(out, "\tjne\t.Lsnarlq%zu\n.Lsnarln%zu:\n", number, number);
}

/*
 * Writes a nop by which the runtime finds the start of this code, to put a jump there, and the test
 * whether this code may record at all.
 */
static void write_mode_check(const struct loops_loop *l, bool pic, size_t number, struct buf *out)
{
	buf_addf(out, "\tnopw\t.Lsnarld%zu(%%rip)\n", number);
	if (!pic)
		buf_addf(out, "\tcmpb\t$%d, __snarl_loops(%%rip)\n\tjne\t.Lsnarlt%zu\n",
			 LOOPS_PLAIN, number);
	write_scratch(l, true, out);
	if (pic)
		buf_addf(out,
			 "\tmovq\t__snarl_loops@GOTPCREL(%%rip), %%rax\n\tcmpb\t$%d, "
			 "(%%rax)\n\tjne\t.Lsnarlr%zu\n",
			 LOOPS_PLAIN, number);
}

/* Appends the records, now that %esi says which looks are shared. */
static void write_records(const struct loops_loop *l, const struct looks *looks, bool pic,
			  size_t number, struct buf *out)
{
	buf_addf(out, "\ttestl\t%%esi, %%esi\n\tje\t.Lsnarlq%zu\n", number);
	write_round(l, looks, pic, number, out);
	buf_addf(out, "\tmovl\t$%zu, %%edx\n", sizeof(struct trace_record) * (l->access_count + 1));
	write_call("__snarl_loop_open", pic, out);
	buf_addf(out, "\tje\t.Lsnarlr%zu\n", number);
	for (unsigned i = 0; i < l->access_count; i++)
		write_record(l, looks, i, pic, number, out);
	write_call("__snarl_loop_close", pic, out);
	buf_addf(out, ".Lsnarlq%zu:\n", number);
	write_scratch(l, false, out);
	buf_addf(out, "\tjmp\t.Lsnarle%zu\n", number);
}

void loops_end_write(const struct loops_loop *l, bool pic, size_t number, struct buf *out)
{
	struct looks looks;

	find_looks(l, &looks);
	write_mode_check(l, pic, number, out);
	write_iterations(l, number, out);
	buf_add_text(out, "\txorl\t%esi, %esi\n");
	for (unsigned i = 0; i < looks.count; i++)
		write_look(l, &looks.look[i], pic, number, out);
	write_records(l, &looks, pic, number, out);
	buf_addf(out, ".Lsnarlr%zu:\n", number);
	write_scratch(l, false, out);
	if (!pic)
		buf_addf(out, ".Lsnarlt%zu:\n", number);
}
