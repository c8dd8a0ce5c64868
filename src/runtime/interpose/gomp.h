/*
 * libgomp: what the files of its wrappers share. Not for static programs.
 */
#ifndef RUNTIME_INTERPOSE_GOMP_H
#define RUNTIME_INTERPOSE_GOMP_H

#include "runtime/interpose/openmp.h"

/* The compiler declares these functions itself. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define GROUPS 8u	/* taskgroups inside each other in one task; deeper ones share the last */

/* The task that a thread executes: that of a team's member, or one that the program created. */
struct gomp_task {
	uint64_t team;		/* key; 0: outside of parallel regions */
	uint64_t key;
	uint32_t round;		/* barriers the member has left; at a created task's creation */
	uint32_t groups;	/* taskgroups that it is in, one for those around its creation */
	uint64_t group[GROUPS];	/* their keys */
};

extern SNARLRT_HIDDEN __thread struct gomp_task gomp_self;

/* Is there nothing to note? */
static inline bool gomp_off(void)
{
	return snarlrt_off() || snarlrt_ompt_active;
}

/* The function behind a wrapper, in a library that may have been opened by dlopen. */
#define GOMP_REAL(name)                                                                    \
	({                                                                                 \
		static void *found_##name;                                                 \
		(__typeof__(&name))gomp_find(&found_##name, #name);                        \
	})
SNARLRT_HIDDEN void *gomp_find(void **found, const char *name);

/*
 * Tasks that omp_fulfill_event() completes: such a completion is ordered before any wait for tasks,
 * since it is not known which task it is. False until there is one.
 */
extern SNARLRT_HIDDEN bool gomp_fulfils;
#define GOMP_FULFILLED 0x6efffffffff0ull	/* the object; below all keys */

/* A wait for tasks ended. */
static inline void gomp_after_tasks(uint64_t object, const void *pc)
{
	snarlrt_openmp_after(object, pc);
	if (__atomic_load_n(&gomp_fulfils, __ATOMIC_RELAXED))
		snarlrt_openmp_after(GOMP_FULFILLED, pc);
}

#endif
