/*
 * Numbers and durations on the command line.
 */
#ifndef CMD_NUMBERS_H
#define CMD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cmd.h"

/* CMD_OK, or CMD_USAGE after saying what was expected of `option`. */
int numbers_count(const struct cmd *cmd, const char *option, const char *text, uint64_t least,
		  uint64_t most, uint64_t *out);	/* K, M, G (thousands) allowed */
int numbers_seconds(const struct cmd *cmd, const char *option, const char *text, double *out);	/* 90, 1.5s, 10m, 2h */

#endif
