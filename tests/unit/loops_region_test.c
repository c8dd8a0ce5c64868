/* Loops of several blocks written twice: which accesses are told, in which order, and what must stay as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n"
#define TAIL "\tret\n\t.size\tf, .-f\n"

static char *run(const char *body, size_t *count)
{
	char *text = xasprintf(HEAD "%s" TAIL, body), *copy;
	struct buf out = { 0 };

	*count = loops_transform(text, strlen(text), false, &out);
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	free(text);
	return copy;
}

#define READ "\tcall\t__tsan_read8@PLT\n"
#define WRITE "\tcall\t__tsan_write8@PLT\n"
#define AT_RBX "\tmovq\t%rbx, %rdi\n"
#define AT_R12 "\tmovq\t%r12, %rdi\n"
#define STEP "\taddq\t$8, %rbx\n"
#define BACK "\tcmpq\t%rbx, %rbp\n\tjne\t.L3\n"
#define SKIP "\ttestq\t%rax, %rax\n\tje\t.L5\n"

/* Something conditional in the middle: line 5 is told, 10 is not. */
static void test_text(void **state)
{
	static const char expected[] = HEAD
		".L3:\n"
		".Lsnarlg0:\n"
		"\t.byte\t0xe9\n"
		"\t.long\t.Lsnarlh0-.-4\n"
		"\tmovq\t%rax, -8(%rsp)\n"
		"\tmovq\t%rbp, %rax\n"
		"\tsubq\t%rbx, %rax\n"
		"\tcmpq\t$128, %rax\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tjl\t.Lsnarlh0\n"
		"\tcmpb\t$0, __snarl_loops(%rip)\n"
		"\tje\t.Lsnarlh0\n"
		"\tmovq\t%rbx, -16(%rsp)\n"
		"\t.p2align 4,,10\n"
		".Lsnarlv0_3:\n"
		"\tmovq\t%rbx, %rdi\n"
		"\tmovq\t(%rbx), %rax\n"
		"\ttestq\t%rax, %rax\n"
		"\tje\t.Lsnarlv0_12\n"
		"\tmovq\t%r12, %rdi\n"
		"\tmovq\t%rax, (%r12)\n"
		".Lsnarlv0_12:\n"
		"\taddq\t$8, %rbx\n"
		"\tcmpq\t%rbx, %rbp\n"
		"\tjne\t.Lsnarlv0_3\n"
		".Lsnarlx0:\n";
	static const char hooked[] =
		"\tcall\t__snarl_loop\n"
		"\tnopl\t.Lsnarld0(%rip)\n"
		"\tjmp\t.Lsnarle0\n"
		"\t.p2align 4\n"
		".Lsnarlh0:\n"
		AT_RBX READ ".Lsnarlp5:\n"
		"\tmovq\t(%rbx), %rax\n" SKIP
		AT_R12 WRITE ".Lsnarlp10:\n"
		"\tmovq\t%rax, (%r12)\n"
		".L5:\n" STEP
		"\tcmpq\t%rbx, %rbp\n"
		"\tjne\t.Lsnarlh0\n"
		".Lsnarle0:\n"
		"\t.pushsection\t.data.rel.ro.snarl.text,\"aw\",@progbits\n"
		"\t.p2align 3\n"
		".Lsnarld0:\n"
		"\t.long\t1\n"
		"\t.byte\t3,0\n"
		"\t.value\t1\n"
		"\t.quad\t8\n"
		"\t.quad\t.Lsnarlp5+0x303000000000000,0,8\n"
		"\t.value\t771\n"
		"\t.byte\t16,1,0,0,0,0\n"
		"\t.quad\t.Lsnarlp10\n"
		"\t.quad\t.Lsnarlg0\n"
		"\t.popsection\n"
		TAIL;
	size_t count;
	char *out = run(".L3:\n" AT_RBX READ "\tmovq\t(%rbx), %rax\n" SKIP AT_R12 WRITE "\tmovq\t%rax, (%r12)\n"
			".L5:\n" STEP BACK, &count);

	(void)state;
	assert_int_equal(count, 1);
	assert_memory_equal(out, expected, sizeof(expected) - 1);
	assert_string_equal(strstr(out, "\tcall\t__snarl_loop\n"), hooked);
	free(out);
}

/* clang's order: the end of a turn comes first in the text, and the way out leads elsewhere. */
static void test_turned(void **state)
{
	size_t count;
	char *out = run("\tjmp\t.L4\n"
			".L2:\n\tmovq\t%rax, %r13\n"
			".L3:\n" STEP "\tcmpq\t%rbx, %rbp\n\tje\t.L9\n"
			".L4:\n" AT_RBX READ "\tmovq\t(%rbx), %rax\n\ttestq\t%rax, %rax\n\tje\t.L3\n" AT_R12 WRITE
			"\tmovq\t%rax, (%r12)\n\tjmp\t.L2\n.L9:\n", &count), *at;

	(void)state;
	assert_int_equal(count, 1);
	/* Entered by .L4, wherever that is; nothing comes there by itself. */
	at = strstr(out, "\tjmp\t.L4\n.L4:\n.Lsnarlg0:\n");
	assert_non_null(at);
	at = strstr(at, "\tjmp\t.Lsnarlv0_10\n\t.p2align 4,,10\n.Lsnarlv0_4:\n\tmovq\t%rax, %r13\n.Lsnarlv0_6:\n" STEP
		    "\tcmpq\t%rbx, %rbp\n\tje\t.Lsnarlx0\n.Lsnarlv0_10:\n");
	assert_non_null(at);
	at = strstr(at, "\tjmp\t.Lsnarlv0_4\n.Lsnarlx0:\n");
	assert_non_null(at);
	at = strstr(at, ".Lsnarle0:\n\tjmp\t.L9\n\t.p2align 4\n.L2:\n\tmovq\t%rax, %r13\n.L3:\n" STEP
		    "\tcmpq\t%rbx, %rbp\n\tje\t.L9\n.Lsnarlh0:\n");
	assert_non_null(at);
	assert_non_null(strstr(at, "\tjmp\t.L2\n\t.pushsection"));
	free(out);
}

/* The lines of what is told, in its order, and of what is silent; "-": it is no such loop. */
static void check(const char *body, const char *want)
{
	char got[128] = "-", *out, *at;
	size_t count;

	out = run(body, &count);
	at = strstr(out, ".Lsnarlx0:\n");
	if (at)
		got[0] = '\0';
	for (at = at ? strstr(at, "\t.quad\t.Lsnarlp") : NULL; at; at = strstr(at + 1, "\t.quad\t.Lsnarlp")) {
		unsigned line;
		char behind;

		assert_int_equal(sscanf(at, "\t.quad\t.Lsnarlp%u%c", &line, &behind), 2);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u ", behind == '+' ? "" : "silent ", line);
	}
	if (strcmp(got, want) != 0)
		fail_msg("%s, not %s: %s", got, want, body);
	free(out);
}

static void test_which(void **state)
{
	(void)state;
	/* Each turn once, before and behind; on one of two ways. */
	check(".L3:\n" AT_RBX READ SKIP AT_RBX WRITE ".L5:\n" AT_RBX WRITE STEP BACK, "5 12 silent 9 ");
	check(".L3:\n" AT_RBX READ SKIP AT_RBX WRITE "\tjmp\t.L6\n.L5:\n" AT_RBX WRITE ".L6:\n" STEP BACK,
	      "5 silent 9 silent 13 ");
	/* An inner loop: how often, nobody knows. */
	check(".L3:\n" AT_RBX READ ".L4:\n" AT_RBX WRITE "\tdecl\t%ecx\n\tjne\t.L4\n" STEP BACK, "5 silent 8 ");
	/* It changes the address, always or sometimes; or puts it back. */
	check(".L3:\n" AT_R12 READ AT_RBX READ SKIP "\taddq\t$8, %r12\n.L5:\n" STEP BACK, "7 silent 5 ");
	check(".L3:\n" AT_RBX READ "\tmovq\t%r13, %r12\n" SKIP "\txorl\t%r12d, %r12d\n.L5:\n" AT_R12 READ STEP BACK,
	      "5 silent 12 ");
	check(".L3:\n" AT_RBX READ "\tmovq\t%r13, %r12\n" SKIP "\tmovq\t%r13, %r12\n.L5:\n" AT_R12 READ STEP BACK, "5 12 ");
	/* What is behind in the text may come first. */
	check("\tjmp\t.L4\n.L3:\n" AT_RBX WRITE STEP "\tcmpq\t%rbx, %rbp\n\tje\t.L9\n.L4:\n" AT_RBX READ SKIP AT_R12 WRITE
	      "\tmovq\t%rax, (%r12)\n.L5:\n\tjmp\t.L3\n.L9:\n", "12 6 silent 16 ");
}

static void test_refused(void **state)
{
	(void)state;
	/* Two ways out, two ways in, from behind, by a table. */
	check(".L3:\n" AT_RBX READ SKIP STEP BACK ".L5:\n", "-");
	check("\tje\t.L5\n.L3:\n" AT_RBX READ SKIP AT_R12 WRITE ".L5:\n" STEP BACK, "-");
	check(".L3:\n" AT_RBX READ SKIP AT_R12 WRITE ".L5:\n" STEP BACK "\tjmp\t.L5\n", "-");
	check(".L3:\n" AT_RBX READ SKIP AT_R12 WRITE ".L5:\n" STEP BACK "\tleaq\t.L5(%rip), %rax\n", "-");
	check(".L2:\n\tmovq\t%rax, %r13\n.L3:\n" STEP "\tcmpq\t%rbx, %rbp\n\tje\t.L9\n.L4:\n" AT_RBX READ SKIP AT_R12 WRITE
	      ".L5:\n\tjmp\t.L2\n.L9:\n\tjmp\t.L4\n", "-");
	/* Two ways back; the next turn begins before the end. */
	check(".L3:\n" AT_RBX READ STEP "\tje\t.L3\n" AT_R12 WRITE BACK, "-");
	/* The counter is not always moved, the end depends on memory, on one way only. */
	check(".L3:\n" AT_RBX READ SKIP AT_R12 WRITE STEP ".L5:\n" BACK, "-");
	check(".L3:\n" AT_RBX READ SKIP AT_R12 READ "\tmovq\t(%r12), %rbp\n.L5:\n" STEP BACK, "-");
	/* Flags that only one way sets, or that are used behind it. */
	check(".L3:\n" AT_RBX READ "\tmovq\t(%rbx), %rax\n\tjrcxz\t.L5\n" STEP "\tcmpq\t%rbx, %rbp\n.L5:\n\tjne\t.L3\n", "-");
	check(".L3:\n" AT_RBX READ SKIP AT_R12 WRITE ".L5:\n" STEP BACK "\tjg\t.L9\n.L9:\n", "-");
	/* A call, a programmer's text, a volatile access, wherever it is. */
	check(".L3:\n" AT_RBX READ SKIP "\tcall\tg\n.L5:\n" STEP BACK, "-");
	check(".L3:\n" AT_RBX READ SKIP "#APP\n\tnop\n#NO_APP\n.L5:\n" STEP BACK, "-");
	check(".L3:\n" AT_RBX READ SKIP AT_R12 "\tcall\t__tsan_volatile_read8@PLT\n.L5:\n" STEP BACK, "-");
	/* Nothing can be told. */
	check(".L3:\n" SKIP AT_RBX READ ".L5:\n" STEP BACK, "-");
}

/* An address of the stack is known elsewhere: what is kept there stays if each store has its hook. */
static void test_stack(void **state)
{
#define SMALL "\tmovq\t24(%rsp), %rdi\n\tcall\t__tsan_read1@PLT\n"
#define FREE "\tleaq\t64(%rsp), %r15\n"
	(void)state;
	check(FREE ".L3:\n" AT_RBX "\tcall\t__tsan_read1@PLT\n" SMALL SKIP AT_R12 WRITE "\tmovq\t%rax, (%r12)\n.L5:\n" STEP BACK,
	      "6 8 silent 12 ");
	/* It has none, or it had one before. */
	check(FREE ".L3:\n" AT_RBX "\tcall\t__tsan_read1@PLT\n" SMALL SKIP "\tmovq\t%rax, (%r12)\n.L5:\n" STEP BACK, "6 silent 8 ");
	check(FREE ".L3:\n" AT_RBX "\tcall\t__tsan_read1@PLT\n" SMALL SKIP AT_R12 WRITE "\tmovq\t%rax, (%r12)\n\tincq\t(%r13)\n.L5:\n"
	      STEP BACK, "6 silent 8 silent 12 ");
	/* The address may be that of a variable that is read with a hook. */
	check(FREE ".L3:\n" AT_RBX READ SMALL SKIP AT_R12 WRITE "\tmovq\t%rax, (%r12)\n.L5:\n" STEP BACK, "6 silent 8 silent 12 ");
}

/* An inner loop that can be told by itself still is, where the outer one has hooks. */
static void test_inner(void **state)
{
	size_t count;
	char *out = run(".L3:\n" AT_RBX READ "\tmovq\t%r12, %r13\n.L4:\n\tmovq\t%r13, %rdi\n" WRITE
			"\taddq\t$8, %r13\n\tcmpq\t%r13, %r14\n\tjne\t.L4\n" STEP BACK, &count), *at;

	(void)state;
	assert_int_equal(count, 2);
	at = strstr(out, ".Lsnarlh0:\n" AT_RBX READ ".Lsnarlp5:\n\tmovq\t%r12, %r13\n.L4:\n\tmovq\t%rax, -8(%rsp)\n");
	assert_non_null(at);
	/* One label for both of them. */
	at = strstr(at, ".Lsnarlh1:\n\tmovq\t%r13, %rdi\n" WRITE ".Lsnarlp9:\n");
	assert_non_null(at);
	at = strstr(at, "\t.quad\t.Lsnarlp9+");
	assert_non_null(at);
	assert_non_null(strstr(at, "\t.quad\t.Lsnarlp9\n\t.quad\t.Lsnarlg0\n"));
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_turned),
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_inner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
