/*
 * What snarl learn and snarl check have in common.
 */
#ifndef CMD_LEARN_H
#define CMD_LEARN_H

#include "base/buf.h"
#include "cmd/cmd.h"
#include "learn/rule_database.h"

/* CMD_OK, or CMD_USAGE after saying so: a power of two from 1 to 64. */
int learn_granularity(const struct cmd *cmd, const char *text, uint64_t *out);

/* "bank.c:41 write in deposit" */
void learn_place(const struct known_site *s, struct buf *out);

/* All that is known, as text. */
void learn_dump(const struct known *k, uint64_t threshold, struct buf *out);

#endif
