/*
 * Unfinished pairs: a thread accessed P, and goes on to access I of the same memory without a
 * blocking call between them. If another thread's access never came between the two, guard lets it
 * wait for I.
 */
#ifndef LEARN_UNFINISHED_PAIRS_H
#define LEARN_UNFINISHED_PAIRS_H

#include <stdint.h>

struct known;

/*
 * Calls fn(ctx, P, R) for sites R that must not follow P of another thread before that thread
 * did I. P, I and R access memory, or take locks. R may also be a read that leads to a write
 * like that: else both threads would have begun. fn may be called more than once for a pair.
 */
void unfinished_pairs_each(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t r),
			   void *ctx);

/* Calls fn(ctx, P, I) for all pairs, whether or not anything must wait for them. */
void unfinished_pairs_ends(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t i),
			   void *ctx);

#endif
