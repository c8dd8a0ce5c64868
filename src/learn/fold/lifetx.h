/*
 * LifeTx (Yu, Narayanasamy): transactions, regions of code that no passing run interleaved
 * unserializably. At first each thread is one transaction. Whenever the run is not serializable
 * with the transactions there are, the fold splits the transaction that made the last access of the
 * cycle, before that access, and remembers the site of the split: a cut.
 *
 * Transactions are nodes of a graph. Edges lead from each transaction of a thread to its next one,
 * from an access to a later conflicting access of another thread, and from a signal, creation and
 * the like to the operation that waits for it. Unlike in the paper, no edge leads from the release
 * of a lock to its next acquisition: a visit between two critical sections would count as an
 * interruption even if it touched none of their memory. A node is freed when its transaction has
 * ended and no edge leads to it, since it cannot be part of a cycle any more.
 *
 * Example: thread A reads x at site 1, B writes x at site 2 and y at site 3, A reads y at site 4.
 * The edges from A to B (x) and from B to A (y) are a cycle. So the fold splits A's transaction
 * before its read of y, and site 4 gets the cut LIFETX_BEFORE.
 *
 * A split between two accesses of a thread is placed at the entry of the outermost function that
 * was called in between; else at the exit of the function that returned in between to the caller of
 * the second access; else before the second access. Besides, each call that may block, except a
 * lock, ends a transaction.
 *
 * Loops have no events. So iterations of a loop are found by the locks that it takes: if a thread
 * holds no lock, and takes one at a site where its transaction already took one, by the same calls,
 * a new iteration begins. Accesses of different iterations are not listed as members together,
 * though the transaction goes on. Otherwise what guard protects would depend on whether passing
 * runs happened to interleave iterations.
 */
#ifndef LEARN_FOLD_LIFETX_H
#define LEARN_FOLD_LIFETX_H

#include "learn/fold/fold_common.h"

/* Cuts of a site: a function's entry or exit, or before an access. */
enum lifetx_cut { LIFETX_BEFORE = 1, LIFETX_ENTRY = 2, LIFETX_EXIT = 4 };

struct lifetx;

struct lifetx *lifetx_new(unsigned granularity);
void lifetx_free(struct lifetx *l);

/* Adds cuts that are known before the run. */
void lifetx_set_cuts(struct lifetx *l, uint32_t site, unsigned cuts);

/* Only accesses at watched sites become members of transactions. Call it before the first step. */
void lifetx_watch(struct lifetx *l, uint32_t site);
bool lifetx_watches(const struct lifetx *l, uint32_t site);

/*
 * Takes all steps (enum iroot_op). `blocks`: the call may block, or did. An access of 0 bytes
 * conflicts with nothing but counts as an access of its site. lifetx_touch() adds more memory to
 * the last access.
 */
void lifetx_step(struct lifetx *l, const struct learn_step *s, bool blocks);
void lifetx_touch(struct lifetx *l, const struct learn_step *s);
/* The thread enters a function. `caller`: pc of the call. */
void lifetx_enter(struct lifetx *l, uint32_t thread, uint32_t function, uint64_t caller);
void lifetx_exit(struct lifetx *l, uint32_t thread);
void lifetx_unwind(struct lifetx *l, uint32_t thread, size_t depth);	/* longjmp to this depth */
/* Drops the accesses to this memory. */
void lifetx_forget(struct lifetx *l, uint64_t addr, uint64_t size);
void lifetx_finish(struct lifetx *l);
/* The function that the thread is in; 0: not known. */
uint32_t lifetx_function(const struct lifetx *l, uint32_t thread);

/* enum lifetx_cut */
unsigned lifetx_cuts(const struct lifetx *l, uint32_t site);

/*
 * (function, site): a transaction made at least two watched accesses, one at `site`, and the
 * function is the innermost that was active during all of them.
 */
const struct learn_pairs *lifetx_members(const struct lifetx *l);

/*
 * (P, I): such a transaction made a watched access at P, and a later one at I in the same
 * iteration.
 */
const struct learn_pairs *lifetx_orders(const struct lifetx *l);

/* How the locks of a pair (P, I) changed between the two. A union over all occurrences. */
enum lifetx_torn {
	LIFETX_RELEASED = 1,	/* a lock that was held at P was released before I */
	LIFETX_ACQUIRED = 2,	/* a lock that is held at I was taken after P */
};
unsigned lifetx_torn(const struct lifetx *l, uint32_t p, uint32_t i);

size_t lifetx_live(const struct lifetx *l);	/* number of nodes in the graph, for tests */

#endif
