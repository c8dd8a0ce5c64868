/* Bunches: the exact text for both compilers' forms, how many granules there are, and what must stay as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "trace/format.h"
#include "wrap/bunch.h"
#include "wrap/bunch_internal.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n.LFB0:\n\t.cfi_startproc\n"
#define TAIL "\tret\n\t.cfi_endproc\n.LFE0:\n\t.size\tf, .-f\n"
#define CONSTRUCTOR "\t.section .text.__snarl_bunches_init,"
#define APPEND(site, scratch, op, cur) \
	"leaq " site "(%%rip)," scratch "; movq %%rdi,(%%rax); movq " scratch ",8(%%rax); movw $" op ",14(%%rax); " \
	"addq $16,%%rax; movq %%rax," cur "; jmp .Lbunchf0; "

/* Without the constructor, which is the same for all. */
static char *run(const char *text, bool pic, size_t *count)
{
	struct buf out = { 0 };
	char *copy, *constructor;

	*count = bunch_transform(text, strlen(text), pic, &out);
	copy = xstrdup(buf_string(&out));
	constructor = strstr(copy, CONSTRUCTOR);
	assert_int_equal(constructor != NULL, *count > 0);
	if (constructor)
		*constructor = '\0';
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

/* Of the descriptors in the text, `count,granules` of each. */
static char *bunches_of(const char *body)
{
	char *text = xasprintf(HEAD "%s" TAIL, body), *out, *at;
	struct buf found = { 0 };
	size_t count;

	out = at = run(text, false, &count);
	while ((at = strstr(at, ",.Lbunchf"))) {
		at = strstr(at, "\t.value ") + 8;
		buf_addf(&found, "%.*s ", (int)strcspn(at, "\n"), at);
	}
	if (count == 0)
		assert_string_equal(out, text);
	free(out);
	free(text);
	at = xstrdup(buf_string(&found));
	buf_free(&found);
	return at;
}

static void check_bunches(const char *body, const char *expected)
{
	char *found = bunches_of(body);

	if (strcmp(found, expected) != 0)
		fail_msg("'%s', not '%s': %s", found, expected, body);
	free(found);
}

/* a->n -= x; a->m++: gcc keeps an address on the stack. */
static void test_gcc(void **state)
{
	static const char text[] = HEAD
		"\tleaq\t40(%rbp,%r12), %rdi\n"
		"\tmovq\t%rdi, 40(%rsp)\n"
		"\tcall\t__tsan_read8@PLT\n"
		"\t.loc 1 22 16 view .LVU30\n"
		".LVL9:\n"
		"\tmovq\t40(%r14), %rsi\n"
		"\tmovq\t40(%rsp), %rdi\n"
		"\tsubq\t8(%rsp), %rsi\n"
		"\tcall\t__tsan_write8@PLT\n"
		"\tleaq\t32(%rbp,%r12), %rdi\n"
		"\tcall\t__tsan_read4@PLT\n"
		"\tmovl\t32(%r14), %eax\n"
		TAIL;
	char *expected = xasprintf(HEAD
		"\tleaq\t40(%%rbp,%%r12), %%rdi\n"
		"\tmovq\t%%rdi, 40(%%rsp)\n"
		".Lbunch0:\n"
		"\tleaq -8(%%rdi),%%rax; shrq $3,%%rax; movl 0x7fff8000(,%%rax,2),%%eax; "
		"cmpl %%eax,%%fs:__snarl_tls@tpoff+12; je .Lbunchf0; cmpl %%eax,%%fs:__snarl_tls@tpoff+96; "
		"jne .Lbunchs0; prefetchw (%%rdi); movq %%fs:__snarl_tls@tpoff,%%rax; testl $4095,%%eax; je .Lbunchc0; "
		APPEND(".Lbunchp0_0", "%%rcx", "%1$u", "%%fs:__snarl_tls@tpoff")
		".Lbunchc0: leaq .Lbunchp0_0(%%rip),%%rcx; movl $%1$u,%%eax; call __snarl_bunch@PLT; "
		"testl %%eax,%%eax; jne .Lbunchf0\n"
		".Lbunchs0:\n"
		"\tcall\t__tsan_read8@PLT\n"
		".Lbunchp0_0:\n"
		"\t.loc 1 22 16 view .LVU30\n"
		".LVL9:\n"
		"\tmovq\t40(%%r14), %%rsi\n"
		"\tmovq\t40(%%rsp), %%rdi\n"
		"\tsubq\t8(%%rsp), %%rsi\n"
		"\tcall\t__tsan_write8@PLT\n"
		".Lbunchp0_1:\n"
		"\tleaq\t32(%%rbp,%%r12), %%rdi\n"
		"\tcall\t__tsan_read4@PLT\n"
		".Lbunchp0_2:\n"
		"\tjmp .Lbunchj0\n"
		".Lbunchf0:\n"
		"\t.loc 1 22 16\n"
		"\tmovq\t40(%%r14), %%rsi\n"
		"\tmovq\t40(%%rsp), %%rdi\n"
		"\tsubq\t8(%%rsp), %%rsi\n"
		"\tleaq\t32(%%rbp,%%r12), %%rdi\n"
		".Lbunchj0:\n"
		"\t.pushsection snarl_bunches,\"ao\",@progbits,f\n"
		"\t.p2align 2\n"
		"\t.long .Lbunch0-.,.Lbunchf0-.\n"
		"\t.value 3,2\n"
		"\t.long .Lbunchp0_0-.\n"
		"\t.value 0,771\n"
		"\t.long .Lbunchp0_1-.\n"
		"\t.value 0,772\n"
		"\t.long .Lbunchp0_2-.\n"
		"\t.value -8,515\n"
		"\t.popsection\n"
		"\tmovl\t32(%%r14), %%eax\n"
		TAIL, TRACE_BUNCH | 3 << 8);

	(void)state;
	check(text, false, expected);
	free(expected);
}

#define CLANG_HOOK(number, op) \
	"\t#APP\n" \
	"\tmovq %rdi,%rax; shrq $3,%rax; movzwl 0x7fff8000(,%rax,2),%eax; " \
	"movq __snarl_tls@gottpoff(%rip),%rcx; cmpw %ax,%fs:8(%rcx); je .Lsnarl" number "; cmpw $-1,%ax; " \
	"jne .Lsnarlc" number "; movq %fs:(%rcx),%rax; testl $4095,%eax; je .Lsnarlc" number "; " \
	"leaq .Lsnarl" number "(%rip),%rdx; movq %rdi,(%rax); movq %rdx,8(%rax); movw $" op ",14(%rax); " \
	"addq $16,%rax; movq %rax,%fs:(%rcx); jmp .Lsnarl" number "; .Lsnarlc" number ": movl $" op ",%eax; " \
	".Lsnarls" number ": call __snarl_access@PLT; .Lsnarl" number ":\n" \
	"\t#NO_APP\n"

/* A library's form, a function that is there in many files, four granules. */
static void test_clang(void **state)
{
#define BEFORE "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n\t.weak\t_Z1fv\n_Z1fv:\n" \
	"\tmovq\t(%rsi), %rdi\n\tmovq\t%rdi, %r8\n"
	static const char text[] = BEFORE
		CLANG_HOOK("17", "771")
		"\t.file\t3 \"b.h\"\n"
		"\t.loc\t3 5 3\n"
		".Ltmp4:\n"
		"\tleaq\t24(%r8), %rdi\n"
		"\t#DEBUG_VALUE: f:x <- $rdi\n"
		CLANG_HOOK("18", "772")
		"\tretq\n\t.size\t_Z1fv, .-_Z1fv\n";
	struct buf expected = { 0 };

	(void)state;
	buf_add_text(&expected, BEFORE "\t#APP\n");
	buf_addf(&expected, ".Lbunch0:\n"
		 "\tleaq (%%rdi),%%rax; shrq $3,%%rax; movq 0x7fff8000(,%%rax,2),%%rax; "
		 "movq __snarl_tls@gottpoff(%%rip),%%rcx; cmpq %%rax,%%fs:80(%%rcx); je .Lbunchf0; "
		 "cmpq %%rax,%%fs:96(%%rcx); jne .Lbunchs0; prefetchw 24(%%rdi); movq %%fs:(%%rcx),%%rax; testl $4095,%%eax; "
		 "je .Lbunchc0; " APPEND(".Lsnarl17", "%%rdx", "%1$u", "%%fs:(%%rcx)")
		 ".Lbunchc0: leaq .Lsnarl17(%%rip),%%rcx; movl $%1$u,%%eax; call __snarl_bunch@PLT; "
		 "testl %%eax,%%eax; jne .Lbunchf0\n.Lbunchs0:\n", TRACE_BUNCH | 2 << 8);
	buf_add_text(&expected, strchr(CLANG_HOOK("17", "771"), '\n') + 1);
	buf_add_text(&expected, "\t.file\t3 \"b.h\"\n\t.loc\t3 5 3\n.Ltmp4:\n\tleaq\t24(%r8), %rdi\n"
		     "\t#DEBUG_VALUE: f:x <- $rdi\n");
	buf_add_text(&expected, CLANG_HOOK("18", "772"));
	expected.size -= strlen("\t#NO_APP\n");
	buf_add_text(&expected,
		"\tjmp .Lbunchj0\n"
		".Lbunchf0:\n"
		"\t.loc\t3 5 3\n"
		"\tleaq\t24(%r8), %rdi\n"
		".Lbunchj0:\n"
		"\t.pushsection snarl_bunches,\"aGo\",@progbits,_Z1fv,comdat,_Z1fv\n"
		"\t.p2align 2\n"
		"\t.long .Lbunch0-.,.Lbunchf0-.\n"
		"\t.value 2,4\n"
		"\t.long .Lsnarl17-.\n"
		"\t.value 0,771\n"
		"\t.long .Lsnarl18-.\n"
		"\t.value 24,772\n"
		"\t.popsection\n"
		"\t#NO_APP\n"
		"\tretq\n\t.size\t_Z1fv, .-_Z1fv\n");
	check(text, true, buf_string(&expected));
	buf_free(&expected);
}

/* GNU as has another order of what the section belongs to and its group. */
static void test_group(void **state)
{
	static const char text[] =
		"\t.section\t.text._Z1gv,\"axG\",@progbits,_Z1gv,comdat\n_Z1gv:\n"
		"\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_write8@PLT\n"
		"\tret\n\t.size\t_Z1gv, .-_Z1gv\n";
	size_t count;
	char *out = run(text, true, &count);

	(void)state;
	assert_int_equal(count, 1);
	assert_non_null(strstr(out, "\t.pushsection snarl_bunches,\"aGo\",@progbits,_Z1gv,_Z1gv,comdat\n"));
	free(out);
}

/* The site of a loop's hook stays behind it, where the loop's descriptor wants it. */
static void test_loop(void **state)
{
	static const char text[] = HEAD
		".Lsnarlh0:\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8\n.Lsnarlp0_0:\n\tmovq\t%rbx, %rdi\n"
		"\tcall\t__tsan_write8\n.Lsnarlp0_1:\n\taddq\t$8, %rbx\n\tjne\t.Lsnarlh0\n.Lsnarle0:\n"
		"\t.pushsection\t.data.rel.ro.snarl.text,\"aw\",@progbits\n.Lsnarld0:\n\t.quad\t.Lsnarlp0_0,.Lsnarlp0_1\n"
		"\t.popsection\n" TAIL;
	size_t count;
	char *out = run(text, false, &count);

	(void)state;
	assert_int_equal(count, 1);
	assert_non_null(strstr(out, ".Lbunchs0:\n\tcall\t__tsan_read8\n.Lbunchp0_0:\n.Lsnarlp0_0:\n\tmovq\t%rbx, %rdi\n"
				    "\tcall\t__tsan_write8\n.Lbunchp0_1:\n.Lsnarlp0_1:\n\tjmp .Lbunchj0\n.Lbunchf0:\n"
				    "\tmovq\t%rbx, %rdi\n.Lbunchj0:\n"));
	assert_non_null(strstr(out, "\t.popsection\n\taddq\t$8, %rbx\n"));
	free(out);
}

#define AT(distance, hook) "\tleaq\t" distance "(%rbx), %rdi\n\tcall\t__tsan_" hook "@PLT\n"

static void test_granules(void **state)
{
	static const struct {
		struct bunch_row row;
		unsigned granules;
	} cases[] = {
		{ { .count = 2, .member = { { .size = 8 }, { .size = 8 } } }, 1 },
		{ { .count = 2, .member = { { .size = 8 }, { .size = 4, .distance = 4 } } }, 1 },
		{ { .count = 2, .member = { { .size = 8 }, { .size = 1, .distance = 8 } } }, 2 },
		{ { .count = 2, .member = { { .size = 8 }, { .size = 1, .distance = -1 } } }, 2 },
		{ { .count = 2, .member = { { .size = 4 }, { .size = 4, .distance = 4 } } }, 2 },	/* from the middle of a granule */
		{ { .count = 2, .member = { { .size = 4 }, { .size = 4, .distance = 8 } } }, 2 },
		{ { .count = 2, .member = { { .size = 4 }, { .size = 8, .distance = 4 } } }, 2 },	/* the second one tells */
		{ { .count = 2, .member = { { .size = 4 }, { .size = 8, .distance = 8 } } }, 2 },
		{ { .count = 2, .member = { { .size = 1 }, { .size = 1 } } }, 1 },
		{ { .count = 2, .member = { { .size = 1 }, { .size = 1, .distance = 1 } } }, 2 },
		{ { .count = 2, .member = { { .size = 1 }, { .size = 1, .distance = -8 } } }, 2 },
		{ { .count = 2, .member = { { .size = 1 }, { .size = 1, .distance = 9 } } }, 3 },
		{ { .count = 2, .member = { { .size = 2 }, { .size = 2, .distance = 6 } } }, 2 },
		{ { .count = 2, .member = { { .size = 16 }, { .size = 8, .distance = 8 } } }, 2 },
		{ { .count = 2, .member = { { .size = 16 }, { .size = 16, .distance = 16 } } }, 4 },
		{ { .count = 2, .member = { { .size = 16 }, { .size = 8, .distance = -16 } } }, 4 },
		{ { .count = 3, .member = { { .size = 8 }, { .size = 8, .distance = 16 }, { .size = 8, .distance = -8 } } }, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(bunch_granules(&cases[i].row), cases[i].granules);
}

/* Which hooks belong together. */
static void test_rows(void **state)
{
	char *many;
	struct buf body = { 0 };

	(void)state;
	check_bunches(AT("", "read8") AT("24", "write8"), "2,4 ");
	check_bunches(AT("", "read8") AT("32", "write8"), "");
	check_bunches(AT("24", "read8") AT("", "write8") AT("-8", "write8") AT("-16", "write8"), "2,4 2,2 ");
	check_bunches(AT("", "read8") AT("8", "read4") "\tmovq\t%r12, %rdi\n\tcall\t__tsan_read8\n"
		      "\tmovq\t%r12, %rdi\n\tcall\t__tsan_write8\n", "2,2 2,1 ");
	check_bunches(AT("1", "read1") AT("2", "read1"), "2,2 ");
	check_bunches(AT("", "read16") AT("16", "read16"), "2,4 ");
	/* Made of what was read from memory. */
	check_bunches("\tmovq\t(%rbx), %rax\n\tleaq\tt(,%rax,8), %rbp\n\tmovq\t%rbp, %rdi\n\tcall\t__tsan_read8\n"
		      "\tmovq\t%rbp, %rdi\n\tcall\t__tsan_write8\n", "2,1 ");
	check_bunches("\tleaq\tt+8(%rip), %rdi\n\tcall\t__tsan_read8\n\tleaq\t16+t(%rip), %rdi\n"
		      "\tcall\t__tsan_read8\n", "2,2 ");
	/* Fifteen at most. */
	for (unsigned i = 0; i < 17; i++)
		buf_add_text(&body, AT("", "read8"));
	many = bunches_of(buf_string(&body));
	assert_string_equal(many, "15,1 2,1 ");
	free(many);
	buf_free(&body);
}

/* to[own[*from]++] = *from: the second read of *from can be told with the first if nobody wants to hear of own[]. */
static void test_span(void **state)
{
	static const char text[] = HEAD
		"\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n"
		"\tmovq\t(%rbx), %rax\n\tleaq\t(%r12,%rax,8), %rbp\n"
		"\tmovq\t%rbp, %rdi\n\tcall\t__tsan_read8@PLT\n"
		"\tmovq\t%rbp, %rdi\n\tcall\t__tsan_write8@PLT\n"
		"\t.loc 1 22 16 view .LVU30\n"
		"\tmovq\t%rbx, %rdi\n\taddq\t$8, %rbx\n\tcall\t__tsan_read8@PLT\n.Lsnarlp0_3:\n"
		"\tmovq\t-8(%rbx), %r12\n"
		TAIL;
	size_t count;
	char *out = run(text, false, &count), *at;
	char *check = xasprintf(
		"\tjmp .Lbunchj0\n"
		".Lbunch0:\n"
		"\tleaq (%%rdi),%%rax; shrq $3,%%rax; movzwl 0x7fff8000(,%%rax,2),%%eax; "
		"cmpw %%ax,%%fs:__snarl_tls@tpoff+8; je .Lbunchf0; cmpw %%ax,%%fs:__snarl_tls@tpoff+96; "
		"jne .Lbunchs0; movq %%fs:__snarl_tls@tpoff,%%rax; testl $4095,%%eax; je .Lbunchc0; "
		APPEND(".Lbunch0", "%%rcx", "%1$u", "%%fs:__snarl_tls@tpoff")
		".Lbunchc0: leaq .Lbunch0(%%rip),%%rcx; movl $%1$u,%%eax; call __snarl_bunch@PLT; "
		"testl %%eax,%%eax; jne .Lbunchf0\n"
		"\tjmp .Lbunchs0\n"
		".Lbunchf0:\n"
		"\tmovq\t(%%rbx), %%rax\n\tleaq\t(%%r12,%%rax,8), %%rbp\n"
		"\tmovq\t%%rbp, %%rdi\n\tmovq\t%%rbp, %%rdi\n"
		"\t.loc 1 22 16\n"
		"\tmovq\t%%rbx, %%rdi\n\taddq\t$8, %%rbx\n"
		".Lbunchj0:\n"
		"\t.pushsection snarl_bunches,\"ao\",@progbits,f\n"
		"\t.p2align 2\n"
		"\t.long .Lbunchg0-.,.Lbunchf0-.\n"
		"\t.value 514,1\n"
		"\t.long .Lbunchh0-.\n"
		"\t.value 0,771\n"
		"\t.long .Lbunchh1-.\n"
		"\t.value 0,771\n"
		"\t.long .Lbunch0-.\n"
		"\t.long .Lbunchp1_0-.\n"
		"\t.long .Lbunchp1_1-.\n"
		"\t.popsection\n"
		"\tmovq\t-8(%%rbx), %%r12\n", TRACE_BUNCH | 2 << 8);

	(void)state;
	assert_int_equal(count, 2);
	at = strstr(out, "\tmovq\t%rbx, %rdi\n.Lbunchg0:\n\t.byte 0x0f,0x1f,0x44,0,0\n.Lbunchs0:\n\tcall\t__tsan_read8@PLT\n"
			 ".Lbunchh0:\n\tmovq\t(%rbx), %rax\n\tleaq\t(%r12,%rax,8), %rbp\n\tmovq\t%rbp, %rdi\n.Lbunch1:\n");
	assert_non_null(at);
	at = strstr(at, ".Lbunchj1:\n");
	assert_non_null(at);
	at = strstr(at, "\tmovq\t%rbx, %rdi\n\taddq\t$8, %rbx\n\tcall\t__tsan_read8@PLT\n.Lbunchh1:\n.Lsnarlp0_3:\n\tjmp");
	assert_non_null(at);
	at = strstr(at, "\tjmp");
	assert_memory_equal(at, check, strlen(check));
	free(check);
	free(out);
}

#define OTHER(base) "\tmovq\t%" base ", %rdi\n\tcall\t__tsan_read8\n"

static void check_others(unsigned count, const char *expected)
{
	struct buf body = { 0 };

	buf_add_text(&body, AT("", "read8"));
	while (count-- > 0)
		buf_add_text(&body, "\tmovq\t(%r14), %r12\n" OTHER("r12"));
	buf_add_text(&body, AT("8", "read8"));
	check_bunches(buf_string(&body), expected);
	buf_free(&body);
}

/* Which hooks are told over others; 256 for each of these. Rows that a span has come before it. */
static void test_spans(void **state)
{
	(void)state;
	check_bunches(AT("", "read8") OTHER("r12") AT("", "write8"), "258,1 ");
	check_bunches(AT("", "read8") OTHER("r12") AT("24", "write8") OTHER("r13"), "258,4 ");
	check_bunches(AT("", "read8") AT("8", "read8") OTHER("r12") AT("16", "read8"), "2,2 259,3 ");
	check_bunches(AT("", "read8") OTHER("r12") AT("8", "read8") AT("16", "read8"), "2,2 259,3 ");
	check_bunches(AT("", "read8") "\tmovq\t%r12, %rdi\n\tcall\t__tsan_unaligned_read8\n" AT("8", "read8"), "258,2 ");
	/* What is not the same memory for sure, or is far off. */
	check_bunches(AT("", "read8") OTHER("r12") AT("32", "read8"), "");
	check_bunches(AT("", "read8") OTHER("r12") "\tmovq\t(%rbx), %rbx\n" AT("8", "read8"), "");
	check_bunches(AT("", "read8") AT("64", "read8") AT("8", "read8"), "");
	check_bunches(AT("", "read8") "\tmovq\t%r12, %rdi\n\tcall\t__tsan_volatile_read8\n" AT("8", "read8"), "");
	check_bunches(AT("", "read8") OTHER("r12") "\tcall\tg\n" AT("8", "read8"), "");
	check_bunches(AT("", "read8") OTHER("r12") "\tjne\t.L5\n.L5:\n" AT("8", "read8"), "");
	/* Where rows go on, the span does not end: it is as long as the last that is over. */
	check_bunches(AT("", "read8") OTHER("r12") AT("16", "read8") AT("32", "read8"), "2,3 ");
	check_bunches(AT("", "read8") OTHER("r12") AT("8", "read8") OTHER("r12") AT("16", "read8") AT("32", "read8"),
		      "258,2 258,1 2,3 ");
	/* Two that overlap, the second one ends later. */
	check_bunches(AT("", "read8") OTHER("r12") AT("8", "read8") OTHER("r12"), "258,2 258,1 ");
	/* One that has another in it. */
	check_bunches(AT("", "read8") OTHER("r12") OTHER("r13") OTHER("r12") AT("8", "read8"), "770,2 258,1 ");
	/* As many others as there may be. */
	check_others(BUNCH_SILENT, "3074,2 ");
	check_others(BUNCH_SILENT + 1, "");
}

static void test_refused(void **state)
{
#define BETWEEN(text) AT("", "read8") text AT("8", "read8")
	(void)state;
	check_bunches(BETWEEN(""), "2,2 ");
	check_bunches(BETWEEN("\tcall\tg\n"), "");
	check_bunches(BETWEEN("\tcall\t__tsan_atomic32_load@PLT\n"), "");
	check_bunches(BETWEEN("\tcall\t__tsan_vptr_read@PLT\n"), "");
	check_bunches(BETWEEN("\tjne\t.L5\n.L5:\n"), "");
	check_bunches(".L5:\n" BETWEEN("") "\tjne\t.L5\n", "2,2 ");
	check_bunches(BETWEEN(".L5:\n") "\tjne\t.L5\n", "");
	check_bunches(BETWEEN(".L5:\n") "\t.section\t.rodata\n\t.long\t.L5\n\t.text\n", "");
	check_bunches(BETWEEN(".LVL5:\n") "\t.section\t.debug_loc\n\t.quad\t.LVL5\n\t.text\n", "2,2 ");
	check_bunches(BETWEEN(".Lsnarlp3_0:\n") "\t.section\t.data.rel.ro.snarl.text,\"aw\",@progbits\n.Lsnarld3:\n"
		      "\t.quad\t.Lsnarlp3_0\n\t.text\n", "2,2 ");
	check_bunches(BETWEEN("\tlock addl\t$1, (%rax)\n"), "");
	check_bunches(BETWEEN("\tmfence\n"), "");
	check_bunches(BETWEEN("\trep stosq\n"), "");
	check_bunches(BETWEEN("\tpushq\t%rax\n"), "");
	check_bunches(BETWEEN("\t.cfi_def_cfa_offset 16\n"), "");
	check_bunches(BETWEEN("#APP\n# 5 \"a.c\" 1\n\tnop\n# 0 \"\" 2\n#NO_APP\n"), "");
	check_bunches(BETWEEN("\taddq\t$8, %rbx\n"), "2,3 ");
	check_bunches(BETWEEN("\tmovq\t(%rbx), %rbx\n"), "");
	check_bunches(AT("", "read8") AT("8", "unaligned_read8"), "");
	check_bunches(AT("", "read8") AT("8", "volatile_read8"), "");
	check_bunches(AT("", "read8") "\tcall\t__tsan_read8\n", "");	/* who knows what %rdi is */
	/* The stack is known elsewhere: the address may be another one. */
	check_bunches("\tleaq\t16(%rsp), %rax\n\tmovq\t%rbx, 8(%rsp)\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8\n"
		      "\tmovq\t8(%rsp), %rdi\n\tcall\t__tsan_write8\n", "");
	check_bunches("\tmovq\t%rbx, 8(%rsp)\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8\n"
		      "\tmovq\t8(%rsp), %rdi\n\tcall\t__tsan_write8\n", "2,1 ");
}

/* What asmtext.h does not understand is passed on as it is. */
static void test_strange(void **state)
{
	static const char text[] = HEAD ".macro m\n.endm\n" AT("", "read8") AT("", "read8") TAIL;
	struct buf out = { 0 };

	(void)state;
	assert_int_equal(bunch_transform(text, strlen(text), false, &out), 0);
	assert_string_equal(buf_string(&out), text);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_granules),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_strange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
