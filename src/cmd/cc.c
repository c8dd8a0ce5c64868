/*
 * snarl cc and snarl c++: run the compiler wrapper (wrap/) as commands of snarl.
 */
#include <signal.h>

#include "cmd/cmd.h"
#include "wrap/args/rewrite.h"

/* Only `snarl help cc` prints this; --help is passed to the compiler. */
#define HELP(name, file) \
	"usage: snarl " name " [compiler options] " file "   (the same as snarl-" name ")\n" \
	"\n" \
	"Compiles and links with gcc or clang, and instruments the program for snarl. Takes all " \
		"options\n" \
	"of the compiler, and\n" \
	"\n" \
	"      --production     compile each function plain and instrumented, to be switched at " \
		"run\n" \
	"                       time: snarl-production(7)\n" \
	"      --no-inline      call a hook at each access instead of inlining its check (also\n" \
	"                       --snarl-no-inline)\n" \
	"      --no-loops       keep the hooks in all loops, also in simple ones (also " \
		"--snarl-no-loops)\n" \
	"      --snarl-no-instrument  compile these files without instrumentation\n" \
	"      --snarl-print    print the command instead of running it\n" \
	"\n" \
	"Environment: SNARL_CC and SNARL_CXX name the compiler, SNARL_INLINE=0 means " \
		"--no-inline,\n" \
	"SNARL_REAL_AS names the assembler, SNARL_HOME the folder where snarl is installed.\n" \
	"\n" \
	"Exit: that of the compiler; 2 options that exclude instrumentation, 3 no compiler " \
		"found.\n" \
	"\n" \
	"  snarl " name " -O1 -pthread " file " -o bank\n" \
	"  CC=snarl-cc CXX=snarl-c++ ./configure && make\n"

/* Becomes the compiler, which must not inherit the ignored SIGXFSZ of main(). */
static int run(int argc, char **argv, bool cxx)
{
	signal(SIGXFSZ, SIG_DFL);
	return wrap_main(argc, argv, cxx);
}

static int run_cc(int argc, char **argv)
{
	return run(argc, argv, false);
}

static int run_cxx(int argc, char **argv)
{
	return run(argc, argv, true);
}

const struct cmd cmd_cc = {
	.name = "cc",
	.summary = "compile and link C with instrumentation (the same as snarl-cc)",
	.help = HELP("cc", "bank.c"),
	.run = run_cc,
};

const struct cmd cmd_cxx = {
	.name = "c++",
	.summary = "compile and link C++ with instrumentation (the same as snarl-c++)",
	.help = HELP("c++", "bank.cc"),
	.run = run_cxx,
};
