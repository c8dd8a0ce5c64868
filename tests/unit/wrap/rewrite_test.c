/* snarl-cc's command lines: exact words in, exact words out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/args/response.h"
#include "wrap/args/rewrite.h"

static struct compiler_home home = { "/L", "/X", "/I" };

#define GCC_COMPILE "-g -D__SNARL__=1 -idirafter /I -B/X "
#define GCC_END " -specs=/L/snarl-gcc.specs"
#define CLANG_TSAN                                                                          \
	"-Xclang -fsanitize=thread -Xclang -mllvm -Xclang -tsan-instrument-read-before-write=1 " \
	"-Xclang -mllvm -Xclang -tsan-distinguish-volatile=1 " \
	"-Xclang -mllvm -Xclang -enable-interleaved-mem-accesses=false -Xclang " \
	"-mprefer-vector-width=128 "
#define CLANG_HOOKS CLANG_TSAN "-fno-unroll-loops -fstack-protector-strong "
#define CLANG_COMPILE CLANG_HOOKS "-g -D__SNARL__=1 -idirafter /I -B/X -fno-integrated-as "
#define RUNTIME "-Xlinker -u -Xlinker __tsan_init -Xlinker /L/libsnarlrt.a "
#define RUNTIME_STATIC "-Xlinker -u -Xlinker __tsan_init -Xlinker /L/libsnarlrt-static.a "
#define TAIL " -Xlinker --dynamic-list=/L/snarl-exports.txt -lpthread -ldl"
#define TAIL_STATIC " -Wl,@/L/snarl-wraps.txt -lpthread -ldl"
#define TAIL_SHARED " -Xlinker --unresolved-symbols=ignore-all"

static int run(enum compiler_kind kind, bool no_inline, const char *line, struct rewrite *out,
	       struct err *err)
{
	struct rewrite_config config = { .kind = kind, .no_inline = no_inline, .home = &home };
	struct args in = { 0 };
	int result;

	response_parse(line, strlen(line), &in);
	result = rewrite(&in, &config, out, err);
	args_free(&in);
	return result;
}

static void check(enum compiler_kind kind, const char *line, const char *expected)
{
	struct rewrite out;
	struct err err = { "" };
	char *got;

	assert_int_equal(run(kind, false, line, &out, &err), 0);
	got = args_quote(&out.words);
	assert_string_equal(got, expected);
	free(got);
	rewrite_free(&out);
}

static void gcc(const char *line, const char *expected)
{
	check(COMPILER_GCC, line, expected);
}

static void clang(const char *line, const char *expected)
{
	check(COMPILER_CLANG, line, expected);
}

static void test_compile(void **state)
{
	(void)state;
	gcc("-c a.c", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-O2 -c a.c b.cc -o x", GCC_COMPILE "-O2 -c a.c b.cc -o x" GCC_END);
	gcc("-S -o - a.c", GCC_COMPILE "-S -o - a.c" GCC_END);
	gcc("-MD -MF a.d -MT x.c -c a.c", GCC_COMPILE "-MD -MF a.d -MT x.c -c a.c" GCC_END);
	gcc("-x c -c -", GCC_COMPILE "-x c -c -" GCC_END);
	gcc("-c 'a b.c'", GCC_COMPILE "-c 'a b.c'" GCC_END);
	gcc("-frobnicate --unknown=1 -c a.c", GCC_COMPILE "-frobnicate --unknown=1 -c a.c" GCC_END);
	clang("-c a.c", CLANG_COMPILE "-c a.c");
	/* clang warns of an include folder that it does not use. */
	clang("-c a.i", CLANG_HOOKS "-g -D__SNARL__=1 -B/X -fno-integrated-as -c a.i");
	clang("-x c++-cpp-output -c a", CLANG_HOOKS
	      "-g -D__SNARL__=1 -B/X -fno-integrated-as -x c++-cpp-output -c a");
	clang("-c a.i b.c", CLANG_COMPILE "-c a.i b.c");
	clang("-funroll-loops -c a.c", CLANG_COMPILE "-funroll-loops -c a.c");
	clang("-flto -c a.c", CLANG_COMPILE "-flto -c a.c");
	clang("-fintegrated-as -c a.c",
	      CLANG_HOOKS "-g -D__SNARL__=1 -idirafter /I -fintegrated-as -c a.c");
	clang("-flto -ffat-lto-objects -c a.c",
	      CLANG_HOOKS "-g -D__SNARL__=1 -idirafter /I -flto -ffat-lto-objects -c a.c");
}

static void test_no_code(void **state)
{
	(void)state;
	gcc("-E a.c", "-D__SNARL__=1 -idirafter /I -B/X -E a.c" GCC_END);
	gcc("-E -dM -", "-D__SNARL__=1 -idirafter /I -B/X -E -dM -" GCC_END);
	gcc("-MM a.c", "-D__SNARL__=1 -idirafter /I -B/X -MM a.c" GCC_END);
	gcc("-fsyntax-only a.c", "-D__SNARL__=1 -idirafter /I -B/X -fsyntax-only a.c" GCC_END);
}

static void test_questions(void **state)
{
	static const char *const lines[] = {
		"", "--version", "-v", "-dumpmachine", "-print-search-dirs", "-print-prog-name=ld",
		"--help=optimizers", "-Wl,--version", "--version a.c", "-cc1 -triple x a.c",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		gcc(lines[i], lines[i]);
		clang(lines[i], lines[i]);
	}
}

static void test_link(void **state)
{
	(void)state;
	gcc("a.o -lfoo -o x", "-B/X " RUNTIME "a.o -lfoo -o x" GCC_END TAIL);
	clang("a.o -lfoo -o x", RUNTIME "a.o -lfoo -o x" TAIL);
	gcc("a.c", GCC_COMPILE RUNTIME "a.c" GCC_END TAIL);
	clang("a.c b.o", CLANG_COMPILE RUNTIME "a.c b.o" TAIL);
	clang("-O1 -- a.c", CLANG_COMPILE RUNTIME "-O1" TAIL " -- a.c");
	gcc("-no-pie a.o", "-B/X " RUNTIME "-no-pie a.o" GCC_END TAIL);
	gcc("-ltsan a.o", "-B/X " RUNTIME "a.o" GCC_END TAIL);
	/* A command that links only libraries, or passes its inputs to the linker. */
	gcc("-L. -lfoo", "-B/X " RUNTIME "-L. -lfoo" GCC_END TAIL);
	clang("-l foo -shared", "-l foo -shared" TAIL_SHARED);
	clang("-Wl,@objects", RUNTIME "-Wl,@objects" TAIL);
	clang("-Xlinker a.o", RUNTIME "-Xlinker a.o" TAIL);
	gcc("-c -lfoo", "-B/X -c -lfoo" GCC_END);
}

static void test_other_links(void **state)
{
	(void)state;
	gcc("-static a.o", "-B/X " RUNTIME_STATIC "-static a.o" GCC_END TAIL_STATIC);
	clang("-static-pie a.o", RUNTIME_STATIC "-static-pie a.o" TAIL_STATIC);
	gcc("-shared a.o -o l.so", "-B/X -shared a.o -o l.so" GCC_END TAIL_SHARED);
	clang("-shared -Wl,-z,defs a.o", "-shared -Wl,-z,defs a.o" TAIL_SHARED);
	clang("-Wl,-soname,x,-shared a.o", "-Wl,-soname,x,-shared a.o" TAIL_SHARED);
	clang("-r a.o b.o", "-r a.o b.o");
	clang("-Xlinker -r a.o", "-Xlinker -r a.o");
	clang("-Wl,-q,--relocatable a.o", "-Wl,-q,--relocatable a.o");
	clang("-nostdlib a.o", RUNTIME "-nostdlib a.o" TAIL
	      " -Wl,--start-group -lc -lgcc -lgcc_s -Wl,--end-group");
	clang("-static -nostdlib a.o", RUNTIME_STATIC "-static -nostdlib a.o" TAIL_STATIC
	      " -Wl,--start-group -lc -lgcc -lgcc_eh -Wl,--end-group");
}

/* A precompiled header is not linked; hand-written assembly is not instrumented. */
static void test_inputs(void **state)
{
	(void)state;
	gcc("a.h", GCC_COMPILE "a.h" GCC_END);
	gcc("-x c++-header a", GCC_COMPILE "-x c++-header a" GCC_END);
	clang("-c a.s", "-c a.s");
	clang("-c a.S", "-c a.S");
	clang("-x assembler -c a.c", "-x assembler -c a.c");
	clang("-xc -c a.s", CLANG_COMPILE "-xc -c a.s");
	clang("-x c a -x none b.o", CLANG_COMPILE RUNTIME "-x c a -x none b.o" TAIL);
	/* values of options are no inputs */
	gcc("-o a.c", "-o a.c");
	gcc("-I b.c -include c.c", "-I b.c -include c.c");
	clang("-c -include x.c a.s", "-c -include x.c a.s");
	/* and values of options are no options */
	gcc("-o -shared a.o", "-B/X " RUNTIME "-o -shared a.o" GCC_END TAIL);
	gcc("-D --snarl-print -c a.c", GCC_COMPILE "-D --snarl-print -c a.c" GCC_END);
}

static void test_debug(void **state)
{
	static const char *const levels[] = {
		"-g", "-g0", "-g1", "-g3", "-ggdb", "-ggdb3", "-gdwarf-4", "-gline-tables-only",
	};
	static const char *const details[] = {
		"-gz", "-gno-column-info", "-grecord-gcc-switches", "-gsplit-dwarf",
	};
	char line[100], expected[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		snprintf(line, sizeof(line), "%s -c a.c", levels[i]);
		snprintf(expected, sizeof(expected), "-D__SNARL__=1 -idirafter /I -B/X %s%s", line,
			 GCC_END);
		gcc(line, expected);
	}
	for (size_t i = 0; i < ARRAY_SIZE(details); i++) {
		snprintf(line, sizeof(line), "%s -c a.c", details[i]);
		snprintf(expected, sizeof(expected), GCC_COMPILE "%s" GCC_END, line);
		gcc(line, expected);
	}
}

static void test_sanitizers(void **state)
{
	(void)state;
	gcc("-fsanitize=thread -c a.c", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-fsanitize=undefined -c a.c", GCC_COMPILE "-fsanitize=undefined -c a.c" GCC_END);
	gcc("-fsanitize=thread,undefined -c a.c",
	    GCC_COMPILE "-fsanitize=undefined -c a.c" GCC_END);
	/* these do not turn instrumentation off */
	gcc("-fno-sanitize=thread -c a.c", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-c a.c -fno-sanitize=all", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-fsanitize=undefined -fno-sanitize=all -c a.c", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-fsanitize=address -fno-sanitize=all -c a.c", GCC_COMPILE "-c a.c" GCC_END);
	gcc("-fno-sanitize=alignment,thread -c a.c",
	    GCC_COMPILE "-fno-sanitize=alignment -c a.c" GCC_END);
	gcc("-fsanitize=address -fno-sanitize=address -c a.c",
	    GCC_COMPILE "-fsanitize=address -fno-sanitize=address -c a.c" GCC_END);
	clang("-fsanitize=thread -fsanitize-ignorelist=f -c a.c",
	      CLANG_TSAN "-Xclang -fsanitize-ignorelist=f "
	      "-fno-unroll-loops -fstack-protector-strong -g -D__SNARL__=1 -idirafter /I -B/X "
	      "-fno-integrated-as -c a.c");
}

static void test_conflicts(void **state)
{
	static const char *const names[] = {
		"address", "hwaddress", "memory", "leak", "kernel-address", "kernel-memory",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err err = { "" };
		struct rewrite out;
		char line[100], expected[200];

		snprintf(line, sizeof(line), "-fsanitize=undefined,%s -c a.c", names[i]);
		snprintf(expected, sizeof(expected),
			 "-fsanitize=%s cannot be combined with snarl's own instrumentation: "
			 "remove it, or build without snarl", names[i]);
		assert_int_equal(run(COMPILER_GCC, false, line, &out, &err), -1);
		assert_string_equal(err.text, expected);
		rewrite_free(&out);
	}
}

static void test_machines(void **state)
{
	static const char *const lines[] = {
		"-m32 -c a.c", "-m64 -mx32 -c a.c", "--target=aarch64-linux-gnu -c a.c",
		"-target i386-linux-gnu -c a.c",
	};
	struct err err = { "" };
	struct rewrite out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(run(COMPILER_CLANG, false, lines[i], &out, &err), -1);
		assert_non_null(strstr(err.text, "snarl instruments x86-64 code only"));
		rewrite_free(&out);
	}
	clang("-m32 -m64 -c a.c", CLANG_COMPILE "-m32 -m64 -c a.c");
	clang("--target=x86_64-linux-gnu -c a.c", CLANG_COMPILE "--target=x86_64-linux-gnu -c a.c");
	clang("-faddrsig -c a.c", CLANG_COMPILE "-c a.c");	/* GNU as rejects its directive */
}

static void test_own_options(void **state)
{
	struct err err = { "" };
	struct rewrite out;

	(void)state;
	gcc("--no-inline -c a.c", "-g -D__SNARL__=1 -idirafter /I -c a.c" GCC_END);
	clang("--snarl-no-inline -c a.c", CLANG_HOOKS "-g -D__SNARL__=1 -idirafter /I -c a.c");
	gcc("--snarl-no-instrument a.c", "-g -idirafter /I " RUNTIME "a.c" TAIL);
	clang("--snarl-no-instrument -c a.c", "-g -idirafter /I -c a.c");
	assert_int_equal(run(COMPILER_GCC, true, "--snarl-print -c a.c", &out, &err), 0);
	assert_true(out.print);
	assert_string_equal(out.words.v[0], "-g");
	assert_int_equal(out.words.count, 7);	/* no -B */
	rewrite_free(&out);
}

static void test_executable_code(void **state)
{
	static const struct {
		const char *line;
		bool executable;
	} cases[] = {
		{ "-c a.c", true },
		{ "-fPIE -c a.c", true },
		{ "-fPIC -c a.c", false },
		{ "-fpic -c a.c", false },
		{ "-fPIC -fPIE -c a.c", true },
		{ "-fPIE -fPIC -c a.c", false },
		{ "-fPIC -fno-pic -c a.c", true },
		{ "-shared a.c", false },
		{ "-r a.c", false },
		{ "-flto a.o", true },
		{ "-flto -shared a.o", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { "" };
		struct rewrite out;

		assert_int_equal(run(COMPILER_GCC, false, cases[i].line, &out, &err), 0);
		assert_int_equal(out.executable_code, cases[i].executable);
		rewrite_free(&out);
	}
}

static void test_loops(void **state)
{
	static const struct {
		const char *line;
		bool loops;
	} cases[] = {
		{ "-c a.c", true },
		{ "-flto a.o", true },
		{ "--no-loops -c a.c", false },
		{ "-c a.c --snarl-no-loops", false },
		{ "--no-inline -c a.c", false },
		{ "--production -c a.c", false },
		{ "--snarl-no-instrument -c a.c", false },
		{ "-masm=intel -c a.c", false },
		{ "-ffunction-sections -c a.c", true },
		{ "-masm=intel -masm=att -c a.c", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { "" };
		struct rewrite out;

		assert_int_equal(run(COMPILER_GCC, false, cases[i].line, &out, &err), 0);
		assert_int_equal(out.loops, cases[i].loops);
		for (size_t k = 0; k < out.words.count; k++)
			assert_null(strstr(out.words.v[k], "no-loops"));
		rewrite_free(&out);
	}
}

static void check_command(const char *cc, const char *cxx_value, bool cxx, const char *expected,
			  enum compiler_kind kind)
{
	struct args a = { 0 };
	char *got;

	compiler_command(cc, cxx_value, cxx, &a);
	got = args_quote(&a);
	assert_string_equal(got, expected);
	assert_int_equal(compiler_kind(&a), kind);
	free(got);
	args_free(&a);
}

static void test_compilers(void **state)
{
	(void)state;
	check_command(NULL, NULL, false, "gcc", COMPILER_GCC);
	check_command(NULL, NULL, true, "g++", COMPILER_GCC);
	check_command("", "", true, "g++", COMPILER_GCC);
	check_command("clang-19", NULL, false, "clang-19", COMPILER_CLANG);
	check_command("clang-19", NULL, true, "clang++-19", COMPILER_CLANG);
	check_command(NULL, "/opt/x/g++-12", false, "/opt/x/gcc-12", COMPILER_GCC);
	check_command("ccache gcc -m64", NULL, true, "ccache g++ -m64", COMPILER_GCC);
	check_command("x86_64-linux-gnu-gcc-12", NULL, true, "x86_64-linux-gnu-g++-12",
		      COMPILER_GCC);
	check_command("cc", NULL, true, "c++", COMPILER_UNKNOWN);
	check_command("/opt/gcc/bin/odd", NULL, true, "g++", COMPILER_GCC);
	check_command("/opt/gcc/bin/odd", NULL, false, "/opt/gcc/bin/odd", COMPILER_UNKNOWN);
	check_command("gcc", "clang++", true, "clang++", COMPILER_CLANG);
}

/* `@` marks a source, `+` a word for the instrumented compilation only. */
static void production(enum compiler_kind kind, const char *line, const char *expected,
		       const char *expected_dual)
{
	struct rewrite out;
	struct err err = { "" };
	char *got;

	assert_int_equal(run(kind, false, line, &out, &err), 0);
	got = args_quote(&out.words);
	assert_string_equal(got, expected);
	free(got);
	for (size_t i = 0; i < out.dual.count; i++)
		if (out.dual.v[i][0] == REWRITE_SOURCE || out.dual.v[i][0] == REWRITE_INST)
			out.dual.v[i][0] = out.dual.v[i][0] == REWRITE_SOURCE ? '@' : '+';
	got = args_quote(&out.dual);
	assert_string_equal(got, expected_dual);
	free(got);
	rewrite_free(&out);
}

#define PLAIN_GCC "-g -idirafter /I -B/X "
#define PLAIN_GCC_END " -fno-ipa-ra -fno-ipa-stack-alignment -gno-as-loc-support"
#define DUAL_GCC "-g -idirafter /I -w "
#define DUAL_GCC_END PLAIN_GCC_END " +-specs=/L/snarl-gcc.specs +-U__SANITIZE_THREAD__"

static void test_production(void **state)
{
	struct rewrite out;
	struct err err;

	(void)state;
	production(COMPILER_GCC, "--production -O2 -c a.c -o x.o -MD -MF a.d -Werror",
		   PLAIN_GCC "-O2 -c a.c -o x.o -MD -MF a.d -Werror" PLAIN_GCC_END,
		   DUAL_GCC "-O2 @a.c" DUAL_GCC_END);
	production(COMPILER_GCC, "-g3 -D -c -x c a b.o --snarl-production -include -o -L/l -lz",
		   "-idirafter /I -B/X " RUNTIME
		   "-g3 -D -c -x c a b.o -include -o -L/l -lz" PLAIN_GCC_END TAIL,
		   "-idirafter /I -w -g2 -D -c -x c @a @b.o -include -o" DUAL_GCC_END);
	production(COMPILER_GCC, "--production a.o s.S", "-B/X " RUNTIME "a.o s.S" TAIL, "");
	production(COMPILER_GCC, "--production -E a.c", "-idirafter /I -B/X -E a.c", "");
	production(COMPILER_CLANG,
		   "--production -fsanitize=undefined a.c -fno-sanitize=all b.c -c -- c.c",
		   "-g -idirafter /I -B/X -fno-integrated-as a.c b.c -c -- c.c",
		   "-g -idirafter /I -fno-integrated-as -Qunused-arguments +-fno-unroll-loops -w "
		   "@a.c @b.c @c.c +-Xclang +-fsanitize=thread +-Xclang +-mllvm +-Xclang "
		   "+-tsan-instrument-read-before-write=1 "
		   "+-Xclang +-mllvm +-Xclang +-tsan-distinguish-volatile=1 "
		   "+-Xclang +-mllvm +-Xclang +-enable-interleaved-mem-accesses=false +-Xclang "
		   "+-mprefer-vector-width=128");
	assert_int_equal(run(COMPILER_GCC, false, "--production -flto=auto -c a.c", &out, &err),
			 -1);
	assert_string_equal(err.text,
			    "-flto=auto cannot be combined with --production, which compiles each "
			    "file twice: remove one of them");
	rewrite_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compile),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_other_links),
		cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_debug),
		cmocka_unit_test(test_sanitizers),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_own_options),
		cmocka_unit_test(test_executable_code),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_compilers),
		cmocka_unit_test(test_production),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
