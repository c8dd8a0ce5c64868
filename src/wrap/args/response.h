/*
 * Response files: `@file` on a command line stands for the words in that file. The rules are those
 * of gcc, clang and the binutils: white space separates words, ' and " quote, a backslash takes
 * the next character literally, and a file may name further files. If `file` cannot be read, the
 * word `@file` stays as it is.
 */
#ifndef WRAP_ARGS_RESPONSE_H
#define WRAP_ARGS_RESPONSE_H

#include "base/err.h"
#include "wrap/args/args.h"

/* Appends the words of `text` to `out`; pure. */
void response_parse(const char *text, size_t size, struct args *out);

/* Appends `count` words to `out` with each @file replaced by its words. Returns 0 or -1. */
int response_expand(char *const *words, size_t count, struct args *out, struct err *err);

/* Returns the text of a response file with these words, one per line; from malloc. */
char *response_text(const struct args *a, size_t *size);

/*
 * If the words take more than `limit` bytes, replaces those from index `from` on by one response
 * file. The file is a memfd that the program executed next inherits. Returns 0 or -1.
 */
int response_shorten(struct args *a, size_t from, size_t limit, struct err *err);

/* Bytes of arguments that execve takes on every Linux, beside a usual environment. */
#define RESPONSE_LIMIT (96u << 10)

#endif
