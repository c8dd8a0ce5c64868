/* What waits on the stack in a loop without hooks, and who may want it behind the loop: by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n"
#define TAIL "\t.size\tf, .-f\n"
#define HOOK "\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n"
#define NEXT "\taddq\t$8, %rbx\n\tcmpq\t%rbp, %rbx\n\tjne\t.L3\n"
#define SPILL "\tmovsd\t(%rbx), %xmm1\n\tmovsd\t%xmm1, 8(%rsp)\n" HOOK "\tmovsd\t8(%rsp), %xmm0\n\taddsd\t%xmm0, %xmm1\n"
#define LOOP ".L3:\n" HOOK SPILL NEXT "\ttestq\t%rax, %rax\n"	/* flags are set anew */

static char *copy_of(const char *before, const char *loop, const char *behind)
{
	char *text = xasprintf(HEAD "%s%s%s" TAIL, before, loop, behind), *copy;
	struct buf out = { 0 };
	const char *from, *to;

	if (loops_transform(text, strlen(text), false, &out) == 0)
		fail_msg("not taken: %s", text);
	from = strstr(buf_string(&out), "\tmovq\t%rbx, -16(%rsp)\n");
	assert_non_null(from);
	from = strchr(from, '\n') + 1;
	to = strstr(from, "\tnopw\t");
	assert_non_null(to);
	copy = xasprintf("%.*s", (int)(to - from), from);
	buf_free(&out);
	free(text);
	return copy;
}

static bool is_written(const char *before, const char *behind)
{
	char *copy = copy_of(before, LOOP, behind);
	bool written = strstr(copy, ", 8(%rsp)\n") != NULL;

	/* It is set before it is read. */
	assert_null(strstr(copy, "\tmovq\t8(%rsp)"));
	free(copy);
	return written;
}

static void test_dead(void **state)
{
	static const char *const ways[] = {
		"\tret\n",
		"\taddq\t$24, %rsp\n\tpopq\t%rbx\n\tret\n",
		"\tjmp\tg\n",
		"\tcall\tabort\n",
		/* Written, by either kind of register, or a number; and then read. */
		"\tmovsd\t%xmm2, 8(%rsp)\n\tmovsd\t8(%rsp), %xmm1\n\tret\n",
		"\tmovq\t%rax, 8(%rsp)\n\tmovq\t8(%rsp), %rax\n\tret\n",
		"\tmovq\t$0, 8(%rsp)\n\tmovq\t8(%rsp), %rax\n\tret\n",
		/* On both ways. */
		"\ttestq\t%rax, %rax\n\tje\t.L9\n\tmovq\t%rax, 8(%rsp)\n\tjmp\t.L10\n.L9:\n\tmovq\t%rcx, 8(%rsp)\n"
		".L10:\n\tmovq\t8(%rsp), %rax\n\tret\n",
		/* The loop comes again. */
		"\tsubq\t$1, %r12\n\tjne\t.L3\n\tret\n",
		/* Others beside it, below and above. */
		"\tmovq\t(%rsp), %rax\n\tmovsd\t16(%rsp), %xmm1\n\taddsd\t0(%rsp), %xmm1\n\tmovl\t%eax, 16(%rsp)\n\tret\n",
		/* Calls do not know of it. */
		"\tcall\tg\n" HOOK "\tret\n",
		/* Another section in between. */
		"\t.section\t.rodata\n.LC9:\n\t.quad\t8\n\t.text\n\tret\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (is_written("", ways[i]))
			fail_msg("written for %s", ways[i]);
}

static void test_live(void **state)
{
	static const char *const ways[] = {
		"\tmovq\t8(%rsp), %rax\n\tret\n",
		"\taddsd\t8(%rsp), %xmm1\n\tret\n",
		"\taddq\t$1, 8(%rsp)\n\tret\n",
		"\tcall\t*8(%rsp)\n\tret\n",
		/* In part, or with more around it. */
		"\tmovl\t12(%rsp), %eax\n\tret\n", "\tmovl\t%eax, 8(%rsp)\n\tmovq\t8(%rsp), %rax\n\tret\n",
		"\tmovups\t(%rsp), %xmm1\n\tret\n", "\tmovsd\t4(%rsp), %xmm1\n\tret\n", "\tmovaps\t%xmm1, (%rsp)\n\tret\n",
		"\tmovsd\t(%rsp,%rax,8), %xmm1\n\tret\n", "\tmovsd\ttable(%rsp), %xmm1\n\tret\n",
		/* On one of two ways; far away; behind a call. */
		"\ttestq\t%rax, %rax\n\tje\t.L9\n\tmovq\t%rax, 8(%rsp)\n.L9:\n\tmovq\t8(%rsp), %rax\n\tret\n",
		"\ttestq\t%rax, %rax\n\tje\t.L9\n\tret\n.L9:\n\tmovq\t8(%rsp), %rax\n\tret\n",
		"\tjmp\t.L10\n.L9:\n\tmovq\t8(%rsp), %rax\n\tret\n.L10:\n\tcall\tg\n\tjmp\t.L9\n",
		/* Ways that are not known. */
		"\tjmp\t*%rax\n", "\tnotrack jmp\t*%rax\n", "\tjmp\t*.L20(,%rax,8)\n", "\tnop\n",
		"\tjmp\t.L9+4\n.L9:\n\tret\n",
		"\tcall\tg\n\tret\n\t.cfi_lsda 0x3,.LLSDA0\n",
		"\tcall\t_setjmp\n\tret\n",
		"#APP\n\tnop\n#NO_APP\n\tret\n",
		/* The stack is elsewhere. */
		"\tpushq\t%rax\n\tmovq\t16(%rsp), %rax\n\tret\n", "\tsubq\t$8, %rsp\n\tret\n", "\taddq\t$8, %rsp\n\tpopq\t%rax\n\tret\n",
		"\tpopq\t%rax\n\tpopq\t%rcx\n\tret\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!is_written("", ways[i]))
			fail_msg("not written for %s", ways[i]);
	/* What comes before the loop comes again. */
	assert_true(is_written("\tmovq\t$0, 8(%rsp)\n.L1:\n\taddsd\t8(%rsp), %xmm3\n", "\tsubq\t$1, %r12\n\tjne\t.L1\n\tret\n"));
	assert_false(is_written("\tmovq\t$0, 8(%rsp)\n\taddsd\t8(%rsp), %xmm3\n.L1:\n", "\tsubq\t$1, %r12\n\tjne\t.L1\n\tret\n"));
}

/* An address of the stack is elsewhere: whoever has it may read it. The loop writes nothing else. */
static void test_shared(void **state)
{
	(void)state;
	assert_true(is_written("\tleaq\t8(%rsp), %rdi\n\tcall\tg\n", "\tret\n"));
	assert_true(is_written("", "\tcall\tg\n\tjmp\tf.cold\n\t.section\t.text.unlikely\nf.cold:\n\tmovq\t8(%rsp), %rax\n\tret\n\t.text\n"));
}

static void check(const char *loop, const char *behind, const char *want)
{
	char *got = copy_of("", loop, behind);

	assert_string_equal(got, want);
	free(got);
}

/* What goes from turn to turn stays, whoever is behind; what is only read is not written. */
static void test_turns(void **state)
{
#define SUM "\tmovsd\t8(%rsp), %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, 8(%rsp)\n"
	(void)state;
	check(".L3:\n" HOOK SUM NEXT, "\tret\n",
	      "\tmovq\t8(%rsp), %xmm15\n\t.p2align 4,,10\n.Lsnarlf0:\n\tmovq\t%xmm15, %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovapd\t%xmm0, %xmm15\n"
	      "\taddq\t$8, %rbx\n\tcmpq\t%rbp, %rbx\n\tjne\t.Lsnarlf0\n\tmovq\t%xmm15, 8(%rsp)\n");
	check(".L3:\n" HOOK "\tmovsd\t8(%rsp), %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, (%rbx)\n" NEXT, "\tmovq\t8(%rsp), %rax\n\tret\n",
	      "\tmovq\t8(%rsp), %xmm15\n\t.p2align 4,,10\n.Lsnarlf0:\n\tmovq\t%xmm15, %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, (%rbx)\n"
	      "\taddq\t$8, %rbx\n\tcmpq\t%rbp, %rbx\n\tjne\t.Lsnarlf0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
