/*
 * The goals of a schedule in another build of the program: which of its events are those
 * that the goals name?
 *
 * Lines move, functions are inlined or split, instructions are others. What lasts is the
 * function, what the event does and to what object. Runs of the new program tell which
 * events it has; of these, every way to put them in the place of the old ones that agrees
 * with threads and program order is a lead to try.
 *
 *	r = refit_new(&schedule);
 *	for every trace:
 *		refit_see() each of its events;
 *		refit_end_trace(r);
 *	… r->fits, or refit_missing() …
 */
#ifndef EXPLORE_FIX_REMAP_H
#define EXPLORE_FIX_REMAP_H

#include "base/buf.h"
#include "explore/lead/lead.h"
#include "explore/schedule/schedule.h"

#define REFIT_LOCKS 8u		/* the outermost so many around an event */

struct refit_lock {
	uint64_t pc, nth, index;	/* of the event that took it */
	uint64_t addr;
	uint16_t kind;
	const char *object;
};

/* An event of a run of the new program. */
struct refit_seen {
	const char *thread;	/* "0.1" */
	uint32_t id;		/* of the thread, in this trace */
	uint16_t kind;		/* enum trace_kind */
	unsigned line;
	uint64_t index;		/* of the thread's events */
	uint64_t pc, nth, addr;
	const char *function, *file;
	const char *object;
	const struct refit_lock *locks;	/* held before it, the outermost first */
	size_t lock_count;
};

/* How near the new events are to the old ones. */
enum refit_level {
	REFIT_SAME,		/* the same threads in the same functions */
	REFIT_RENAMED,		/* other threads in the same functions */
	REFIT_MOVED,		/* the same accesses in other functions */
};

struct refit_fit {
	struct lead *lead;	/* owned */
	enum refit_level level;
	bool imagined;		/* no run was seen to come to all of its events so often */
	uint32_t other_parts;	/* bit set: of this event another part of the object was taken */
	double distance;	/* less is nearer */
};

struct refit_event;

struct refit {
	const struct schedule *schedule;
	struct refit_event *events;	/* different ones */
	size_t event_count;
	struct candidate_order orders[CANDIDATE_EVENTS];
	size_t order_count;
	unsigned traces;
	struct refit_fit *fits;		/* those seen, all of the nearest level; then those imagined */
	size_t fit_count, fit_capacity;
	bool more;			/* there are more ways, not only imagined ones, than were kept */
};

/* NULL if there are no goals, or more than a lead has room for. `s` outlives it. */
struct refit *refit_new(const struct schedule *s);
void refit_free(struct refit *r);

/* Could an event of that kind be one of them? If not, it need not be shown. */
bool refit_wants(const struct refit *r, unsigned kind);

void refit_see(struct refit *r, const struct refit_seen *seen);
void refit_end_trace(struct refit *r);

/* Appends why there is no fit of the same functions: which event is not there any more. */
void refit_missing(const struct refit *r, struct buf *out);

/* The events of a trace to all of these, and its end. */
int refit_read(struct refit *const *r, size_t count, const char *path, struct places *places,
	       struct err *err);

#define REFIT_OTHER_PART 8	/* of the same object: its members may have moved */

/* Could these be the same in two builds? Kind -1: any. Of objects: less is surer, below 0: no. */
bool refit_same_kind(int old, unsigned kind);
bool refit_same_function(const char *a, const char *b);
int refit_same_object(const char *a, const char *b);

#endif
