/*
 * Follows every thread through the trace: its clocks, locks, calls, and which
 * memory comes and goes. Gives analyses their view of each event.
 *
 * Clocks are three, each with what the one before has: `strong`, `order`, `full`
 * (struct view). What acquires takes effect in track_before(), what releases in
 * track_after().
 */
#ifndef ANALYZE_CONTEXT_TRACK_H
#define ANALYZE_CONTEXT_TRACK_H

#include "abi/trace_roles.h"
#include "analyze/context/call_stacks.h"
#include "analyze/context/locksets.h"
#include "analyze/context/vclock.h"
#include "analyze/context/view.h"
#include "base/map.h"
#include "trace/read/reader.h"

#define TRACK_MAX_THREADS (1u << 20)	/* ids are below this */
#define TRACK_RECENT 256u		/* a power of two */

enum clock_level { CLOCK_STRONG, CLOCK_ORDER, CLOCK_FULL, CLOCKS };

/* A level is used only from the one at which an object orders. */
struct clocks {
	struct vclock at[CLOCKS];
};

/* What taking a lock the last time made of the set of locks held. */
struct sync_step {
	uint64_t pc;
	uint32_t from, to;	/* to 0: none yet */
	bool shared;
};

/* Anything that orders threads: a lock, an atomic, a condition variable, … */
struct sync {
	uint64_t addr;
	struct clocks clocks;	/* released so far and not replaced */
	struct vclock readers;	/* `full` at read unlocks: only writers wait for them */
	struct clocks *round;	/* barrier: of the round that is complete */
	uint32_t owner;		/* lock: who holds it to write; atomic: who released last */
	uint32_t waiting;	/* cond: threads in it; barrier: entered in this round */
	uint32_t count;		/* barrier: how many make a round, 0: unknown */
	uint32_t next;		/* in the same page, plus 1 */
	enum view_sem sem;	/* semaphore */
	struct sync_step step;	/* lock: mostly the next time it is the same */
};

struct track_thread {
	uint32_t id;
	bool known;		/* it had an event, or was created */
	bool begun;		/* it has its creator's clock */
	bool ended;		/* its last event was seen */
	bool buried;		/* … and it was joined: of its clocks only its own components are left, in `own` */
	uint64_t own[CLOCKS];
	struct clocks clocks;
	struct clocks fenced;	/* at its last release fence: relaxed stores publish it */
	struct clocks loaded;	/* by relaxed loads: the next acquire fence takes it */
	uint64_t index;		/* of its next event */
	uint32_t lockset;
	struct view_acquired *acquired;
	size_t acquired_capacity;
	uint32_t ignoring[3];	/* depth of each bit */

	/* What its last release did, in case it failed. */
	uint64_t released;	/* 0: none */
	struct view_acquired released_at;
	uint32_t released_from;	/* the set before */

	uint32_t *activations, *stacks;	/* a number and a call stack each */
	size_t depth, depth_capacity, stacks_capacity;
	uint32_t *user_blocks;
	size_t user_count, user_capacity;
};

struct benign {
	uint64_t addr, end;
};

struct track {
	const struct analysis_context *ctx;
	struct track_thread **threads;	/* by id */
	uint32_t thread_count;
	struct sync *syncs;
	size_t sync_count, sync_capacity;
	struct map sync_at;		/* address to number, plus 1 */
	uint32_t sync_recent[TRACK_RECENT];	/* the same by hash, or of others */
	struct map sync_pages;		/* page to the first in it, plus 1 */
	struct map files;		/* descriptor to bits: 1 read from, 2 written to */
	struct map blocks;		/* heap: address to size */
	struct benign *benign;
	size_t benign_count, benign_capacity;
	uint32_t next_block;
	bool no_full;		/* the order that locks make interests nobody */
	struct track_thread *self;	/* of the view, unless that is of no thread */
	struct view view;
};

void track_init(struct track *t, const struct analysis_context *ctx);
void track_free(struct track *t);

/* The view lives until track_after(), which must follow. NULL: the thread's id is too large. */
const struct view *track_before(struct track *t, const struct event *ev);
void track_after(struct track *t, const struct event *ev);

/* What has to be done about memory alone: nothing changes but the number of the event. */
static inline bool track_is_plain(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_PLAIN;
}

/* The same, for most events at once. */
static inline const struct view *track_view(struct track *t, const struct event *ev)
{
	if (!track_is_plain(ev) || t->view.thread != ev->thread || t->benign_count > 0)
		return track_before(t, ev);
	t->view.index = t->self->index++;
	return &t->view;
}

static inline void track_done(struct track *t, const struct event *ev)
{
	if (!track_is_plain(ev))
		track_after(t, ev);
}

/* For track_order.c: nothing is to come of the thread, and who joined it has its clocks. */
void track_bury(struct track_thread *gone);

/* So many plain accesses of a thread below TRACK_MAX_THREADS come before its next event. */
void track_pass(struct track *t, uint32_t thread, uint64_t count);

/* For track_sync.c and track_order.c. */
struct track_thread *track_thread(struct track *t, uint32_t id);
struct sync *track_sync_at(struct track *t, uint64_t addr);

/* What the event does to locks and clocks: track_locks.c, track_order.c. */
void track_acquire(struct track *t, struct track_thread *self, const struct event *ev);
void track_release(struct track *t, struct track_thread *self, const struct event *ev);
void track_lock_acquire(struct track *t, struct track_thread *self, const struct event *ev);
void track_lock_release(struct track *t, struct track_thread *self, const struct event *ev);

/* The same of events of which only_locks() is true. */
void track_mutex_before(struct track *t, struct track_thread *self, const struct event *ev);
void track_mutex_after(struct track *t, struct track_thread *self, const struct event *ev);

/* Sync objects in this memory begin anew. */
void track_forget(struct track *t, uint64_t addr, uint64_t size);

/* From `level` up. */
void clocks_join(struct clocks *to, const struct clocks *from, enum clock_level level);
void clocks_copy(struct clocks *to, const struct clocks *from, enum clock_level level);
void clocks_clear(struct clocks *c);
void clocks_free(struct clocks *c);
void clocks_empty(struct clocks *c);
void clocks_tick(struct clocks *c, uint32_t thread, enum clock_level level);

#endif
