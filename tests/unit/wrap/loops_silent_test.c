/*
 * Loops with silent accesses: a jump leads to the copy with hooks until a list of sites switches
 * all of them off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "runtime/record/site_scan.h"
#include "wrap/loops/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n.LFB0:\n\t.cfi_startproc\n"
#define TAIL "\tret\n\t.cfi_endproc\n.LFE0:\n\t.size\tf, .-f\n"

static char *run(const char *text, size_t *count)
{
	struct buf out = { 0 };
	char *copy;

	*count = loops_transform(text, strlen(text), false, 0, &out);
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

/* table[*p++]++, as gcc compiles it. */
#define TABLE                                   \
	"\tmovq\t%%rbx, %%rdi\n"                \
	"\taddq\t$1, %%rbx\n"                   \
	"\tcall\t__tsan_read1@PLT\n"            \
	"%s"                                    \
	"\tmovzbl\t-1(%%rbx), %%r12d\n"         \
	"\tleaq\t(%%r14,%%r12,4), %%r15\n"      \
	"\tmovq\t%%r15, %%rdi\n"                \
	"\tcall\t__tsan_read4@PLT\n"            \
	"%s"                                    \
	"\tmovl\t(%%r15), %%r13d\n"             \
	"\tmovq\t%%r15, %%rdi\n"                \
	"\tincl\t%%r13d\n"                      \
	"\tcall\t__tsan_write4@PLT\n"           \
	"%s"                                    \
	"\tmovl\t%%r13d, (%%r15)\n"             \
	"\tcmpq\t%%rbp, %%rbx\n"

static void test_gcc(void **state)
{
	char *text = xasprintf(HEAD ".L3:\n" TABLE "\tjne\t.L3\n" TAIL, "", "", "");
	char *hooked = xasprintf(TABLE "\tjne\t.Lsnarlh0\n", ".Lsnarlp8:\n", ".Lsnarlp12:\n",
				 ".Lsnarlp16:\n"),
	     *out, *at;
	size_t count;

	(void)state;
	out = run(text, &count);
	assert_int_equal(count, 1);
	at = out;
	/* The jump to the copy with hooks, then the code as without silent accesses. */
	at = strstr(at, ".L3:\n.Lsnarlg0:\n\t.byte\t0xe9\n\t.long\t.Lsnarlh0-.-4\n"
			"\tmovq\t%rax, -8(%rsp)\n");
	assert_non_null(at);
	/* At least 16 iterations, with one described access each. */
	at = strstr(at, "\tcmpq\t$16, %rax\n");
	assert_non_null(at);
	at = strstr(at, ".Lsnarlf0:\n"
		    "\taddq\t$1, %rbx\n"
		    "\tmovzbl\t-1(%rbx), %r12d\n"
		    "\tleaq\t(%r14,%r12,4), %r15\n"
		    "\tmovl\t(%r15), %r13d\n"
		    "\tincl\t%r13d\n"
		    "\tmovl\t%r13d, (%r15)\n"
		    "\tcmpq\t%rbp, %rbx\n"
		    "\tjne\t.Lsnarlf0\n");
	assert_non_null(at);
	at = strstr(at, "\tcall\t__snarl_loop\n\tnopl\t.Lsnarld0(%rip)\n\tjmp\t.Lsnarle0\n"
			"\t.p2align 4\n.Lsnarlh0:\n");
	assert_non_null(at);
	at = strstr(at, hooked);
	assert_non_null(at);
	/* One access, then the pcs of two silent ones, and the address of the jump. */
	at = strstr(at, ".Lsnarld0:\n"
		    "\t.long\t1\n"
		    "\t.byte\t3,0\n"
		    "\t.value\t2\n"
		    "\t.quad\t1\n"
		    "\t.quad\t.Lsnarlp8+0x3000000000000,0,1\n"
		    "\t.value\t3\n"
		    "\t.byte\t16,1,0,0,0,0\n"
		    "\t.quad\t.Lsnarlp12\n"
		    "\t.quad\t.Lsnarlp16\n"
		    "\t.quad\t.Lsnarlg0\n"
		    "\t.popsection\n");
	assert_non_null(at);
	free(out);
	free(hooked);
	free(text);
}

#define READ "\tcall\t__tsan_read8@PLT\n"
#define WRITE "\tcall\t__tsan_write8@PLT\n"
#define BEGIN ".L3:\n\tmovq\t%rbx, %rdi\n" READ
#define OTHER "\tmovq\t(%rbx), %r12\n\tmovq\t%r12, %rdi\n" WRITE
#define NEXT "\taddq\t$8, %rbx\n\tcmpq\t%rbx, %rbp\n\tjne\t.L3\n"

static bool has_silent_jump(const char *body, size_t expected)
{
	char *text = xasprintf(HEAD "%s" TAIL, body), *out;
	size_t count;
	bool jump;

	out = run(text, &count);
	if (count != expected)
		fail_msg("%zu loops: %s", count, body);
	jump = strstr(out, ".Lsnarlg") != NULL;
	free(out);
	free(text);
	return jump;
}

/* How a silent access may affect described accesses and the bound. */
static void test_which(void **state)
{
	(void)state;
	assert_false(has_silent_jump(BEGIN NEXT, 1));
	assert_true(has_silent_jump(BEGIN OTHER "\tmovq\t$0, (%r12)\n" NEXT, 1));
	/* All accesses are silent. */
	assert_false(has_silent_jump(".L3:\n\tmovq\t(%rbx), %rdi\n" WRITE NEXT, 0));
	/* The loop's end depends on memory, also on that of a silent access. */
	assert_false(has_silent_jump(
		BEGIN OTHER "\taddq\t$8, %rbx\n\tcmpq\t$0, (%r12)\n\tjne\t.L3\n", 0));
	assert_false(has_silent_jump(BEGIN OTHER "\tmovq\t(%r12), %rbp\n" NEXT, 0));
	/* A silent store may be to the stack slots that hold the bound and a base. */
	assert_true(has_silent_jump(
		BEGIN OTHER "\taddq\t$8, %rbx\n\tcmpq\t%rbx, 24(%rsp)\n\tjne\t.L3\n", 1));
	assert_false(has_silent_jump(BEGIN OTHER "\tmovq\t%rax, (%rsp,%r12,8)\n\taddq\t$8, "
						 "%rbx\n\tcmpq\t%rbx, 24(%rsp)\n\tjne\t.L3\n",
				     0));
	assert_true(has_silent_jump(".L3:\n\tmovq\t24(%rsp), %rdi\n" READ
				    "\tmovq\t%rbx, %rdi\n" READ OTHER
				    "\tmovq\t%rax, (%rsp,%r12,8)\n" NEXT,
				    1));
	/* A volatile access always keeps its hook. */
	assert_false(has_silent_jump(
		BEGIN "\tmovq\t(%rbx), %rdi\n\tcall\t__tsan_volatile_read8@PLT\n" NEXT, 0));
}

static void test_no_jump(void **state)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0, 0, 0x90 };
	uint8_t code[] = { 0xe9, 1, 2, 3, 4, 0x90 };

	(void)state;
	assert_true(sites_no_jump(code));
	assert_memory_equal(code, nop, sizeof(nop));
	assert_false(sites_no_jump(code));
	assert_memory_equal(code, nop, sizeof(nop));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_no_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
