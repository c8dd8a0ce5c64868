/* Copies of code without what nobody reads: by hand; and against a machine that really computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/insn.h"
#include "wrap/thin.h"

static char *run(const char *text, struct thin_live live)
{
	struct buf out = { 0 };
	char *copy;

	thin_write((struct asmtext_word){ text, (uint32_t)strlen(text) }, live, &out);
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

static void check(const char *text, struct thin_live live, const char *want)
{
	char *got = run(text, live);

	assert_string_equal(got, want);
	free(got);
}

static const struct thin_live kept = { .general = 0xf038, .lower = 0x8000 };	/* by calls, and %xmm15 */

static void test_dead(void **state)
{
	(void)state;
	check("\tmovq\t%rbx, %rdi\n\t.loc 1 2\n\taddq\t$8, %rbx\n\tleaq\t8(%rbx), %rdi\n", kept, "\t.loc 1 2\n\taddq\t$8, %rbx\n");
	/* One that is read, the last one where it lives on, a store, half a register. */
	check("\tmovq\t%rbx, %rdi\n\taddq\t%rdi, %rbx\n", kept, "\tmovq\t%rbx, %rdi\n\taddq\t%rdi, %rbx\n");
	check("\tmovl\t$1, %edi\n\tmovl\t$2, %edi\n", THIN_ALL, "\tmovl\t$2, %edi\n");
	check("\tmovq\t%rbx, (%rdi)\n", kept, "\tmovq\t%rbx, (%rdi)\n");
	check("\tmovl\t$1, %edi\n\tmovb\t$2, %dil\n", THIN_ALL, "\tmovl\t$1, %edi\n\tmovb\t$2, %dil\n");
	/* Flags that are read, and a load, which may be of nobody's memory, but not on the stack. */
	check("\tsubq\t%rbx, %rdi\n\tsete\t%bl\n", kept, "\tsubq\t%rbx, %rdi\n\tsete\t%bl\n");
	check("\tsubq\t%rbx, %rdi\n\tcmpq\t%rbp, %rbx\n", kept, "\tcmpq\t%rbp, %rbx\n");
	check("\tmovq\t(%rbx), %rdi\n", kept, "\tmovq\t(%rbx), %rdi\n");
	check("\tmovq\t8(%rsp), %rdi\n\tmovsd\t(%rsp), %xmm1\n\tmovsd\t(%rsp,%rbx), %xmm1\n", kept, "\tmovsd\t(%rsp,%rbx), %xmm1\n");
	/* What is used without being named. */
	check("\tmovq\t%rbx, %rax\n\tcqto\n\tidivq\t%rbp\n\tmovq\t%rax, (%rbx)\n", kept,
	      "\tmovq\t%rbx, %rax\n\tcqto\n\tidivq\t%rbp\n\tmovq\t%rax, (%rbx)\n");
	check("\tmovq\t%rbx, %rdi\n\trep movsb\n", kept, "\tmovq\t%rbx, %rdi\n\trep movsb\n");
}

#define SUM "\tmovsd\t(%rbx), %xmm0\n\tmovq\t%xmm0, %xmm15\n\tmovq\t%xmm15, %xmm0\n\taddsd\t8(%rbx), %xmm0\n"

static void test_copies(void **state)
{
	(void)state;
	check(SUM "\tmovq\t%xmm0, %xmm15\n", kept,
	      "\tmovsd\t(%rbx), %xmm0\n\taddsd\t8(%rbx), %xmm0\n\tmovapd\t%xmm0, %xmm15\n");
	/* Whoever reads the upper half may want the 0 in it. */
	check(SUM "\tmovapd\t%xmm0, (%rbx)\n", kept, "\tmovsd\t(%rbx), %xmm0\n\tmovapd\t%xmm0, %xmm15\n"
	      "\tmovq\t%xmm15, %xmm0\n\taddsd\t8(%rbx), %xmm0\n\tmovapd\t%xmm0, (%rbx)\n");
	check("\tmovq\t%xmm1, %xmm0\n", THIN_ALL, "\tmovq\t%xmm1, %xmm0\n");
	/* Changed meanwhile. */
	check("\tmovapd\t%xmm0, %xmm15\n\taddsd\t%xmm1, %xmm0\n\tmovapd\t%xmm15, %xmm0\n\tmovsd\t%xmm0, (%rbx)\n", kept,
	      "\tmovapd\t%xmm0, %xmm15\n\taddsd\t%xmm1, %xmm0\n\tmovapd\t%xmm15, %xmm0\n\tmovsd\t%xmm0, (%rbx)\n");
	check("\tmovq\t%rax, %r12\n\tmovq\t%r12, %rax\n\tmovq\t%rax, (%rbx)\n", kept, "\tmovq\t%rax, %r12\n\tmovq\t%rax, (%rbx)\n");
}

/* The machine: four general registers, four vector registers, some memory, flags. */
struct machine {
	uint64_t general[16], vector[16][2], memory[4];
	uint64_t flags;
};

static const char *const general_names[] = { "rax", "rdx", "rdi", "r12" };
static const unsigned general_used[] = { INSN_RAX, INSN_RDX, INSN_RDI, 12 };
static const unsigned vector_used[] = { 0, 1, 2, 15 };

/* %g %h, %v %w: registers; %m: memory; %l: the lower 4 bytes of %g's, and so on. */
static const char *const templates[] = {
	"movq\t%g, %h", "movq\t%g, %h", "leaq\t8(%g,%h), %h", "addq\t%g, %h", "subq\t%g, %g", "xorq\t%g, %g", "cmpq\t%g, %h",
	"movq\t%m, %g", "movq\t%g, %m", "cmoveq\t%g, %h", "cqto", "movq\t%v, %w", "movq\t%v, %w", "movq\t%v, %w",
	"movapd\t%v, %w", "movapd\t%v, %w", "movsd\t%v, %w", "movsd\t%m, %v", "movsd\t%v, %m", "movq\t%m, %v", "movq\t%v, %m",
	"movq\t%v, %g", "movq\t%g, %v", "addsd\t%v, %w", "addsd\t%m, %w", "sqrtsd\t%v, %w", "andpd\t%v, %w", "xorpd\t%v, %v",
	"unpcklpd\t%v, %w", "paddq\t%v, %w", "ucomisd\t%v, %w", "cvtsi2sdq\t%g, %v", "imulq\t$3, %g, %h", "negq\t%g",
};

static void make_line(struct buf *out)
{
	const char *at = templates[(size_t)rand() % ARRAY_SIZE(templates)];
	int g = rand() % 4, h = rand() % 4, v = rand() % 4, w = rand() % 4;

	buf_add_char(out, '\t');
	for (; *at; at++) {
		if (*at != '%') {
			buf_add_char(out, *at);
			continue;
		}
		at++;
		if (*at == 'm')
			buf_addf(out, "%d(%%rsp)", 8 * (rand() % 4));
		else if (*at == 'g' || *at == 'h')
			buf_addf(out, "%%%s", general_names[*at == 'g' ? g : h]);
		else
			buf_addf(out, "%%xmm%u", vector_used[*at == 'v' ? v : w]);
	}
	buf_add_char(out, '\n');
}

static uint64_t *place(struct machine *m, const struct insn_operand *o)
{
	if (o->place == INSN_IMMEDIATE)
		return NULL;
	if (o->place == INSN_MEMORY)
		return &m->memory[o->number / 8];
	return o->place == INSN_VECTOR ? m->vector[o->reg] : &m->general[o->reg];
}

/* Instructions of vector registers; what they compute is as good as what they should. */
static void compute_vector(struct machine *m, struct asmtext_word verb, const struct insn *in)
{
	const struct insn_operand *from = &in->operand[0], *to = &in->operand[1];
	uint64_t *a = place(m, from), *b = place(m, to);

	if (asmtext_is(verb, "movq") || asmtext_is(verb, "movsd")) {
		*b = *a;
		if (to->place == INSN_VECTOR && (asmtext_is(verb, "movq") || from->place == INSN_MEMORY))
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
	uint64_t *a = in->count ? place(m, &o[0]) : NULL, *b = in->count > 1 ? place(m, &o[in->count - 1]) : NULL;

	if (o[0].place == INSN_VECTOR || (in->count > 1 && o[1].place == INSN_VECTOR)) {
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

static struct machine any_machine(void)
{
	struct machine m = { .flags = (uint64_t)rand() };

	for (unsigned i = 0; i < 4; i++) {
		m.general[general_used[i]] = (uint64_t)rand();
		m.vector[vector_used[i]][0] = (uint64_t)rand();
		m.vector[vector_used[i]][1] = (uint64_t)rand();
		m.memory[i] = (uint64_t)rand();
	}
	return m;
}

static bool same(const struct machine *a, const struct machine *b, struct thin_live live)
{
	bool equal = a->flags == b->flags && memcmp(a->memory, b->memory, sizeof(a->memory)) == 0;

	for (unsigned i = 0; i < 16; i++) {
		equal &= !(live.general >> i & 1) || a->general[i] == b->general[i];
		equal &= !((live.vector | live.lower) >> i & 1) || a->vector[i][0] == b->vector[i][0];
		equal &= !(live.vector >> i & 1) || a->vector[i][1] == b->vector[i][1];
	}
	return equal;
}

static void test_random(void **state)
{
	size_t lines = 0, left = 0;

	(void)state;
	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		struct thin_live live = { (uint16_t)rand(), (uint16_t)(rand() & rand()), (uint16_t)rand() };
		struct machine start = any_machine(), a, b;
		struct buf text = { 0 };
		unsigned count = 1 + (unsigned)rand() % 20;
		char *thin;

		for (unsigned i = 0; i < count; i++)
			make_line(&text);
		thin = run(buf_string(&text), live);
		a = compute_all(buf_string(&text), start);
		b = compute_all(thin, start);
		if (!same(&a, &b, live))
			fail_msg("round %u: %s became %s", round, buf_string(&text), thin);
		lines += count;
		for (const char *at = thin; (at = strchr(at, '\n')); at++)
			left++;
		free(thin);
		buf_free(&text);
	}
	assert_in_range(left, lines / 2, lines * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
