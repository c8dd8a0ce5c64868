/*
 * What a thread has begun and not ended yet: P, after which it does I to the same memory, without a call that may block in
 * between. Whoever could come in between, and never did, had better wait for I.
 */
#ifndef LEARN_UNFINISHED_PAIRS_H
#define LEARN_UNFINISHED_PAIRS_H

#include <stdint.h>

struct known;

/*
 * Calls fn(ctx, P, R) for places R that should not come after P of another thread before that has done I, of memory or of
 * locks; maybe more than once. R may also be a read that a write like that comes after: then both would have begun.
 */
void unfinished_pairs_each(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t r), void *ctx);

/* Calls fn(ctx, P, I) for all I that P comes before. */
void unfinished_pairs_ends(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t i), void *ctx);

#endif
