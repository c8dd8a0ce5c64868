/*
 * Lifeguard transactions (Yu, Narayanasamy: LifeTx): regions of code that passing runs never
 * saw interleaved unserializably. At first a thread is one transaction; whenever a run is not
 * serializable by those there are, the one that did the last access of the cycle is split
 * before it, and the place of the split is remembered.
 *
 * Transactions are nodes of a graph; edges go along each thread, from an access to a later one of another
 * thread that conflicts, and from what orders threads to what waits for it. (Not from who gives back a lock to who
 * takes it next, as in the paper: a visit between two critical sections that touched nothing of theirs
 * would be an interruption.) A node whose transaction has ended and into which no edge leads
 * cannot be in a cycle any more, and goes.
 *
 * The place of a split between two accesses of a thread: the entry of the outermost function that was
 * called in between; else the exit of the one that returned in between to where the second one is;
 * else before the second access. Loops have no events. Besides, a transaction ends
 * before each call that may block, locks excepted; that is not learnt, but always so.
 *
 * Loops that lock are seen by their locks: a thread that holds none and takes one where its transaction took
 * one before, by the same calls, begins another turn. What is of two turns is not taken to belong
 * together, though the transaction goes on: else it would depend on chance, that is on whether turns were ever
 * interleaved, what is guarded.
 */
#ifndef LEARN_FOLD_LIFETX_H
#define LEARN_FOLD_LIFETX_H

#include "learn/fold/fold_common.h"

/* Of a site: of a function the second and the third, else the first. */
enum lifetx_cut { LIFETX_BEFORE = 1, LIFETX_ENTRY = 2, LIFETX_EXIT = 4 };

struct lifetx;

struct lifetx *lifetx_new(unsigned granularity);
void lifetx_free(struct lifetx *l);

/* Known before the run; or'ed to what is there. */
void lifetx_set_cuts(struct lifetx *l, uint32_t site, unsigned cuts);

/* Only accesses at these sites make a transaction worth keeping; they are needed before the first step. */
void lifetx_watch(struct lifetx *l, uint32_t site);
bool lifetx_watches(const struct lifetx *l, uint32_t site);

/*
 * All ops of enum iroot_op. `blocks`: the call may, or did. An access of no bytes conflicts with nothing, but is
 * where it is; lifetx_touch() is for more memory of the last one.
 */
void lifetx_step(struct lifetx *l, const struct learn_step *s, bool blocks);
void lifetx_touch(struct lifetx *l, const struct learn_step *s);
void lifetx_enter(struct lifetx *l, uint32_t thread, uint32_t function, uint64_t caller);	/* caller: pc */
void lifetx_exit(struct lifetx *l, uint32_t thread);
void lifetx_unwind(struct lifetx *l, uint32_t thread, size_t depth);	/* to so many activations */
void lifetx_forget(struct lifetx *l, uint64_t addr, uint64_t size);	/* what was done to this memory */
void lifetx_finish(struct lifetx *l);
uint32_t lifetx_function(const struct lifetx *l, uint32_t thread);	/* that is running; 0: unknown */

/* enum lifetx_cut */
unsigned lifetx_cuts(const struct lifetx *l, uint32_t site);

/*
 * (function, site): at least two watched accesses of a transaction, `site` among them, were
 * made within one activation of the function, and of none that it called.
 */
const struct learn_pairs *lifetx_members(const struct lifetx *l);

/* (P, I): in such a transaction, in one turn, there was a watched access at P, and a later one at I. */
const struct learn_pairs *lifetx_orders(const struct lifetx *l);

/* How: or'ed over all times. */
enum lifetx_torn {
	LIFETX_RELEASED = 1,	/* a lock that was held at P had been given back by then */
	LIFETX_ACQUIRED = 2,	/* a lock that was held at I had been taken since */
};
unsigned lifetx_torn(const struct lifetx *l, uint32_t p, uint32_t i);

size_t lifetx_live(const struct lifetx *l);	/* nodes now */

#endif
