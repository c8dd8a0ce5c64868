/*
 * The events of a trace that are worth a row in a picture of the bug: those that bug.json
 * names, others on the same memory, and what the threads concerned do with locks and
 * the like nearby. A fold over the trace, in memory that does not grow with it.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/events.h"
#include "report/lookup.h"
#include "symbol/object.h"

#define ROWS_HELD 8u	/* locks of a thread that are followed */

struct rows_held {
	uint64_t lock, since;	/* since: ordinal of the event that took it */
};

struct row {
	struct event ev;
	uint64_t ordinal;
	uint64_t event;		/* number among events that are no calls and returns, from 1 */
	uint64_t skipped;	/* events since the row before; calls and returns do not count */
	uint64_t dropped;	/* rows that were here, and were too many */
	size_t site;		/* of the bug, or REPORT_NONE */
	bool has_object;
	struct object object;
	struct rows_held held[ROWS_HELD];	/* by its thread: an acquiring event's is there, a releasing one's still */
	unsigned held_count;
	uint64_t handed;	/* acquires: ordinal + 1 of the release before; 0: there was none */
	uint64_t *stack;	/* pcs of callers, innermost first; rows with a site only */
	size_t stack_count;
	uint64_t value[2];	/* what was read, or is in memory then; two words of 16 bytes */
	unsigned values;	/* … as many as are known */
};

struct rows_thread {
	struct rows_held held[ROWS_HELD];
	unsigned held_count;
	uint64_t *stack;	/* callers' pcs, outermost first */
	size_t depth, capacity;
	bool concerned;		/* bug.json names it */
	uint64_t start_pc;
};

struct rows {
	const struct report_bug *bug;
	struct reader *reader;
	struct objects *objects;
	struct lookup *lookup;
	const struct events_found *found;	/* per site */
	size_t site_count;
	struct row *at;
	size_t count, capacity;
	struct rows_thread *threads;	/* by id, as they are at the end */
	size_t thread_count, thread_capacity;
	/* private */
	struct map released;	/* lock to ordinal + 1 */
	size_t segment;		/* row after the last one with a site */
	size_t named;		/* sites that will be met */
	bool met;		/* … one was */
	uint64_t ordinal, event, passed;
};

/* Set bug, reader, objects, lookup, found and site_count; all else is zero. */
int rows_collect(struct rows *rows, struct err *err);
void rows_free(struct rows *rows);

/* What a lock event takes or gives back; 0: neither. */
uint64_t rows_acquires(const struct event *ev);
uint64_t rows_releases(const struct event *ev);

#endif
