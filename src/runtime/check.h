/*
 * AVIO's invariants, watched while the program runs (check.c); docs/check.md.
 */
#ifndef RUNTIME_CHECK_H
#define RUNTIME_CHECK_H

#include "runtime/rules.h"

/* Before the access is done. */
SNARLRT_HIDDEN void check_access(uint64_t addr, uint64_t size, const struct rules_place *place, bool write);

#endif
