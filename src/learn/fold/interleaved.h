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

struct interleaved;

struct interleaved *interleaved_new(unsigned granularity);
void interleaved_free(struct interleaved *in);

/* Accesses, acquisitions at a known site, and memory that begins anew. */
void interleaved_step(struct interleaved *in, const struct learn_step *s);
/* The thread made a call that may block. */
void interleaved_blocked(struct interleaved *in, uint32_t thread);

/* (P, I) of one thread. */
const struct learn_pairs *interleaved_unblocked(const struct interleaved *in);
/* (P, R): R came between P and some I. */
const struct learn_pairs *interleaved_visits(const struct interleaved *in);

#endif
