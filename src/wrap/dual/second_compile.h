/*
 * The second compilation of a production build. Our assembler runs it when it has the plain text,
 * the assembly of the first one.
 */
#ifndef WRAP_DUAL_SECOND_COMPILE_H
#define WRAP_DUAL_SECOND_COMPILE_H

#include "base/buf.h"
#include "base/err.h"
#include "wrap/dual/dual_merge.h"

/*
 * Compiles the source of `plain` again, with instrumentation, and appends the merged text to *out.
 * `how` is the value of REWRITE_DUAL_ENV. Returns 1; 0 if no compiler wrote `plain`; or -1 with
 * the reason if only the plain text can be used.
 */
int second_compile(const char *how, const char *plain, size_t size, struct buf *out,
	  struct dual_counts *counts, struct err *err);

#endif
