/*
 * Order by the flow of values: a thread that reads a flag which another thread set got to that
 * point because the flag was set. It has *seen* all events of the writer up to the write.
 *
 * A write sets a flag if its thread had not read the location since its own last write there.
 * Other writes, such as a step of a counter or the link of a list, order nothing: a thread that
 * reads earlier finds another value and goes on with that.
 *
 * Errs to one side: where the flow is not certain (memory given out anew, a location written in
 * parts by several threads, threads that share a bit), nothing counts as seen.
 */
#ifndef ANALYZE_VALUE_FLOW_H
#define ANALYZE_VALUE_FLOW_H

#include "analyze/candidate.h"
#include "analyze/context/vclock.h"
#include "trace/read/reader.h"

struct flow;

struct flow *flow_new(void);
void flow_free(struct flow *f);

/* To be called with every event, in order; `index`: among the thread's events, from 0. */
void flow_event(struct flow *f, const struct event *ev, uint64_t index);

/*
 * The events that `thread` has seen: the first n of each other thread, as a vector clock. Valid
 * until the next call of flow_event() or flow_seen().
 */
const struct vclock *flow_seen(struct flow *f, uint32_t thread);

/*
 * Whether a wanted order contradicts the values that the threads read on the way: `first` of an
 * order comes after its thread has seen `second`. `seen`: flow_seen() at each of its events.
 */
bool flow_forbids(const struct candidate *c, const struct vclock *const *seen);

#endif
