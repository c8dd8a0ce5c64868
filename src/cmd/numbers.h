/*
 * Parses numbers and durations of the command line.
 */
#ifndef CMD_NUMBERS_H
#define CMD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cmd.h"

/*
 * Both return CMD_OK, or CMD_USAGE after printing what `option` needs. Counts may end with K, M or
 * G (powers of 1000). Durations are like 90, 1.5s, 10m or 2h; *out is in seconds.
 */
int numbers_count(const struct cmd *cmd, const char *option, const char *text, uint64_t least,
		  uint64_t most, uint64_t *out);
int numbers_seconds(const struct cmd *cmd, const char *option, const char *text, double *out);

#endif
