/*
 * Memory that is alone (alone.h) and that no other thread gives back than the one that used it: by
 * free, by unmapping, or as its stack when it ends. Who uses such memory when is no question to
 * anybody.
 *
 * A look through the events in order, without the plain accesses. There is none where nearly all
 * accesses are to memory that is not alone, and it is given up when little is left that is quiet.
 */
#ifndef ANALYZE_QUIET_H
#define ANALYZE_QUIET_H

#include "analyze/alone.h"

/* Sets a->stirred, maybe. Leaves the reader at its first event. */
void quiet_look(struct alone *a, struct reader *trace);

/* All that the access touches. */
static inline bool quiet_has(const struct alone *a, const struct event *ev)
{
	return a->stirred && alone_all(a, a->stirred, ev);
}

#endif
