/*
 * Reference of the two race analyses (analyze/race/), for one short run of reads, writes and
 * mutexes.
 *
 * Race: two accesses of different threads touch a common byte, one of them writes, and neither
 * happens before the other. order() computes happens-before as the transitive closure of program
 * order and of the order from each unlock to the later locks of the same mutex.
 *
 * Predictable race: another execution brings two ordered accesses together. can_meet() tries every
 * prefix of the third thread with the prefixes of the other two that end before the accesses.
 * feasible() replays these prefixes in the order of the trace: a mutex must be free when it is
 * locked, and a read must see the write that it saw in the trace (sync-preserving reordering,
 * Mathur, Pavlogiannis and Viswanathan, POPL 2021).
 */
#ifndef REFERENCE_RACES_H
#define REFERENCE_RACES_H

#include <stdbool.h>
#include <string.h>

#include "abi/trace_format.h"
#include "base/buf.h"

#define EVENTS 40u
#define THREADS 3u
#define LOCKS 3u
#define BYTES 32u	/* of the memory that all threads access */

struct op {
	unsigned thread, kind, lock, addr, size;
	unsigned index;		/* among the events of its thread */
};

struct run {
	struct op ops[EVENTS];
	unsigned count;
	bool before[EVENTS][EVENTS];	/* happens before, by program and lock order */
	struct buf text;
};

/* Fills run->before. */
static void order(struct run *run)
{
	const struct op *o = run->ops;

	memset(run->before, 0, sizeof(run->before));
	for (unsigned j = 0; j < run->count; j++)
		for (unsigned i = 0; i < j; i++)
			run->before[i][j] =
				o[i].thread == o[j].thread ||
				(o[i].kind == TRACE_MUTEX_UNLOCK && o[j].kind == TRACE_MUTEX_LOCK &&
				 o[i].lock == o[j].lock);
	for (unsigned k = 0; k < run->count; k++)
		for (unsigned i = 0; i < run->count; i++)
			for (unsigned j = 0; j < run->count; j++)
				run->before[i][j] |= run->before[i][k] && run->before[k][j];
}

static bool conflict(const struct op *a, const struct op *b)
{
	return a->size && b->size && a->thread != b->thread &&
	       (a->kind == TRACE_WRITE || b->kind == TRACE_WRITE) &&
	       a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

/*
 * Is there a run of the program that has exactly those events of each thread t whose index is below
 * cut[t], in the order of the trace?
 */
static bool feasible(const struct run *run, const unsigned *cut)
{
	int owner[LOCKS] = { -1, -1, -1 };
	int writer[BYTES + 8], meant[BYTES + 8];

	memset(writer, -1, sizeof(writer));
	memset(meant, -1, sizeof(meant));
	for (unsigned i = 0; i < run->count; i++) {
		const struct op *o = &run->ops[i];
		bool in = o->index < cut[o->thread];

		if (in && o->kind == TRACE_MUTEX_LOCK) {
			if (owner[o->lock] >= 0)
				return false;
			owner[o->lock] = (int)o->thread;
		} else if (in && o->kind == TRACE_MUTEX_UNLOCK) {
			owner[o->lock] = -1;
		}
		for (unsigned b = o->addr; b < o->addr + o->size; b++) {
			if (in && o->kind == TRACE_READ && writer[b] != meant[b])
				return false;
			if (o->kind == TRACE_WRITE) {
				meant[b] = (int)i;
				if (in)
					writer[b] = (int)i;
			}
		}
	}
	return true;
}

/* Tries all cuts of the third thread. Thread 0 has two more events: it creates the others. */
static bool can_meet(const struct run *run, const struct op *a, const struct op *b)
{
	unsigned other = THREADS - a->thread - b->thread;
	unsigned cut[THREADS];

	cut[a->thread] = a->index;
	cut[b->thread] = b->index;
	for (cut[other] = 0; cut[other] <= EVENTS + 2; cut[other]++)
		if (feasible(run, cut))
			return true;
	return false;
}

/*
 * Has the analysis dropped `access` by event `now`? It keeps four accesses of each thread to a
 * granule.
 */
static bool forgotten(const struct run *run, unsigned access, unsigned now)
{
	const struct op *o = run->ops;
	unsigned later = 0;

	for (unsigned i = access + 1; i < now; i++)
		later +=
			o[i].thread == o[access].thread && o[i].size && o[i].addr == o[access].addr;
	return later >= 4;
}

#endif
