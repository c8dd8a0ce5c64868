/*
 * What stays of a bug when lines move and the schedule is another one, from its JSON: class,
 * pattern, variable, and function and kind of each event of its cause; if the cause is not
 * known, the kind of failure and its places instead.
 */
#ifndef EXPLORE_BUG_IDENTITY_H
#define EXPLORE_BUG_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json_t;

/* Two bugs are taken for one if this is the same. Appends it; not for people. */
void identity_append(struct buf *out, const struct json_t *bug);

/* A number for it, the same on every machine and in every version that does not say otherwise. */
uint64_t identity_hash(const struct json_t *bug);

/* A member that is text; "" if it is missing or something else. */
const char *identity_member(const struct json_t *object, const char *key);

/* Where a site is: its function, else its file, else "?". */
const char *identity_function(const struct json_t *site);

bool identity_has_cause(const struct json_t *bug);

/* Does this site say what the bug is? If there is a cause, places of the failure do not. */
bool identity_uses_site(const struct json_t *bug, const struct json_t *site);

#endif
