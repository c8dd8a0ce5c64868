#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void print_message(const struct cmd *cmd, const char *format, va_list list)
{
	fflush(stdout);
	fprintf(stderr, "snarl %s: ", cmd->name);
	vfprintf(stderr, format, list);
}

int cmd_usage(const struct cmd *cmd, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	print_message(cmd, format, list);
	va_end(list);
	fprintf(stderr, " (see snarl %s --help)\n", cmd->name);
	return CMD_USAGE;
}

int cmd_fail(const struct cmd *cmd, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	print_message(cmd, format, list);
	va_end(list);
	fputc('\n', stderr);
	return CMD_FAILED;
}

int cmd_bad_option(const struct cmd *cmd, char **argv, int result)
{
	/* For an unknown long option optopt is 0; argv[optind - 1] is the option in any case. */
	const char *word = argv[optind - 1];

	if (result == ':')
		return cmd_usage(cmd, "option '%s' needs a value", word);
	if (strncmp(word, "--", 2) == 0) {
		if (optopt)
			return cmd_usage(cmd, "option '%s' takes no value", word);
		return cmd_usage(cmd, "unknown option '%s'", word);
	}
	return cmd_usage(cmd, "unknown option '-%c'", optopt);
}

int cmd_flush(const struct cmd *cmd, int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return code;	/* the reader, for example head(1), closed the pipe */
	return cmd_fail(cmd, "cannot write the output: %s", strerror(errno));
}

/*
 * Edit distance (optimal string alignment) of two words: insertions, deletions, replacements and
 * swaps of neighbours. Three rows of the table suffice, since a swap looks back two rows. Returns
 * 99 for words of 32 characters or more.
 */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned rows[3][32];

	if (n >= ARRAY_SIZE(rows[0]) || m >= ARRAY_SIZE(rows[0]))
		return 99;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3], *above = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    above[j - 2] + 1 < best)
				best = above[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[n % 3][m];
}

const char *cmd_nearest(const char *word, const char *const *words, unsigned count)
{
	size_t length = strlen(word);
	unsigned bound = length <= 3 ? 2 : 3;	/* words at this distance or more are not similar */
	const char *nearest = NULL;

	for (unsigned i = 0; i < count; i++) {
		unsigned d = distance(word, words[i]);

		if (length >= 2 && strncmp(word, words[i], length) == 0)
			d = d > 1 ? 1 : d;	/* a prefix counts as one edit */
		if (d < bound) {
			bound = d;
			nearest = words[i];
		}
	}
	return nearest;
}
