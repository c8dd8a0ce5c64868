/*
 * The part of rewrite() for production builds.
 */
#ifndef WRAP_ARGS_REWRITE_DUAL_H
#define WRAP_ARGS_REWRITE_DUAL_H

#include "wrap/args/rewrite.h"
#include "wrap/args/scan_options.h"

/*
 * Fills `dual` with the arguments of the second compilation. Adds the options to `plain` without
 * which both assemblies could not be merged.
 */
void rewrite_dual(const struct scan *s, const struct rewrite_config *config, struct args *plain,
		  struct args *dual);

/*
 * An unrolled loop has a hook in each copy of its body. That makes more sites for the trace's
 * predictor, and loops that cannot run without hooks. The option comes before the user's words, so
 * -funroll-loops overrides it.
 */
#define REWRITE_CLANG_ROLLED "-fno-unroll-loops"

/*
 * Under control a run fails when a function returns with a damaged frame. The user's options and
 * -fno-stack-protector override it. snarl-gcc.specs has the same for gcc.
 */
#define REWRITE_CLANG_PROTECTED "-fstack-protector-strong"

/* Appends the options that make clang insert hooks (rewrite.c). */
void rewrite_clang_instrumentation(const struct scan *s, struct args *out);

#endif
