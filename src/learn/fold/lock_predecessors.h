/*
 * Whose turn it is at a lock: predecessor sets (pset.h) of the places that take mutexes, as if each taking were a
 * write to the lock. A guard that holds a thread back before it takes a lock holds up nobody.
 */
#ifndef LEARN_FOLD_LOCK_PREDECESSORS_H
#define LEARN_FOLD_LOCK_PREDECESSORS_H

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct lock_pred;

struct lock_pred *lock_pred_new(void);
void lock_pred_free(struct lock_pred *t);

/* The steps of an event; of acquisitions, `site` 0 if it is not known where. */
void lock_pred_step(struct lock_pred *t, const struct learn_step *s, const struct view *view);
void lock_pred_forget(struct lock_pred *t, uint64_t addr, uint64_t size);

/* What one run tells; pairs are added. */
struct lock_pred_lists {
	struct learn_pairs *seen;	/* (P, M): M took the lock right after P of another thread */
	struct learn_pairs *expected;	/* (P, M) and (M, P): it may, nothing but locks orders them */
	struct learn_pairs *first, *after;	/* (M, M): as in unordered.h */
};

void lock_pred_add_to(const struct lock_pred *t, const struct lock_pred_lists *told);

#endif
