/*
 * How snarl check shows what it found: the first `count` of the sorted items, `limit` at most.
 */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include <stdio.h>

#include "base/buf.h"
#include "learn/detect.h"

void check_text(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_json(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_summary(const struct detect *d, size_t count, FILE *out);

#endif
