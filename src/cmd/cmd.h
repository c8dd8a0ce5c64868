/*
 * The interface of a command, and what all commands share: usage errors, failures, exit codes.
 *
 * A command is a file here, a line in commands.def and a page in docs/. It gets argv with its own
 * name first, parses with getopt_long into a struct of its own and returns the exit code. Results
 * go to stdout, everything else to stderr.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <string.h>

enum cmd_exit {
	CMD_OK = 0,
	CMD_BUG = 1,		/* a bug was proved */
	CMD_USAGE = 2,
	CMD_FAILED = 3,		/* snarl or the target could not run */
	CMD_DIVERGED = 4,	/* a replay diverged from its schedule */
	CMD_UNPROVED = 5,	/* runs failed, but no failure could be proved */
	CMD_UNSUPPORTED = 77,	/* this machine cannot do it */
	/* 128 plus the number of a signal: interrupted (interrupt.h) */
};

struct cmd {
	const char *name;
	const char *summary;	/* one line of `snarl help` */
	const char *help;	/* text of `snarl help NAME`; NULL: run `snarl NAME --help` */
	int (*run)(int argc, char **argv);
};

#define COMMAND(name) extern const struct cmd cmd_##name;
#include "cmd/commands.def"
#undef COMMAND

/* Prints "snarl NAME: MESSAGE (see snarl NAME --help)" on stderr and returns CMD_USAGE. */
int cmd_usage(const struct cmd *cmd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints "snarl NAME: MESSAGE" on stderr and returns CMD_FAILED. */
int cmd_fail(const struct cmd *cmd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For --suppressions: adds the entries of a file to *s, which is created if NULL. Returns CMD_OK,
 * or CMD_USAGE after printing "FILE:LINE: reason".
 */
struct suppressions;
int cmd_suppressions(const struct cmd *cmd, const char *path, struct suppressions **s);

/*
 * Whether a command may run the `parts` (TRUST_…) of a schedule from the file `path`: this user's
 * snarl wrote them, they can do no harm, or `trust` (--trust) is set. Unless the first is the case,
 * prints on stderr what they are; `quiet`: only if the answer is no.
 */
struct schedule;
bool cmd_trusts(const struct schedule *s, const char *path, unsigned parts, bool trust, bool quiet);

/*
 * Reports the option for which getopt_long() returned `result`, '?' or ':'. The short options of
 * the call must begin with ':' (or "+:"). Returns CMD_USAGE.
 */
int cmd_bad_option(const struct cmd *cmd, char **argv, int result);

/* Flushes stdout. Returns `code`, or CMD_FAILED if a write failed; a closed pipe is no failure. */
int cmd_flush(const struct cmd *cmd, int code);

/* The larger of `width` and the length of `name`; for the column of names in a help text. */
static inline int cmd_name_width(int width, const char *name)
{
	int length = (int)strlen(name);

	return length > width ? length : width;
}

/* Prints `snarl help options`; returns the exit code. In help_options.c. */
int help_options(void);

/*
 * Returns the one of `count` words with the least edit distance to `word`, or NULL if none is
 * similar.
 */
const char *cmd_nearest(const char *word, const char *const *words, unsigned count);

#endif
