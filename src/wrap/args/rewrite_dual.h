/*
 * The part of rewrite() about production builds.
 */
#ifndef WRAP_ARGS_REWRITE_DUAL_H
#define WRAP_ARGS_REWRITE_DUAL_H

#include "wrap/args/rewrite.h"
#include "wrap/args/scan_options.h"

/* Adds to the plain command what makes its text fit to be merged, and fills in the other one. */
void rewrite_dual(const struct scan *s, const struct rewrite_config *config, struct args *plain,
		  struct args *dual);

/*
 * An unrolled loop has a hook for each of its copies: more places that the trace has to foretell, and loops
 * that cannot be told at their end. Before the user's words, who may want it otherwise.
 */
#define REWRITE_CLANG_ROLLED "-fno-unroll-loops"

/* rewrite.c: what makes clang instrument. */
void rewrite_clang_instrumentation(const struct scan *s, struct args *out);

#endif
