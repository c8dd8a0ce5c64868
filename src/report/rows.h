/*
 * Chooses the events of a trace that the picture of a bug shows as rows: the events that bug.json
 * names (its sites), and for context other accesses to their memory and nearby synchronisation by
 * their threads. A single pass over the trace; its memory does not grow with the length of the
 * trace.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/events.h"
#include "report/lookup.h"
#include "symbol/object.h"

#define ROWS_HELD 8u	/* locks held by a thread at once; further ones are not followed */

/* A lock that a thread holds. */
struct rows_held {
	uint64_t lock;
	uint64_t since;		/* ordinal of the event that acquired it */
};

/* An event that was chosen, and what was known when it happened. */
struct row {
	struct event ev;
	uint64_t ordinal;	/* events of the trace before it, without `value` events */
	uint64_t event;		/* its number from 1 in the trace, without calls and returns */
	uint64_t skipped;	/* events since the row before, without calls and returns */
	uint64_t dropped;	/* rows removed again between the row before and this one */
	size_t site;		/* index of the bug's site that it is, or REPORT_NONE */
	bool has_object;
	struct object object;
	struct rows_held held[ROWS_HELD];	/* by its thread, with the event's own lock */
	unsigned held_count;
	uint64_t released_at;	/* acquisition: ordinal + 1 of the lock's last release; 0: none */
	uint64_t *stack;	/* pcs of callers, innermost first; only if `site` is set */
	size_t stack_count;
	uint64_t value[2];	/* read, or in memory after the event; two words for 16 bytes */
	unsigned values;	/* number of known words in `value` */
};

/* A thread at the current position in the trace. */
struct rows_thread {
	struct rows_held held[ROWS_HELD];
	unsigned held_count;
	uint64_t *stack;	/* pcs of callers, outermost first */
	size_t depth, capacity;
	bool named;		/* a site of bug.json is by this thread */
	uint64_t start_pc;	/* its start routine; 0: unknown */
};

struct rows {
	const struct report_bug *bug;
	struct reader *reader;
	struct objects *objects;
	struct lookup *lookup;
	const struct events_found *found;	/* [site_count] events of the sites */
	size_t site_count;
	struct row *at;		/* the rows, in the order of the trace */
	size_t count, capacity;
	struct rows_thread *threads;	/* by id; as they are at the end of the trace */
	size_t thread_count, thread_capacity;
	/* private */
	struct map released;	/* lock to ordinal + 1 of its last release */
	size_t segment;		/* first row after the last one with a site */
	size_t sites_found;	/* sites whose events are in the trace */
	bool site_seen;		/* the pass has reached the first of them */
	uint64_t ordinal, event;	/* of the current event, as in struct row */
	uint64_t skipped;	/* events since the last row */
};

/*
 * Reads the trace. The caller sets bug, reader, objects, lookup, found and site_count and zeroes
 * the rest.
 */
int rows_collect(struct rows *rows, struct err *err);
void rows_free(struct rows *rows);

/* Return the lock that an event acquires or releases, 0 if there is none. */
uint64_t rows_acquires(const struct event *ev);
uint64_t rows_releases(const struct event *ev);

#endif
