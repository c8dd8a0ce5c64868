/*
 * Turns the command line of snarl-cc into the command line of the compiler behind it, with the
 * options that instrument the code and link the runtime.
 *
 * Example with gcc, where snarl is installed in /usr:
 *
 *	in	-O1 -c bank.c
 *	out	-g -D__SNARL__=1 -idirafter /usr/lib/snarl/include -B/usr/lib/snarl/libexec
 *		-O1 -c bank.c -specs=/usr/lib/snarl/snarl-gcc.specs
 */
#ifndef WRAP_ARGS_REWRITE_H
#define WRAP_ARGS_REWRITE_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"
#include "wrap/args/compiler.h"

/*
 * Environment variables by which snarl-cc controls its assembler (as.c), which the compiler runs.
 */

/* "0": the code goes into an executable, so inlined hooks may address TLS directly. */
#define REWRITE_PIC_ENV "SNARL_AS_PIC"

/* "1": the assembler makes copies of loops without hooks (wrap/loops/loops.h). */
#define REWRITE_LOOPS_ENV "SNARL_AS_LOOPS"

/*
 * Production builds: the command for the second compilation, as the text of a response file. Its
 * words are "gcc" or "clang", the compiler's command, and its arguments. A first character marks
 * some arguments: sources, and those for the instrumented compilation only.
 */
#define REWRITE_DUAL_ENV "SNARL_DUAL"
#define REWRITE_SOURCE '\001'
#define REWRITE_INST '\002'

/* clang in two steps: the command that compiles LLVM IR, as the text of a response file. */
#define REWRITE_CODEGEN_ENV "SNARL_AS_CODEGEN"

struct rewrite_config {
	enum compiler_kind kind;	/* not COMPILER_UNKNOWN */
	bool no_inline;			/* SNARL_INLINE=0 */
	bool two_steps;			/* clang may be stopped at LLVM IR and called again */
	const struct compiler_home *home;
};

struct rewrite {
	struct args words;	/* arguments of the compiler */
	struct args dual;	/* arguments of the second compilation; empty: there is none */
	struct args codegen;	/* arguments of clang's second step; empty: there is none */
	bool executable_code;	/* the code goes into an executable, never into a shared library */
	bool loops;		/* the assembler makes copies of loops without hooks */
	bool no_inline;		/* production builds: the assembler leaves hooks as calls */
	bool print;		/* --snarl-print: show the command instead of running it */
};

/*
 * `in` is the user's command line without argv[0] and with response files expanded. Pure: reads no
 * file and no environment. Returns 0, or -1 with the reason if the command cannot be instrumented.
 * rewrite_free in either case.
 */
int rewrite(const struct args *in, const struct rewrite_config *config, struct rewrite *out,
	    struct err *err);

void rewrite_free(struct rewrite *r);

/*
 * All of snarl-cc (wrap.c). `cxx`: called as snarl-c++. Executes the compiler in place of this
 * process; returns an exit code only on an error or after --snarl-print.
 */
int wrap_main(int argc, char **argv, bool cxx);

#endif
