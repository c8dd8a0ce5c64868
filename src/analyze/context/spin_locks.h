/*
 * Locks that a program makes of an atomic: taken by an exchange or compare-and-swap that
 * finds 0, given back by whoever took it, with a store of 0 or another update.
 *
 * Only the whole trace tells: a place is a lock if nobody ever took it while it was held or
 * changed it in another way, all takings acquire and all givings release, and two threads
 * took it. For analyses these are operations of a spin lock: what order it made is that of
 * critical sections, which may be another in another run. What does not fit (tickets,
 * queues, relaxed orders with fences) keeps the order that its atomics make.
 */
#ifndef ANALYZE_CONTEXT_SPIN_LOCKS_H
#define ANALYZE_CONTEXT_SPIN_LOCKS_H

#include "abi/trace_roles.h"
#include "base/map.h"
#include "trace/read/reader.h"

struct spins {
	const char *path;	/* of the trace; NULL: nothing is a lock */
	bool searched;
	struct map locks;	/* address to who holds it now, 0: nobody */
};

/* `path` must stay. The trace is read through when the first taking is met, not before. */
void spins_init(struct spins *s, const char *path);
void spins_free(struct spins *s);

/*
 * Every event, in order: makes a SPIN_LOCK of what takes such a lock, a SPIN_UNLOCK of what
 * gives it back, and a load of an exchange that found it taken.
 */
void spins_translate_atomic(struct spins *s, struct event *ev);

/* Whether it was an atomic. */
static inline bool spins_translate(struct spins *s, struct event *ev)
{
	if (!(trace_roles(ev->kind) & ROLE_ATOMIC))
		return false;
	spins_translate_atomic(s, ev);
	return true;
}

#endif
