/*
 * The goals of a schedule in another build of the program: which of its events are those
 * that the goals name?
 *
 * Lines move, functions are inlined or split, instructions are others. What lasts is the
 * function, what the event does and to what object. Runs of the new program tell which
 * events it has; of these, every way to put them in the place of the old ones that agrees
 * with threads and program order is a lead to try.
 *
 *	r = remap_new(&schedule);
 *	for every trace:
 *		remap_observe() each of its events;
 *		remap_end_trace(r);
 *	… r->mappings, or refit_missing() …
 */
#ifndef EXPLORE_FIX_REMAP_H
#define EXPLORE_FIX_REMAP_H

#include "base/buf.h"
#include "explore/lead/lead.h"
#include "explore/schedule/schedule.h"

#define REMAP_LOCKS 8u		/* the outermost so many around an event */

struct remap_lock {
	uint64_t pc, nth, index;	/* of the event that took it */
	uint64_t addr;
	uint16_t kind;
	const char *object;
};

/* An event of a run of the new program. */
struct remap_observed {
	const char *thread;	/* "0.1" */
	uint32_t id;		/* of the thread, in this trace */
	uint16_t kind;		/* enum trace_kind */
	unsigned line;
	uint64_t index;		/* of the thread's events */
	uint64_t pc, nth, addr;
	const char *function, *file;
	const char *object;
	const struct remap_lock *locks;	/* held before it, the outermost first */
	size_t lock_count;
};

/* How near the new events are to the old ones. */
enum remap_level {
	REMAP_SAME,		/* the same threads in the same functions */
	REFIT_RENAMED,		/* other threads in the same functions */
	REFIT_MOVED,		/* the same accesses in other functions */
};

struct remap_mapping {
	struct lead *lead;	/* owned */
	enum remap_level level;
	bool extrapolated;		/* no run was seen to come to all of its events so often */
	uint32_t other_parts;	/* bit set: of this event another part of the object was taken */
	double distance;	/* less is nearer */
};

struct remap_event;

struct remap {
	const struct schedule *schedule;
	struct remap_event *events;	/* different ones */
	size_t event_count;
	struct candidate_order orders[CANDIDATE_EVENTS];
	size_t order_count;
	unsigned traces;
	struct remap_mapping *mappings;		/* those seen, all of the nearest level; then those extrapolated */
	size_t fit_count, mapping_capacity;
	bool more;			/* there are more ways, not only extrapolated ones, than were kept */
};

/* NULL if there are no goals, or more than a lead has room for. `s` outlives it. */
struct remap *remap_new(const struct schedule *s);
void remap_free(struct remap *r);

/* Could an event of that kind be one of them? If not, it need not be shown. */
bool remap_wants_kind(const struct remap *r, unsigned kind);

void remap_observe(struct remap *r, const struct remap_observed *seen);
void remap_end_trace(struct remap *r);

/* Appends why there is no fit of the same functions: which event is not there any more. */
void refit_missing(const struct remap *r, struct buf *out);

/* The events of a trace to all of these, and its end. */
int remap_read(struct remap *const *r, size_t count, const char *path, struct places *places,
	       struct err *err);

#define REMAP_OTHER_PART 8	/* of the same object: its members may have moved */

/* Could these be the same in two builds? Kind -1: any. Of objects: less is surer, below 0: no. */
bool remap_same_kind(int old, unsigned kind);
bool remap_same_function(const char *a, const char *b);
int remap_same_object(const char *a, const char *b);

#endif
