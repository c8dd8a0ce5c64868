/*
 * Which compiler is wrapped, and where snarl's own files are.
 */
#ifndef WRAP_ARGS_COMPILER_H
#define WRAP_ARGS_COMPILER_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"

enum compiler_kind {
	COMPILER_UNKNOWN,	/* the name does not tell */
	COMPILER_GCC,
	COMPILER_CLANG,
};

/*
 * The words of the compiler's command, from the values of SNARL_CC and
 * SNARL_CXX (NULL if not set). If only the other one is set, the name is
 * derived from it: clang-19 gives clang++-19. Pure.
 */
void compiler_command(const char *cc, const char *cxx_value, bool cxx, struct args *out);

/* Judges by the names in the command. Pure. */
enum compiler_kind compiler_kind(const struct args *command);

/* Asks the compiler itself; a process, so only when the name does not tell. */
int compiler_ask(const struct args *command, enum compiler_kind *kind, struct err *err);

/* Folders without a slash at the end. */
struct compiler_home {
	char *lib;		/* libsnarlrt.a and what belongs to it */
	char *libexec;		/* the inlining assembler; NULL: not there */
	char *include;		/* snarl.h; NULL: not there */
};

/*
 * Finds snarl's files beside the running executable, or under `home`
 * (SNARL_HOME) if not NULL: build tree or installation.
 */
int compiler_find_home(const char *home, struct compiler_home *out, struct err *err);

void compiler_home_free(struct compiler_home *home);

#endif
