/*
 * Identity of a bug, which does not change when lines move or the schedule differs. It is computed
 * from the bug's JSON and consists of class, pattern, variable, and the function, operation and
 * object of each event of the cause. Without a known cause, it has the kind and the sites of the
 * failure instead.
 */
#ifndef EXPLORE_BUG_IDENTITY_H
#define EXPLORE_BUG_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json_t;

/* Appends the identity, a text for comparison only. Two bugs with equal texts are one bug. */
void identity_append(struct buf *out, const struct json_t *bug);

/* Hash of the identity. SARIF files contain it, so it is the same on all machines and versions. */
uint64_t identity_hash(const struct json_t *bug);

/* A member that is a string; "" if it is missing or of another type. */
const char *identity_member(const struct json_t *object, const char *key);

/* The function of a site, else its file, else "?". */
const char *identity_function(const struct json_t *site);

/* True if the bug's cause is known. */
bool identity_has_cause(const struct json_t *bug);

/* True if the site is part of the identity: an event of the cause, or without a cause any site. */
bool identity_uses_site(const struct json_t *bug, const struct json_t *site);

#endif
