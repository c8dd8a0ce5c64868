/* Code that records a loop without __snarl_loop: exact text, and loops that it does not support. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n"
#define TAIL "\tret\n\t.size\tf, .-f\n"

/* The code between the copy without hooks and the call of __snarl_loop. */
static char *end_of(const char *body, bool pic)
{
	char *text = xasprintf(HEAD ".L3:\n%s\tjne\t.L3\n" TAIL, body), *from, *to;
	struct buf out = { 0 };

	assert_int_equal(loops_transform(text, strlen(text), pic, 0, &out), 1);
	from = strstr(buf_string(&out), "\tjne\t.Lsnarlf0\n");
	assert_non_null(from);
	from += strlen("\tjne\t.Lsnarlf0\n");
	to = strstr(from,
		    pic ? "\tcall\t*__snarl_loop@GOTPCREL(%rip)\n" : "\tcall\t__snarl_loop\n");
	assert_non_null(to);
	from = xasprintf("%.*s", (int)(to - from), from);
	buf_free(&out);
	free(text);
	return from;
}

static void check(const char *body, bool pic, const char *expected)
{
	char *end = end_of(body, pic);

	assert_string_equal(end, expected);
	free(end);
}

#define SAVE(a, b, c, d, e)                                                                        \
	"\tmovq\t%rax, " a "(%rsp)\n\tmovq\t%rcx, " b "(%rsp)\n\tmovq\t%rdx, " c "(%rsp)\n"        \
	"\tmovq\t%rsi, " d "(%rsp)\n\tmovq\t%rdi, " e "(%rsp)\n"
#define RESTORE(a, b, c, d, e)                                                                     \
	"\tmovq\t" a "(%rsp), %rax\n\tmovq\t" b "(%rsp), %rcx\n\tmovq\t" c "(%rsp), %rdx\n"        \
	"\tmovq\t" d "(%rsp), %rsi\n\tmovq\t" e "(%rsp), %rdi\n"
#define ENDS(a, b, c, d, e) \
	".Lsnarlq0:\n" RESTORE(a, b, c, d, e) "\tjmp\t.Lsnarle0\n.Lsnarlr0:\n" RESTORE(a, b, c, d, \
										       e)
#define LOOK(call) "\tcall\t" call "\n\tjne\t.Lsnarlr0\n"
#define RECORD_OF(site, first)                                                                     \
	"\tmovq\t.Lsnarld0+" site "(%rip), %rdi\n\tmovq\t%rdx, (%rax)\n\tmovq\t%rdi, 8(%rax)\n"    \
	first "\taddq\t$16, %rax\n"
#define RECORD(site) RECORD_OF(site, "")
/* The record of a look's first access. */
#define FIRST(site, at) RECORD_OF(site, "\tmovq\t%rax, " at "\n")
#define NEST "%fs:__snarl_nest@tpoff+"
/* The nest's test: code, bits of the looks, iterations; then the address of each look. */
#define ROUND(from, found, iterations) \
	"\tleaq\t.Lsnarlq0(%rip), %rax\n\tcmpq\t" from ", %rax\n\tjne\t.Lsnarln0\n" \
	"\tcmpl\t" found ", %esi\n\tjne\t.Lsnarln0\n\tcmpl\t" iterations \
	", %ecx\n\tjne\t.Lsnarln0\n"
#define LOOKED(bit, at, address, number)                                                           \
	"\ttestb\t$" bit ", %sil\n\tje\t.Lsnarlw0_" number "\n" address "\tcmpq\t" at ", %rdx\n"   \
	"\tjne\t.Lsnarln0\n.Lsnarlw0_" number ":\n"
#define ROUND_ENDS(call) "\tcall\t" call "\n\tjne\t.Lsnarlq0\n.Lsnarln0:\n"

#define READ8 "\tcall\t__tsan_read8@PLT\n"
#define WRITE8 "\tcall\t__tsan_write8@PLT\n"
#define NEXT "\taddq\t$8, %rbx\n\tcmpq\t%rbx, %rbp\n"

#define ROW                                                                                        \
	"\tmovq\t-16(%rsp), %rax\n\taddq\t.Lsnarld0+24(%rip), %rax\n"                              \
	"\tleaq\t7(%rax,%rcx,8), %rdx\n\tsubq\t$8, %rax\n"
#define FURTHER "\tmovq\t-16(%rsp), %rdx\n\taddq\t.Lsnarld0+24(%rip), %rdx\n\tbtsq\t$51, %rdx\n"
#define ONE "\tmovq\t%r12, %rax\n\tleaq\t7(%rax), %rdx\n"

/* b[j] = b[j + 1] + *a: two looks. An address in a scratch register is read from its slot. */
static void test_pointers(void **state)
{
	(void)state;
	check("\tleaq\t8(%rbx), %rdi\n" READ8 "\tmovq\t%r12, %rdi\n" READ8
	      "\tmovq\t%rbx, %rdi\n" WRITE8 NEXT, false,
	      "\tnopw\t.Lsnarld0(%rip)\n\tcmpb\t$1, __snarl_loops(%rip)\n\tjne\t.Lsnarlt0\n"
	      SAVE("-24", "-32", "-40", "-48", "-56")
	      "\tmovq\t%rbx, %rcx\n\tsubq\t-16(%rsp), %rcx\n\ttestb\t$7, %cl\n\tjne\t.Lsnarlr0\n"
	      "\tshrq\t$3, %rcx\n\tdecq\t%rcx\n\tcmpq\t$8192, %rcx\n\tjae\t.Lsnarlr0\n"
	      "\txorl\t%esi, %esi\n"
	      ROW LOOK("__snarl_loop_look") ONE LOOK("__snarl_loop_look")
	      "\ttestl\t%esi, %esi\n\tje\t.Lsnarlq0\n" ROUND(NEST "0", NEST "8", NEST "12")
	      LOOKED("2", NEST "32", FURTHER, "0")
	      LOOKED("1", NEST "16", "\tmovq\t%r12, %rdx\n", "1")
	      ROUND_ENDS("__snarl_loop_round")
	      "\tmovl\t$64, %edx\n\tcall\t__snarl_loop_open\n\tje\t.Lsnarlr0\n"
	      "\ttestb\t$2, %sil\n\tje\t.Lsnarlo0_0\n"
	      FURTHER FIRST("16", NEST "152") ".Lsnarlo0_0:\n"
	      "\ttestb\t$1, %sil\n\tje\t.Lsnarlo0_1\n"
	      "\tmovq\t%r12, %rdx\n" FIRST("48", NEST "144") ".Lsnarlo0_1:\n"
	      "\ttestb\t$2, %sil\n\tje\t.Lsnarlo0_2\n"
	      "\tmovq\t-16(%rsp), %rdx\n\tbtsq\t$51, %rdx\n" RECORD("80") ".Lsnarlo0_2:\n"
	      "\tcall\t__snarl_loop_close\n"
	      ENDS("-24", "-32", "-40", "-48", "-56") ".Lsnarlt0:\n");
}

#define TABLE                                                                                      \
	"\tmovq\t%r12, %rax\n\tmovq\t-16(%rsp), %rdi\n\tleaq\t(%rax,%rdi,8), %rax\n"               \
		"\taddq\t.Lsnarld0+24(%rip), %rax\n"                                               \
	"\tleaq\t3(%rax,%rcx,8), %rdx\n"
#define KEYS "\tmovq\t-24(%rsp), %rax\n\timulq\t$24, %rcx, %rdx\n\tleaq\t7(%rax,%rdx), %rdx\n"

#define NEST_AT "\tmovq\t__snarl_nest@gottpoff(%rip), %rdi\n"
#define TABLE_AT                                                                                   \
	"\tmovq\t%r12, %rdx\n\tmovq\t-16(%rsp), %rdi\n\tleaq\t(%rdx,%rdi,8), %rdx\n"               \
		"\taddq\t.Lsnarld0+24(%rip), %rdx\n"                                               \
	"\tbtsq\t$51, %rdx\n"
#define KEYS_AT "\tmovq\t-24(%rsp), %rdx\n\tmovabsq\t$6755399441055744, %rdi\n\torq\t%rdi, %rdx\n"

/* a[j] and t[j].key, in a library: the index counts the iterations without a division. */
static void test_index(void **state)
{
	(void)state;
	check("\tleaq\ttable(%r12,%r14,8), %rdi\n\tcall\t*__tsan_write4@GOTPCREL(%rip)\n"
	      "\tmovq\t%r13, %rdi\n\tcall\t*__tsan_read8@GOTPCREL(%rip)\n"
	      "\taddq\t$24, %r13\n\taddq\t$1, %r14\n\tcmpq\t%r14, %rbp\n", true,
	      "\tnopw\t.Lsnarld0(%rip)\n" SAVE("-32", "-40", "-48", "-56", "-64")
	      "\tmovq\t__snarl_loops@GOTPCREL(%rip), %rax\n\tcmpb\t$1, (%rax)\n\tjne\t.Lsnarlr0\n"
	      "\tmovq\t%r14, %rcx\n\tsubq\t-16(%rsp), %rcx\n"
	      "\tdecq\t%rcx\n\tcmpq\t$8192, %rcx\n\tjae\t.Lsnarlr0\n\txorl\t%esi, %esi\n"
	      TABLE LOOK("*__snarl_loop_look@GOTPCREL(%rip)")
	      KEYS LOOK("*__snarl_loop_look@GOTPCREL(%rip)")
	      "\ttestl\t%esi, %esi\n\tje\t.Lsnarlq0\n" NEST_AT
	      ROUND("%fs:0(%rdi)", "%fs:8(%rdi)", "%fs:12(%rdi)")
	      LOOKED("2", "%fs:32(%rdi)", TABLE_AT NEST_AT, "0")
	      LOOKED("1", "%fs:16(%rdi)", KEYS_AT NEST_AT, "1")
	      ROUND_ENDS("*__snarl_loop_round@GOTPCREL(%rip)")
	      "\tmovl\t$48, %edx\n\tcall\t*__snarl_loop_open@GOTPCREL(%rip)\n\tje\t.Lsnarlr0\n"
	      "\ttestb\t$2, %sil\n\tje\t.Lsnarlo0_0\n"
	      TABLE_AT RECORD_OF("16", NEST_AT "\tmovq\t%rax, %fs:152(%rdi)\n") ".Lsnarlo0_0:\n"
	      "\ttestb\t$1, %sil\n\tje\t.Lsnarlo0_1\n"
	      KEYS_AT RECORD_OF("48", NEST_AT "\tmovq\t%rax, %fs:144(%rdi)\n") ".Lsnarlo0_1:\n"
	      "\tcall\t*__snarl_loop_close@GOTPCREL(%rip)\n"
	      ENDS("-32", "-40", "-48", "-56", "-64"));
}

#define EIGHTFOLD(to) "\tmovq\t%r12, %" to "\n\tshlq\t$3, %" to "\n"
#define ABOVE EIGHTFOLD("rdi") "\tshlq\t$48, %rdi\n\torq\t%rdi, %rdx\n"

#define COLUMN "\tmovq\t-16(%rsp), %rdx\n\taddq\t.Lsnarld0+24(%rip), %rdx\n" ABOVE
#define BACK "\tmovq\t-24(%rsp), %rdx\n\tmovabsq\t$18435485074641125376, %rdi\n\torq\t%rdi, %rdx\n"

/* Two fields with a large stride share a look; a negative stride: -40 is 65496 in 16 bits. */
static void test_strided(void **state)
{
	(void)state;
	check("\tleaq\t8(%rbx), %rdi\n" READ8 "\tmovq\t%rbx, %rdi\n" READ8
	      "\tmovq\t%r13, %rdi\n" WRITE8
	      "\tleaq\t(%rbx,%r12,8), %rbx\n\tsubq\t$40, %r13\n\taddq\t$1, %r14\n"
	      "\tcmpq\t%r14, %rbp\n", false,
	      "\tnopw\t.Lsnarld0(%rip)\n\tcmpb\t$1, __snarl_loops(%rip)\n\tjne\t.Lsnarlt0\n"
	      SAVE("-40", "-48", "-56", "-64", "-72")
	      "\tmovq\t%r14, %rcx\n\tsubq\t-32(%rsp), %rcx\n"
	      "\tdecq\t%rcx\n\tcmpq\t$8192, %rcx\n\tjae\t.Lsnarlr0\n\txorl\t%esi, %esi\n"
	      "\tmovq\t-16(%rsp), %rax\n\taddq\t.Lsnarld0+24(%rip), %rax\n" EIGHTFOLD("rdx")
	      "\tmovl\t$15, %edi\n\tsubq\t$8, %rax\n" LOOK("__snarl_loop_look_apart")
	      "\tmovq\t-24(%rsp), %rax\n\tmovq\t$-40, %rdx\n"
	      "\tmovl\t$7, %edi\n" LOOK("__snarl_loop_look_apart")
	      "\ttestl\t%esi, %esi\n\tje\t.Lsnarlq0\n" ROUND(NEST "0", NEST "8", NEST "12")
	      LOOKED("2", NEST "32", COLUMN, "0") LOOKED("1", NEST "16", BACK, "1")
	      ROUND_ENDS("__snarl_loop_round")
	      "\tmovl\t$64, %edx\n\tcall\t__snarl_loop_open\n\tje\t.Lsnarlr0\n"
	      "\ttestb\t$2, %sil\n\tje\t.Lsnarlo0_0\n"
	      COLUMN FIRST("16", NEST "152") ".Lsnarlo0_0:\n"
	      "\ttestb\t$2, %sil\n\tje\t.Lsnarlo0_1\n"
	      "\tmovq\t-16(%rsp), %rdx\n" ABOVE RECORD("48") ".Lsnarlo0_1:\n"
	      "\ttestb\t$1, %sil\n\tje\t.Lsnarlo0_2\n"
	      BACK FIRST("80", NEST "144") ".Lsnarlo0_2:\n"
	      "\tcall\t__snarl_loop_close\n"
	      ENDS("-40", "-48", "-56", "-64", "-72") ".Lsnarlt0:\n");
}

#define LEFT(body) check(body, false, "")

static void test_left(void **state)
{
	(void)state;
	/* the only counter, and 24 is no power of two */
	LEFT("\tmovq\t%rbx, %rdi\n" READ8 "\taddq\t$24, %rbx\n\tcmpq\t%rbx, %rbp\n");
	LEFT("\tleaq\ttable(%rip), %rdi\n" READ8 NEXT);
	LEFT("\tleaq\t(%r12,%r12,2), %rdi\n" READ8 NEXT);
	/* the stride does not fit 16 bits */
	LEFT("\tmovq\t%r13, %rdi\n" READ8 "\taddq\t$32768, %r13\n" NEXT);
	/* the factor is no power of two */
	LEFT("\tmovq\t%r13, %rdi\n" READ8 "\tsubq\t%r12, %r13\n\tsubq\t%r12, %r13\n" NEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_strided),
		cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
