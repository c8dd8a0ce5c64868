/*
 * What a trace does that passing runs never did: broken invariants (AVIO's detection), and
 * dependencies that are in no predecessor set.
 *
 *	detect_open(&d, store, program, granularity, &err);
 *	detect_trace(&d, path, &err);		one or several
 *	detect_finish(&d, threshold, &err);	d.items are sorted: the most telling first
 *	detect_close(&d);			the database stays as it was
 */
#ifndef LEARN_DETECT_H
#define LEARN_DETECT_H

#include "learn/learner.h"

enum detect_rank {
	DETECT_BROKEN,		/* an invariant of all passing runs */
	DETECT_NEW,		/* the place has none, or hardly ever came after the first; but passing runs never did so */
	DETECT_UNTRAINED,	/* no passing run was there */
	DETECT_KNOWN,		/* passing runs do so too */
	DETECT_RANKS
};

#define DETECT_EVENTS 3u	/* p, r, i; or P, M */

struct detect_event {
	char *thread;		/* NULL: not known */
	uint64_t value;
	bool has_value;
	int64_t id;		/* of its site in the database */
	const struct known_site *site;	/* after detect_finish() */
};

struct detect_item {
	unsigned events;
	struct detect_event event[DETECT_EVENTS];
	enum avio_pattern pattern;	/* if there are three events */
	char *object;		/* "balance"; NULL: not known */
	uint64_t traces, count;	/* in so many, so often */
	uint64_t last;		/* trace that had it */
	uint64_t runs;		/* passing ones that met its last place */
	enum detect_rank rank;
};

struct detect {
	struct learner learner;
	char *program;
	struct known known;
	bool pairs;		/* predecessor sets, too: set it before the first trace */
	struct detect_item *items;
	size_t count, capacity;
	uint64_t traces;
	uint64_t ranks[DETECT_RANKS];	/* after detect_finish(): how many of each */
};

/* `program` NULL: the only one that the database knows. */
int detect_open(struct detect *d, struct store *store, const char *program, unsigned granularity,
		struct err *err);
int detect_trace(struct detect *d, const char *path, struct err *err);
int detect_finish(struct detect *d, uint64_t threshold, struct err *err);
void detect_close(struct detect *d);

const char *detect_rank_name(enum detect_rank rank);	/* "broken", "new", "untrained", "known" */

#endif
