/*
 * System calls that end a controlled run, because it would be wrong after them.
 */
#ifndef RUNTIME_INTERPOSE_REFUSED_H
#define RUNTIME_INTERPOSE_REFUSED_H

#include <stdint.h>

#include "runtime/core/runtime.h"

/* Does not return if the run cannot go on after a clone with these flags. */
SNARLRT_HIDDEN void snarlrt_refuse_clone(uint64_t flags);

/* Does not return if the run cannot go on after this system call with the arguments `v`. */
SNARLRT_HIDDEN void snarlrt_refuse_syscall(long number, const long *v);

#endif
