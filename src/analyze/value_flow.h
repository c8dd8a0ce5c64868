/*
 * What threads must have seen: a thread that read a flag which another one set came there
 * because it was set. A flag is a write by a thread that had not read the place since its
 * own last write there; a step of a counter or the link of a list tells nothing, since who
 * comes earlier finds another value and goes on with that.
 *
 * Errs to one side: whatever is not known for sure (memory given out anew, parts of a
 * place written by several, threads that share a bit) counts as not seen.
 */
#ifndef ANALYZE_VALUE_FLOW_H
#define ANALYZE_VALUE_FLOW_H

#include "analyze/candidate.h"
#include "analyze/context/vclock.h"
#include "trace/read/reader.h"

struct flow;

struct flow *flow_new(void);
void flow_free(struct flow *f);

/* Every event, in the order of the trace; `index` of the thread's, from 0. */
void flow_event(struct flow *f, const struct event *ev, uint64_t index);

/* By thread: so many of its events came before the next one of `thread`. Good until the next event. */
const struct vclock *flow_seen(struct flow *f, uint32_t thread);

/*
 * An order that the candidate wants is none that its threads, reading on the way what they
 * read, can have. `seen` is what flow_seen() was at each of its events.
 */
bool flow_forbids(const struct candidate *c, const struct vclock *const *seen);

#endif
