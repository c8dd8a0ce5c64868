/*
 * Reference of the lock cycles of the deadlock analysis (analyze/sync/deadlock.c), for one short
 * run of read and write locks.
 *
 * slow_cycles() tries all pairs and triples of lock operations of different threads. They are a
 * deadlock if each waits for a lock that the next one's thread holds there, if no two threads hold
 * a common lock in conflicting modes, and if happens-before orders no two of them. Two read locks
 * do not conflict. held_by() searches the whole past of a thread for what it holds. The caller
 * fills `before`.
 */
#ifndef REFERENCE_DEADLOCKS_H
#define REFERENCE_DEADLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define THREADS 4u
#define EVENTS 256u

struct step {
	unsigned thread, lock;	/* the lock or semaphore */
	enum { LOCK, READ_LOCK, UNLOCK, POST, WAIT } what;
};

struct run {
	struct step step[EVENTS];
	size_t count;
	bool before[EVENTS][EVENTS];	/* happens-before without lock order */
};

/* The step with which the thread of step `at` took `lock` and holds it there; -1: none. */
static int held_by(const struct run *r, size_t at, unsigned lock)
{
	int taken = -1;

	for (size_t i = 0; i < at; i++)
		if (r->step[i].thread == r->step[at].thread && r->step[i].lock == lock &&
		    r->step[i].what <= UNLOCK)
			taken = r->step[i].what == UNLOCK ? -1 : (int)i;
	return taken;
}

/* Does step `a` wait for a lock that the thread of step `b` holds there? */
static bool waits_for(const struct run *r, size_t a, size_t b)
{
	int taken = held_by(r, b, r->step[a].lock);

	return taken >= 0 && !(r->step[a].what == READ_LOCK && r->step[taken].what == READ_LOCK);
}

/* Can both threads be at these steps at one time? */
static bool together(const struct run *r, size_t a, size_t b)
{
	if (r->step[a].thread == r->step[b].thread || r->before[a][b] || r->before[b][a])
		return false;
	for (unsigned lock = 0; lock < 4; lock++) {
		int x = held_by(r, a, lock), y = held_by(r, b, lock);

		if (x >= 0 && y >= 0 &&
		    !(r->step[x].what == READ_LOCK && r->step[y].what == READ_LOCK))
			return false;
	}
	return true;
}

static size_t slow_cycles(const struct run *r)
{
	size_t found = 0;

	for (size_t a = 0; a < r->count; a++)
		for (size_t b = 0; b < r->count; b++) {
			if (r->step[a].what > READ_LOCK || r->step[b].what > READ_LOCK ||
			    r->step[b].thread <= r->step[a].thread || !waits_for(r, a, b) ||
			    !together(r, a, b))
				continue;
			if (waits_for(r, b, a)) {
				found++;
				continue;
			}
			for (size_t c = 0; c < r->count; c++)
				found += r->step[c].what <= READ_LOCK &&
					 r->step[c].thread > r->step[a].thread &&
					 waits_for(r, b, c) && waits_for(r, c, a) &&
					 together(r, a, c) && together(r, b, c);
		}
	return found;
}

#endif
