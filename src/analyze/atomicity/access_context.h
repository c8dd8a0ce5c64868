/*
 * The surroundings of an access, kept for as long as some history names them: the
 * locks held and where each was taken, the strong clock, the block of code; and
 * through which locksets a thread went between two of its accesses.
 *
 * Situations are what changes only when a thread synchronises. They are shared by all
 * accesses made within one. When there are many, the keeper marks those that it has
 * moments of, and the others are used again: memory follows what is remembered, not the
 * length of the trace, and keeping a moment is copying it.
 */
#ifndef ANALYZE_ATOMICITY_ACCESS_CONTEXT_H
#define ANALYZE_ATOMICITY_ACCESS_CONTEXT_H

#include "analyze/analysis.h"

#define CONTEXTS_CUTS 3u		/* locksets kept of those between two accesses */
#define CONTEXTS_BLOCK_EVENTS 1000u	/* events of a thread that may belong together, whatever the block */

/* An access; all zero is none. */
struct access_context {
	uint64_t index, time, addr;
	uint32_t size;		/* bytes, at most 4 GiB - 1 */
	uint32_t sync_state;	/* 0: none */
	uint32_t epoch;		/* equal numbers: equal strong clocks of one thread */
	uint32_t stack;
	uint32_t block;		/* highest bit: a user block */
	uint32_t tag;		/* the keeper's */
};

#define CONTEXTS_CHANGES 64u	/* a power of 2 */
#define CONTEXTS_USER_BLOCK 0x80000000u

/* Of a thread, as moments.c keeps it: asked at every access. */
struct contexts_thread {
	bool stale;		/* it synchronised since `situation` was made */
	uint32_t sync_state, epoch;	/* now, if these are as they were then: */
	uint32_t lockset;
	const struct vclock *clock;
	uint64_t clock_changes;
	uint64_t released;	/* its events until the last release */
	uint32_t changes;	/* made so far; the last MOMENTS_CHANGES of them: */
	struct contexts_change {
		uint64_t index;	/* from this event of the thread on */
		uint32_t lockset;
	} change[CONTEXTS_CHANGES];
};

struct contexts {
	struct locks *locks;
	struct contexts_thread **threads;	/* NULL: none yet */
	size_t thread_count;
	struct contexts_epoch *epochs;		/* 0 is none */
	size_t epoch_count, epoch_capacity;
	uint32_t free_epoch;
	struct contexts_sync_state *sync_states;	/* 0 is none */
	struct view_acquired *outer;		/* of each: where the first lock was taken */
	size_t sync_state_count, situation_capacity;
	uint32_t free_sync_state;
	struct view_acquired (*inner)[LOCKS_OUTER - 1];	/* where those within were; 0 is none */
	size_t inner_count, inner_capacity;
	uint32_t free_inner;			/* linked by `index` of the first */
	uint64_t *marked;		/* bits: situations that are kept; only while they are looked for */
	size_t collect_at;			/* situations at which it pays to look for unused ones */
	void (*mark)(void *ctx);
	void *mark_ctx;
};

struct contexts *contexts_new(struct locks *locks);
void contexts_free(struct contexts *cs);

/* Every event that is no access, in the order of the trace. */
void contexts_sync(struct contexts *cs, const struct event *ev, const struct view *view);

/* For moments_here(): the thread of the view, which is stale or new. */
const struct contexts_thread *contexts_refresh(struct contexts *cs, const struct view *view);

/* What another thread does may change its locks or clock, too. */
static inline bool contexts_stale(const struct contexts_thread *t, const struct view *view)
{
	return t->stale || t->lockset != view->lockset || t->clock_changes != view->strong->changes;
}

/* Where the thread of the view is now, for moments_make(). */
static inline const struct contexts_thread *contexts_current(struct contexts *cs,
							     const struct view *view)
{
	const struct contexts_thread *t =
		view->thread < cs->thread_count ? cs->threads[view->thread] : NULL;

	return __builtin_expect(!t || contexts_stale(t, view), 0) ? contexts_refresh(cs, view) : t;
}

/* The access as a moment, in one piece. It may be kept until the next call of the marker. */
static inline void contexts_fill(const struct contexts_thread *t, const struct event *ev,
				 const struct view *view, uint32_t tag, struct access_context *out)
{
	out->index = view->index;
	out->time = ev->time;
	out->addr = ev->addr;
	out->size = ev->size < UINT32_MAX ? (uint32_t)ev->size : UINT32_MAX;
	out->sync_state = t->sync_state;
	out->epoch = t->epoch;
	out->stack = view->stack;
	out->block = view->user_block ? view->user_block | CONTEXTS_USER_BLOCK : view->block;
	out->tag = tag;
}

/* The same, tag 0. */
static inline void contexts_capture(struct contexts *cs, const struct event *ev,
				    const struct view *view, struct access_context *out)
{
	contexts_fill(contexts_current(cs, view), ev, view, 0, out);
}

/*
 * `mark` calls moments_mark() for every moment that is kept; without it, all of them are. The
 * situation alone matters.
 */
void contexts_set_marker(struct contexts *cs, void (*mark)(void *ctx), void *ctx);
static inline void contexts_mark_sync_state(struct contexts *cs, uint32_t sync_state)
{
	cs->marked[sync_state / 64] |= 1ull << sync_state % 64;
}

static inline void contexts_mark(struct contexts *cs, const struct access_context *kept)
{
	contexts_mark_sync_state(cs, kept->sync_state);
}

uint32_t contexts_thread(const struct contexts *cs, const struct access_context *a);
uint32_t contexts_epoch(const struct contexts *cs, uint32_t sync_state);
uint32_t contexts_lockset(const struct contexts *cs, const struct access_context *a);

/* No lock was released between `p`, made with locks held, and the thread's present event. */
static inline bool contexts_same_section(const struct contexts_thread *t,
					 const struct access_context *p)
{
	return p->index >= t->released;
}

/* By strong happens-before; different threads. It is all in their epochs. */
bool contexts_ordered(const struct contexts *cs, uint32_t a, uint32_t b);

/*
 * Whether the order "a1 before b1 and b2 before a2", the a of one thread and the b of
 * another, is no question of the schedule: strong happens-before forbids it, or has
 * it in every run (what a thread does before it creates and after it joins another).
 */
bool contexts_order_fixed(const struct contexts *cs, uint32_t a1, uint32_t b1, uint32_t b2,
			  uint32_t a2);

/* For moments_together(): the function of `p` is still active. */
static inline bool contexts_function_active(const struct access_context *p, const struct view *view)
{
	for (uint32_t k = p->block ? view->activation_count : 0; k > 0; k--)
		if (view->activations[k - 1] == p->block)
			return true;
	return false;
}

/* `p` and the thread's present access `i` are of one block, or near enough. */
static inline bool contexts_same_block(const struct access_context *p,
				       const struct access_context *i, const struct view *view)
{
	if (p->block && p->block == i->block)
		return true;
	if ((p->block | i->block) & CONTEXTS_USER_BLOCK)
		return false;
	return i->index - p->index <= CONTEXTS_BLOCK_EVENTS || contexts_function_active(p, view);
}

/* moments_cuts_since() of an access since which the lockset has changed. */
unsigned contexts_cuts_search(const struct contexts *cs, const struct contexts_thread *t,
			      uint64_t index, uint32_t lockset, uint32_t cuts[CONTEXTS_CUTS]);

/*
 * The locksets of the thread from right after its access number `index`, made with `lockset`, to its present access:
 * those that no other makes needless, fewest locks first, at most MOMENTS_CUTS. The empty set comes alone.
 */
static inline unsigned contexts_cuts_since(const struct contexts *cs,
					   const struct contexts_thread *t, uint64_t index,
					   uint32_t lockset, uint32_t cuts[CONTEXTS_CUTS])
{
	uint32_t n = t->changes;

	cuts[0] = lockset;
	if (!lockset || !n || t->change[(n - 1) % CONTEXTS_CHANGES].index <= index)
		return 1;
	return contexts_cuts_search(cs, t, index, lockset, cuts);
}

/* PRUNE_REASONS if a thread in one of the sets lets another be in `set`, else why not. */
enum prune_reason contexts_check_locks(const struct contexts *cs, const uint32_t *cuts,
				       unsigned count, uint32_t set);

/* locks_core() of a lockset. */
uint32_t contexts_core(const struct contexts *cs, uint32_t set);

/* The access as candidates name it. */
struct candidate_event contexts_candidate_event(const struct contexts *cs,
						const struct access_context *a, uint64_t pc,
						uint16_t kind);

/*
 * If `a` cannot be held back right before it without keeping `other` from running
 * (it is in a critical section that `other` needs), true and in *out the event that
 * enters the outermost such section. Only sections entered after the thread's event
 * number `after` count; MOMENTS_ANY: all.
 */
#define CONTEXTS_ANY_SECTION UINT64_MAX
bool contexts_find_section(const struct contexts *cs, const struct access_context *a,
			   uint64_t after, const struct access_context *other,
			   struct candidate_event *out);

#endif
