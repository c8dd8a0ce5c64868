/* The inlining pass: exact output for every form of call, and what it must leave alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/hooks/inline_asm.h"

struct output {
	char *text;
	size_t size, room;
};

static void collect(void *context, const char *text, size_t size)
{
	struct output *out = context;

	while (out->size + size + 1 > out->room)
		out->text = xrealloc(out->text, out->room = out->room * 2 + 64);
	memcpy(out->text + out->size, text, size);
	out->size += size;
	out->text[out->size] = '\0';
}

static struct output run(const char *text, size_t size, bool pic)
{
	struct output out = { 0 };
	struct inline_sink sink = { collect, &out };
	struct inliner in;

	collect(&out, "", 0);
	inliner_init(&in, pic);
	inliner_feed(&in, text, size, &sink);
	return out;
}

static void check(const char *text, bool pic, const char *expected)
{
	struct output out = run(text, strlen(text), pic);

	assert_string_equal(out.text, expected);
	free(out.text);
}

static void check_untouched(const char *text)
{
	check(text, false, text);
	check(text, true, text);
}

/* The prefetch before the record of a write. */
#define PREFETCH "prefetchw (%rdi); "

/* `op` is the record's kind and detail, as a number: kind | detail << 8. */
#define APPEND(label, op, prefetch, cur, scratch)                                                  \
	"jne .Lsnarlc" label "; " prefetch "movq " cur ",%rax; testl $4095,%eax; "                 \
	"je .Lsnarlc" label "; leaq .Lsnarl" label "(%rip)," scratch "; movq %rdi,(%rax); "        \
	"movq " scratch ",8(%rax); movw $" op ",14(%rax); addq $16,%rax; movq %rax," cur "; "      \
	"jmp .Lsnarl" label "; .Lsnarlc" label ": "
#define EXEC(label, op, prefetch, call)                                                            \
	"\tmovq %rdi,%rax; shrq $3,%rax; movzwl 0x7fff8000(,%rax,2),%eax; "                        \
	"cmpw %ax,%fs:__snarl_tls@tpoff+8; je .Lsnarl" label "; cmpw $-1,%ax; "                    \
	APPEND(label, op, prefetch, "%fs:__snarl_tls@tpoff", "%rcx") "call __tsan_" call           \
	"@PLT; .Lsnarl" label ":"
#define EXEC16(label, op, prefetch, call)                                                          \
	"\tmovq %rdi,%rax; shrq $3,%rax; movl 0x7fff8000(,%rax,2),%eax; "                          \
	"cmpl %eax,%fs:__snarl_tls@tpoff+12; je .Lsnarl" label "; cmpl $-1,%eax; "                 \
	APPEND(label, op, prefetch, "%fs:__snarl_tls@tpoff", "%rcx") "call __tsan_" call           \
	"@PLT; .Lsnarl" label ":"
#define PIC(label, op, prefetch, call) \
	"\tmovq %rdi,%rax; shrq $3,%rax; movzwl 0x7fff8000(,%rax,2),%eax; " \
	"movq __snarl_tls@gottpoff(%rip),%rcx; cmpw %ax,%fs:8(%rcx); je .Lsnarl" label \
	"; cmpw $-1,%ax; " APPEND(label, op, prefetch, "%fs:(%rcx)", "%rdx") "call __tsan_" call \
									     "@PLT; .Lsnarl" label \
									     ":"
#define PIC16(label, op, prefetch, call) \
	"\tmovq %rdi,%rax; shrq $3,%rax; movl 0x7fff8000(,%rax,2),%eax; " \
	"movq __snarl_tls@gottpoff(%rip),%rcx; cmpl %eax,%fs:12(%rcx); je .Lsnarl" label \
	"; cmpl $-1,%eax; " APPEND(label, op, prefetch, "%fs:(%rcx)", \
				   "%rdx") "call __tsan_" call "@PLT; .Lsnarl" label ":"

static void test_spellings(void **state)
{
	static const char *const calls[] = {
		"\tcall\t__tsan_read4@PLT\n",
		"\tcall\t__tsan_read4\n",
		"\tcallq\t__tsan_read4@PLT\n",
		"\tcallq\t__tsan_read4\n",
		"\tcall\t*__tsan_read4@GOTPCREL(%rip)\n",
		"\tcallq\t*__tsan_read4@GOTPCREL(%rip)\n",
		"  call   __tsan_read4@PLT  \n",
		"call __tsan_read4@PLT\t#\n",
		"\tcall\t__tsan_read4@PLT\t# a, b\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		check(calls[i], false, EXEC("0", "515", "", "read4") "\n");
		check(calls[i], true, PIC("0", "515", "", "read4") "\n");
	}
}

static void test_every_hook(void **state)
{
	static const char *const kinds[] = { "read", "write", "volatile_read", "volatile_write" };
	static const char *const sizes[] = { "1", "2", "4", "8" };
	/* kind and detail, by kind of hook and size */
	static const char *const ops[4][4] = {
		{ "3", "259", "515", "771" },
		{ "4", "260", "516", "772" },
		{ "2051", "2307", "2563", "2819" },
		{ "2052", "2308", "2564", "2820" },
	};
	char text[100], expected[800];

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			snprintf(text, sizeof(text), "\tcall\t__tsan_%s%s@PLT\n", kinds[k],
				 sizes[s]);
			snprintf(expected, sizeof(expected),
				 "\tmovq %%rdi,%%rax; shrq $3,%%rax; "
				 "movzwl 0x7fff8000(,%%rax,2),%%eax; "
				 "cmpw %%ax,%%fs:__snarl_tls@tpoff+8; je .Lsnarl0; "
				 "cmpw $-1,%%ax; jne .Lsnarlc0; %smovq "
				 "%%fs:__snarl_tls@tpoff,%%rax; testl $4095,%%eax; je .Lsnarlc0; "
				 "leaq .Lsnarl0(%%rip),%%rcx; movq %%rdi,(%%rax); movq "
				 "%%rcx,8(%%rax); movw $%s,14(%%rax); addq $16,%%rax; movq "
				 "%%rax,%%fs:__snarl_tls@tpoff; jmp .Lsnarl0; "
				 ".Lsnarlc0: call __tsan_%s%s@PLT; .Lsnarl0:\n",
				 strstr(kinds[k], "write") ? PREFETCH : "", ops[k][s], kinds[k],
				 sizes[s]);
			check(text, false, expected);
		}
	}
	check("\tcall\t__tsan_read16@PLT\n", false, EXEC16("0", "1027", "", "read16") "\n");
	check("\tcall\t__tsan_volatile_write16\n", false,
	      EXEC16("0", "3076", PREFETCH, "volatile_write16") "\n");
	check("\tcall\t__tsan_write16@PLT\n", true, PIC16("0", "1028", PREFETCH, "write16") "\n");
	check("\tcall\t__tsan_volatile_read16@PLT\n", true,
	      PIC16("0", "3075", "", "volatile_read16") "\n");
}

/* An access that is not within one granule, and does not cover exactly two, calls the hook. */
static void test_unaligned(void **state)
{
	(void)state;
	check("\tcallq\t__tsan_unaligned_read4@PLT\n", false,
	      "\tmovl %edi,%eax; andl $7,%eax; cmpl $4,%eax; ja .Lsnarlc0;"
	      EXEC("0", "515", "", "unaligned_read4") "\n");
	check("\tcallq\t__tsan_unaligned_volatile_write2@PLT\n", true,
	      "\tmovl %edi,%eax; andl $7,%eax; cmpl $6,%eax; ja .Lsnarlc0;"
	      PIC("0", "2308", PREFETCH, "unaligned_volatile_write2") "\n");
	check("\tcallq\t__tsan_unaligned_write8@PLT\n", false,
	      "\ttestb $7,%dil; jne .Lsnarlc0;" EXEC("0", "772", PREFETCH,
						     "unaligned_write8") "\n");
	check("\tcallq\t__tsan_unaligned_read16@PLT\n", true,
	      "\ttestb $7,%dil; jne .Lsnarlc0;" PIC16("0", "1027", "", "unaligned_read16") "\n");
}

static void test_labels_are_unique(void **state)
{
	struct output out = { 0 };
	struct inline_sink sink = { collect, &out };
	struct inliner in;

	(void)state;
	check("\tcall\t__tsan_read4@PLT\n\tnop\n\tcall\t__tsan_write8@PLT\n", false,
	      EXEC("0", "515", "", "read4") "\n\tnop\n" EXEC("1", "772", PREFETCH, "write8") "\n");
	/* label numbers go on over several pieces of one assembly */
	inliner_init(&in, false);
	inliner_feed(&in, "call __tsan_read1\n", 18, &sink);
	inliner_feed(&in, "call __tsan_read1\n", 18, &sink);
	assert_string_equal(out.text,
			    EXEC("0", "3", "", "read1") "\n" EXEC("1", "3", "", "read1") "\n");
	assert_int_equal(in.count, 2);
	free(out.text);
}

static void test_lines_keep_their_numbers(void **state)
{
	static const char text[] = "\t.text\n\tcall\t__tsan_read4@PLT\n\n\tbad\n";
	struct output out = run(text, sizeof(text) - 1, true);
	size_t lines = 0;

	(void)state;
	for (const char *p = out.text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 4);
	free(out.text);
}

static void test_left_alone(void **state)
{
	(void)state;
	check_untouched("");
	check_untouched("\n");
	check_untouched("\tmovl\t$1, %eax\n\tret\n");
	check_untouched("\tjmp\t__tsan_read4@PLT\n");		/* a tail call */
	check_untouched("\tcall\t__tsan_func_entry@PLT\n");
	check_untouched("\tcall\t__tsan_read_range@PLT\n");
	check_untouched("\tcall\t__tsan_unaligned_read_write4@PLT\n");
	check_untouched("\tcall\t__tsan_read4_pc@PLT\n");
	check_untouched("\tcall\t__tsan_read_write4@PLT\n");
	check_untouched("\tcall\t__tsan_read3@PLT\n");
	check_untouched("\tcall\t__tsan_read32@PLT\n");
	check_untouched("\tcall\t__tsan_read@PLT\n");
	check_untouched("\tcall\t__tsan_write160\n");
	check_untouched("\tcall\tmy__tsan_read4\n");
	check_untouched("\tcall\t*__tsan_read4\n");
	check_untouched("\tcall\t*__tsan_read4@GOTPCREL(%rax)\n");
	check_untouched("\tcall\t__tsan_read4@PLT; nop\n");
	check_untouched("\tcall\t__tsan_read4+8\n");
	check_untouched("\tcall__tsan_read4\n");
	check_untouched("\tcalls\t__tsan_read4\n");
	check_untouched("foo:\tcall\t__tsan_read4\n");
	check_untouched("# call\t__tsan_read4\n");
	check_untouched("\t.ascii\t\"\\tcall\\t__tsan_read4\\n\"\n");
	check_untouched("\t.string \"call __tsan_read4@PLT\"\n");
	check_untouched("\tcall\t*%rax\n");
	check_untouched("\tcall");
	check_untouched("\tcall\t__tsan_read");
	check_untouched("c");
}

static void test_inline_assembly(void **state)
{
	(void)state;
	check_untouched("#APP\n# 3 \"a.c\" 1\n\tcall __tsan_read4@PLT\n# 0 \"\" 2\n#NO_APP\n");
	check_untouched("\t#APP\n\tcall __tsan_read4@PLT\n\t#NO_APP\n");	/* clang's form */
	check("#APP\n\tcall __tsan_read4\n#NO_APP\n\tcall __tsan_read4\n", false,
	      "#APP\n\tcall __tsan_read4\n#NO_APP\n" EXEC("0", "515", "", "read4") "\n");
}

static void test_intel_syntax(void **state)
{
	(void)state;
	check_untouched("\t.intel_syntax noprefix\n\tcall\t__tsan_read4@PLT\n");
	check("\t.intel_syntax noprefix\n\tcall __tsan_read4\n\t.att_syntax\n\tcall __tsan_read4\n",
	      false,
	      "\t.intel_syntax noprefix\n\tcall __tsan_read4\n\t.att_syntax\n" EXEC("0", "515", "",
										    "read4") "\n");
	/* inline assembly changes the syntax and back in one line */
	check("#APP\n\t.intel_syntax noprefix; mov eax, 1; .att_syntax prefix\n#NO_APP\n"
	      "\tcall __tsan_read4\n",
	      false,
	      "#APP\n\t.intel_syntax noprefix; mov eax, 1; .att_syntax prefix\n#NO_APP\n"
	      EXEC("0", "515", "", "read4") "\n");
	check_untouched("#APP\n\tnop; .intel_syntax noprefix\n#NO_APP\n\tcall __tsan_read4\n");
}

static void test_repeated_bodies(void **state)
{
	(void)state;
	check_untouched("\t.macro m\n\tcall\t__tsan_read4\n\t.endm\n");
	check_untouched("\t.rept 3\n\t.irp x,1,2\n\tcall __tsan_read4\n\t.endr\n"
			"\tcall __tsan_read4\n\t.endr\n");
	check("\t.macro m\n\t.endm\n\tcall\t__tsan_read4\n", false,
	      "\t.macro m\n\t.endm\n" EXEC("0", "515", "", "read4") "\n");
	check("\t.endr\n\tcall\t__tsan_read4\n", false,
	      "\t.endr\n" EXEC("0", "515", "", "read4") "\n");
}

static void test_no_newline_at_the_end(void **state)
{
	(void)state;
	check("\tcall\t__tsan_read4@PLT", false, EXEC("0", "515", "", "read4"));
	check("\tnop\n\tcall\t__tsan_write16", true,
	      "\tnop\n" PIC16("0", "1028", PREFETCH, "write16"));
	check_untouched("\tnop\n\tret");
}

static void test_md5_of_sources(void **state)
{
	(void)state;
	check("\t.file\t0 \"/d\" \"a.c\" md5 0x975a9d5ee7d17d6fec1881b1e6b812e6\n\tnop\n", false,
	      "\t.file\t0 \"/d\" \"a.c\"\n\tnop\n");
	check("\t.file\t1 \"/a md5 0x1\" \"b.h\" md5 0x97\n\tcall __tsan_read2\n", false,
	      "\t.file\t1 \"/a md5 0x1\" \"b.h\"\n" EXEC("0", "259", "", "read2") "\n");
	check_untouched("\t.file\t\"a md5 0x1.c\"\n");
	check_untouched("\t.file\t1 \"a.c\"\n");
	check_untouched("\t.file\n");
}

static void test_huge_lines(void **state)
{
	size_t size = 3u << 20;
	char *text = xmalloc(size + 64);
	struct output out;

	(void)state;
	memcpy(text, "\t.ascii \"", 9);
	memset(text + 9, 'c', size - 9);
	memcpy(text + size - 2, "\"\n", 2);
	strcpy(text + size, "\tcall\t__tsan_read1@PLT\n");
	out = run(text, strlen(text), false);
	assert_memory_equal(out.text, text, size);
	assert_string_equal(out.text + size, EXEC("0", "3", "", "read1") "\n");
	free(out.text);
	free(text);
}

/* Zero bytes and bytes of no encoding pass through. */
static void test_bytes_pass(void **state)
{
	char text[512];
	struct output out;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)i;
	out = run(text, sizeof(text), true);
	assert_int_equal(out.size, sizeof(text));
	assert_memory_equal(out.text, text, sizeof(text));
	free(out.text);
}

static void test_output_is_stable(void **state)
{
	static const char text[] = "\tcall\t__tsan_read4@PLT\n\tcall\t__tsan_write16\n";
	struct output once = run(text, sizeof(text) - 1, false);
	struct output second_compile = run(once.text, once.size, false);

	(void)state;
	assert_string_equal(once.text, second_compile.text);
	free(once.text);
	free(second_compile.text);
}

static void test_wanted(void **state)
{
	(void)state;
	assert_true(inline_has_hooks("call __tsan_read4", 17));
	assert_false(inline_has_hooks("call other", 10));
	assert_false(inline_has_hooks("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_every_hook),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_labels_are_unique),
		cmocka_unit_test(test_lines_keep_their_numbers),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_inline_assembly),
		cmocka_unit_test(test_intel_syntax),
		cmocka_unit_test(test_repeated_bodies),
		cmocka_unit_test(test_no_newline_at_the_end),
		cmocka_unit_test(test_md5_of_sources),
		cmocka_unit_test(test_huge_lines),
		cmocka_unit_test(test_bytes_pass),
		cmocka_unit_test(test_output_is_stable),
		cmocka_unit_test(test_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
