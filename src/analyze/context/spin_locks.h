/*
 * Finds spin locks that a program makes of an atomic: acquired by an exchange or compare-and-swap
 * that finds 0, released by the thread that acquired it, with a store of 0 or another update.
 *
 * A location is a lock if, in the whole trace, no thread acquired it while it was held or changed
 * it in another way, if its operations have acquire and release order, and if two threads acquired
 * it. Analyses get its atomics as operations of a spin lock: their order is that of critical
 * sections, which may be reversed in another run. Atomics that do not fit (ticket locks, queue
 * locks, relaxed orders with fences) keep the order that atomics make.
 */
#ifndef ANALYZE_CONTEXT_SPIN_LOCKS_H
#define ANALYZE_CONTEXT_SPIN_LOCKS_H

#include "abi/trace_roles.h"
#include "base/map.h"
#include "trace/read/reader.h"

struct spin_locks {
	const char *path;	/* of the trace; NULL: no location counts as a lock */
	bool searched;		/* `locks` has been filled */
	struct map locks;	/* address to the id of the thread that holds it, 0: free */
};

/* `path` must stay valid. At the first event that could acquire a lock, the trace is scanned. */
void spin_locks_init(struct spin_locks *s, const char *path);
void spin_locks_free(struct spin_locks *s);

/* Part of spin_locks_translate(). */
void spin_locks_translate_atomic(struct spin_locks *s, struct event *ev);

/*
 * To be called with every event, in order. Turns an atomic that acquires such a lock into a
 * SPIN_LOCK, one that releases it into a SPIN_UNLOCK, and an exchange that found it held into a
 * load. Returns whether the event was an atomic.
 */
static inline bool spin_locks_translate(struct spin_locks *s, struct event *ev)
{
	if (!(trace_roles(ev->kind) & ROLE_ATOMIC))
		return false;
	spin_locks_translate_atomic(s, ev);
	return true;
}

#endif
