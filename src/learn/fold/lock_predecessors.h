/*
 * Whose turn it is at a lock: predecessor sets (pset.h) of the places that take mutexes, as if each taking were a
 * write to the lock. A guard that holds a thread back before it takes a lock holds up nobody.
 */
#ifndef LEARN_FOLD_LOCK_PREDECESSORS_H
#define LEARN_FOLD_LOCK_PREDECESSORS_H

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct turns;

struct turns *turns_new(void);
void turns_free(struct turns *t);

/* The steps of an event; of acquisitions, `site` 0 if it is not known where. */
void turns_step(struct turns *t, const struct learn_step *s, const struct view *view);
void turns_forget(struct turns *t, uint64_t addr, uint64_t size);

/* What one run tells; pairs are added. */
struct turns_told {
	struct learn_pairs *seen;	/* (P, M): M took the lock right after P of another thread */
	struct learn_pairs *expected;	/* (P, M) and (M, P): it may, nothing but locks orders them */
	struct learn_pairs *first, *after;	/* (M, M): as in unordered.h */
};

void turns_take(const struct turns *t, const struct turns_told *told);

#endif
