/*
 * Parses the environment variable SNARL_OPTIONS (abi/run_options.h).
 */
#ifndef RUNTIME_CORE_OPTIONS_H
#define RUNTIME_CORE_OPTIONS_H

#include "abi/run_options.h"
#include "runtime/core/runtime.h"

/*
 * Fills `o` with defaults, then with the values in `text`, which may be NULL. Warns about unknown
 * keys and bad values, and ignores them.
 */
SNARLRT_HIDDEN void snarlrt_options_parse(struct run_options *o, const char *text);

#endif
