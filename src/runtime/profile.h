/*
 * mode=profile: iRoots of a program that runs in parallel (profile.c).
 */
#ifndef RUNTIME_PROFILE_H
#define RUNTIME_PROFILE_H

#include "runtime/rt.h"

/* `path`: the tool's block. False: there is none for this process. */
SNARLRT_HIDDEN bool snarlrt_profile_begin(const char *path);

/* At the end: threads that still run add nothing, and the profile is whole. */
SNARLRT_HIDDEN void snarlrt_profile_end(void);

/* Instead of the ring: the records of one event, between enter and leave. */
SNARLRT_HIDDEN void snarlrt_profile_append(const struct snarlrt_thread *self,
					   const struct trace_record *records, unsigned count);

/* 8 bytes get their first owner; or (`cut`) a second one after what the first one did last was dropped. */
SNARLRT_HIDDEN void snarlrt_profile_granule(uint64_t granule, bool cut);

#endif
