/*
 * snarl-cc: a compiler's command line in, the instrumented one out.
 */
#ifndef WRAP_REWRITE_H
#define WRAP_REWRITE_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args.h"
#include "wrap/compiler.h"

/* Tells the inlining assembler that the code ends up in an executable: "0". */
#define REWRITE_PIC_ENV "SNARL_AS_PIC"

struct rewrite_config {
	enum compiler_kind kind;	/* not COMPILER_UNKNOWN */
	bool no_inline;
	const struct compiler_home *home;
};

struct rewrite {
	struct args words;	/* what follows the compiler's own words */
	bool executable_code;	/* the code goes into an executable, never a shared library */
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
