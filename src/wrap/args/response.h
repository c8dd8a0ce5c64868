/*
 * Response files: `@file` on a command line stands for the words in it. Rules
 * are those of gcc, clang and the binutils: words are separated by white
 * space, may be quoted with ' or ", a backslash takes the next character as it
 * is, and files may name further files. Where `@file` cannot be read, it stays
 * a word of its own.
 */
#ifndef WRAP_ARGS_RESPONSE_H
#define WRAP_ARGS_RESPONSE_H

#include "base/err.h"
#include "wrap/args/args.h"

/* Appends the words of `text` to `out`; pure. */
void response_parse(const char *text, size_t size, struct args *out);

/* Appends `count` words to `out`, each @file replaced. Returns 0 or -1. */
int response_expand(char *const *words, size_t count, struct args *out, struct err *err);

/* The words as the text of a response file, one a line; from malloc. */
char *response_text(const struct args *a, size_t *size);

/*
 * Replaces the words from `from` on by one response file if the list is too
 * long for execve. The file lives in memory and is inherited by the program
 * executed next, so nothing is left behind. Returns 0 or -1.
 */
int response_shorten(struct args *a, size_t from, size_t limit, struct err *err);

/* A length in bytes that every Linux takes with a usual environment. */
#define RESPONSE_LIMIT (96u << 10)

#endif
