/*
 * The watched accesses of a thread's transaction: which follows which, and how the held locks
 * change in between.
 */
#ifndef LEARN_FOLD_LIFETX_MEMBERS_H
#define LEARN_FOLD_LIFETX_MEMBERS_H

#include "learn/fold/fold_common.h"

/* The members of one thread. All zero is empty. Times are its own count of events. */
struct tx_members {
	struct tx_member {
		uint32_t site;
		bool released;	/* a lock that was held at the access was released */
		uint64_t first, last;	/* times of its first and last access */
		size_t after;	/* orders from the first `after` items to this one are noted */
	} *items;
	size_t count, capacity;
	struct tx_hold {
		uint64_t lock, since, path;	/* address; when and by which path it was taken */
	} *holds, waited;	/* held locks; the mutex that a condition wait released */
	size_t hold_count, hold_capacity;
	/* paths by which it took a lock while it held none, in this iteration */
	uint64_t *starts;
	size_t start_count, start_capacity;
};

/* Pairs (P, I) of lifetx_orders(), and those of each enum lifetx_torn. */
struct tx_orders {
	struct learn_pairs all, released, acquired;
};

/* Call it at the end of a transaction or iteration. Held locks stay held. */
void tx_members_clear(struct tx_members *m);

void tx_members_add(struct tx_members *m, struct tx_orders *orders, uint32_t site, uint64_t now);

/*
 * Does taking a lock at `path` begin an iteration? It does if the thread holds no lock, and was
 * at `path` in this iteration before. `path` stands for the site and the calls that lead to it.
 */
bool tx_members_starts_iteration(const struct tx_members *m, uint64_t lock, uint64_t path);
void tx_members_acquire(struct tx_members *m, uint64_t lock, uint64_t path, uint64_t now);
void tx_members_release(struct tx_members *m, uint64_t lock, bool to_wait);

void tx_members_free(struct tx_members *m);
void tx_orders_free(struct tx_orders *o);

#endif
