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

#define MOMENTS_CUTS 3u		/* locksets kept of those between two accesses */
#define MOMENTS_WINDOW 1000u	/* events of a thread that may belong together, whatever the block */

/* An access; all zero is none. */
struct moment {
	uint64_t index, time, addr;
	uint32_t size;		/* bytes, at most 4 GiB - 1 */
	uint32_t situation;	/* 0: none */
	uint32_t epoch;		/* equal numbers: equal strong clocks of one thread */
	uint32_t stack;
	uint32_t block;		/* highest bit: a user block */
	uint32_t tag;		/* the keeper's */
};

#define MOMENTS_CHANGES 64u	/* a power of 2 */
#define MOMENTS_USER_BLOCK 0x80000000u

/* Of a thread, as moments.c keeps it: asked at every access. */
struct moments_thread {
	bool stale;		/* it synchronised since `situation` was made */
	uint32_t situation, epoch;	/* now, if these are as they were then: */
	uint32_t lockset;
	const struct vclock *clock;
	uint64_t clock_changes;
	uint64_t released;	/* its events until the last release */
	uint32_t changes;	/* made so far; the last MOMENTS_CHANGES of them: */
	struct moments_change {
		uint64_t index;	/* from this event of the thread on */
		uint32_t lockset;
	} change[MOMENTS_CHANGES];
};

struct moments {
	struct locks *locks;
	struct moments_thread **threads;	/* NULL: none yet */
	size_t thread_count;
	struct moments_epoch *epochs;		/* 0 is none */
	size_t epoch_count, epoch_capacity;
	uint32_t free_epoch;
	struct moments_situation *situations;	/* 0 is none */
	struct view_acquired *outer;		/* of each: where the first lock was taken */
	size_t situation_count, situation_room;
	uint32_t free_situation;
	struct view_acquired (*inner)[LOCKS_OUTER - 1];	/* where those within were; 0 is none */
	size_t inner_count, inner_capacity;
	uint32_t free_inner;			/* linked by `index` of the first */
	uint64_t *marked;		/* bits: situations that are kept; only while they are looked for */
	size_t enough;			/* situations at which it pays to look for unused ones */
	void (*mark)(void *ctx);
	void *mark_ctx;
};

struct moments *moments_new(struct locks *locks);
void moments_free(struct moments *m);

/* Every event that is no access, in the order of the trace. */
void moments_sync(struct moments *m, const struct event *ev, const struct view *view);

/* For moments_here(): the thread of the view, which is stale or new. */
const struct moments_thread *moments_look(struct moments *m, const struct view *view);

/* What another thread does may change its locks or clock, too. */
static inline bool moments_stale(const struct moments_thread *t, const struct view *view)
{
	return t->stale || t->lockset != view->lockset || t->clock_changes != view->strong->changes;
}

/* Where the thread of the view is now, for moments_make(). */
static inline const struct moments_thread *moments_here(struct moments *m, const struct view *view)
{
	const struct moments_thread *t =
		view->thread < m->thread_count ? m->threads[view->thread] : NULL;

	return __builtin_expect(!t || moments_stale(t, view), 0) ? moments_look(m, view) : t;
}

/* The access as a moment, in one piece. It may be kept until the next call of the marker. */
static inline void moments_make(const struct moments_thread *t, const struct event *ev,
				const struct view *view, uint32_t tag, struct moment *out)
{
	out->index = view->index;
	out->time = ev->time;
	out->addr = ev->addr;
	out->size = ev->size < UINT32_MAX ? (uint32_t)ev->size : UINT32_MAX;
	out->situation = t->situation;
	out->epoch = t->epoch;
	out->stack = view->stack;
	out->block = view->user_block ? view->user_block | MOMENTS_USER_BLOCK : view->block;
	out->tag = tag;
}

/* The same, tag 0. */
static inline void moments_now(struct moments *m, const struct event *ev, const struct view *view,
			       struct moment *out)
{
	moments_make(moments_here(m, view), ev, view, 0, out);
}

/*
 * `mark` calls moments_mark() for every moment that is kept; without it, all of them are. The
 * situation alone matters.
 */
void moments_marker(struct moments *m, void (*mark)(void *ctx), void *ctx);
static inline void moments_mark_situation(struct moments *m, uint32_t situation)
{
	m->marked[situation / 64] |= 1ull << situation % 64;
}

static inline void moments_mark(struct moments *m, const struct moment *kept)
{
	moments_mark_situation(m, kept->situation);
}

uint32_t moments_thread(const struct moments *m, const struct moment *a);
uint32_t moments_epoch(const struct moments *m, uint32_t situation);
uint32_t moments_lockset(const struct moments *m, const struct moment *a);

/* No lock was released between `p`, made with locks held, and the thread's present event. */
static inline bool moments_same_section(const struct moments_thread *t, const struct moment *p)
{
	return p->index >= t->released;
}

/* By strong happens-before; different threads. It is all in their epochs. */
bool moments_ordered(const struct moments *m, uint32_t a, uint32_t b);

/*
 * Whether the order "a1 before b1 and b2 before a2", the a of one thread and the b of
 * another, is no question of the schedule: strong happens-before forbids it, or has
 * it in every run (what a thread does before it creates and after it joins another).
 */
bool moments_fixed(const struct moments *m, uint32_t a1, uint32_t b1, uint32_t b2, uint32_t a2);

/* For moments_together(): the function of `p` is still active. */
static inline bool moments_within(const struct moment *p, const struct view *view)
{
	for (uint32_t k = p->block ? view->activation_count : 0; k > 0; k--)
		if (view->activations[k - 1] == p->block)
			return true;
	return false;
}

/* `p` and the thread's present access `i` are of one block, or near enough. */
static inline bool moments_together(const struct moment *p, const struct moment *i,
				    const struct view *view)
{
	if (p->block && p->block == i->block)
		return true;
	if ((p->block | i->block) & MOMENTS_USER_BLOCK)
		return false;
	return i->index - p->index <= MOMENTS_WINDOW || moments_within(p, view);
}

/* moments_cuts_since() of an access since which the lockset has changed. */
unsigned moments_cuts_behind(const struct moments *m, const struct moments_thread *t, uint64_t index,
			     uint32_t lockset, uint32_t cuts[MOMENTS_CUTS]);

/*
 * The locksets of the thread from right after its access number `index`, made with `lockset`, to its present access:
 * those that no other makes needless, fewest locks first, at most MOMENTS_CUTS. The empty set comes alone.
 */
static inline unsigned moments_cuts_since(const struct moments *m, const struct moments_thread *t,
					  uint64_t index, uint32_t lockset,
					  uint32_t cuts[MOMENTS_CUTS])
{
	uint32_t n = t->changes;

	cuts[0] = lockset;
	if (!lockset || !n || t->change[(n - 1) % MOMENTS_CHANGES].index <= index)
		return 1;
	return moments_cuts_behind(m, t, index, lockset, cuts);
}

/* PRUNE_REASONS if a thread in one of the sets lets another be in `set`, else why not. */
enum prune_reason moments_meet(const struct moments *m, const uint32_t *cuts, unsigned count,
			       uint32_t set);

/* locks_core() of a lockset. */
uint32_t moments_core(const struct moments *m, uint32_t set);

/* The access as candidates name it. */
struct candidate_event moments_event(const struct moments *m, const struct moment *a, uint64_t pc,
				     uint16_t kind);

/*
 * If `a` cannot be held back right before it without keeping `other` from running
 * (it is in a critical section that `other` needs), true and in *out the event that
 * enters the outermost such section. Only sections entered after the thread's event
 * number `after` count; MOMENTS_ANY: all.
 */
#define MOMENTS_ANY UINT64_MAX
bool moments_hold(const struct moments *m, const struct moment *a, uint64_t after,
		  const struct moment *other, struct candidate_event *out);

#endif
