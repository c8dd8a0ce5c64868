/*
 * What threads do that are cancelled: nothing, if they rest in a call that may be left, or are about to; or they go
 * on to where they next look. A guard may put a cancellation off until its thread rests, if that was always so: else it may end
 * with a lock held.
 */
#ifndef LEARN_FOLD_CANCELLATION_H
#define LEARN_FOLD_CANCELLATION_H

#include "learn/fold/fold_common.h"
#include "trace/read/reader.h"

struct cancellation;

struct cancellation *cancellation_new(void);
void cancellation_free(struct cancellation *c);

/* Every event, its steps, and if it cancels its site. */
void cancellation_event(struct cancellation *c, const struct event *ev, const struct learn_step *steps, unsigned count,
		   uint32_t site);

/* Adds (C, C) for each place that cancels: to `first` if its thread went on, to `after` if it rested. */
void cancellation_add_to(const struct cancellation *c, struct learn_pairs *first, struct learn_pairs *after);

#endif
