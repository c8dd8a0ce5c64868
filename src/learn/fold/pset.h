/*
 * Predecessor sets (Yu and Narayanasamy, ISCA 2009): the places P of other threads that a place
 * M followed immediately. P is in the set of M if one of them writes and once
 *
 *	(a) they were done by different threads,
 *	(b) M depended on P immediately: it read what P wrote; or it wrote over what P wrote and
 *	    nobody read, or over what P read and nobody wrote since;
 *	(c) neither of the two threads touched the memory in between.
 */
#ifndef LEARN_FOLD_PSET_H
#define LEARN_FOLD_PSET_H

#include "learn/fold/fold_common.h"

struct pset;

struct pset *pset_new(unsigned granularity);
void pset_free(struct pset *p);
void pset_step(struct pset *p, const struct learn_step *s);

/* Pairs (P, M). */
const struct learn_pairs *pset_pairs(const struct pset *p);

#endif
