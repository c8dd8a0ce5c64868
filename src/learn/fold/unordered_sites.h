/*
 * Places that touch the same memory in no fixed order: conflicting accesses of two threads that
 * creation, join, barriers, conditions, semaphores and the like leave unordered. Locks do not count.
 */
#ifndef LEARN_FOLD_UNORDERED_SITES_H
#define LEARN_FOLD_UNORDERED_SITES_H

#include <stdbool.h>

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct unordered;

/* `locks` of the views to come. */
struct unordered *unordered_new(struct locks *locks);
void unordered_free(struct unordered *u);

/* Every event of the trace; `site` of those that access memory; `view` may be NULL. */
void unordered_event(struct unordered *u, const struct event *ev, uint32_t site, const struct view *view);

/* Memory begins anew. */
void unordered_forget(struct unordered *u, uint64_t addr, uint64_t size);

/* Were the two ever? In any order. */
bool unordered_have(const struct unordered *u, uint32_t a, uint32_t b);

/*
 * Whenever it was done, its thread had allocated the memory and since then not released anything
 * that others could follow: nobody else knew it.
 */
bool unordered_private(const struct unordered *u, uint32_t site);

/*
 * Places (M, M) that came first: no other thread had touched the memory unordered before; and that came after such
 * a one. But private ones.
 */
void unordered_add_order(const struct unordered *u, struct learn_pairs *first, struct learn_pairs *after);

/* All pairs in both orders, but of private places; *races are those that no lock excludes. */
void unordered_add_pairs(const struct unordered *u, struct learn_pairs *all, struct learn_pairs *races);

#endif
