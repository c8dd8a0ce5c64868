/*
 * Unfinished pairs: a thread accessed P, and goes on to access I of the same memory without a
 * blocking call between them. If an access R of another thread seldom or never came between the two
 * in passing runs, guard delays R until I is done.
 */
#ifndef LEARN_UNFINISHED_PAIRS_H
#define LEARN_UNFINISHED_PAIRS_H

#include <stdint.h>

struct known;

/*
 * Calls fn(ctx, P, R) for sites R that must not follow P of another thread before that thread did
 * I. P, I and R access memory, or take locks. If R is a write, reads that are followed by R in
 * their thread are listed as well: otherwise both threads could begin a pair, and each wait for
 * the other. fn may be called more than once for a pair.
 */
void unfinished_pairs_each(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t r),
			   void *ctx);

/* Calls fn(ctx, P, I) for all pairs, whether or not anything must wait for them. */
void unfinished_pairs_ends(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t i),
			   void *ctx);

#endif
