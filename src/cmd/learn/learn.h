/*
 * What snarl learn and snarl check share: an option and texts of learnt rules.
 */
#ifndef CMD_LEARN_LEARN_H
#define CMD_LEARN_LEARN_H

#include "base/buf.h"
#include "cmd/cmd.h"
#include "learn/rule_database.h"

/*
 * Parses --granularity, a power of two from 1 to 64. Returns CMD_OK, or CMD_USAGE after printing
 * why.
 */
int learn_parse_granularity(const struct cmd *cmd, const char *text, uint64_t *out);

/* Appends "bank.c:41 write in deposit". */
void learn_describe_site(const struct known_site *s, struct buf *out);

/* Appends all rules as text, for --dump. */
void learn_dump(const struct known *k, uint64_t threshold, struct buf *out);

#endif
