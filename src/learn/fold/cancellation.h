/*
 * What threads do that are cancelled: nothing, if they rest in a call that may be left, or are about to; or they go
 * on to where they next look. A guard may put a cancellation off until its thread rests, if that was always so: else it may end
 * with a lock held.
 */
#ifndef LEARN_FOLD_CANCELLATION_H
#define LEARN_FOLD_CANCELLATION_H

#include "learn/fold/fold_common.h"
#include "trace/read/reader.h"

struct cancels;

struct cancels *cancels_new(void);
void cancels_free(struct cancels *c);

/* Every event, its steps, and if it cancels its site. */
void cancels_event(struct cancels *c, const struct event *ev, const struct learn_step *steps, unsigned count,
		   uint32_t site);

/* Adds (C, C) for each place that cancels: to `first` if its thread went on, to `after` if it rested. */
void cancels_take(const struct cancels *c, struct learn_pairs *first, struct learn_pairs *after);

#endif
