/*
 * Constants that a copy without hooks loads once: which, into which registers, and which stay in
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n"
#define TAIL "\tret\n\t.size\tf, .-f\n"
#define DATA                                                                                       \
	"\t.section\t.rodata.cst8,\"aM\",@progbits,8\n\t.align 8\n.LC1:\n\t.long\t0\n"             \
		"\t.long\t1072693248\n"                                                            \
	"\t.section\t.rodata.cst16,\"aM\",@progbits,16\n\t.align 16\n.LC2:\n\t.quad\t1\n"          \
		"\t.quad\t2\n"                                                                     \
	"\t.data\n\t.align 8\n.LC3:\n\t.quad\t0\nscale:\n\t.quad\t0\n"
#define HOOK "\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n"
/* An inlined hook of clang, which preserves registers that the loop does not name. */
#define INLINED                                                                                    \
	"\t#APP\n"                                                                                 \
	"\tmovq %rdi,%rax; shrq $3,%rax; movzwl 0x7fff8000(,%rax,2),%eax; "                        \
	"cmpw %ax,%fs:__snarl_tls@tpoff+8; je .Lsnarl12; cmpw $-1,%ax; jne .Lsnarlc12; "           \
	"movq %fs:__snarl_tls@tpoff,%rax; testl $4095,%eax; je .Lsnarlc12; "                       \
	"leaq .Lsnarl12(%rip),%rcx; movq %rdi,(%rax); movq %rcx,8(%rax); movw $771,14(%rax); "     \
	"addq $16,%rax; movq %rax,%fs:__snarl_tls@tpoff; jmp .Lsnarl12; "                          \
	".Lsnarlc12: movl $771,%eax; .Lsnarls12: call __snarl_access@PLT; .Lsnarl12:\n"            \
	"\t#NO_APP\n"

/*
 * Checks the copy without hooks of the loop `hook` + `body`, from the loads before it to its jump.
 */
static void check_with(const char *hook, const char *body, const char *want)
{
	char *text = xasprintf(
		HEAD ".L3:\n%s%s\taddq\t$8, %%rbx\n\tcmpq\t%%rbx, %%rbp\n\tjne\t.L3\n" TAIL DATA,
		hook, body);
	struct buf out = { 0 };
	const char *from, *to;
	char *got;

	assert_int_equal(loops_transform(text, strlen(text), false, 0, &out), 1);
	from = strstr(buf_string(&out), "\tmovq\t%rbx, -16(%rsp)\n");
	assert_non_null(from);
	from = strchr(from, '\n') + 1;
	to = strstr(from, "\taddq\t$8, %rbx\n");
	assert_non_null(to);
	got = xasprintf("%.*s", (int)(to - from), from);
	assert_string_equal(got, want);
	free(got);
	buf_free(&out);
	free(text);
}

static void check(const char *body, const char *want)
{
	check_with(HOOK, body, want);
}

#define TURN "\t.p2align 4,,10\n.Lsnarlf0:\n"
#define LOAD "\tmovsd\t(%rbx), %xmm0\n"
#define STORE "\tmovsd\t%xmm0, (%rbx)\n"

static void test_taken(void **state)
{
	(void)state;
	check(LOAD "\tmulsd\t.LC1(%rip), %xmm0\n" STORE,
	      "\tmovsd\t.LC1(%rip), %xmm15\n" TURN LOAD "\tmulsd\t%xmm15, %xmm0\n" STORE);
	/* An instruction that reads 16 bytes gets all of them. */
	check(LOAD "\tandpd\t.LC2(%rip), %xmm0\t# abs\n" STORE,
	      "\tmovapd\t.LC2(%rip), %xmm15\n" TURN LOAD "\tandpd\t%xmm15, %xmm0\t# abs\n" STORE);
	/* Each constant is loaded once for each way in which its address is read. */
	check(LOAD "\tmulsd\t.LC2(%rip), %xmm0\n\taddsd\t.LC2(%rip), %xmm0\n"
		   "\taddsd\t.LC2+8(%rip), %xmm0\n\txorpd\t.LC2(%rip), %xmm0\n" STORE,
	      "\tmovsd\t.LC2(%rip), %xmm15\n\tmovsd\t.LC2+8(%rip), %xmm14\n"
	      "\tmovapd\t.LC2(%rip), %xmm13\n" TURN LOAD "\tmulsd\t%xmm15, %xmm0\n\taddsd\t%xmm15, "
				   "%xmm0\n\taddsd\t%xmm14, %xmm0\n\txorpd\t%xmm13, %xmm0\n" STORE);
	/* Stack slots get registers first; registers that the loop names are not free. */
	check("\tmovsd\t8(%rsp), %xmm0\n\tmulsd\t.LC1(%rip), %xmm0\n"
	      "\tmovapd\t%xmm0, %xmm14\n\tmovsd\t%xmm14, (%rbx)\n",
	      "\tmovq\t8(%rsp), %xmm15\n\tmovsd\t.LC1(%rip), %xmm13\n" TURN
	      "\tmovq\t%xmm15, %xmm0\n\tmulsd\t%xmm13, %xmm0\n\tmovapd\t%xmm0, %xmm14\n"
	      "\tmovsd\t%xmm14, (%rbx)\n");
}

static void check_same(const char *hook, const char *body)
{
	char *want = xasprintf(TURN "%s", body);

	check_with(hook, body, want);
	free(want);
}

static void test_left(void **state)
{
	(void)state;
	/* Writable memory, a symbol that is no constant, an address with an index. */
	check_same(HOOK, LOAD "\tmulsd\t.LC3(%rip), %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tmulsd\tscale(%rip), %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tmulsd\t.LC9(%rip), %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tmulsd\t.LC1(%rbx), %xmm0\n" STORE);
	/* The instruction means something else with a register, or is not in the list. */
	check_same(HOOK, "\tmovsd\t.LC1(%rip), %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tsqrtsd\t.LC1(%rip), %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tvmulsd\t.LC1(%rip), %xmm0, %xmm0\n" STORE);
	check_same(HOOK, LOAD "\tcvtsi2sdl\t.LC1(%rip), %xmm0\n" STORE);
	/* Registers that clang's hooks preserve may be in use. */
	check_same(INLINED, LOAD "\tmulsd\t.LC1(%rip), %xmm0\n" STORE);
}

/* At most four constants get a register; none if the loop names all registers. */
static void test_many(void **state)
{
#define ADD(n) "\taddsd\t.LC2+" n "(%rip), %xmm0\n"
#define NAME(n) "\tmovapd\t%xmm" n ", %xmm0\n"
#define NAMES NAME("8") NAME("9") NAME("10") NAME("11") NAME("12") NAME("13") NAME("14") NAME("15")
	struct buf out = { 0 };
	const char *text = HEAD ".L3:\n" HOOK NAMES "\taddsd\t.LC1(%rip), %xmm0\n" STORE
				"\taddq\t$8, %rbx\n\tcmpq\t%rbx, %rbp\n\tjne\t.L3\n" TAIL DATA;

	(void)state;
	check(LOAD ADD("1") ADD("2") ADD("3") ADD("4") ADD("5") STORE,
	      "\tmovsd\t.LC2+1(%rip), %xmm15\n\tmovsd\t.LC2+2(%rip), %xmm14\n"
	      "\tmovsd\t.LC2+3(%rip), %xmm13\n\tmovsd\t.LC2+4(%rip), %xmm12\n"
	      TURN LOAD "\taddsd\t%xmm15, %xmm0\n\taddsd\t%xmm14, %xmm0\n"
	      "\taddsd\t%xmm13, %xmm0\n\taddsd\t%xmm12, %xmm0\n" ADD("5") STORE);
	assert_int_equal(loops_transform(text, strlen(text), false, 0, &out), 1);
	assert_null(strstr(buf_string(&out), "\tmovsd\t.LC1"));
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
