/*
 * snarl cc, snarl c++: the compiler wrapper under the one roof of `snarl`.
 */
#include <signal.h>

#include "cmd/cmd.h"
#include "wrap/args/rewrite.h"

/* --help is the compiler's. */
#define HELP(name, file) \
	"usage: snarl " name " [compiler options] " file "   (the same as snarl-" name ")\n" \
	"\n" \
	"Compiles and links with gcc or clang so that snarl can watch the program. All options\n" \
	"of the compiler work, and\n" \
	"\n" \
	"      --production     functions plain and instrumented, switched when needed (snarl-production(7))\n" \
	"      --no-inline      plain calls instead of inlined checks (--snarl-no-inline, too)\n" \
	"      --no-loops       hooks in all loops (--snarl-no-loops, too)\n" \
	"      --snarl-no-instrument  compile these files without instrumentation\n" \
	"      --snarl-print    print the command instead of running it\n" \
	"\n" \
	"Environment: SNARL_CC and SNARL_CXX name the compiler, SNARL_INLINE=0 is --no-inline,\n" \
	"SNARL_REAL_AS names the assembler, SNARL_HOME the folder where snarl is installed.\n" \
	"\n" \
	"Exit: that of the compiler; 2 options that snarl cannot do with, 3 no compiler found.\n" \
	"\n" \
	"  snarl " name " -O1 -pthread " file " -o bank\n" \
	"  CC=snarl-cc CXX=snarl-c++ ./configure && make\n"

/* This process becomes the compiler, which is to see what any other would. */
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
