/*
 * Predecessor sets (PSet: Yu and Narayanasamy, ISCA 2009): the sites P of other threads that a site
 * M immediately followed. P is in the set of M if one of them writes, and at least once
 *
 * 	(a) different threads made the two accesses,
 * 	(b) M depended immediately on P: it read what P wrote; or it overwrote what P wrote and no
 * 	    thread read since, or what P read and no thread wrote since;
 * 	(c) neither of the two threads accessed the memory in between.
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
