/* Loops with a copy without hooks: exact text for both compilers' forms, and loops that stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n.LFB0:\n\t.cfi_startproc\n"
#define TAIL "\tret\n\t.cfi_endproc\n.LFE0:\n\t.size\tf, .-f\n"

static char *run(const char *text, bool pic, size_t *count)
{
	struct buf out = { 0 };
	char *copy;

	*count = loops_transform(text, strlen(text), pic, 0, &out);
	copy = xstrdup(buf_string(&out));
	buf_free(&out);
	return copy;
}

static void check(const char *text, bool pic, const char *expected)
{
	size_t count;
	char *out = run(text, pic, &count);

	assert_int_equal(count, 1);
	assert_string_equal(out, expected);
	free(out);
}

/* Checks that the body, in a function, is not changed. */
static void check_refused(const char *body)
{
	char *text = xasprintf(HEAD "%s" TAIL, body), *out;
	size_t count;

	out = run(text, false, &count);
	if (count > 0)
		fail_msg("taken: %s", body);
	assert_string_equal(out, text);
	free(out);
	free(text);
}

static size_t count_of(const char *body)
{
	char *text = xasprintf(HEAD "%s" TAIL, body);
	size_t count;

	free(run(text, false, &count));
	free(text);
	return count;
}

/* c[j] -= *a: two addresses that grow, one that is constant. */
#define GCC_FAST                                        \
	"\t.loc 1 5 3\n"                                \
	"\tmovsd\t0(%rbp), %xmm15\n"                    \
	"\taddq\t$40, %rbx\n"                           \
	"\tcmpq\t%rbx, %r8\n"

static void test_gcc(void **state)
{
	static const char text[] = HEAD
		"\t.p2align 4,,10\n"
		".L3:\n"
		"\t.loc 1 5 3 view .LVU5\n"
		".LVL1:\n"
		"\tmovq\t%rbp, %rdi\n"
		"\tcall\t__tsan_read8@PLT\n"
		"\tmovsd\t0(%rbp), %xmm0\n"
		"\tmovq\t%rbx, %rdi\n"
		"\tmovsd\t%xmm0, (%rsp)\n"
		"\tcall\t__tsan_write4@PLT\n"
		"\taddq\t$40, %rbx\n"
		"\tcmpq\t%rbx, 24(%rsp)\n"
		"\tjne\t.L3\n"
		TAIL;
	static const char expected[] = HEAD
		"\t.p2align 4,,10\n"
		".L3:\n"
		/* 10 iterations: the bound is 400 bytes from the start */
		"\tmovq\t%rax, -8(%rsp)\n"
		"\tmovq\t24(%rsp), %rax\n"
		"\tsubq\t%rbx, %rax\n"
		"\tcmpq\t$400, %rax\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tjl\t.Lsnarlh0\n"
		"\tcmpb\t$0, __snarl_loops(%rip)\n"
		"\tje\t.Lsnarlh0\n"
		"\tmovq\t%rbx, -16(%rsp)\n"
		"\tmovq\t24(%rsp), %r8\n"
		"\t.p2align 4,,10\n"
		".Lsnarlf0:\n"
		GCC_FAST
		"\tjne\t.Lsnarlf0\n"
		"\tmovq\t%xmm15, 0(%rsp)\n"
		"\tcall\t__snarl_loop\n"
		"\tnopl\t.Lsnarld0(%rip)\n"
		"\tjmp\t.Lsnarle0\n"
		".Lsnarlh0:\n"
		"\t.loc 1 5 3 view .LVU5\n"
		".LVL1:\n"
		"\tmovq\t%rbp, %rdi\n"
		"\tcall\t__tsan_read8@PLT\n"
		".Lsnarlp10:\n"
		"\tmovsd\t0(%rbp), %xmm0\n"
		"\tmovq\t%rbx, %rdi\n"
		"\tmovsd\t%xmm0, (%rsp)\n"
		"\tcall\t__tsan_write4@PLT\n"
		".Lsnarlp14:\n"
		"\taddq\t$40, %rbx\n"
		"\tcmpq\t%rbx, 24(%rsp)\n"
		"\tjne\t.Lsnarlh0\n"
		".Lsnarle0:\n"
		"\t.pushsection\t.data.rel.ro.snarl.text,\"aw\",@progbits\n"
		"\t.p2align 3\n"
		".Lsnarld0:\n"
		"\t.long\t2\n"
		"\t.byte\t3,0\n"
		"\t.value\t0\n"
		"\t.quad\t40\n"
		"\t.quad\t.Lsnarlp10+0x303000000000000,0,0\n"
		"\t.value\t771\n"
		"\t.byte\t5,1,0,0,0,0\n"
		"\t.quad\t.Lsnarlp14+0x204000000000000,0,40\n"
		"\t.value\t516\n"
		"\t.byte\t16,1,0,0,0,0\n"
		"\t.popsection\n"
		TAIL;

	(void)state;
	check(text, false, expected);
}

/* Code for a library, with a stride from the stack, a symbol, and a function in a comdat group. */
static void test_pic(void **state)
{
	static const char text[] =
		"\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n"
		"\t.weak\t_Z1fv\n"
		"\t.type\t_Z1fv, @function\n"
		"_Z1fv:\n"
		".L3:\n"
		"\tleaq\ttable+4(%rip), %rdi\n"
		"\taddq\t%rbx, %rdi\n"
		"\tcall\t*__tsan_read4@GOTPCREL(%rip)\n"
		"\tmovq\t8(%rsp), %rax\n"
		"\taddq\t%rax, %rbx\n"
		"\tdecl\t%r12d\n"
		"\taddq\t$3, %r13\n"
		"\tcmpq\t$64, %r13\n"
		"\tjne\t.L3\n"
		"\tret\n";
	static const char expected[] =
		"\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n"
		"\t.weak\t_Z1fv\n"
		"\t.type\t_Z1fv, @function\n"
		"_Z1fv:\n"
		".L3:\n"
		"\tmovq\t%rax, -8(%rsp)\n"	/* 18 iterations: step 3, 10 is subtracted */
		"\tmovq\t$0, %rax\n"
		"\tsubq\t%r13, %rax\n"
		"\tcmpq\t$-10, %rax\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tjl\t.Lsnarlh0\n"
		"\tmovq\t%rax, -8(%rsp)\n"
		"\tmovq\t__snarl_loops@GOTPCREL(%rip), %rax\n"
		"\tcmpb\t$0, (%rax)\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tje\t.Lsnarlh0\n"
		"\tmovq\t%rbx, -16(%rsp)\n"
		"\tmovq\t%r13, -32(%rsp)\n"
		"\tmovq\t8(%rsp), %rax\n"
		"\tmovq\t%rax, -24(%rsp)\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tmovq\t8(%rsp), %r8\n"
		"\t.p2align 4,,10\n"
		".Lsnarlf0:\n"
		"\tmovq\t%r8, %rax\n"
		"\taddq\t%rax, %rbx\n"
		"\tdecl\t%r12d\n"
		"\taddq\t$3, %r13\n"
		"\tcmpq\t$64, %r13\n"
		"\tjne\t.Lsnarlf0\n"
		"\tcall\t*__snarl_loop@GOTPCREL(%rip)\n"
		"\tnopl\t.Lsnarld0(%rip)\n"
		"\tjmp\t.Lsnarle0\n"
		".Lsnarlh0:\n"
		"\tleaq\ttable+4(%rip), %rdi\n"
		"\taddq\t%rbx, %rdi\n"
		"\tcall\t*__tsan_read4@GOTPCREL(%rip)\n"
		".Lsnarlp7:\n"
		"\tmovq\t8(%rsp), %rax\n"
		"\taddq\t%rax, %rbx\n"
		"\tdecl\t%r12d\n"
		"\taddq\t$3, %r13\n"
		"\tcmpq\t$64, %r13\n"
		"\tjne\t.Lsnarlh0\n"
		".Lsnarle0:\n"
		"\t.pushsection\t.data.rel.ro.snarl.text._Z1fv,\"awG\",@progbits,_Z1fv,comdat\n"
		"\t.p2align 3\n"
		".Lsnarld0:\n"
		"\t.long\t1\n"
		"\t.byte\t13,2\n"
		"\t.value\t0\n"
		"\t.quad\t3\n"
		"\t.quad\t.Lsnarlp7+0x203000000000000,table+4,0\n"
		"\t.value\t515\n"
		"\t.byte\t16,1,0,0,17,1\n"
		"\t.popsection\n"
		"\tret\n";

	(void)state;
	check(text, true, expected);
}

/* clang's form: the hook is inline assembly with its own label, and preserves most registers. */
#define INLINED(n, op) \
	"\t#APP\n" \
	"\tmovq %rdi,%rax; shrq $3,%rax; movzwl 0x7fff8000(,%rax,2),%eax; " \
	"cmpw %ax,%fs:__snarl_tls@tpoff+8; je .Lsnarl" n "; cmpw $-1,%ax; jne .Lsnarlc" n "; " \
	"movq %fs:__snarl_tls@tpoff,%rax; testl $4095,%eax; je .Lsnarlc" n "; " \
	"leaq .Lsnarl" n "(%rip),%rcx; movq %rdi,(%rax); movq %rcx,8(%rax); movw $" op \
	",14(%rax); " \
	"addq $16,%rax; movq %rax,%fs:__snarl_tls@tpoff; jmp .Lsnarl" n "; " \
	".Lsnarlc" n ": movl $" op ",%eax; .Lsnarls" n ": call __snarl_access@PLT; " \
	".Lsnarl" n ":\n" \
	"\t#NO_APP\n"

static void test_clang(void **state)
{
	static const char text[] = HEAD
		".LBB0_2:                                # =>This Inner Loop Header: Depth=1\n"
		"\t#DEBUG_VALUE: i <- $rdx\n"
		"\tleaq\t-8(%rsi,%rdx,8), %rdi\n"
		".Ltmp3:\n"
		INLINED("12", "771")
		"\tmovsd\t-8(%rsi,%rdx,8), %xmm1           # xmm1 = mem[0],zero\n"
		"\taddq\t$-3, %rdx\n"
		"\tjne\t.LBB0_2\n"
		TAIL;
	static const char expected[] = HEAD
		".LBB0_2:                                # =>This Inner Loop Header: Depth=1\n"
		"\tmovq\t%rax, -8(%rsp)\n"	/* 18 iterations down to 0 in steps of 3 */
		"\tmovq\t$0, %rax\n"
		"\tsubq\t%rdx, %rax\n"
		"\tcmpq\t$-54, %rax\n"
		"\tmovq\t-8(%rsp), %rax\n"
		"\tjg\t.Lsnarlh0\n"
		"\tcmpb\t$0, __snarl_loops(%rip)\n"
		"\tje\t.Lsnarlh0\n"
		"\tmovq\t%rdx, -16(%rsp)\n"
		"\t.p2align 4,,10\n"
		".Lsnarlf0:\n"
		"\tleaq\t-8(%rsi,%rdx,8), %rdi\n"
		"\tmovsd\t-8(%rsi,%rdx,8), %xmm1           # xmm1 = mem[0],zero\n"
		"\taddq\t$-3, %rdx\n"
		"\tjne\t.Lsnarlf0\n"
		"\tcall\t__snarl_loop\n"
		"\tnopl\t.Lsnarld0(%rip)\n"
		"\tjmp\t.Lsnarle0\n"
		".Lsnarlh0:\n"
		"\t#DEBUG_VALUE: i <- $rdx\n"
		"\tleaq\t-8(%rsi,%rdx,8), %rdi\n"
		".Ltmp3:\n"
		INLINED("12", "771")
		"\tmovsd\t-8(%rsi,%rdx,8), %xmm1           # xmm1 = mem[0],zero\n"
		"\taddq\t$-3, %rdx\n"
		"\tjne\t.Lsnarlh0\n"
		".Lsnarle0:\n"
		"\t.pushsection\t.data.rel.ro.snarl.text,\"aw\",@progbits\n"
		"\t.p2align 3\n"
		".Lsnarld0:\n"
		"\t.long\t1\n"
		"\t.byte\t2,0\n"
		"\t.value\t0\n"
		"\t.quad\t-3\n"
		"\t.quad\t.Lsnarl12+0x303000000000000,-8,-24\n"
		"\t.value\t771\n"
		"\t.byte\t16,8,6,1,0,0\n"
		"\t.popsection\n"
		TAIL;

	(void)state;
	check(text, false, expected);
}

#define HOOK "\tcall\t__tsan_read8@PLT\n"
#define MOVE "\tmovq\t%rbx, %rdi\n"
#define ADD "\taddq\t$8, %rbx\n"
#define COUNTED "\taddq\t$1, %r13\n\tcmpq\t%r13, %rbp\n\tjne\t.L3\n"
#define NEXT "\tcmpq\t%rbx, %rbp\n\tjne\t.L3\n"

/* Each loop breaks one rule; the first breaks none. */
static void test_refused(void **state)
{
	static const char *const bodies[] = {
		".L3:\n" ADD NEXT,						/* no hook */
		".L3:\n" MOVE ADD NEXT "\tcall\t__tsan_read8@PLT\n",
		".L3:\n" MOVE HOOK NEXT,					/* no counter */
		".L3:\n" MOVE HOOK "\taddl\t$8, %ebx\n" NEXT,			/* 32 bits */
		".L3:\n" MOVE HOOK "\tmovq\t(%rbx), %rbx\n" NEXT,		/* a linked list */
		/* the number of iterations is not known before */
		".L3:\n" MOVE HOOK ADD "\tsubl\t$1, %ebp\n\tjne\t.L3\n",
		".L3:\n" MOVE HOOK "\taddq\t24(%rsp), %rbx\n\taddq\t$1, %r13\n" NEXT,
		/* the end depends on memory */
		".L3:\n" MOVE HOOK "\tmovq\t(%rbx), %rbp\n" ADD NEXT,
		".L3:\n" MOVE HOOK ADD "\tcmpq\t$0, (%r12)\n\tje\t.L3\n",
		".L3:\n" MOVE HOOK ADD "\tucomisd\t%xmm0, %xmm1\n\tjne\t.L3\n",
		".L3:\n" MOVE "\tcall\t__tsan_volatile_read8@PLT\n" ADD NEXT,
		".L3:\n" MOVE "\tcall\t__tsan_read_range@PLT\n" ADD NEXT,
		".L3:\n" MOVE "\tcall\t__tsan_atomic64_load@PLT\n" ADD NEXT,
		".L3:\n" MOVE HOOK "\tcall\tg\n" ADD NEXT,
		".L3:\n" MOVE HOOK "\tje\t.L9\n" ADD NEXT ".L9:\n",		/* another exit */
		/* a jump enters it in the middle */
		"\tjmp\t.L4\n.L3:\n" MOVE ".L4:\n" HOOK ADD NEXT,
		".L3:\n" MOVE HOOK "\tpushq\t%rbx\n\tpopq\t%rbx\n" ADD NEXT,
		/* inline assembly */
		".L3:\n" MOVE HOOK "#APP\n\tnop\n#NO_APP\n" ADD NEXT,
		".L3:\n" MOVE HOOK "\t.cfi_remember_state\n" ADD NEXT,
		/* flags from before */
		".L3:\n\tcmovne\t%rax, %r12\n" MOVE HOOK ADD NEXT,
		/* flags are used behind the loop */
		".L3:\n" MOVE HOOK ADD NEXT "\tjg\t.L9\n.L9:\n",
		".L3:\n" MOVE HOOK ADD NEXT "\tjmp\t.L9\n.L8:\n\tret\n.L9:\n\tja\t.L8\n",
		".L3:\n" MOVE HOOK ADD NEXT "\tincq\t%rax\n\tsetb\t%al\n",
		".L3:\n" MOVE HOOK ADD NEXT "\tincq\t%rax\n\tje\t.L9\n.L9:\n",
		/* memory below %rsp */
		"\tmovq\t%rax, -8(%rsp)\n.L3:\n" MOVE HOOK ADD NEXT,
		/* The frame is exposed, so its slots may change. */
		"\tleaq\t8(%rsp), %r12\n.L3:\n" MOVE HOOK "\taddq\t24(%rsp), %rbx\n" COUNTED,
		"\tpushq\t%rsp\n.L3:\n" MOVE HOOK "\taddq\t24(%rsp), %rbx\n" COUNTED,
		".L3:\n" MOVE HOOK "\taddq\t24(%rsp), %rbx\n" COUNTED "\tjmp\tf.cold\n",
		/* too large a factor */
		".L3:\n\tmovq\t%rbx, %rdi\n\tsalq\t$9, %rdi\n" HOOK ADD NEXT,
		/* three terms */
		".L3:\n\tleaq\t(%rbx,%r12), %rdi\n\taddq\t%r13, %rdi\n" HOOK ADD NEXT,
		/* a value of the iteration before */
		".L3:\n\tmovq\t%rax, %rdi\n" HOOK "\tmovq\t%rbx, %rax\n" ADD NEXT,
		"1:\n" MOVE HOOK ADD "\tcmpq\t%rbx, %rbp\n\tjne\t1b\n",
		"\t.macro m\n\t.endm\n.L3:\n" MOVE HOOK ADD NEXT,
	};

	(void)state;
	assert_int_equal(count_of(".L3:\n" MOVE HOOK ADD NEXT), 1);
	assert_int_equal(count_of(".L3:\n" MOVE HOOK "\taddq\t24(%rsp), %rbx\n" COUNTED), 1);
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
		check_refused(bodies[i]);
}

/* TRACE_LOOP_ACCESSES accesses qualify, one more does not. */
static void test_many(void **state)
{
	char text[4000] = ".L3:\n";

	(void)state;
	for (unsigned i = 1; i <= 33; i++) {
		char *whole;

		strcat(text, MOVE HOOK);
		whole = xasprintf("%s%s", text, ADD NEXT);
		assert_int_equal(count_of(whole), i <= 32);
		free(whole);
	}
}

/* Code behind a loop that does not use its flags. */
static void test_behind(void **state)
{
	static const char *const ways[] = {
		"\tmovq\t%rax, %rcx\n\tcall\tg\n", "\tret\n", "\tjmp\tg@PLT\n", "\tjmp\tg\n",
		"\tjmp\t.L9\n\tjg\t.L9\n.L9:\n\ttestl\t%eax, %eax\n\tjne\t.L9\n",
		HOOK,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char *text = xasprintf("%s%s", ".L3:\n" MOVE HOOK ADD NEXT, ways[i]);

		assert_int_equal(count_of(text), 1);
		free(text);
	}
}

/* Two loops in one function are independent. */
static void test_several(void **state)
{
	(void)state;
	assert_int_equal(count_of("\tjmp\t.L3\n.L2:\n.L3:\n" MOVE HOOK ADD NEXT
				  ".L5:\n" MOVE HOOK ADD "\tcmpq\t%rbx, %rbp\n\tjle\t.L5\n"
				  "\tsubq\t$1, %r12\n\tjne\t.L2\n"),
			 2);
}

/*
 * Checks the copy without hooks of a loop with `body` between hook and jump: registers in place of
 * stack slots.
 */
static void check_kept(const char *body, const char *want)
{
	char *text = xasprintf(
		     HEAD
		     ".L3:\n\tmovq\t%%rbx, %%rdi\n\tcall\t__tsan_read8@PLT\n%s\taddq\t$8, %%rbx\n"
		     "\tcmpq\t%%rbp, %%rbx\n\tjne\t.L3\n" TAIL,
		     body),
	     *out, *fast, *end;
	size_t count;

	out = run(text, false, &count);
	assert_int_equal(count, 1);
	fast = strstr(out, ".Lsnarlf0:\n");
	end = strstr(out, ".Lsnarlh0:\n");	/* moved copies may follow the jump */
	*end = '\0';
	if (!strstr(fast, want))
		fail_msg("no %s in %s", want, fast);
	free(out);
	free(text);
}

static void test_spills(void **state)
{
	(void)state;
	check_kept("\tmovsd\t%xmm0, 8(%rsp)\n\taddsd\t8(%rsp), %xmm1\n",
		   "\taddsd\t%xmm15, %xmm1\n");
	/* A register that the loop names, also as %ymm, is not free. */
	check_kept("\tmovsd\t%xmm15, 8(%rsp)\n", "\tmovapd\t%xmm15, %xmm14\n");
	check_kept("\tmovl\t%r8d, %eax\n\tmovq\t%rax, 8(%rsp)\n", "\tmovq\t%rax, %r9\n");
	/* cqto uses %rdx without naming it. */
	check_kept("\tmovl\t%r8d, %r9d\n\tmovl\t%r10d, %r11d\n\tcqto\n\tmovq\t%rax, 8(%rsp)\n",
		   "\tmovq\t%rax, 8(%rsp)\n");
	/*
	 * Slots stay in memory: half is accessed, 16 bytes around it, or by both kinds of
	 * register.
	 */
	check_kept("\tmovsd\t%xmm0, 8(%rsp)\n\tmovl\t12(%rsp), %eax\n",
		   "\tmovsd\t%xmm0, 8(%rsp)\n");
	check_kept("\tmovsd\t%xmm0, 8(%rsp)\n\tmovaps\t%xmm1, (%rsp)\n",
		   "\tmovsd\t%xmm0, 8(%rsp)\n");
	check_kept("\tmovsd\t%xmm0, 8(%rsp)\n\tmovsd\t%xmm1, 4(%rsp)\n",
		   "\tmovsd\t%xmm0, 8(%rsp)\n");
	check_kept("\tmovsd\t%xmm0, 8(%rsp)\n\tmovq\t8(%rsp), %rax\n", "\tmovsd\t%xmm0, 8(%rsp)\n");
	check_kept("\tmovss\t%xmm0, 8(%rsp)\n", "\tmovss\t%xmm0, 8(%rsp)\n");
}

/*
 * Checks the last two bytes of each access in the descriptor: the stride's term, or N for equal
 * addresses.
 */
static void check_same(const char *body, const char *want)
{
	char *text = xasprintf(HEAD
			       ".L3:\n%s\taddq\t$8, %%rbx\n\tcmpq\t%%rbp, %%rbx\n\tjne\t.L3\n" TAIL,
			       body),
	     *out;
	char got[64] = "";
	size_t count;

	out = run(text, false, &count);
	assert_int_equal(count, 1);
	for (char *at = strstr(out, "\t.quad\t.Lsnarlp"); at;
	     at = strstr(at, "\t.quad\t.Lsnarlp")) {
		unsigned before, factor;

		at = strstr(at, "\t.byte\t");
		assert_int_equal(sscanf(at, "\t.byte\t%*d,%*d,%*d,%*d,%u,%u", &before, &factor), 2);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u,%u ", before, factor);
	}
	assert_string_equal(got, want);
	free(out);
	free(text);
}

#define HOOK_OF(name) "\tcall\t__tsan_" name "@PLT\n"
#define PLACE(operand) "\tleaq\t" operand ", %rdi\n"

static void test_same_memory(void **state)
{
	(void)state;
	check_same(MOVE HOOK PLACE("8(%rbx)") HOOK MOVE HOOK_OF("write8") MOVE HOOK_OF("write4"),
		   "0,0 0,0 2,0 3,0 ");
	check_same(MOVE HOOK_OF("write4") MOVE HOOK MOVE HOOK_OF("write8"), "0,0 0,0 1,0 ");
	/* Not equal: another stride from the same start, another variable. */
	check_same(MOVE HOOK "\tmovq\t%r12, %rdi\n" HOOK PLACE("(%rbx,%r12)")
			   HOOK PLACE("(%r12,%rbx)") HOOK_OF("write8") PLACE("(%rbx,%rbx)") HOOK,
		   "0,0 0,0 0,0 1,0 0,0 ");
	/* With a stride from a register, the two bytes are its term. */
	check_same("\tmovq\t%r13, %rdi\n" HOOK
		   "\tmovq\t%r13, %rdi\n" HOOK_OF("write8") "\taddq\t%r12, %r13\n",
		   "12,1 12,1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_pic),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_same_memory),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_spills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
