/*
 * The second compilation of a production build, run by our assembler when it has the
 * text of the first one.
 */
#ifndef WRAP_DUAL_SECOND_COMPILE_H
#define WRAP_DUAL_SECOND_COMPILE_H

#include "base/buf.h"
#include "base/err.h"
#include "wrap/dual/dual_merge.h"

/*
 * `how` is the value of REWRITE_DUAL_ENV. Puts the merged text in *out: 1. 0 if the text
 * does not come from one of the sources there, but was written by hand. -1 if it has to
 * stay plain, with the reason.
 */
int second_compile(const char *how, const char *plain, size_t size, struct buf *out,
	  struct dual_counts *counts, struct err *err);

#endif
