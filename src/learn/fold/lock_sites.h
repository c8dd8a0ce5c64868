/*
 * Where locks are taken: the outermost lock of each access, and pairs of locks taken in either
 * order.
 *
 * A guard must delay a thread before it takes a lock that the other thread needs; afterwards the
 * delay has no effect. So it delays the thread where it holds no lock yet and takes the outermost
 * lock of the access. Two locks that are taken in either order are a cycle, which may deadlock.
 */
#ifndef LEARN_FOLD_LOCK_SITES_H
#define LEARN_FOLD_LOCK_SITES_H

#include "learn/fold/fold_common.h"

struct lock_sites;

struct lock_sites *lock_sites_new(void);
void lock_sites_free(struct lock_sites *k);

/*
 * Takes acquisitions, releases, and the accesses whose outermost lock is asked for. `function`: the
 * innermost one that the thread is in, or 0.
 */
void lock_sites_step(struct lock_sites *k, const struct learn_step *s, uint32_t function);

/* (L, S): at S, the thread's outermost lock was taken at L. */
const struct learn_pairs *lock_sites_outermost(const struct lock_sites *k);

/* Pairs of sites of a cycle. */
const struct learn_pairs *lock_sites_cycles(const struct lock_sites *k);

/* (function, L): the function took a lock at L, a site of a cycle. */
const struct learn_pairs *lock_sites_members(const struct lock_sites *k);

#endif
