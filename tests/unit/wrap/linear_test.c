/* Linear values of registers in a loop: chosen cases, and random code against real arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/asm/linear.h"

static const char *const names[] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

/* Executes lines symbolically; false if one is rejected. */
static bool walk(struct linear_state *t, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		struct asmtext_word line = { text, (uint32_t)(end - text) };
		struct insn in;

		if (!insn_read(line, &in) || !linear_step(t, &in))
			return false;
		text = end + 1;
	}
	return true;
}

/* Formats a value as symbol, constant, factor*register; [24] is a stack slot. */
static const char *show(const struct linear_state *t, const struct linear *l)
{
	static char text[200];
	int used;

	if (!l->known)
		return "?";
	used = snprintf(text, sizeof(text), "%.*s%+lld", (int)l->symbol.size,
			l->symbol.size ? l->symbol.at : "", (long long)l->constant);
	for (unsigned i = 0; i < l->terms; i++) {
		unsigned v = l->term[i].variable;

		used += snprintf(text + used, sizeof(text) - (size_t)used, "%+lld*",
				 (long long)l->term[i].factor);
		if (v < INSN_REGISTERS)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", names[v]);
		else
			used += snprintf(text + used, sizeof(text) - (size_t)used, "[%lld]",
					 (long long)t->stack[v - INSN_REGISTERS]);
	}
	return text;
}

static void check(const char *code, unsigned reg, const char *expected)
{
	struct linear_state t;

	linear_init(&t, true);
	assert_true(walk(&t, code));
	assert_string_equal(show(&t, &t.value[reg]), expected);
}

static void test_values(void **state)
{
	(void)state;
	check("movq %rbx, %rdi\n", INSN_RDI, "+0+1*rbx");
	check("addq $8, %rbx\n", INSN_RBX, "+8+1*rbx");
	check("subq $-128, %r13\n", 13, "+128+1*r13");
	check("leaq -8(%rbx,%r12,4), %rdi\n", INSN_RDI, "-8+1*rbx+4*r12");
	check("leaq (%rbx,%rbx,2), %rdi\nsalq $2, %rdi\n", INSN_RDI, "+0+12*rbx");
	check("leaq table+16(%rip), %rdi\naddq %rbx, %rdi\n", INSN_RDI, "table+16+1*rbx");
	check("leaq table-16(,%rbx,8), %rdi\n", INSN_RDI, "table-16+8*rbx");
	check("leaq 40+table(%rip), %rdi\n", INSN_RDI, "table+40");
	check("leaq -8+table+4(%rip), %rdi\n", INSN_RDI, "table-4");
	check("movl $table, %edi\n", INSN_RDI, "table+0");
	check("movl $-1, %edi\n", INSN_RDI, "+4294967295");
	check("movq $-1, %rdi\n", INSN_RDI, "-1");
	check("movabsq $0x1234567890, %rdi\n", INSN_RDI, "+78187493520");
	check("movq table@GOTPCREL(%rip), %rdi\naddq $4, %rdi\n", INSN_RDI, "table+4");
	check("movq %rbx, %rdi\nsubq %r12, %rdi\n", INSN_RDI, "+0+1*rbx-1*r12");
	check("movq %rbx, %rdi\nsubq %rbx, %rdi\n", INSN_RDI, "+0");
	check("negq %rbx\nincq %rbx\nincq %rbx\ndecq %rbx\n", INSN_RBX, "+1-1*rbx");
	check("shlq %rbx\n", INSN_RBX, "+0+2*rbx");
	check("xorl %edi, %edi\naddq $3, %rdi\n", INSN_RDI, "+3");
	check("movq 24(%rsp), %rax\naddq %rax, %rbx\n", INSN_RBX, "+0+1*rbx+1*[24]");
	check("movq %rbx, 24(%rsp)\naddq $8, 24(%rsp)\nmovq 24(%rsp), %rdi\n", INSN_RDI,
	      "+8+1*rbx");
	/* %rdi keeps the value that %rbx had before. */
	check("movq %rbx, %rdi\naddq $8, %rbx\nmovsd %xmm0, (%rbx)\n", INSN_RDI, "+0+1*rbx");
}

static void test_unknown(void **state)
{
	static const char *const code[] = {
		"movq (%rbx), %rdi\n",			/* memory */
		"movl %ebx, %edi\n",			/* 32 bits */
		"movslq %ebx, %rdi\n",
		"leal 8(%rbx), %edi\n",
		"addl $8, %edi\n",
		"movb $1, %dil\n",
		"imulq $24, %rbx, %rdi\n",
		"shlq %cl, %rdi\n",
		"movq %fs:8, %rdi\n",			/* thread-local */
		"leaq x@tpoff(%rax), %rdi\n",
		"movq %xmm0, %rdi\n",
		"cvttsd2si %xmm0, %rdi\n",
		"andq $-8, %rdi\n",
		"leaq table(%rip), %rdi\nnegq %rdi\n",	/* a negated symbol */
		"leaq a(%rip), %rdi\nleaq b(%rip), %rax\naddq %rax, %rdi\n",
		"movq %rbx, 24(%rsp)\nmovl %eax, 28(%rsp)\nmovq 24(%rsp), %rdi\n",
		"movq %rbx, 24(%rsp)\nmovups %xmm0, 16(%rsp)\nmovq 24(%rsp), %rdi\n",
		"movq %rbx, 24(%rsp)\nmovb $0, (%rsp,%rax)\nmovq 24(%rsp), %rdi\n",
		"movq %rbx, %rax\ncltq\nmovq %rax, %rdi\n",
		"movq %rbx, %rdx\ncqto\nmovq %rdx, %rdi\n",
		"movq %rbx, %rax\ndivq %rcx\nmovq %rax, %rdi\n",
		"cmpq %rax, %rcx\ncmovl %rbx, %rdi\n",
		"leaq (%rax,%rcx), %rdi\nleaq (%rdx,%rdi), %rdi\nleaq (%rbx,%rdi), %rdi\n"
		"addq %rsi, %rdi\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		check(code[i], INSN_RDI, "?");
}

/* The difference is constant if both values have the same terms and symbol. */
static void test_distance(void **state)
{
	static const struct {
		const char *code;
		bool known;
		int64_t distance;	/* %rdi - %rsi */
	} cases[] = {
		{ "movq %rbx, %rdi\nleaq 24(%rdi), %rsi\n", true, -24 },
		{ "leaq a(,%rax,8), %rsi\nleaq 16+a(,%rax,8), %rdi\n", true, 16 },
		{ "movq %rax, %rdx\nleaq (%rbx,%rdx,4), %rsi\nmovq %rdx, 8(%rsp)\nxorl %edx, %edx\n"
		  "movq 8(%rsp), %rcx\nleaq 4(%rbx,%rcx,4), %rdi\n", true, 4 },
		{ "leaq a(%rip), %rdi\nleaq a+8(%rip), %rsi\n", true, -8 },
		{ "leaq a(%rip), %rdi\nleaq b(%rip), %rsi\n", false, 0 },
		{ "leaq a(%rip), %rdi\nleaq ab(%rip), %rsi\n", false, 0 },
		{ "leaq a(%rip), %rdi\nmovq %rbx, %rsi\n", false, 0 },
		/* other threads may write there */
		{ "movq (%rbx), %rdi\nmovq (%rbx), %rsi\n", false, 0 },
		{ "movq %rbx, %rdi\nmovq %rdi, %rsi\nmovb $1, %dil\n", false, 0 },
		{ "leaq (%rbx,%rcx,8), %rdi\nleaq (%rbx,%rcx,4), %rsi\n", false, 0 },
		{ "leaq (%rbx,%rcx), %rdi\nmovq %rbx, %rsi\n", false, 0 },
		{ "movq %rbx, 8(%rsp)\nmovl %ecx, 12(%rsp)\nmovq 8(%rsp), %rdi\nmovq %rbx, %rsi\n",
		  false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct linear_state t;
		int64_t distance;

		linear_init(&t, true);
		assert_true(walk(&t, cases[i].code));
		assert_int_equal(linear_distance(&t.value[INSN_RDI], &t.value[INSN_RSI], &distance),
				 cases[i].known);
		if (cases[i].known)
			assert_int_equal(distance, cases[i].distance);
	}
}

/* Two reads of an exposed stack slot may differ; a call changes memory below %rsp. */
static void test_stack_distance(void **state)
{
	struct linear_state t;
	int64_t distance;

	(void)state;
	linear_init(&t, false);
	assert_true(walk(&t, "movq %rbx, 8(%rsp)\nmovq 8(%rsp), %rdi\nmovq 8(%rsp), %rsi\n"));
	assert_false(linear_distance(&t.value[INSN_RDI], &t.value[INSN_RSI], &distance));
	assert_false(linear_distance(&t.value[INSN_RDI], &t.value[INSN_RBX], &distance));
	linear_init(&t, true);
	assert_true(walk(&t, "movq %rbx, -8(%rsp)\nmovq %rbx, 8(%rsp)\nmovq %rbx, %rcx\n"));
	linear_call(&t, 1u << INSN_RBX);
	assert_true(walk(&t, "movq 8(%rsp), %rdi\n"));
	assert_true(linear_distance(&t.value[INSN_RDI], &t.value[INSN_RBX], &distance));
	assert_false(linear_distance(&t.value[INSN_RCX], &t.value[INSN_RBX], &distance));
	assert_true(walk(&t, "movq -8(%rsp), %rdi\n"));
	assert_false(linear_distance(&t.value[INSN_RDI], &t.value[INSN_RBX], &distance));
}

/* Rejected: instructions that are unknown, or write more than their last operand. */
static void test_refused(void **state)
{
	static const char *const code[] = {
		"pushq %rbx\n", "popq %rbx\n", "subq $8, %rsp\n", "leaq -8(%rsp), %rsp\n",
		"leave\n",
		"xchgq %rax, %rbx\n", "lock addl $1, (%rbx)\n", "cmpxchgq %rax, (%rbx)\n",
		"xaddl %eax, (%rbx)\n",
		"rep stosq\n", "movsq\n", "stosb\n", "cpuid\n", "rdtsc\n", "syscall\n", "int3\n",
		"adcq $0, %rbx\n", "sbbq %rbx, %rbx\n", "mulx %rax, %rbx, %rcx\n",
		"fldl (%rbx)\n", "fstpl (%rbx)\n", "pcmpistri $0, %xmm0, %xmm1\n",
		"maskmovdqu %xmm0, %xmm1\n",
		"vmovupd (%rbx), %ymm0{%k1}\n", "kmovw %eax, %k1\n", "btsq $3, %rbx\n",
		"prefetcht0 (%rbx)\n",
		"movq %rax, %rbx; nop\n", "call f\n", "jmp .L1\n", "jne .L1\n", "ret\n",
		"jmp *%rax\n",
		"setne %al\n", "cmovne %rax, %rbx\n",	/* flags that the iteration has not set */
		"incq %rbx\ncmovb %rax, %rbx\n",
	};
	struct linear_state t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		linear_init(&t, true);
		if (walk(&t, code[i]))
			fail_msg("taken: %s", code[i]);
	}
}

/* Whether the flags at the iteration's end are tainted. */
static bool branch_tainted(const char *code)
{
	bool tainted[LINEAR_VARIABLES];
	struct linear_state t;

	linear_init(&t, false);
	do {
		memcpy(tainted, t.tainted, sizeof(tainted));
		linear_begin_iteration(&t);
		assert_true(walk(&t, code));
		for (unsigned i = 0; i < LINEAR_VARIABLES; i++)
			t.tainted[i] |= tainted[i];
	} while (memcmp(tainted, t.tainted, sizeof(tainted)) != 0);
	return t.flags_tainted;
}

static void test_taint(void **state)
{
	(void)state;
	assert_false(branch_tainted("cmpq %rax, %rbx\n"));
	assert_false(branch_tainted("movq (%rbx), %rcx\naddl $1, %eax\ncmpl $10, %eax\n"));
	assert_false(branch_tainted("cmpq %rbx, 8(%rsp)\n"));
	assert_false(branch_tainted("movq (%rbx), %rax\nxorl %eax, %eax\ntestl %eax, %eax\n"));
	assert_true(branch_tainted("cmpq (%rax), %rbx\n"));
	assert_true(branch_tainted("movq (%rax), %rcx\ncmpq %rcx, %rbx\n"));
	assert_true(branch_tainted("movq (%rax), %rcx\nleaq (%rbx,%rcx), %rdx\ncmpq %rdx, %rbx\n"));
	assert_true(branch_tainted("ucomisd %xmm0, %xmm1\n"));
	assert_true(branch_tainted("movq (%rax), %rcx\nmovq %rcx, 8(%rsp)\ncmpq 8(%rsp), %rbx\n"));
	/* The taint arrives only in the next iteration. */
	assert_true(branch_tainted("cmpq %rcx, %rbx\nmovq (%rax), %rcx\nmovq %rax, %rdx\n"));
	assert_true(branch_tainted("cmpq %rdx, %rbx\nmovq %rcx, %rdx\nmovq (%rax), %rcx\n"));
	assert_true(branch_tainted(
		"cmpq (%rax), %rcx\nsetne %dl\nmovzbl %dl, %edx\ncmpl %edx, %ebx\n"));
}

static void test_strides(void **state)
{
	struct linear_state t;
	struct linear at, stride;
	int64_t step;

	(void)state;
	linear_init(&t, true);
	assert_true(walk(&t, "leaq 8(%rbx,%r12,8), %rdi\n"));
	at = t.value[INSN_RDI];
	assert_true(
		walk(&t, "addq $-3, %r12\nmovq 24(%rsp), %rax\naddq %rax, %rbx\nmovq %rsi, %r9\n"));
	assert_true(linear_stride(&t, &at, &stride));
	assert_string_equal(show(&t, &stride), "-24+1*[24]");
	assert_true(linear_advance(&t, 12, &step));
	assert_int_equal(step, -3);
	assert_true(linear_advance(&t, INSN_RSI, &step));
	assert_int_equal(step, 0);
	assert_false(linear_advance(&t, INSN_RBX, &step));
	assert_false(linear_advance(&t, 9, &step));
	/* %r9 holds another register's value from the iteration before. */
	assert_true(walk(&t, "leaq 4(%r9), %rdi\n"));
	at = (struct linear){ .known = true, .terms = 1, .term = { { 9, 1 } } };
	assert_false(linear_stride(&t, &at, &stride));
	/* The step itself grows. */
	linear_init(&t, true);
	assert_true(walk(&t, "addq %rcx, %rbx\naddq $8, %rcx\n"));
	at = (struct linear){ .known = true, .terms = 1, .term = { { INSN_RBX, 1 } } };
	assert_false(linear_stride(&t, &at, &stride));
}

static void test_call(void **state)
{
	struct linear_state t;

	(void)state;
	linear_init(&t, true);
	linear_call(&t, 1u << INSN_RBX | 1u << 12);
	for (unsigned i = 0; i < INSN_REGISTERS; i++)
		assert_int_equal(t.value[i].known, i == INSN_RBX || i == 12);
	assert_true(t.value[INSN_REGISTERS].known);
}

static uint64_t seed = 1;

static unsigned roll(unsigned sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % sides;
}

/* Makes a random instruction: appends its text and executes it on the registers `r`. */
static void random_step(char *text, size_t size, uint64_t *r)
{
	static const unsigned usable[] = { 0, 1, 2, 3, 5, 6, 7, 12 };
	unsigned a = usable[roll(8)], b = usable[roll(8)], c = usable[roll(8)],
		 scale = 1u << roll(4);
	int number = (int)roll(400) - 200;

	switch (roll(8)) {
	case 0:
		snprintf(text, size, "\tmovq\t%%%s, %%%s\n", names[a], names[b]);
		r[b] = r[a];
		break;
	case 1:
		snprintf(text, size, "\taddq\t$%d, %%%s\n", number, names[a]);
		r[a] += (uint64_t)(int64_t)number;
		break;
	case 2:
		snprintf(text, size, "\tsubq\t%%%s, %%%s\n", names[a], names[b]);
		r[b] -= r[a];
		break;
	case 3:
		snprintf(text, size, "\tleaq\t%d(%%%s,%%%s,%u), %%%s\t# x\n", number, names[a],
			 names[b], scale, names[c]);
		r[c] = r[a] + r[b] * scale + (uint64_t)(int64_t)number;
		break;
	case 4:
		snprintf(text, size, "\tnegq\t%%%s\n", names[a]);
		r[a] = -r[a];
		break;
	case 5:
		snprintf(text, size, "\tsalq\t$%u, %%%s\n", scale, names[a]);
		r[a] <<= scale;
		break;
	case 6:
		snprintf(text, size, "\tmovl\t$%d, %%%s\n", number, a == 12 ? "r12d" : "eax");
		r[a == 12 ? 12 : 0] = (uint32_t)number;
		break;
	case 7:
		snprintf(text, size, "\taddl\t$%d, %%%s\n", number, "ebx");
		r[INSN_RBX] = (uint32_t)(r[INSN_RBX] + (uint32_t)number);
		break;
	}
}

static void test_random(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		uint64_t start[INSN_REGISTERS], now[INSN_REGISTERS];
		struct linear_state t;
		char text[80];

		linear_init(&t, true);
		for (unsigned i = 0; i < INSN_REGISTERS; i++)
			now[i] = start[i] = (uint64_t)roll(1u << 30) << 33 ^ roll(1u << 30);
		for (unsigned i = 0; i < 10; i++) {
			random_step(text, sizeof(text), now);
			assert_true(walk(&t, text));
		}
		for (unsigned i = 0; i < INSN_REGISTERS; i++) {
			const struct linear *l = &t.value[i];
			uint64_t sum = (uint64_t)l->constant;

			for (unsigned k = 0; k < l->terms; k++)
				sum += (uint64_t)l->term[k].factor * start[l->term[k].variable];
			if (l->known)
				assert_int_equal(sum, now[i]);
			known += l->known;
		}
	}
	assert_true(known > 20000 * 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_stack_distance),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_taint),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
