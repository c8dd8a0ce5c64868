/*
 * Finds the compiler that snarl-cc wraps, its kind, and the folders of snarl's own files.
 */
#ifndef WRAP_ARGS_COMPILER_H
#define WRAP_ARGS_COMPILER_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"

enum compiler_kind {
	COMPILER_UNKNOWN,	/* the name says neither gcc nor clang */
	COMPILER_GCC,
	COMPILER_CLANG,
};

/*
 * Appends the words of the compiler's command to `out`, from the values of SNARL_CC and SNARL_CXX
 * (NULL if not set). If only the other language's variable is set, the name is derived from it:
 * SNARL_CC=clang-19 gives clang++-19 for C++. Pure.
 */
void compiler_command(const char *cc, const char *cxx_value, bool cxx, struct args *out);

/* Recognises the compiler by the names in the command. Pure. */
enum compiler_kind compiler_kind(const struct args *command);

/*
 * Recognises the compiler by its output for --version. Call it only if compiler_kind() does not
 * know, because it costs a process.
 */
int compiler_ask(const struct args *command, enum compiler_kind *kind, struct err *err);

/* Folders of snarl, from malloc, without a slash at the end. */
struct compiler_home {
	char *lib;		/* runtime libraries, specs file, symbol lists */
	char *libexec;		/* the assembler `as`; NULL: it is missing */
	char *include;		/* snarl.h; NULL: it is missing */
};

/*
 * Finds snarl's files in `home` (the value of SNARL_HOME), or relative to the running executable
 * if `home` is NULL or empty. The folder is a build tree or an installation. compiler_home_free in
 * either case.
 */
int compiler_find_home(const char *home, struct compiler_home *out, struct err *err);

void compiler_home_free(struct compiler_home *home);

#endif
