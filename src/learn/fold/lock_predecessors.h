/*
 * Predecessor sets (pset.h) of sites that take mutexes: each acquisition counts as a write of
 * the mutex. A guard can delay a thread before it takes a mutex, where the thread keeps no other
 * thread from running.
 */
#ifndef LEARN_FOLD_LOCK_PREDECESSORS_H
#define LEARN_FOLD_LOCK_PREDECESSORS_H

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct lock_pred;

struct lock_pred *lock_pred_new(void);
void lock_pred_free(struct lock_pred *t);

/* Takes all steps of an event. An acquisition has site 0 if its site is not known. */
void lock_pred_step(struct lock_pred *t, const struct learn_step *s, const struct view *view);
void lock_pred_forget(struct lock_pred *t, uint64_t addr, uint64_t size);

/* Lists that lock_pred_add_to() adds the pairs of one run to. */
struct lock_pred_lists {
	/* (P, M): M took the mutex right after P of another thread */
	struct learn_pairs *seen;
	struct learn_pairs *expected;	/* (P, M) and (M, P): only locks order the two */
	struct learn_pairs *first, *after;	/* (M, M): as in unordered_sites.h */
};

void lock_pred_add_to(const struct lock_pred *t, const struct lock_pred_lists *lists);

#endif
