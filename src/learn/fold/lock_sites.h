/*
 * Where locks are taken: before which accesses, and in circles.
 *
 * A guard has to hold a thread back before it takes a lock that the other one needs: afterwards it
 * would be in the way. So the places matter at which a thread that holds no lock takes the one of an access,
 * and those of two locks that are taken in either order, which may end in a deadlock.
 */
#ifndef LEARN_FOLD_LOCK_SITES_H
#define LEARN_FOLD_LOCK_SITES_H

#include "learn/fold/fold_common.h"

struct lock_sites;

struct lock_sites *lock_sites_new(void);
void lock_sites_free(struct lock_sites *k);

/* Acquisitions (with their sites), releases, and accesses that matter. `function`: the one that is running, or 0. */
void lock_sites_step(struct lock_sites *k, const struct learn_step *s, uint32_t function);

/* (L, S): at S the outermost lock had been taken at L. */
const struct learn_pairs *lock_sites_outermost(const struct lock_sites *k);

/* Sites of one circle, two by two. */
const struct learn_pairs *lock_sites_cycles(const struct lock_sites *k);

/* (function, L): L is in a circle, and was called by the function. */
const struct learn_pairs *lock_sites_members(const struct lock_sites *k);

#endif
