/* Hooks inlined into LLVM IR: exact output, with the same machine code as inline_asm.c makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/hooks/inline_ir.h"

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

static char *transform(const char *text, bool pic)
{
	struct output out = { 0 };
	struct inline_sink sink = { collect, &out };

	collect(&out, "", 0);
	ir_transform(text, strlen(text), pic, &sink);
	return out.text;
}

static void check(const char *text, bool pic, const char *expected)
{
	char *got = transform(text, pic);

	assert_string_equal(got, expected);
	free(got);
}

#define EXEC(load, compare, shared, prefetch, op)                                                  \
	"  call void asm sideeffect alignstack \"movq %rdi,%rax; shrq $$3,%rax; " load             \
	" 0x7fff8000(,%rax,2),%eax; " compare "; je .Lsnarl${:uid}; " shared                       \
	"; jne .Lsnarlc${:uid}; " prefetch "movq %fs:__snarl_tls@tpoff,%rax; testl $$4095,%eax; "  \
	"je .Lsnarlc${:uid}; leaq .Lsnarl${:uid}(%rip),%rcx; movq %rdi,(%rax); "                   \
	"movq %rcx,8(%rax); movw $$" op ",14(%rax); addq $$16,%rax; "                              \
	"movq %rax,%fs:__snarl_tls@tpoff; jmp .Lsnarl${:uid}; "                                    \
	".Lsnarlc${:uid}: movl $$" op ",%eax; .Lsnarls${:uid}: call __snarl_access@PLT; "          \
	".Lsnarl${:uid}:\", "                                                                      \
	"\"{di},~{rax},~{rcx},~{memory},~{dirflag},~{fpsr},~{flags}\""
#define EXEC8(prefetch, op) \
	EXEC("movzwl", "cmpw %ax,%fs:__snarl_tls@tpoff+8", "cmpw $$-1,%ax", prefetch, op)
#define ASK "prefetchw (%rdi); "
#define EXEC16(prefetch, op) \
	EXEC("movl", "cmpl %eax,%fs:__snarl_tls@tpoff+12", "cmpl $$-1,%eax", prefetch, op)

static void test_forms(void **state)
{
	(void)state;
	check("  call void @__tsan_read8(i8* %5)\n", false, EXEC8("", "771") "(i8* %5)\n");
	check("  call void @__tsan_write4(i8* %5), !dbg !17\n", false,
	      EXEC8(ASK, "516") "(i8* %5), !dbg !17\n");
	check("  tail call void @__tsan_read1(ptr @x), !dbg !1\n", false,
	      EXEC8("", "3") "(ptr @x), !dbg !1\n");
	check("  call void @__tsan_volatile_write2(ptr %x)\n", false,
	      EXEC8(ASK, "2308") "(ptr %x)\n");
	check("  call void @__tsan_write16(ptr %x)", false, EXEC16(ASK, "1028") "(ptr %x)");
	check("  call void @__tsan_read8(i8* bitcast (double* getelementptr inbounds ([8 x "
	      "double], "
	      "[8 x double]* @\"a)b\", i64 0, i64 1) to i8*)), !dbg !9\n  ret void\n",
	      false,
	      EXEC8("",
		    "771") "(i8* bitcast (double* getelementptr inbounds ([8 x double], "
			   "[8 x double]* @\"a)b\", i64 0, i64 1) to i8*)), !dbg !9\n  ret void\n");
}

/* Unaligned accesses are first tested for lying in two granules. */
static void test_unaligned(void **state)
{
	static const struct {
		const char *hook, *aligned, *test;
	} cases[] = {
		{ "unaligned_read8", "read8",
		  "testb $$7,%dil; movl $$66307,%eax; jne .Lsnarls${:uid}; " },
		{ "unaligned_write16", "write16",
		  "testb $$7,%dil; movl $$66564,%eax; jne .Lsnarls${:uid}; " },
		{ "unaligned_volatile_write4", "volatile_write4",
		  "movl %edi,%eax; andl $$7,%eax; cmpl $$4,%eax; movl $$68100,%eax; "
		  "ja .Lsnarls${:uid}; " },
	};
	const char *start = "  call void asm sideeffect alignstack \"";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[80], expected[2048], *aligned;

		snprintf(line, sizeof(line), "  call void @__tsan_%s(ptr %%1)\n", cases[i].aligned);
		aligned = transform(line, false);
		assert_memory_equal(aligned, start, strlen(start));
		snprintf(expected, sizeof(expected), "%s%s%s", start, cases[i].test,
			 aligned + strlen(start));
		snprintf(line, sizeof(line), "  call void @__tsan_%s(ptr %%1)\n", cases[i].hook);
		check(line, false, expected);
		free(aligned);
	}
}

static void test_left_alone(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"  call void @__tsan_func_exit()\n",
		"  call void @__tsan_unaligned_read_write8(i8* %5)\n",
		"  call void @__tsan_read8(i8* %5) #3\n",
		"  call void @__tsan_read8(i8* %5) [ \"funclet\"(token %1) ]\n",
		"  call void @__tsan_read8(i8* nonnull\n",
		"  call void @__tsan_read32(i8* %5)\n",
		"  call void @__tsan_read_range(i8* %5, i64 3)\n",
		"  call void @__tsan_read8(i64 %5)\n",
		"  %6 = call i8 @__tsan_read8(i8* %5)\n",
		"  invoke void @__tsan_read8(i8* %5)\n",
		"declare void @__tsan_read8(i8*)\n",
		"@s = constant [9 x i8] c\"  call void @__tsan_read8(i8* %5)\"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		check(texts[i], false, texts[i]);
		check(texts[i], true, texts[i]);
	}
}

/*
 * Sets `code` to the code between `from` and `to`, without the escapes of LLVM's inline assembly.
 */
static void plain_code(char *code, const char *from, const char *to)
{
	while (from < to) {
		if (strncmp(from, "${:uid}", 7) == 0) {
			*code++ = '0';
			from += 7;
			continue;
		}
		if (strncmp(from, "$$", 2) == 0)
			from++;
		*code++ = *from++;
	}
	*code = '\0';
}

static void compare_with_assembly(const char *hook, bool pic)
{
	struct output out = { 0 };
	struct inline_sink sink = { collect, &out };
	struct inliner in;
	char line[80], code[1024], *got;

	snprintf(line, sizeof(line), "\tcall\t__tsan_%s@PLT", hook);
	inliner_init(&in, pic);
	inliner_feed(&in, line, strlen(line), &sink);
	assert_non_null(strstr(out.text, "call __tsan_"));
	*strstr(out.text, "call __tsan_") = '\0';
	snprintf(line, sizeof(line), "  call void @__tsan_%s(i8* %%1)", hook);
	got = transform(line, pic);
	assert_non_null(strstr(got, "movl $$"));
	plain_code(code, strstr(got, "movq %rdi,%rax"),
		   strstr(strstr(got, "%fs"), ".Lsnarlc${:uid}: ") + 17);
	assert_string_equal(code, out.text + 1);	/* inline_asm.c's begins with a tab */
	free(got);
	free(out.text);
}

static void test_same_code(void **state)
{
	static const char *const kinds[] = { "read", "write", "volatile_read", "volatile_write" };
	char hook[40];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (unsigned size = 1; size <= 16; size *= 2) {
			snprintf(hook, sizeof(hook), "%s%u", kinds[i], size);
			compare_with_assembly(hook, false);
			compare_with_assembly(hook, true);
		}
}

static void test_libraries(void **state)
{
	char *got = transform("  call void @__tsan_read8(i8* %5)\n", true);

	(void)state;
	assert_non_null(strstr(got, "\"{di},~{rax},~{rcx},~{rdx},~{r10},~{r11},~{memory}"));
	free(got);
}

static void test_wide_registers(void **state)
{
	const char *call = "  call void @__tsan_read8(ptr %5)\n";
	char text[200], *got;

	(void)state;
	snprintf(text, sizeof(text), "%sattributes #0 = { \"target-features\"=\"+avx,+sse\" }\n",
		 call);
	got = transform(text, false);
	assert_non_null(strstr(got, "call __snarl_access_wide@PLT; "));
	assert_null(strstr(got, "~{k0}"));
	free(got);
	snprintf(text, sizeof(text), "%sattributes #0 = { \"target-features\"=\"+avx512f\" }\n",
		 call);
	got = transform(text, false);
	assert_non_null(strstr(got, "call __snarl_access_wide@PLT; "));
	assert_non_null(strstr(got, "~{flags},~{k0},~{k1},"));
	assert_non_null(strstr(got, ",~{xmm31}\"(ptr %5)\n"));
	free(got);
}

static void test_recognise(void **state)
{
	(void)state;
	assert_true(ir_recognise("; ModuleID = 'a.c'\n", 19));
	assert_false(ir_recognise("; Module", 8));
	assert_false(ir_recognise("\t.text\n\t.file\t\"a.c\"\n", 20));
	assert_false(ir_recognise("", 0));
}

/* A block with hooks that jumps to itself is a loop; similar code is none. */
static void test_has_loop(void **state)
{
#define BLOCK(name, jump) name ":                                     ; preds = %2, %7\n" \
	"  %8 = phi i64 [ 0, %2 ], [ %9, %7 ]\n" \
	"  call void @__tsan_read8(ptr %5), !dbg !5\n" \
	"  %9 = add i64 %8, 1\n" jump
	static const char *const loops[] = {
		BLOCK("7", "  br i1 %10, label %7, label %11, !dbg !3\n"),
		BLOCK("7", "  br i1 %10, label %11, label %7\n"),
		BLOCK("for.body", "  br i1 %10, label %for.end, label %for.body, !llvm.loop !4\n"),
	};
	static const char *const others[] = {
		"",
		BLOCK("7", "  br label %7\n"),				/* an endless loop */
		BLOCK("7", "  br i1 %10, label %71, label %17\n"),
		BLOCK("7", "  br label %12\n12:                    ; preds = %7\n"
			   "  br i1 %10, label %12, label %11\n"),	/* no hooks */
		BLOCK("7", "  br label %12\n12:\n  br i1 %10, label %7, label %11\n"),
		"7:\n  %9 = add i64 %8, 1\n  br i1 %10, label %7, label %11\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		assert_true(ir_has_loop(loops[i], strlen(loops[i])));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(ir_has_loop(others[i], strlen(others[i])));
}

static void test_repair_files(void **state)
{
	static const char text[] =
		"\t.text\n\t.file\t\"a.c\"\n\t.file\t0 \"/tmp\" \"a.c\" md5 0x12\n"
		"\t.file\t1 \"/tmp/a.c\" md5 0x12\n\t.file\t2 \"b.h\" md5 0x34\n"
		"\t.file\t3 \"c.h\"\n\t.ascii\t\" md5 0x56\"\n";
	static const char expected[] =
		"\t.text\n\t.file\t\"a.c\"\n\t.file\t0 \"/tmp\" \"a.c\" md5 0x12\n"
		"\t.file\t1 \"/tmp/a.c\"\n\t.file\t2 \"b.h\"\n"
		"\t.file\t3 \"c.h\"\n\t.ascii\t\" md5 0x56\"\n";
	struct output out = { 0 };
	struct inline_sink sink = { collect, &out };

	(void)state;
	ir_repair_files(text, strlen(text), &sink);
	assert_string_equal(out.text, expected);
	free(out.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_same_code),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_wide_registers),
		cmocka_unit_test(test_recognise),
		cmocka_unit_test(test_has_loop),
		cmocka_unit_test(test_repair_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
