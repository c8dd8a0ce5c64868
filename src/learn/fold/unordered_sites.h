/*
 * Pairs of sites that access the same memory in no fixed order: conflicting accesses of two threads
 * that creation, join, barriers, conditions, semaphores and the like leave unordered. Locks do not
 * count as order.
 */
#ifndef LEARN_FOLD_UNORDERED_SITES_H
#define LEARN_FOLD_UNORDERED_SITES_H

#include <stdbool.h>

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct unordered;

/* `locks`: the locksets that the views of unordered_event() refer to. */
struct unordered *unordered_new(struct locks *locks);
void unordered_free(struct unordered *u);

/* Takes every event of the trace. `site`: of an access; `view` may be NULL. */
void unordered_event(struct unordered *u, const struct event *ev, uint32_t site,
		     const struct view *view);

/* Memory was allocated or freed. */
void unordered_forget(struct unordered *u, uint64_t addr, uint64_t size);

/* Were the two sites ever unordered? The order of a and b does not matter. */
bool unordered_have(const struct unordered *u, uint32_t a, uint32_t b);

/*
 * True if no other thread could know the memory at any access of the site: the thread itself had
 * allocated it, and since then did nothing that orders another thread after it.
 */
bool unordered_private(const struct unordered *u, uint32_t site);

/*
 * Adds pairs (M, M): to `first` if M accessed memory before any unordered access of another thread,
 * to `after` if it came after one. Private sites are left out.
 */
void unordered_add_order(const struct unordered *u, struct learn_pairs *first,
			 struct learn_pairs *after);

/*
 * Adds all pairs in both orders, except of private sites; to `races`, those that no lock
 * excludes.
 */
void unordered_add_pairs(const struct unordered *u, struct learn_pairs *all,
			 struct learn_pairs *races);

#endif
