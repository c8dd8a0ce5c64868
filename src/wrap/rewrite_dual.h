/*
 * The part of rewrite() about production builds.
 */
#ifndef WRAP_REWRITE_DUAL_H
#define WRAP_REWRITE_DUAL_H

#include "wrap/rewrite.h"
#include "wrap/scan.h"

/* Adds to the plain command what makes its text fit to be merged, and fills in the other one. */
void rewrite_dual(const struct scan *s, const struct rewrite_config *config, struct args *plain,
		  struct args *dual);

/* rewrite.c: what makes clang instrument. */
void rewrite_clang_instrumentation(const struct scan *s, struct args *out);

#endif
