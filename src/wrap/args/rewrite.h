/*
 * snarl-cc: a compiler's command line in, the instrumented one out.
 */
#ifndef WRAP_ARGS_REWRITE_H
#define WRAP_ARGS_REWRITE_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"
#include "wrap/args/compiler.h"

/* Tells the inlining assembler that the code ends up in an executable: "0". */
#define REWRITE_PIC_ENV "SNARL_AS_PIC"

/* Tells it to let loops run without hooks where it can: "1". */
#define REWRITE_LOOPS_ENV "SNARL_AS_LOOPS"

/*
 * Production builds: how the assembler is to compile the source a second time. Words in
 * the form of a response file: "gcc" or "clang", the compiler, its words, of which those
 * with a mark are sources, or for the instrumented compilation alone.
 */
#define REWRITE_DUAL_ENV "SNARL_DUAL"
#define REWRITE_SOURCE '\001'
#define REWRITE_INST '\002'

/*
 * What the inlining assembler is to run for the rest of clang's work, as the text of a
 * response file.
 */
#define REWRITE_CODEGEN_ENV "SNARL_AS_CODEGEN"


struct rewrite_config {
	enum compiler_kind kind;	/* not COMPILER_UNKNOWN */
	bool no_inline;
	bool two_steps;			/* clang may be stopped at LLVM's code and called again */
	const struct compiler_home *home;
};

struct rewrite {
	struct args words;	/* what follows the compiler's own words */
	struct args dual;	/* REWRITE_DUAL_ENV without the compiler; empty: compiled once */
	struct args codegen;	/* clang's second step, likewise; empty: there is none */
	bool executable_code;	/* the code goes into an executable, never a shared library */
	bool loops;		/* the assembler is to look for loops that can be told at their end */
	bool no_inline;		/* the assembler is not to inline */
	bool print;		/* show the command instead of running it */
};

/*
 * `in` is the user's command line without argv[0], response files expanded.
 * Pure: no file, no environment. Returns 0, or -1 with the reason if the
 * command cannot be instrumented. rewrite_free in either case.
 */
int rewrite(const struct args *in, const struct rewrite_config *config, struct rewrite *out,
	    struct err *err);

void rewrite_free(struct rewrite *r);

/*
 * The whole of snarl-cc. Replaces the process by the compiler; returns an exit
 * code only if that was not possible or not wanted.
 */
int wrap_main(int argc, char **argv, bool cxx);

#endif
