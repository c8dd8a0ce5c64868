/*
 * What cancelled threads do after pthread_cancel(). A thread in a blocking call leaves the call and
 * ends. Any other thread goes on to its next cancellation point, and may end while it holds a lock.
 * If all cancelled threads of passing runs were in a call, guard delays a cancellation until that
 * is true.
 */
#ifndef LEARN_FOLD_CANCELLATION_H
#define LEARN_FOLD_CANCELLATION_H

#include "learn/fold/fold_common.h"
#include "trace/read/reader.h"

struct cancellation;

struct cancellation *cancellation_new(void);
void cancellation_free(struct cancellation *c);

/* Takes every event with its steps. `site`: of an event that cancels a thread. */
void cancellation_event(struct cancellation *c, const struct event *ev,
			const struct learn_step *steps, unsigned count, uint32_t site);

/*
 * Adds (C, C) for each site C that cancels threads: to `first` if the thread went on, to `after`
 * if it only left its call.
 */
void cancellation_add_to(const struct cancellation *c, struct learn_pairs *first,
			 struct learn_pairs *after);

#endif
