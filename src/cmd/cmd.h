/*
 * The commands: one file each. A new one is a file here, a line in commands.def and a page in docs/.
 *
 * A command gets argv with its own name first, parses with getopt_long into a
 * struct of its own and returns the exit code. Results go to stdout, all else
 * to stderr.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>

enum cmd_exit {
	CMD_OK = 0,
	CMD_BUG = 1,		/* a bug was proved */
	CMD_USAGE = 2,
	CMD_FAILED = 3,		/* snarl or the target could not run */
	CMD_DIVERGED = 4,	/* a replay went another way */
	CMD_UNSUPPORTED = 77,	/* not on this machine */
};

struct cmd {
	const char *name;
	const char *summary;	/* one line of `snarl help` */
	const char *help;	/* what `snarl help NAME` prints; NULL: what NAME --help does */
	int (*run)(int argc, char **argv);
};

#define COMMAND(name) extern const struct cmd cmd_##name;
#include "cmd/commands.def"
#undef COMMAND

/* One line "snarl NAME: …" on stderr; returns CMD_USAGE and mentions --help. */
int cmd_usage(const struct cmd *cmd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same without the hint; returns CMD_FAILED. */
int cmd_fail(const struct cmd *cmd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --suppressions: adds the file to *s, made if NULL. CMD_OK, or CMD_USAGE after "FILE:LINE: reason". */
struct suppressions;
int cmd_suppressions(const struct cmd *cmd, const char *path, struct suppressions **s);

/* For what getopt_long() did not like: call it with ':' first in the short options. */
int cmd_bad_option(const struct cmd *cmd, char **argv, int result);

/* Flushes stdout; CMD_FAILED if not all could be written, a closed pipe excepted. */
int cmd_flush(const struct cmd *cmd, int code);

/* help_options.c: `snarl help options`. */
int help_options(void);

/* The word of `count` that is nearest to `word`, NULL if none is near. */
const char *cmd_nearest(const char *word, const char *const *words, unsigned count);

#endif
