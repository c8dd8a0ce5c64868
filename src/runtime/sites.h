/*
 * Records only at access sites that an earlier run found to touch shared memory.
 */
#ifndef RUNTIME_SITES_H
#define RUNTIME_SITES_H

#include "runtime/rt.h"

/* Reads the file and switches all other inlined sites off. Says what it did. */
SNARLRT_HIDDEN void snarlrt_sites_apply(const char *path);

#endif
