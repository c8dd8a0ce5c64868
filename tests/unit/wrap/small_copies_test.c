/* Copies and fills in LLVM IR that become plain accesses: exact output, and calls that stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wrap/hooks/small_copies.h"

static void check(const char *text, const char *expected, size_t count)
{
	struct buf out = { 0 };

	assert_int_equal(small_copies_transform(text, strlen(text), false, &out), count);
	assert_string_equal(buf_string(&out), expected);
	buf_clear(&out);
	assert_int_equal(small_copies_transform(text, strlen(text), true, &out), count);
	assert_string_equal(buf_string(&out), expected);
	buf_free(&out);
}

static void test_copy(void **state)
{
	(void)state;
	check("  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 16), !dbg !17\n"
	      "  ret void, !dbg !18\n",
	      "  call void @__tsan_unaligned_read16(ptr %6), !dbg !17\n"
	      "  %snarl.value.0 = load <2 x i64>, ptr %6, align 1, !dbg !17\n"
	      "  call void @__tsan_unaligned_write16(ptr %5), !dbg !17\n"
	      "  store <2 x i64> %snarl.value.0, ptr %5, align 1, !dbg !17\n"
	      "  %7 = bitcast ptr %5 to ptr, !dbg !17\n  ret void, !dbg !18\n",
	      1);
	/* The last line may lack its newline; memmove reads before it writes. */
	check("  %x.1 = tail call ptr @__tsan_memmove(ptr @to, ptr @\"fr,)om\", i64 1)",
	      "  call void @__tsan_read1(ptr @\"fr,)om\")\n"
	      "  %snarl.value.0 = load i8, ptr @\"fr,)om\", align 1\n"
	      "  call void @__tsan_write1(ptr @to)\n"
	      "  store i8 %snarl.value.0, ptr @to, align 1\n"
	      "  %x.1 = bitcast ptr @to to ptr\n", 1);
}

/* Typed pointers of LLVM 14, whose pass calls the functions by libc's names. */
static void test_typed(void **state)
{
	(void)state;
	check("  %7 = call i8* @memcpy(i8* %5, i8* bitcast ([8 x double]* @a to i8*), i64 8)\n"
	      "  %8 = call i8* @memmove(i8* getelementptr inbounds ([9 x i8], [9 x i8]* @b, i64 0, "
	      "i64 1), i8* %x, i64 2), !dbg !3\n",
	      "  call void @__tsan_unaligned_read8(i8* bitcast ([8 x double]* @a to i8*))\n"
	      "  %snarl.from.0 = bitcast i8* bitcast ([8 x double]* @a to i8*) to i64*\n"
	      "  %snarl.value.0 = load i64, i64* %snarl.from.0, align 1\n"
	      "  call void @__tsan_unaligned_write8(i8* %5)\n"
	      "  %snarl.to.0 = bitcast i8* %5 to i64*\n"
	      "  store i64 %snarl.value.0, i64* %snarl.to.0, align 1\n"
	      "  %7 = bitcast i8* %5 to i8*\n"
	      "  call void @__tsan_unaligned_read2(i8* %x), !dbg !3\n"
	      "  %snarl.from.1 = bitcast i8* %x to i16*, !dbg !3\n"
	      "  %snarl.value.1 = load i16, i16* %snarl.from.1, align 1, !dbg !3\n"
	      "  call void @__tsan_unaligned_write2(i8* getelementptr inbounds ([9 x i8], [9 x "
	      "i8]* @b, i64 0, i64 1)), !dbg !3\n"
	      "  %snarl.to.1 = bitcast i8* getelementptr inbounds ([9 x i8], [9 x i8]* @b, i64 0, "
	      "i64 1) to i16*, !dbg !3\n"
	      "  store i16 %snarl.value.1, i16* %snarl.to.1, align 1, !dbg !3\n"
	      "  %8 = bitcast i8* getelementptr inbounds ([9 x i8], [9 x i8]* @b, i64 0, i64 1) to "
	      "i8*, !dbg !3\n", 2);
}

static void check_fill(const char *arguments, unsigned size, const char *value)
{
	char text[120], expected[400];

	snprintf(text, sizeof(text), "  %%2 = call ptr @__tsan_memset(ptr %%1, i32 %s, i64 %u)\n",
		 arguments, size);
	snprintf(expected, sizeof(expected),
		 "  call void @__tsan_%swrite%u(ptr %%1)\n  store %s, ptr %%1, align 1\n"
		 "  %%2 = bitcast ptr %%1 to ptr\n",
		 size > 1 ? "unaligned_" : "", size, value);
	check(text, expected, 1);
}

static void test_fill(void **state)
{
	(void)state;
	check_fill("0", 16, "<2 x i64> <i64 0, i64 0>");
	check_fill("255", 16, "<2 x i64> <i64 -1, i64 -1>");
	check_fill("1", 8, "i64 72340172838076673");
	check_fill("255", 8, "i64 -1");
	check_fill("3", 4, "i32 50529027");
	check_fill("128", 2, "i16 -32640");
	check_fill("7", 1, "i8 7");
}

static void test_left_alone(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 0)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 3)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 24)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 32)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 18446744073709551624)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 -8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 %n)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i32 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8) #3\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8), !srcloc !3\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8), !dbg !3, !srcloc !4\n",
		"  %7 = call ptr @__tsan_memcpy(ptr noundef %5, ptr %6, i64 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr null, i64 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr addrspace(1) %5, ptr %6, i64 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, i8* %6, i64 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8, i64 8)\n",
		"  %7 = call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8",
		"  %7 = call ptr @__tsan_memset(ptr %5, i32 %6, i64 8)\n",
		"  %7 = call ptr @__tsan_memset(ptr %5, i32 -1, i64 8)\n",
		"  %7 = call ptr @__tsan_memset(ptr %5, i32 256, i64 8)\n",
		"  %7 = call ptr @__tsan_memset(ptr %5, i8 1, i64 8)\n",
		"  %7 = call i8* @memccpy(i8* %5, i8* %6, i64 8)\n",
		"  %7 = call i8* @mempcpy(i8* %5, i8* %6, i64 8)\n",
		"  %7 = call i32 @memcpy(i8* %5, i8* %6, i64 8)\n",
		"  %7 = invoke ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8)\n",
		"  call ptr @__tsan_memcpy(ptr %5, ptr %6, i64 8)\n",
		"  call void @llvm.memcpy.p0.p0.i64(ptr %5, ptr %6, i64 16, i1 false)\n",
		"declare ptr @__tsan_memcpy(ptr, ptr, i64)\n",
		/* A memcpy that the program defines may do more than copy. */
		"  %7 = call i8* @memcpy(i8* %5, i8* %6, i64 8)\n\n"
		"define dso_local i8* @memcpy(i8* %0, i8* %1, i64 %2) {\n",
		"  %7 = call i8* @memcpy(i8* %5, i8* %6, i64 8)\n\ndefine void @f(i8* %x)\n\n"
		"define i8* @memset(i8* %0, i32 %1, i64 %2) {",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(texts[i], texts[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
