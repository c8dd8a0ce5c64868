/*
 * Parses SNARL_OPTIONS (abi/run_options.h).
 */
#ifndef RUNTIME_CORE_OPTIONS_H
#define RUNTIME_CORE_OPTIONS_H

#include "abi/run_options.h"
#include "runtime/core/runtime.h"

/* An unknown key or a bad value is ignored with a warning. `text` may be NULL. */
SNARLRT_HIDDEN void snarlrt_options_parse(struct run_options *o, const char *text);

#endif
