/*
 * Visits: accesses of other threads between two accesses of a thread to the same memory, P and then
 * I, without a blocking call between the two. Taking a lock twice counts as such a pair, too.
 *
 * A guard that waits between P and I does not wait for long, since the thread does not block there.
 * Accesses that come while a thread is in a blocking call say nothing about that time, so pairs
 * with such a call are left out.
 */
#ifndef LEARN_FOLD_INTERLEAVED_H
#define LEARN_FOLD_INTERLEAVED_H

#include "learn/fold/fold_common.h"

struct interleaved;

struct interleaved *interleaved_new(unsigned granularity);
void interleaved_free(struct interleaved *in);

/*
 * Takes accesses, acquisitions, and IROOT_OP_FRESH. An acquisition with site 0 starts and ends
 * no pair.
 */
void interleaved_step(struct interleaved *in, const struct learn_step *s);
/* Takes a call of the thread that may block. */
void interleaved_blocked(struct interleaved *in, uint32_t thread);

/* All pairs (P, I) without a blocking call between them. */
const struct learn_pairs *interleaved_unblocked(const struct interleaved *in);
/* Visits (P, R): R came between P and some I. */
const struct learn_pairs *interleaved_visits(const struct interleaved *in);

#endif
