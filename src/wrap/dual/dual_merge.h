/*
 * Two compilations of one source, plain and instrumented, made one assembly: the
 * plain text as it is, and of the other the functions alone, as f.inst in a section
 * of their own. Data exists once; what refers to it is made to refer to the plain
 * one's. docs/production.md says what becomes of whom, and why.
 *
 * Pure: text in, text out.
 */
#ifndef WRAP_DUAL_DUAL_MERGE_H
#define WRAP_DUAL_DUAL_MERGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct dual_counts {
	size_t pairs;		/* functions that can be switched */
	size_t inner;		/* instrumented ones that only instrumented code calls */
	size_t plain;		/* functions that stay as they are */
};

/*
 * `gcc`: a local function of the same name has the same parameters in both texts,
 * because gcc renames those it changes; clang does not. Returns -1 if a text is not
 * understood: the plain one is to be used then.
 */
int dual_merge(const char *plain, size_t plain_size, const char *inst, size_t inst_size, bool gcc,
	       struct buf *out, struct dual_counts *counts, struct err *err);

#endif
