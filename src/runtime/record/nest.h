/*
 * The nest of loops that a thread's ring ends with, if any (hooks/loop_nest.h): it is over once the ring's
 * records are gone.
 */
#ifndef RUNTIME_RECORD_NEST_H
#define RUNTIME_RECORD_NEST_H

#include "runtime/core/runtime.h"

#define NEST_BEFORE 2u
#define NEST_LOOKS 8u		/* LOOKS of wrap/loops/loops_end.c: all accesses of one are at fixed distances */
#define NEST_ACCESSES 12u	/* ACCESSES */
#define NEST_NONE ((struct trace_record *)1)	/* as no ring ends */

struct nest_expected {
	uint64_t addr;		/* with the stride above it */
	uint64_t add;		/* each round */
};

/* wrap/loops/loops_end.c has the first offsets as numbers. Changed while signals wait. */
struct snarlrt_nest {
	uint64_t from;			/* 0: the code that told the last group; or 0: nothing can come again */
	uint32_t found, turns;		/* 8: … what memory it found, a bit for each look; turns less one */
	struct nest_expected look[NEST_LOOKS];	/* 16: by these bits: its first access, where there is a nest */
	struct trace_record *first[NEST_LOOKS];	/* 144: … in the group that is being told */
	struct trace_record *next;	/* 208: the ring's end when a round may be told, or NEST_NONE: there is no nest */
	struct trace_record *end;	/* behind the last group, or the nest */
	uint64_t gap;			/* bytes from the one before to that group */
	/* The nest: */
	struct trace_record *head;
	uint32_t events, left;		/* of a round; rounds that may come */
	uint32_t undecided;		/* tls.undecided when it began: what comes before a group is shared as well */
	uint32_t before;		/* accesses */
	struct nest_expected expected_before[NEST_BEFORE];
	uint64_t site_before[NEST_BEFORE];
};

extern SNARLRT_EXPORT __thread struct snarlrt_nest __snarl_nest __attribute__((tls_model("local-exec")));

/* The ring's records are gone. */
static inline void nest_forget(void)
{
	__snarl_nest.from = 0;
	__snarl_nest.next = NEST_NONE;
	__snarl_nest.end = NULL;
}

#endif
