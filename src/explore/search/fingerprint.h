/*
 * The fingerprint of a failure: what failed, and in which functions. It contains no lines and no
 * addresses, so it stays the same when code around the failure changes, and names the failure on a
 * command line (--ignore).
 */
#ifndef EXPLORE_SEARCH_FINGERPRINT_H
#define EXPLORE_SEARCH_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/search/oracle.h"

#define FINGERPRINT_SIZE 13	/* 12 hexadecimal digits, and 0 */

/* Call oracle_refine() first. */
void fingerprint_of(const struct oracle_result *r, struct places *places,
		    char out[FINGERPRINT_SIZE]);

/* Whether `text` can be a fingerprint. */
bool fingerprint_is_valid(const char *text);

#endif
