/* Merging two assemblies: paired functions, shared data, and functions that stay plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wrap/dual/dual_merge.h"

struct merged {
	struct buf text;
	struct dual_counts counts;
};

static struct merged merge(const char *plain, const char *inst, bool gcc)
{
	struct merged m = { .text = { 0 } };
	struct err err = { "" };

	if (dual_merge(plain, strlen(plain), inst, strlen(inst), gcc, &m.text, &m.counts, &err))
		fail_msg("%s", err.text);
	return m;
}

static void expect(struct merged *m, size_t pairs, size_t inner, size_t plain)
{
	if (m->counts.pairs != pairs || m->counts.inner != inner || m->counts.plain != plain)
		fail_msg("%zu pairs, %zu inner, %zu plain\n%s", m->counts.pairs, m->counts.inner,
			 m->counts.plain, buf_string(&m->text));
}

static void has(struct merged *m, const char *text)
{
	if (!strstr(buf_string(&m->text), text))
		fail_msg("no '%s' in\n%s", text, buf_string(&m->text));
}

static void has_not(struct merged *m, const char *text)
{
	if (strstr(buf_string(&m->text), text))
		fail_msg("'%s' in\n%s", text, buf_string(&m->text));
}

#define FUNCTION(name, body) \
	"\t.globl\t" name "\n\t.type\t" name ", @function\n" name ":\n" body \
	"\tret\n\t.size\t" name ", .-" name "\n"
#define STATIC(name, body) \
	"\t.type\t" name ", @function\n" name ":\n" body "\tret\n\t.size\t" name ", .-" name "\n"
#define COMMON(name) "\t.local\t" name "\n\t.comm\t" name ",4,4\n"

static void test_pair(void **state)
{
	struct merged m =
		merge("\t.text\n" FUNCTION("f", "\tcall\tg\n"),
		      "\t.text\n" FUNCTION(
			      "f", ".L3:\n\tcall\t__tsan_func_entry@PLT\n\tcall\tg\n\tjmp\t.L3\n"),
		      true);

	(void)state;
	expect(&m, 1, 0, 0);
	has(&m, "\t.p2align 3\n.Linst.entry1:\nf:\n\t.byte 0x0f,0x1f,0x44,0x00,0x00\n\tcall\tg\n");
	has(&m, "\t.section .snarl.text,\"ax\",@progbits\n");
	has(&m, "f.inst:\n.Linst.3:\n\tcall\t__tsan_func_entry@PLT\n\tcall\tg\n\tjmp\t.Linst.3\n");
	has(&m, "\t.size\tf.inst, .-f.inst\n.Linst.end1:\n");
	has(&m,
	    "\t.long .Linst.entry1-.\n\t.long f.inst-.\n\t.long .Linst.end1-f.inst\n\t.long 1\n");
	buf_free(&m.text);
}

/* The nop is before a loop that begins at the entry, but behind endbr64 and unwind directives. */
static void test_entry(void **state)
{
	const char *inst = "\t.text\n" FUNCTION("f", "");
	struct merged m =
		merge("\t.text\n" FUNCTION("f", ".LFB0:\n\t.cfi_startproc\n.L2:\n\tjmp\t.L2\n"),
		      inst, true);

	(void)state;
	has(&m, ".cfi_startproc\n\t.byte 0x0f,0x1f,0x44,0x00,0x00\n.L2:\n");
	buf_free(&m.text);
	m = merge("\t.text\n" FUNCTION("f", ".LFB0:\n\tendbr64\n\tpushq\t%rbp\n"), inst, true);
	has(&m, "\t.nops 4\n.Linst.entry1:\nf:\n.LFB0:\n\tendbr64\n"
		"\t.byte 0x0f,0x1f,0x44,0x00,0x00\n\tpushq");
	buf_free(&m.text);
}

/* Static variables with different numbers are matched by their size. */
static void test_statics(void **state)
{
	struct merged m = merge("\t.text\n" FUNCTION("f", "\tmovl\tn.0(%rip), %eax\n") COMMON("n.0")
				"\t.local\tn.1\n\t.comm\tn.1,8,8\n",
				"\t.text\n" FUNCTION("f", "\tmovl\tn.7(%rip), %eax\n") COMMON("n.7")
				"\t.local\tn.8\n\t.comm\tn.8,8,8\n", true);

	(void)state;
	expect(&m, 1, 0, 0);
	has(&m, "f.inst:\n\tmovl\tn.0(%rip), %eax\n");
	has_not(&m, "n.7");
	buf_free(&m.text);
}

/* Two functions have equal static variables n, which are numbered the other way round. */
static void test_statics_swapped(void **state)
{
	struct merged m = merge("\t.text\n" FUNCTION("f", "\tincl\tn.0(%rip)\n")
					FUNCTION("g", "\tincl\tn.1(%rip)\n") FUNCTION("h", "")
						COMMON("n.0") COMMON("n.1"),
				"\t.text\n" FUNCTION("f", "\tincl\tn.1(%rip)\n")
					FUNCTION("g", "\tincl\tn.0(%rip)\n") FUNCTION("h", "")
						COMMON("n.0") COMMON("n.1"),
				true);

	(void)state;
	expect(&m, 1, 0, 2);
	has_not(&m, "f.inst:");
	has(&m, "h.inst:");
	buf_free(&m.text);
}

/*
 * A variable is missing in plain: functions that use it stay plain, and so do functions that need
 * them.
 */
static void test_missing(void **state)
{
	struct merged m =
		merge("\t.text\n" FUNCTION("f", "") FUNCTION("g", "") FUNCTION("h", ""),
		      "\t.text\n" FUNCTION("f", "\tincl\tonly.3(%rip)\n")
			      STATIC("part.isra.0", "\tcall\tf\n\tincl\tonly.3(%rip)\n")
				      FUNCTION("g", "\tcall\tpart.isra.0\n")
					      FUNCTION("h", "\tcall\tg\n") COMMON("only.3"),
		      true);

	(void)state;
	expect(&m, 1, 0, 2);
	has(&m, "h.inst:\n\tcall\tg\n");
	buf_free(&m.text);
}

/* gcc's clones and clang's local functions are copied for instrumented callers. */
static void test_inner(void **state)
{
	const char *plain = "\t.text\n" STATIC("s", "") STATIC("t", "")
		FUNCTION("f", "\tcall\ts\n\tleaq\tt(%rip), %rax\n");
	struct merged m = merge(plain, plain, false);

	(void)state;
	expect(&m, 2, 1, 1);
	has(&m, "f.inst:\n\tcall\ts.inst\n\tleaq\tt(%rip), %rax\n");
	has(&m, "\t.long f.inst-.\n\t.long s.inst-.\n");
	buf_free(&m.text);
	m = merge(plain, plain, true);
	expect(&m, 3, 0, 0);
	has(&m, "f.inst:\n\tcall\ts\n");
	buf_free(&m.text);
}

#define TEXT(label, text) \
	"\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n" label ":\n\t.string\t\"" text "\"\n"

/* Equal strings become one object; other constants, such as jump tables, are copied. */
static void test_constants(void **state)
{
	struct merged m = merge(
		TEXT(".LC0", "x")
			TEXT(".LC1", "y") "\t.text\n" FUNCTION("f", "\tleaq\t.LC1(%rip), %rax\n"),
		TEXT(".LC0", "y") TEXT(".LC1", "z") "\t.text\n" FUNCTION(
			"f",
			"\tleaq\t.LC0(%rip), %rax\n\tleaq\t.LC1(%rip), %rbx\n"
			"\tleaq\t.L4(%rip), %rcx\n"
			"\t.section\t.rodata\n\t.align 4\n.L4:\n\t.long\t.L5-.L4\n\t.text\n.L5:\n"),
		true);

	(void)state;
	expect(&m, 1, 0, 0);
	has(&m, "leaq\t.LC1(%rip), %rax\n\tleaq\t.Linst.C1(%rip), %rbx\n"
		"\tleaq\t.Linst.4(%rip), %rcx\n");
	has(&m, ".Linst.C1:\n\t.string\t\"z\"\n");
	has_not(&m, ".Linst.C0:");
	has(&m, "\t.align 4\n.Linst.4:\n\t.long\t.Linst.5-.Linst.4\n");
	buf_free(&m.text);
}

/* Tables of computed gotos look equal, but each refers to its own version's labels. */
static void test_code_table(void **state)
{
	const char *text =
		"\t.section\t.data.rel.ro.local,\"aw\"\n"
		"\t.type\tsteps.0, @object\n\t.size\tsteps.0, 8\n"
		"steps.0:\n\t.quad\t.L2\n\t.text\n" FUNCTION("f", "\tjmp\t*steps.0(%rip)\n.L2:\n");
	struct merged m = merge(text, text, true);

	(void)state;
	expect(&m, 1, 0, 0);
	has(&m, "steps.0.inst:\n\t.quad\t.Linst.2\n");
	has(&m, "f.inst:\n\tjmp\t*steps.0.inst(%rip)\n");
	buf_free(&m.text);
}

#define GROUP \
	"\t.section\t.text.i,\"axG\",@progbits,i,comdat\n\t.weak\ti\n" \
	"\t.type\ti, @function\ni:\n\tret\n\t.size\ti, .-i\n"

/* A function stays in its section group if plain has the group, else it leaves the group. */
static void test_groups(void **state)
{
	struct merged m = merge(GROUP "\t.text\n" FUNCTION("f", "\tcall\ti\n"),
				GROUP "\t.text\n" FUNCTION("f", "\tcall\ti\n"), true);

	(void)state;
	expect(&m, 2, 0, 0);
	has(&m, "\t.section .snarl.text,\"axG\",@progbits,i,comdat\n");
	has(&m, "\t.section snarl_dual,\"aGo\",@progbits,i,i,comdat\n");
	buf_free(&m.text);
	m = merge("\t.text\n" FUNCTION("f", ""), GROUP "\t.text\n" FUNCTION("f", "\tcall\ti\n"),
		  true);
	expect(&m, 1, 1, 0);
	has_not(&m, "axG\",@progbits,i,");
	has(&m, "f.inst:\n\tcall\ti.inst\n");
	buf_free(&m.text);
}

/* Inline assembly may define a symbol, which must not be defined twice. */
static void test_user_text(void **state)
{
	struct merged m = merge("\t.text\n" FUNCTION("f", "#APP\nmark:\n#NO_APP\n")
					FUNCTION("g", "#APP\n1:\tjmp 1b\n#NO_APP\n"),
				"\t.text\n" FUNCTION("f", "#APP\nmark:\n#NO_APP\n")
					FUNCTION("g", "#APP\n1:\tjmp 1b\n#NO_APP\n"),
				true);

	(void)state;
	expect(&m, 1, 0, 1);
	has_not(&m, "f.inst:");
	buf_free(&m.text);
}

static void test_strange(void **state)
{
	struct buf out = { 0 };
	struct dual_counts counts;
	struct err err = { "" };
	const char *text = "\t.intel_syntax noprefix\n";

	(void)state;
	assert_int_equal(dual_merge(text, strlen(text), "", 0, true, &out, &counts, &err), -1);
	assert_string_equal(
		err.text, "the compiler's assembly has '.intel_syntax', which snarl does not read");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_statics),
		cmocka_unit_test(test_statics_swapped),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_inner),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_code_table),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_user_text),
		cmocka_unit_test(test_strange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
