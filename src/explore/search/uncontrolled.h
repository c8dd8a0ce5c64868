/*
 * What ran in controlled runs without being scheduled (struct ctl_uncontrolled): threads of forked
 * children, threads that were made elsewhere, memory that processes share, threads that run code
 * without hooks.
 */
#ifndef EXPLORE_SEARCH_UNCONTROLLED_H
#define EXPLORE_SEARCH_UNCONTROLLED_H

#include <stdbool.h>

#include "abi/control_block.h"
#include "base/buf.h"
#include "base/json.h"
#include "symbol/program_sites.h"

/* Raises the counts of `to` to those of a run: they are the largest of any run. */
void uncontrolled_add(struct ctl_uncontrolled *to, const struct ctl_uncontrolled *run);

/*
 * Removes the start functions that are in libraries with hooks, or in the C and C++ libraries,
 * where each std::thread begins. To be called once, before the functions below.
 */
void uncontrolled_settle(struct ctl_uncontrolled *u, const struct places *places);

bool uncontrolled_any(const struct ctl_uncontrolled *u);

/* Appends a line for each kind: `prefix`, then "2 child processes with 4 threads ran …". */
void uncontrolled_describe(const struct ctl_uncontrolled *u, struct places *places,
			   const char *prefix, struct buf *out);

/* Writes the member "uncontrolled" of results.json. */
void uncontrolled_json(const struct ctl_uncontrolled *u, struct places *places, struct json *j);

#endif
