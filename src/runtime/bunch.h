/*
 * Bunches (trace/bunch.h): accesses that code checks at once and tells by one record (wrap/bunch*.c makes
 * such code). Each is there twice: with its hooks, and without. Where all of its memory is private or all of it
 * is shared, the code without hooks runs, after one record in the latter case; else that with hooks.
 *
 * What a bunch is made of stands in a table beside the code, in the section snarl_bunches, which the constructor of each
 * module hands to __snarl_bunches. It goes into the trace at once, so that a reader can expand the records also
 * if the process is killed; and again into the trace of a forked child. A copy is kept: libraries may go.
 */
#ifndef RUNTIME_BUNCH_H
#define RUNTIME_BUNCH_H

#include "runtime/rt.h"
#include "trace/bunch.h"

/* Places are relative to the field that holds them. */
struct bunch_access {
	int32_t site;		/* the label behind its hook */
	int16_t distance;	/* from the first access's address */
	uint16_t op;		/* kind | detail << 8 */
};

/*
 * wrap/bunch*.c writes it as data, one directly behind the other. One with silent accesses, other ones that are among those of the
 * bunch and cannot be told with it, has hooks until the runtime puts a jump to its check where it begins; it does
 * if a list of sites has switched all of them off.
 */
struct bunch {
	int32_t head;		/* where it begins: a jump of five bytes fits there */
	int32_t fast;		/* the code without hooks */
	uint8_t count;		/* TRACE_BUNCH_LEAST to TRACE_BUNCH_MOST */
	uint8_t silent;
	uint16_t granules;
	struct bunch_access access[];	/* in the order of the program; the first one's distance is 0 */
};

/* Behind the accesses if there are silent ones: where the check is, which is the pc of records, and the sites of these. */
static inline const int32_t *bunch_check(const struct bunch *b)
{
	return (const int32_t *)&b->access[b->count];
}

_Static_assert(sizeof(struct bunch_access) == 8 && sizeof(struct bunch) == 12, "wrap/bunch.c knows them");

/* A module is loaded; called by its constructor before its code runs. */
SNARLRT_EXPORT void __snarl_bunches(const struct bunch *start, const struct bunch *stop);

/*
 * In bunch_x86_64.S: a bunch whose memory is shared, but calls have not been told, or the ring needs
 * attention. %rdi is the first address, %rcx the pc of records, %eax TRACE_BUNCH | count << 8. Every register but
 * %rax and %rcx is kept, as by __snarl_access and __snarl_access_wide. Returns 0 if nothing was told, under control for one: that is up to
 * the hooks.
 */
void __snarl_bunch(void);
void __snarl_bunch_wide(void);

/* What a record of that site stands for; NULL if nobody told. While profiling only. */
SNARLRT_HIDDEN const struct trace_bunch *bunch_find(uint64_t site);

SNARLRT_HIDDEN void bunch_fork(bool begin);	/* around a fork */
SNARLRT_HIDDEN void bunch_forked(void);		/* in a child that has a trace of its own: tells all again */

#endif
