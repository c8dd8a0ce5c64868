/*
 * mode=profile: iRoots of a program that runs in parallel (profile.c).
 */
#ifndef RUNTIME_RECORD_PARALLEL_COVERAGE_H
#define RUNTIME_RECORD_PARALLEL_COVERAGE_H

#include "runtime/core/runtime.h"

/* `path`: the tool's block. False: there is none for this process. */
SNARLRT_HIDDEN bool snarlrt_profile_begin(const char *path);

/* At the end: threads that still run add nothing, and the profile is whole. */
SNARLRT_HIDDEN void snarlrt_profile_end(void);

/* Between enter and leave: the ring goes to the queue. Then, unless others wait for something: */
SNARLRT_HIDDEN void snarlrt_profile_flush(struct snarlrt_thread *self);
SNARLRT_HIDDEN void snarlrt_profile_fold(void);

/* 8 bytes get a second owner after what the first one did last was dropped. */
SNARLRT_HIDDEN void snarlrt_profile_shared(struct snarlrt_thread *self, uint64_t granule);

/* So many of them have no owner any more. */
SNARLRT_HIDDEN void snarlrt_profile_fresh(uint64_t granule, uint64_t count);

#endif
