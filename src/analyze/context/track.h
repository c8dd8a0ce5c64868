/*
 * Follows every thread through the trace: its clocks, locks and calls, and which memory comes and
 * goes. Gives analyses their view of each event.
 *
 * Each thread and each synchronisation object has three vector clocks: `strong`, `order` and `full`
 * (struct view). An acquiring event takes effect in track_before(), a releasing one in
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

#define TRACK_MAX_THREADS (1u << 20)	/* thread ids are below this */
#define TRACK_RECENT 256u		/* entries of track.sync_recent; a power of two */

enum clock_level { CLOCK_STRONG, CLOCK_ORDER, CLOCK_FULL, CLOCKS };

/* One clock per level. Locks use only CLOCK_FULL, atomics CLOCK_ORDER and up, barriers all. */
struct clocks {
	struct vclock at[CLOCKS];
};

/* Memo of the last acquisition of a lock: what it made of the thread's lockset. */
struct sync_acquire {
	uint64_t pc;
	uint32_t from, to;	/* locksets before and after; to 0: no acquisition yet */
	bool shared;
};

/* An object that orders threads: a lock, an atomic, a condition variable and so on. */
struct sync {
	uint64_t addr;
	struct clocks clocks;	/* of the releases so far that an acquisition comes after */
	struct vclock readers;	/* `full` at read unlocks: only write locks come after them */
	struct clocks *round;	/* barrier: clocks of the last complete round */
	uint32_t owner;		/* lock: thread that holds it to write; atomic: last to release */
	uint32_t waiting;	/* condition: waiting threads; barrier: threads in this round */
	uint32_t count;		/* barrier: threads that complete a round; 0: unknown */
	uint32_t next;		/* number plus 1 of the next object in the same 4 KiB of memory */
	enum view_sem sem;	/* semaphore: how it is used */
	struct sync_acquire last_acquire;	/* lock: most acquisitions repeat it */
};

struct track_thread {
	uint32_t id;
	bool begun;		/* its clock contains that of its creator */
	bool ended;		/* its last event was seen */
	bool retired;		/* it ended and was joined: its clocks are freed, see `own` */
	uint64_t own[CLOCKS];	/* of a retired thread: its own components of its clocks */
	struct clocks clocks;
	struct clocks fenced;	/* at the last release fence; relaxed stores publish them */
	struct clocks loaded;	/* read by relaxed loads; the next acquire fence joins them */
	uint64_t index;		/* of its next event */
	uint32_t lockset;
	struct view_acquired *acquired;	/* as in struct view */
	size_t acquired_capacity;
	uint32_t ignoring[3];	/* nesting depth of each bit of IGNORE_BEGIN */

	/* Its last release; undone by a further event of that release that says it failed. */
	uint64_t released;	/* the lock; 0: none */
	struct view_acquired released_at;	/* where it had been acquired */
	uint32_t released_from;	/* the lockset before the release */

	uint32_t *activations, *stacks;	/* block number and call stack of each active function */
	size_t depth, depth_capacity, stacks_capacity;
	uint32_t *user_blocks;	/* block numbers of open user blocks */
	size_t user_count, user_capacity;
};

/* A range of memory that a BENIGN annotation names. */
struct benign {
	uint64_t addr, end;
};

struct track {
	const struct analysis_context *ctx;
	struct track_thread **threads;	/* by id */
	uint32_t thread_count;
	struct sync *syncs;
	size_t sync_count, sync_capacity;
	struct map sync_at;		/* address to number in `syncs`, plus 1 */
	uint32_t sync_recent[TRACK_RECENT];	/* direct-mapped cache of `sync_at` */
	struct map sync_pages;		/* address / 4096 to number of the first there, plus 1 */
	struct map files;		/* file descriptor to bits: 1 read from, 2 written to */
	struct map blocks;		/* heap: address of a block to its size */
	struct benign *benign;		/* by address */
	size_t benign_count, benign_capacity;
	uint32_t next_block;		/* number of the last block */
	bool no_full;			/* no analysis needs view.full: locks order nothing */
	struct track_thread *self;	/* the thread of `view` */
	struct view view;		/* view.thread 0: to be filled anew */
};

void track_init(struct track *t, const struct analysis_context *ctx);
void track_free(struct track *t);

/*
 * The view of an event, valid until track_after(), which must follow. NULL: the thread's id is not
 * below TRACK_MAX_THREADS.
 */
const struct view *track_before(struct track *t, const struct event *ev);
void track_after(struct track *t, const struct event *ev);

/* Whether the event only accesses memory: it changes nothing but the number of the next event. */
static inline bool track_is_plain(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_PLAIN;
}

/* track_before(), fast for a plain access by the thread of the event before. */
static inline const struct view *track_view(struct track *t, const struct event *ev)
{
	if (!track_is_plain(ev) || t->view.thread != ev->thread || t->benign_count > 0)
		return track_before(t, ev);
	t->view.index = t->self->index++;
	return &t->view;
}

/* track_after(), fast for plain accesses. */
static inline void track_done(struct track *t, const struct event *ev)
{
	if (!track_is_plain(ev))
		track_after(t, ev);
}

/* Counts `count` plain accesses of a thread that the caller skips. */
void track_skip(struct track *t, uint32_t thread, uint64_t count);

/* The rest is for track.c, track_locks.c, track_order.c and ordered.c. */

/* The state of a thread, made if need be; NULL: the id is not below TRACK_MAX_THREADS. */
struct track_thread *track_thread(struct track *t, uint32_t id);

/* The object at an address, made if need be; valid until the next call. */
struct sync *track_sync_at(struct track *t, uint64_t addr);

/* Frees the clocks of a thread that has ended and was joined. */
void track_retire(struct track_thread *gone);

/* What an event does to clocks (track_order.c) and to locks (track_locks.c). */
void track_acquire(struct track *t, struct track_thread *self, const struct event *ev);
void track_release(struct track *t, struct track_thread *self, const struct event *ev);
void track_lock_acquire(struct track *t, struct track_thread *self, const struct event *ev);
void track_lock_release(struct track *t, struct track_thread *self, const struct event *ev);

/* track_acquire() and track_release() for MUTEX_LOCK and MUTEX_UNLOCK, the most frequent ones. */
void track_mutex_before(struct track *t, struct track_thread *self, const struct event *ev);
void track_mutex_after(struct track *t, struct track_thread *self, const struct event *ev);

/* Resets the objects in this memory, which is freed or allocated again. */
void track_forget(struct track *t, uint64_t addr, uint64_t size);

/* These three act on the clocks of `level` and above. */
void clocks_join(struct clocks *to, const struct clocks *from, enum clock_level level);
void clocks_copy(struct clocks *to, const struct clocks *from, enum clock_level level);
void clocks_tick(struct clocks *c, uint32_t thread, enum clock_level level);

void clocks_clear(struct clocks *c);	/* to 0 */
void clocks_empty(struct clocks *c);	/* to 0, and frees their memory */
void clocks_free(struct clocks *c);

#endif
