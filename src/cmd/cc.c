/*
 * snarl cc, snarl c++: the compiler wrapper under the one roof of `snarl`.
 */
#include "cmd/cmd.h"
#include "wrap/rewrite.h"

static int run_cc(int argc, char **argv)
{
	return wrap_main(argc, argv, false);
}

static int run_cxx(int argc, char **argv)
{
	return wrap_main(argc, argv, true);
}

const struct cmd cmd_cc = {
	.name = "cc",
	.summary = "compile and link C with instrumentation (the same as snarl-cc)",
	.run = run_cc,
};

const struct cmd cmd_cxx = {
	.name = "c++",
	.summary = "compile and link C++ with instrumentation (the same as snarl-c++)",
	.run = run_cxx,
};
