/*
 * The watched accesses of a thread's transaction: which comes after which, and whether the locks that
 * were held at the first one still are.
 */
#ifndef LEARN_FOLD_LIFETX_MEMBERS_H
#define LEARN_FOLD_LIFETX_MEMBERS_H

#include "learn/fold/fold_common.h"

/* Of one thread. All zero is empty. Times are by its own count. */
struct tx_members {
	struct tx_member {
		uint32_t site;
		bool released;	/* a lock that was held at it has been given back */
		uint64_t first, last;	/* when */
		size_t after;	/* so many members were before it, by what was noted */
	} *items;
	size_t count, capacity;
	struct tx_hold {
		uint64_t lock, since, path;
	} *holds, waited;	/* waited: what it gave back to wait, and takes again */
	size_t hold_count, hold_capacity;
	uint64_t *starts;	/* paths by which it took a lock while it held none, in this turn */
	size_t start_count, start_capacity;
};

/* Pairs (P, I): lifetx_orders(), and how they are torn (enum lifetx_torn). */
struct tx_orders {
	struct learn_pairs all, released, acquired;
};

/* The transaction, or a turn of it, has ended; what is held stays held. */
void tx_members_clear(struct tx_members *m);

void tx_members_add(struct tx_members *m, struct tx_orders *orders, uint32_t site, uint64_t now);

/*
 * A lock is about to be taken at `path`, which stands for the place and the calls that lead there: does a turn
 * begin? The thread holds none and was there before, in this turn.
 */
bool tx_members_starts_iteration(const struct tx_members *m, uint64_t lock, uint64_t path);
void tx_members_acquire(struct tx_members *m, uint64_t lock, uint64_t path, uint64_t now);
void tx_members_release(struct tx_members *m, uint64_t lock, bool to_wait);

void tx_members_free(struct tx_members *m);
void tx_orders_free(struct tx_orders *o);

#endif
