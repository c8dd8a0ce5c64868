/* mode=profile: folds a parallel run into its iRoots (parallel_coverage.c). */
#ifndef RUNTIME_RECORD_PARALLEL_COVERAGE_H
#define RUNTIME_RECORD_PARALLEL_COVERAGE_H

#include "runtime/core/runtime.h"

/* Maps the tool's control block `path`. False: that failed, or another process uses it. */
SNARLRT_HIDDEN bool snarlrt_profile_begin(const char *path);

/* At the end of the process: completes the profile. Threads that still run add nothing to it. */
SNARLRT_HIDDEN void snarlrt_profile_end(void);

/*
 * Called between enter and leave. snarlrt_profile_flush() moves the ring's records to the queue.
 * snarlrt_profile_fold() folds the queue if it is long; not to be called while the thread holds a
 * lock of the clock.
 */
SNARLRT_HIDDEN void snarlrt_profile_flush(struct snarlrt_thread *self);
SNARLRT_HIDDEN void snarlrt_profile_fold(void);

/* A granule became shared after its history was cut. */
SNARLRT_HIDDEN void snarlrt_profile_shared(struct snarlrt_thread *self, uint64_t granule);

/* The shadow of `count` granules was reset. */
SNARLRT_HIDDEN void snarlrt_profile_fresh(uint64_t granule, uint64_t count);

#endif
