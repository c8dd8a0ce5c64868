/* Which commands of clang are made in two steps, with LLVM IR in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/args/response.h"
#include "wrap/args/rewrite.h"

static struct compiler_home home = { "/L", "/X", "/I" };

/* Checks the options of clang's second step; "" if there is none. */
static void two_steps(const char *line, const char *expected)
{
	struct rewrite_config config = { .kind = COMPILER_CLANG, .two_steps = true, .home = &home };
	struct rewrite out;
	struct err err = { "" };
	struct args in = { 0 };
	bool first = false;
	char *got;

	response_parse(line, strlen(line), &in);
	assert_int_equal(rewrite(&in, &config, &out, &err), 0);
	for (size_t i = 2; i < out.words.count; i++)
		first |= strcmp(out.words.v[i - 2], "-fno-integrated-as") == 0 &&
			 strcmp(out.words.v[i], "-emit-llvm") == 0;
	assert_int_equal(first, *expected != 0);
	got = args_quote(&out.codegen);
	assert_string_equal(got, expected);
	free(got);
	args_free(&in);
	rewrite_free(&out);
}

#define SECOND                                                                             \
	"-fintegrated-as -mno-relax-all -Wno-unused-command-line-argument -Xclang "            \
	"-disable-llvm-passes -c -x ir"

static void test_two_steps(void **state)
{
	static const char *const one_step[] = {
		"-S a.c", "-E a.c", "-flto -c a.c", "-flto=thin a.c", "-emit-llvm -c a.c",
		"-Xclang -emit-pch -c a.c", "-save-temps a.c", "-gsplit-dwarf -c a.c",
		"-fno-integrated-as -c a.c", "-fintegrated-as -c a.c", "a.c b.S", "a.c b.s",
		"a.h", "-x c-header -c a.c", "-x assembler-with-cpp -c a.c", "-c a.m", "a.o",
		"--no-inline a.c",
		"-Wa,--noexecstack -c a.c", "-Xassembler --noexecstack -c a.c", "-MJ x -c a.c",
		"-mbranches-within-32B-boundaries -c a.c", "-mllvm -x86-align-branch=jcc -c a.c",
		"-mcmodel=large -c a.c", "--snarl-no-instrument -c a.c", "--production -c a.c",
	};
	char *longer = xmalloc(40000);

	(void)state;
	two_steps("-c a.c", SECOND);
	two_steps("a.c b.cc c.o -lm -o x", "-lm " SECOND);
	two_steps("-O2 -fPIC -c -xc++ a.weird -ofile -- -b.c", "-O2 -fPIC " SECOND);
	two_steps("-x c -D X=1 -c a --output=b -march=native", "-D X=1 -march=native " SECOND);
	for (size_t i = 0; i < sizeof(one_step) / sizeof(one_step[0]); i++)
		two_steps(one_step[i], "");
	/* The options are too long for an environment variable. */
	memset(longer, 'x', 39999);
	memcpy(longer, "-c a.c -D", 9);
	longer[39999] = '\0';
	two_steps(longer, "");
	free(longer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
