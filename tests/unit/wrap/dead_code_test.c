/*
 * Dead code elimination in loop bodies: chosen cases, and random code against a reference machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/asm/instruction.h"
#include "wrap/loops/dead_code.h"
#include "reference/register_machine.h"

/* Returns the body; *behind is the code behind the loop. */
static char *run(const char *text, struct dead_code_live live, char **behind)
{
	struct buf out = { 0 }, then = { 0 };
	char *copy;

	dead_code_write((struct asmtext_word){ text, (uint32_t)strlen(text) }, live, &out, &then);
	copy = xstrdup(buf_string(&out));
	*behind = xstrdup(buf_string(&then));
	buf_free(&out);
	buf_free(&then);
	return copy;
}

static void check_loop(const char *text, struct dead_code_live live, const char *want,
		       const char *want_behind)
{
	char *behind, *got = run(text, live, &behind);

	assert_string_equal(got, want);
	assert_string_equal(behind, want_behind);
	free(got);
	free(behind);
}

static void check(const char *text, struct dead_code_live live, const char *want)
{
	check_loop(text, live, want, "");
}

/* registers that calls preserve, and %xmm15 */
static const struct dead_code_live kept = { .general = 0xf038, .lower = 0x8000 };

static void test_dead(void **state)
{
	(void)state;
	check("\tmovq\t%rbx, %rdi\n\t.loc 1 2\n\taddq\t$8, %rbx\n\tleaq\t8(%rbx), %rdi\n", kept,
	      "\t.loc 1 2\n\taddq\t$8, %rbx\n");
	/*
	 * Kept: a result that is read, one that is live at the end, a store, a write of half a
	 * register.
	 */
	check("\tmovq\t%rbx, %rdi\n\taddq\t%rdi, %rbx\n", kept,
	      "\tmovq\t%rbx, %rdi\n\taddq\t%rdi, %rbx\n");
	check("\tmovl\t$1, %edi\n\tmovl\t$2, %edi\n", DEAD_CODE_ALL, "\tmovl\t$2, %edi\n");
	check("\tmovq\t%rbx, (%rdi)\n", kept, "\tmovq\t%rbx, (%rdi)\n");
	check("\tmovl\t$1, %edi\n\tmovb\t$2, %dil\n", DEAD_CODE_ALL,
	      "\tmovl\t$1, %edi\n\tmovb\t$2, %dil\n");
	/* Kept: flags that are read, and a load, which may fault unless it is of the stack. */
	check("\tsubq\t%rbx, %rdi\n\tsete\t%bl\n", kept, "\tsubq\t%rbx, %rdi\n\tsete\t%bl\n");
	check("\tsubq\t%rbx, %rdi\n\tcmpq\t%rbp, %rbx\n", kept, "\tcmpq\t%rbp, %rbx\n");
	check("\tmovq\t(%rbx), %rdi\n", kept, "\tmovq\t(%rbx), %rdi\n");
	check("\tmovq\t8(%rsp), %rdi\n\tmovsd\t(%rsp), %xmm1\n\tmovsd\t(%rsp,%rbx), %xmm1\n", kept,
	      "\tmovsd\t(%rsp,%rbx), %xmm1\n");
	/* Kept: registers that an instruction uses without naming them. */
	check("\tmovq\t%rbx, %rax\n\tcqto\n\tidivq\t%rbp\n\tmovq\t%rax, (%rbx)\n", kept,
	      "\tmovq\t%rbx, %rax\n\tcqto\n\tidivq\t%rbp\n\tmovq\t%rax, (%rbx)\n");
	check("\tmovq\t%rbx, %rdi\n\trep movsb\n", kept, "\tmovq\t%rbx, %rdi\n\trep movsb\n");
}

#define SUM \
	"\tmovsd\t(%rbx), %xmm0\n\tmovq\t%xmm0, %xmm15\n\tmovq\t%xmm15, %xmm0\n" \
	"\taddsd\t8(%rbx), %xmm0\n"

static void test_copies(void **state)
{
	(void)state;
	check_loop(SUM "\tmovq\t%xmm0, %xmm15\n", kept,
		   "\tmovsd\t(%rbx), %xmm0\n\taddsd\t8(%rbx), %xmm0\n",
		   "\tmovapd\t%xmm0, %xmm15\n");
	/* The next iteration reads %xmm15. */
	check("\taddsd\t%xmm15, %xmm0\n\tmovq\t%xmm0, %xmm15\n", kept,
	      "\taddsd\t%xmm15, %xmm0\n\tmovapd\t%xmm0, %xmm15\n");
	/* The upper half is read, and movq clears it. */
	check(SUM "\tmovapd\t%xmm0, (%rbx)\n", kept, "\tmovsd\t(%rbx), %xmm15\n"
	      "\tmovq\t%xmm15, %xmm0\n\taddsd\t8(%rbx), %xmm0\n\tmovapd\t%xmm0, (%rbx)\n");
	check_loop("\tmovq\t%xmm1, %xmm0\n", DEAD_CODE_ALL, "", "\tmovq\t%xmm1, %xmm0\n");
	/* The source changes between the two copies. */
	check("\tmovapd\t%xmm0, %xmm15\n\taddsd\t%xmm1, %xmm0\n"
	      "\tmovapd\t%xmm15, %xmm0\n\tmovsd\t%xmm0, (%rbx)\n",
	      kept,
	      "\tmovapd\t%xmm0, %xmm15\n\taddsd\t%xmm1, %xmm0\n\tmovapd\t%xmm15, %xmm0\n"
	      "\tmovsd\t%xmm0, (%rbx)\n");
	check_loop("\tmovq\t%rax, %r12\n\tmovq\t%r12, %rax\n\tmovq\t%rax, (%rbx)\n", kept,
		   "\tmovq\t%rax, (%rbx)\n", "\tmovq\t%rax, %r12\n");
}

/*
 * A result made only for a copy goes to the copy's target; copies needed only behind the loop move
 * there.
 */
static void test_loop(void **state)
{
	static const struct dead_code_live live = { .general = 0xf038,
						    .vector = 1,
						    .lower = 0xc000 };

	(void)state;
	check("\tmovsd\t(%rbx), %xmm2\n\tmovq\t%xmm2, %xmm15\n\taddsd\t%xmm15, %xmm14\n", live,
	      "\tmovsd\t(%rbx), %xmm15\n\taddsd\t%xmm15, %xmm14\n");
	check("\tleaq\t8(%rbx,%rbp,8), %rax\n\tmovq\t%rax, %r12\n\tmovq\t%rbp, (%r12)\n", live,
	      "\tleaq\t8(%rbx,%rbp,8), %r12\n\tmovq\t%rbp, (%r12)\n");
	/*
	 * Kept: the source is read between setter and copy, or behind the copy, or is copied in
	 * part.
	 */
	check("\tmovsd\t(%rbx), %xmm2\n\taddsd\t%xmm2, %xmm14\n"
	      "\tmovq\t%xmm2, %xmm15\n\taddsd\t%xmm15, %xmm14\n",
	      live,
	      "\tmovsd\t(%rbx), %xmm2\n\taddsd\t%xmm2, %xmm14\n\tmovapd\t%xmm2, %xmm15\n"
	      "\taddsd\t%xmm15, %xmm14\n");
	check("\tmovsd\t(%rbx), %xmm0\n\tmovq\t%xmm0, %xmm15\n"
	      "\taddsd\t%xmm15, %xmm14\n\taddsd\t%xmm14, %xmm0\n",
	      live,
	      "\tmovsd\t(%rbx), %xmm0\n\tmovapd\t%xmm0, %xmm15\n\taddsd\t%xmm15, %xmm14\n"
	      "\taddsd\t%xmm14, %xmm0\n");
	check("\tmovl\t(%rbx), %eax\n\tmovq\t%rax, %r12\n\tmovq\t%rbp, (%r12)\n", live,
	      "\tmovl\t(%rbx), %eax\n\tmovq\t%rax, %r12\n\tmovq\t%rbp, (%r12)\n");
	/*
	 * A copy back of an unchanged value is dropped; its upper half is cleared behind the loop.
	 */
	check_loop("\tmovapd\t%xmm0, %xmm14\n\tmovq\t%xmm14, %xmm0\n\tmovsd\t%xmm0, (%rbx)\n", live,
		   "\tmovsd\t%xmm0, (%rbx)\n", "\tmovapd\t%xmm0, %xmm14\n\tmovq\t%xmm0, %xmm0\n");
	/* The source of the copy changes before the iteration's end. */
	check("\tmovapd\t%xmm0, %xmm14\n\taddsd\t(%rbx), %xmm0\n", live,
	      "\tmovapd\t%xmm0, %xmm14\n\taddsd\t(%rbx), %xmm0\n");
}

static const char *const general_names[] = { "rax", "rdx", "rdi", "r12" };
static const unsigned general_used[] = { INSN_RAX, INSN_RDX, INSN_RDI, 12 };
static const unsigned vector_used[] = { 0, 1, 2, 15 };

/*
 * %g %h: general registers, %v %w: vector registers, %m: memory, %l: lower 4 bytes of %g's
 * register.
 */
static const char *const templates[] = {
	"movq\t%g, %h", "movq\t%g, %h", "leaq\t8(%g,%h), %h", "addq\t%g, %h", "subq\t%g, %g",
	"xorq\t%g, %g", "cmpq\t%g, %h",
	"movq\t%m, %g", "movq\t%g, %m", "cmoveq\t%g, %h", "cqto", "movq\t%v, %w", "movq\t%v, %w",
	"movq\t%v, %w",
	"movapd\t%v, %w", "movapd\t%v, %w", "movsd\t%v, %w", "movsd\t%m, %v", "movsd\t%v, %m",
	"movq\t%m, %v", "movq\t%v, %m",
	"movq\t%v, %g", "movq\t%g, %v", "addsd\t%v, %w", "addsd\t%m, %w", "sqrtsd\t%v, %w",
	"andpd\t%v, %w", "xorpd\t%v, %v",
	"unpcklpd\t%v, %w", "paddq\t%v, %w", "ucomisd\t%v, %w", "cvtsi2sdq\t%g, %v",
	"imulq\t$3, %g, %h", "negq\t%g",
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

/* Sets what is not live at an iteration's end to other values, as a hook would. */
static void clobber(struct machine *m, struct dead_code_live live)
{
	for (unsigned i = 0; i < 16; i++) {
		if (!(live.general >> i & 1))
			m->general[i] = 11;
		if (!((live.vector | live.lower) >> i & 1))
			m->vector[i][0] = 12;
		if (!(live.vector >> i & 1))
			m->vector[i][1] = 13;
	}
}

static bool same(const struct machine *a, const struct machine *b, struct dead_code_live live)
{
	bool equal = a->flags == b->flags && memcmp(a->memory, b->memory, sizeof(a->memory)) == 0;

	for (unsigned i = 0; i < 16; i++) {
		equal &= !(live.general >> i & 1) || a->general[i] == b->general[i];
		equal &= !((live.vector | live.lower) >> i & 1) ||
			 a->vector[i][0] == b->vector[i][0];
		equal &= !(live.vector >> i & 1) || a->vector[i][1] == b->vector[i][1];
	}
	return equal;
}

static void test_random(void **state)
{
	size_t lines = 0, left = 0, put_off = 0;

	(void)state;
	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		struct dead_code_live live = { (uint16_t)rand(), (uint16_t)(rand() & rand()),
					       (uint16_t)rand() };
		struct machine start = any_machine(), a, b;
		struct buf text = { 0 };
		unsigned count = 1 + (unsigned)rand() % 20;
		char *shorter, *behind;

		for (unsigned i = 0; i < count; i++)
			make_line(&text);
		shorter = run(buf_string(&text), live, &behind);
		a = b = start;
		for (unsigned iteration = 0; iteration <= round % 3; iteration++) {
			if (iteration > 0) {
				clobber(&a, live);
				clobber(&b, live);
			}
			a = compute_all(buf_string(&text), a);
			b = compute_all(shorter, b);
		}
		b = compute_all(behind, b);
		if (!same(&a, &b, live))
			fail_msg("round %u: %s became %s and %s", round, buf_string(&text), shorter,
				 behind);
		put_off += *behind != '\0';
		lines += count;
		for (const char *at = shorter; (at = strchr(at, '\n')); at++)
			left++;
		free(shorter);
		free(behind);
		buf_free(&text);
	}
	assert_in_range(left, lines / 2, lines * 9 / 10);
	assert_in_range(put_off, 500, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
