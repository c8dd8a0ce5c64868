/*
 * Which process holds a lock on a file, as far as /proc/locks tells.
 */
#ifndef BASE_LOCK_HOLDER_H
#define BASE_LOCK_HOLDER_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends "NAME (pid N)" of a process other than this one that has locked one of the files for
 * writing. Returns false, and appends nothing, if none is known. Files that do not exist are
 * ignored.
 */
bool lock_holder_add(const char *const *paths, size_t count, struct buf *out);

#endif
