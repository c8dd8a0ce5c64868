/*
 * Finds what a trace does that no passing run did: broken invariants (AVIO), and predecessors that
 * are in no predecessor set (PSet).
 *
 * 	detect_open(&d, store, program, granularity, &err);
 * 	detect_trace(&d, path, &err);		one trace or several
 * 	detect_finish(&d, threshold, &err);	sorts d.items, most suspicious first
 * 	detect_close(&d);			undoes the changes of the database
 */
#ifndef LEARN_DETECT_H
#define LEARN_DETECT_H

#include "learn/learner.h"

enum detect_rank {
	DETECT_BROKEN,		/* an invariant, or predecessor set, of all passing runs */
	/* no passing run did it, but too little is known to call it broken */
	DETECT_NEW,
	DETECT_UNTRAINED,	/* no passing run came to the last site */
	DETECT_KNOWN,		/* passing runs did it, too */
	DETECT_RANKS
};

#define DETECT_EVENTS 3u	/* p, r, i of a broken invariant; P, M of a predecessor */

struct detect_event {
	char *thread;		/* NULL: not known */
	uint64_t value;
	bool has_value;
	int64_t id;		/* number of its site in the database */
	const struct known_site *site;	/* set by detect_finish() */
};

struct detect_item {
	unsigned events;
	struct detect_event event[DETECT_EVENTS];
	enum avio_pattern pattern;	/* only if there are three events */
	char *object;		/* such as "balance"; NULL: not known */
	uint64_t traces, count;	/* number of traces that have it; number of times in all of them */
	uint64_t last;		/* number of the last trace that has it */
	uint64_t runs;		/* passing runs that came to its last site */
	enum detect_rank rank;
};

struct detect {
	struct learner learner;
	char *program;
	struct known known;
	bool pairs;		/* also look for predecessors; set it before the first trace */
	struct detect_item *items;
	size_t count, capacity;
	uint64_t traces;
	uint64_t ranks[DETECT_RANKS];	/* set by detect_finish(): number of items of each rank */
};

/* `program` NULL: the only program in the database. */
int detect_open(struct detect *d, struct store *store, const char *program, unsigned granularity,
		struct err *err);
int detect_trace(struct detect *d, const char *path, struct err *err);
int detect_finish(struct detect *d, uint64_t threshold, struct err *err);
void detect_close(struct detect *d);

const char *detect_rank_name(enum detect_rank rank);	/* "broken", "new", "untrained", "known" */

#endif
