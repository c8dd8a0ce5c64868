/*
 * Who came in between: two accesses of a thread to the same memory in a row, without a call that may block from one
 * to the other, and another thread's at that time. Likewise two takings of a lock.
 *
 * Whoever waits for a thread between the two will not wait for long. That is why blocking calls matter: what others do
 * while a thread rests says nothing about what they may do while it works.
 */
#ifndef LEARN_FOLD_INTERLEAVED_H
#define LEARN_FOLD_INTERLEAVED_H

#include "learn/fold/fold_common.h"

struct inside;

struct inside *inside_new(unsigned granularity);
void inside_free(struct inside *in);

/* Accesses, acquisitions at a known site, and memory that begins anew. */
void inside_step(struct inside *in, const struct learn_step *s);
/* The thread made a call that may block. */
void inside_rest(struct inside *in, uint32_t thread);

/* (P, I) of one thread. */
const struct learn_pairs *inside_near(const struct inside *in);
/* (P, R): R came between P and some I. */
const struct learn_pairs *inside_pairs(const struct inside *in);

#endif
