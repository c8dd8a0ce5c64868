/*
 * Order by the flow of values: a thread that reads a flag set by another thread comes after that
 * write. It has *seen* all events of the writer up to the write.
 *
 * A write sets a flag if its thread had not read the location since its own last write there.
 * Other writes, such as an increment of a counter or an insertion into a list, order nothing: a
 * thread that reads earlier finds another value and continues with that.
 *
 * Where the flow is uncertain, nothing counts as seen: memory that was allocated again, a location
 * written in parts by several threads, threads whose ids are equal modulo 64.
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
