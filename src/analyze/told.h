/*
 * One candidate for each schedule. Accesses within a critical section that the other
 * thread needs too move as a whole, so candidates whose sections are the same ask for
 * the same schedule, whatever they access there: only the first is told.
 */
#ifndef ANALYZE_TOLD_H
#define ANALYZE_TOLD_H

#include "analyze/moments.h"
#include "base/map.h"

/* All zero is empty. */
struct told {
	struct map by_units;	/* hash of the units of a candidate's events to its number, plus 1 */
};

static inline void told_free(struct told *t)
{
	map_free(&t->by_units);
}

/*
 * Adds `c`, whose first `count` events are accesses; at[] are their moments, and
 * meets[k] is that of the other thread's access that event k is ordered with. If its
 * schedule was told, that candidate counts one more (PRUNE_SAME if the sites are
 * others), and of two with the same sites the one nearer in time is kept. Returns
 * the candidate's number in `out`, plus 1.
 */
uint32_t told_add(struct told *t, const struct moments *m, const struct candidate *c,
	      const struct moment *const at[], const struct moment *const meets[], unsigned count,
	      struct findings *out);

#endif
